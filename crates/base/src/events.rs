//! A decoder of event streams: server-sent events (WHATWG HTML, section 9.2) out of bytes that are split anywhere.

use bytes::{Bytes, BytesMut};
use memchr::memchr2_iter;

use crate::encoding::without_bom;

/// An event exceeds the limit of its [`EventDecoder`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event is longer than {limit} bytes")]
pub struct EventTooLong {
    /// The longest that an event may be, in bytes.
    pub limit: usize,
}

/// Buffers bytes until they are complete events.
#[derive(Debug)]
pub struct EventDecoder {
    /// The bytes of an event that is not complete yet.
    partial: BytesMut,
    /// How many of them were searched for line ends.
    searched: usize,
    /// Where the last line among them begins.
    line: usize,
    limit: usize,
}

impl EventDecoder {
    /// A decoder of events of at most `limit` bytes each.
    pub fn new(limit: usize) -> EventDecoder {
        EventDecoder { partial: BytesMut::new(), searched: 0, line: 0, limit }
    }

    /// Adds bytes; returns all events that are complete now, back to back and as they were written ([`split`] separates
    /// them), or no bytes if none is.
    ///
    /// # Errors
    /// [`EventTooLong`].
    pub fn push(&mut self, bytes: Bytes) -> Result<Bytes, EventTooLong> {
        let whole = match self.partial.is_empty() {
            // Most packets hold complete events, and then nothing is copied.
            true => {
                let end = self.end_of_events(&bytes);
                self.partial.extend_from_slice(bytes.get(end..).unwrap_or_default());
                bytes.slice(..end)
            }
            false => {
                let mut partial = std::mem::take(&mut self.partial);
                partial.extend_from_slice(&bytes);
                let end = self.end_of_events(&partial);
                let whole = partial.split_to(end).freeze();
                self.partial = partial;
                whole
            }
        };
        self.line = self.line.saturating_sub(whole.len());
        self.searched = self.partial.len();
        match self.partial.len() > self.limit {
            true => Err(EventTooLong { limit: self.limit }),
            false => Ok(whole),
        }
    }

    /// How many bytes of an event that is not complete yet are buffered.
    pub fn buffered(&self) -> usize {
        self.partial.len()
    }

    /// The bytes after the last complete event; for the end of a stream.
    pub fn rest(self) -> Bytes {
        self.partial.freeze()
    }

    /// Where the last complete event ends: after an empty line. Lines end with LF, CR, or both.
    fn end_of_events(&mut self, bytes: &[u8]) -> usize {
        let mut end = 0;
        let unseen = bytes.get(self.searched..).unwrap_or_default();
        for at in memchr2_iter(b'\n', b'\r', unseen).map(|at| at + self.searched) {
            let after_cr = bytes.get(at) == Some(&b'\n') && at > 0 && bytes.get(at - 1) == Some(&b'\r');
            // The second half of CR LF belongs to the line, and to the event, that the first half ended.
            if after_cr && end == at || !after_cr && at == self.line {
                end = at + 1;
            }
            self.line = at + 1;
        }
        end
    }
}

/// The events in these bytes, each as it was written, with its empty line.
pub fn split(whole: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = whole;
    std::iter::from_fn(move || {
        let (event, after) = rest.split_at(end_of_first(rest));
        rest = after;
        (!event.is_empty()).then_some(event)
    })
}

fn end_of_first(bytes: &[u8]) -> usize {
    let mut line = 0;
    let mut ends = memchr2_iter(b'\n', b'\r', bytes).peekable();
    while let Some(at) = ends.next() {
        let empty = at == line;
        line = at + 1;
        if bytes.get(at) == Some(&b'\r') && bytes.get(line) == Some(&b'\n') {
            ends.next();
            line += 1;
        }
        if empty {
            return line;
        }
    }
    bytes.len()
}

