//! Request bodies of JSON lines: one JSON value a line, read within the limits of all bodies.

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::web::Bytes;
use actix_web::{FromRequest, HttpRequest};

use super::body::receive;
use super::error::ApiError;
use base::encoding::without_bom;
use base::memory::{BufferedBytes, Reservation};

/// The media types of JSON lines, none of which is registered.
const TYPES: [&str; 6] = [
    "application/jsonl",
    "application/x-jsonl",
    "application/jsonlines",
    "application/x-ndjson",
    "application/ndjson",
    "application/json",
];

/// A body of JSON lines, and its reservation of memory.
pub struct LinesBody {
    /// The lines.
    pub lines: Lines,
    /// The reservation of the whole body.
    pub held: Reservation,
}

/// The lines of a text that are not blank.
pub struct Lines(Bytes);

impl Lines {
    fn of(text: &Bytes) -> Lines {
        Lines(text.slice_ref(without_bom(text)))
    }
}

impl Iterator for Lines {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        while !self.0.is_empty() {
            let end = self.0.iter().position(|byte| *byte == b'\n').map_or(self.0.len(), |at| at + 1);
            let line = self.0.split_to(end);
            let trimmed = line.trim_ascii();
            if !trimmed.is_empty() {
                return Some(line.slice_ref(trimmed));
            }
        }
        None
    }
}

impl FromRequest for LinesBody {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<LinesBody, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let is_lines: fn(&str) -> bool =
            |declared| TYPES.iter().any(|known| known.eq_ignore_ascii_case(declared));
        let received = receive(request, payload, is_lines, ApiError::no_lines);
        Box::pin(async move {
            let (sent, _) = received.await?;
            let BufferedBytes { bytes, held } = sent.finish()?;
            Ok(LinesBody { lines: Lines::of(&bytes), held })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_and_a_byte_order_mark_do_not_count_and_the_last_line_may_be_open() {
        let lines =
            |text: &'static str| -> Vec<Bytes> { Lines::of(&Bytes::from_static(text.as_bytes())).collect() };
        assert_eq!(lines("{}\r\n\n  \n [1] \n2"), ["{}", "[1]", "2"]);
        assert!(lines("\n").is_empty() && lines("").is_empty());
        assert_eq!(lines("\u{feff}{}\n{}"), ["{}", "{}"]);
    }
}
