//! Where the text of a JSON object ends, found piece by piece: no part of it is read twice.

/// How far a text has been read.
#[derive(Debug, Default)]
pub struct JsonEnd {
    /// Whether the object is over.
    pub is_over: bool,
    depth: usize,
    in_string: bool,
    is_escaped: bool,
}

impl JsonEnd {
    /// Reads the next piece.
    pub fn read(&mut self, piece: &str) {
        for byte in piece.bytes() {
            if self.is_over {
                return;
            }
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.in_string => self.is_escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.is_over = self.depth == 0;
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_over(pieces: &[&str]) -> bool {
        let mut end = JsonEnd::default();
        pieces.iter().for_each(|piece| end.read(piece));
        end.is_over
    }

    #[test]
    fn the_end_is_found_whatever_is_in_texts() {
        for whole in [&["{}"][..], &["{", "}"], &[r#"{"a": "}\""#, r#"", "b": [{}]}"#], &["{} "]] {
            assert!(is_over(whole), "{whole:?}");
        }
        for open in [&[""][..], &["{"], &[r#"{"a": "}"#], &[r#"{"a": "}\"}"#], &["[{}"], &["7"]] {
            assert!(!is_over(open), "{open:?}");
        }
    }
}