/// The data of one event: its `data` fields, joined by line feeds; `None` if it has none.
pub fn data(event: &[u8]) -> Option<Vec<u8>> {
    let mut data: Option<Vec<u8>> = None;
    // A stream may begin with a byte order mark.
    let lines = without_bom(event).split(|byte| b"\r\n".contains(byte));
    for line in lines.filter_map(|line| line.strip_prefix(b"data")) {
        let value = match line {
            [] => line,
            [b':', b' ', value @ ..] | [b':', value @ ..] => value,
            _ => continue,
        };
        match &mut data {
            None => data = Some(value.to_vec()),
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
        }
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What the decoder returns, call by call, when `text` arrives split at these places; and what is left at the end.
    fn decoded(text: &[u8], splits: &[usize]) -> (Vec<Bytes>, Bytes) {
        let mut decoder = EventDecoder::new(1 << 20);
        let mut places: Vec<usize> = splits.iter().map(|at| at % (text.len() + 1)).collect();
        places.extend([0, text.len()]);
        places.sort_unstable();
        let pieces = places.windows(2).map(|pair| Bytes::copy_from_slice(&text[pair[0]..pair[1]]));
        let whole = pieces.map(|piece| decoder.push(piece).unwrap()).filter(|piece| !piece.is_empty());
        let whole: Vec<Bytes> = whole.collect();
        (whole, decoder.rest())
    }

    /// The data of all events, by the letter of the standard, from the whole text at once.
    fn by_the_standard(text: &str) -> Vec<String> {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let (mut events, mut lines) = (Vec::new(), Vec::new());
        for line in text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            match (line.is_empty(), name) {
                (true, _) if !lines.is_empty() => events.push(std::mem::take(&mut lines).join("\n")),
                (false, "data") => lines.push(value.strip_prefix(' ').unwrap_or(value).to_owned()),
                _ => {}
            }
        }
        events
    }

    fn datas(whole: &[Bytes]) -> Vec<String> {
        let events = whole.iter().flat_map(|whole| split(whole));
        events.filter_map(data).map(|data| String::from_utf8(data).unwrap()).collect()
    }

    fn stream() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            Just(String::new()),
            Just(": comment".to_owned()),
            Just("event: x".to_owned()),
            Just("data".to_owned()),
            "data: ?[a-zäß€𝄞]{0,6}",
        ];
        let end = prop_oneof![Just("\n"), Just("\r"), Just("\r\n")];
        prop::collection::vec((line, end), 0..12)
            .prop_map(|lines| lines.into_iter().map(|(line, end)| line + end).collect())
    }

    proptest! {
        #[test]
        fn wherever_bytes_are_split_the_events_are_the_same(
            text in stream(),
            splits in prop::collection::vec(any::<usize>(), 0..8),
        ) {
            let (whole, rest) = decoded(text.as_bytes(), &splits);
            prop_assert_eq!(datas(&whole), by_the_standard(&text));
            let joined: Vec<u8> = whole.iter().flatten().chain(&rest).copied().collect();
            prop_assert_eq!(joined, text.as_bytes());
        }
    }

    #[test]
    fn split_at_every_byte_each_event_comes_as_soon_as_it_is_whole() {
        let text = "data: {\"a\":\"ä€\"}\r\n\r\n: ping\n\ndata: b\rdata: c\r\rdata: [DONE]\n\n";
        let every: Vec<usize> = (0..text.len()).collect();
        let (whole, rest) = decoded(text.as_bytes(), &every);
        assert_eq!(datas(&whole), ["{\"a\":\"ä€\"}", "b\nc", "[DONE]"]);
        assert!(rest.is_empty());
        assert_eq!(decoded(b"data: a\n\ndata: b\n", &[]).1, "data: b\n");
        assert_eq!(data("\u{feff}data: a\n\n".as_bytes()).unwrap(), b"a");
    }

    #[test]
    fn an_event_that_never_ends_is_refused() {
        let mut decoder = EventDecoder::new(8);
        assert_eq!(decoder.push(Bytes::from_static(b"data: 1\n\ndat")).unwrap(), "data: 1\n\n");
        assert_eq!(decoder.push(Bytes::from_static(b"a: 2345")), Err(EventTooLong { limit: 8 }));
    }
}
