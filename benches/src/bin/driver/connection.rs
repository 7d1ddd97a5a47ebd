//! A persistent connection that posts one body again and again: a blocking client, which adds little to a measured time.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use reqwest::Url;

use crate::Outcome;

/// A connection with the request that it sends.
pub struct Connection {
    stream: BufReader<TcpStream>,
    request: Vec<u8>,
}

impl Connection {
    /// Connects to the server of a URL.
    pub fn open(url: &str, body: &[u8]) -> Outcome<Connection> {
        let url: Url = url.parse()?;
        let stream = TcpStream::connect(&*url.socket_addrs(|| None)?)?;
        stream.set_nodelay(true)?;
        let head = format!(
            "POST {} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer bench\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            url.path(),
            url.authority(),
            body.len(),
        );
        Ok(Connection { stream: BufReader::new(stream), request: [head.as_bytes(), body].concat() })
    }

    /// Sends the request and gives the body of its answer, which must be a 200.
    pub fn exchange(&mut self) -> Outcome<String> {
        self.stream.get_mut().write_all(&self.request)?;
        let status = self.line()?;
        let mut body = Vec::new();
        match self.content_length()? {
            Some(length) => self.read(length, &mut body)?,
            None => self.read_chunks(&mut body)?,
        }
        let body = String::from_utf8(body)?;
        if status.starts_with("HTTP/1.1 200 ") { Ok(body) } else { Err(format!("{status}: {body}").into()) }
    }

    /// Reads the headers; a body without a length comes in chunks.
    fn content_length(&mut self) -> Outcome<Option<u64>> {
        let mut length = None;
        loop {
            let header = self.line()?.to_ascii_lowercase();
            if header.is_empty() {
                return Ok(length);
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = Some(value.trim().parse()?);
            }
        }
    }

    fn read_chunks(&mut self, body: &mut Vec<u8>) -> Outcome {
        loop {
            let size = u64::from_str_radix(&self.line()?, 16)?;
            self.read(size, body)?;
            self.line()?;
            if size == 0 {
                return Ok(());
            }
        }
    }

    fn read(&mut self, length: u64, body: &mut Vec<u8>) -> Outcome {
        let read = self.stream.by_ref().take(length).read_to_end(body)?;
        if read as u64 == length { Ok(()) } else { Err("the answer ends too early".into()) }
    }

    fn line(&mut self) -> Outcome<String> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        match line.strip_suffix("\r\n") {
            Some(line) => Ok(line.to_owned()),
            None => Err("the answer ends too early".into()),
        }
    }
}
