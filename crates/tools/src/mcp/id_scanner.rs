//! Finds the `id` of a JSON-RPC message that is too long to be buffered.

use rmcp::model::RequestId;

/// How many bytes of a member are buffered; an `id` is shorter than this.
const MEMBER_BYTES: usize = 64;

/// A scanner over the bytes of a JSON object that keeps only its `id`, if that is a number.
#[derive(Debug, Default)]
pub(super) struct IdScanner {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The beginning of the object's current member.
    member: Vec<u8>,
    id: Option<i64>,
}

impl IdScanner {
    pub(super) fn read(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.step(byte);
        }
    }

    /// The `id`, after the whole message was read.
    pub(super) fn id(&self) -> Option<RequestId> {
        self.id.map(RequestId::Number)
    }

    fn step(&mut self, byte: u8) {
        let ends_member = !self.in_string && self.depth == 1 && matches!(byte, b',' | b'}');
        if ends_member {
            self.id = self.id.or_else(|| id_of(&self.member));
            self.member.clear();
        } else if self.depth == 1 && self.member.len() < MEMBER_BYTES {
            self.member.push(byte);
        }
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' => self.escaped = self.in_string,
            b'"' => self.in_string = !self.in_string,
            b'{' | b'[' if !self.in_string => self.depth += 1,
            b'}' | b']' if !self.in_string => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }
}

/// The number in `"id": 7`.
fn id_of(member: &[u8]) -> Option<i64> {
    let (name, value) = std::str::from_utf8(member).ok()?.split_once(':')?;
    if name.trim() == "\"id\"" { value.trim().parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(message: &str) -> Option<i64> {
        let mut scanner = IdScanner::default();
        message.as_bytes().chunks(3).for_each(|chunk| scanner.read(chunk));
        scanner.id
    }

    #[test]
    fn the_id_is_found_wherever_it_stands_and_nowhere_else() {
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":17,"result":{"id":1,"a":["}",{"id":2}]}}"#), Some(17));
        assert_eq!(id(r#" { "result" : {"a":"\\\"id\":3,{\\"} , "jsonrpc" : "2.0" , "id" : 4 } "#), Some(4));
        assert_eq!(id(r#"{"result":"\",\"id\":5,","id":"6"}"#), None);
        assert_eq!(id(r#"{"method":"x","params":{"id":7}}"#), None);
        assert_eq!(id(&format!(r#"{{"result":"{}","id":8}}"#, "ä\\\"}".repeat(1000))), Some(8));
        for broken in ["", "}}}}", "\"id\":9", "[\"id\":9]", "{\"id\":9"] {
            assert_eq!(id(broken), None, "{broken}");
        }
    }
}
