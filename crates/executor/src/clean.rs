//! Bytes that a program wrote, as text: without escape sequences, without control characters, and always valid UTF-8.

use std::mem;

/// Turns pieces of output into text, however the pieces are cut.
///
/// Terminals differ in what they do with broken sequences. Here a sequence that does not go on as it should ends at once, and one
/// that holds a text (a title, a link) ends at the line's end at the latest, so that it cannot swallow the rest of the output.
/// Crates for this task let it go on.
#[derive(Default)]
pub(crate) struct Cleaner {
    state: State,
    /// The beginning of a character whose end has not been read yet: at most three bytes.
    begun: Vec<u8>,
}

/// Where in an escape sequence the last character stood.
#[derive(Default, Clone, Copy, PartialEq)]
enum State {
    #[default]
    Text,
    /// After `ESC`.
    Escape,
    /// After `ESC` and characters such as `(`: one more character ends it.
    Intermediate,
    /// After `ESC [`, up to a letter.
    Control,
    /// After `ESC ]` and its kind, up to a bell or `ESC \`.
    String,
    /// After `ESC` in a string.
    StringEscape,
}

impl Cleaner {
    /// Adds what is text in `bytes` to `text`.
    pub(crate) fn feed(&mut self, bytes: &[u8], text: &mut String) {
        let mut all = mem::take(&mut self.begun);
        all.extend_from_slice(bytes);
        for chunk in all.utf8_chunks() {
            chunk.valid().chars().for_each(|c| self.step(c, text));
            if is_begun(chunk.invalid()) {
                self.begun = chunk.invalid().to_vec();
            } else if !chunk.invalid().is_empty() {
                self.step(char::REPLACEMENT_CHARACTER, text);
            }
        }
    }

    /// Says that nothing follows: what is begun stays unfinished.
    pub(crate) fn finish(&mut self, text: &mut String) {
        if !mem::take(&mut self.begun).is_empty() {
            self.step(char::REPLACEMENT_CHARACTER, text);
        }
    }

    fn step(&mut self, c: char, text: &mut String) {
        let next = match self.state {
            State::Text => None,
            State::Escape => after_escape(c),
            State::Intermediate => after_intermediate(c),
            State::Control => in_control(c),
            State::String => in_string(c),
            State::StringEscape if c == '\\' => Some(State::Text),
            State::StringEscape => after_escape(c),
        };
        self.state = next.unwrap_or_else(|| plain(c, text));
    }
}

/// Whether these bytes are the beginning of a character, rather than no character at all.
fn is_begun(invalid: &[u8]) -> bool {
    std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none())
}

/// A character outside of sequences. NUL stays: it separates the entries of `find -print0` and `git ls-files -z`.
fn plain(c: char, text: &mut String) -> State {
    match c {
        '\u{1b}' => return State::Escape,
        '\u{9b}' => return State::Control,
        '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => return State::String,
        '\n' | '\r' | '\t' | '\0' => text.push(c),
        c if c.is_control() => {}
        c => text.push(c),
    }
    State::Text
}

// What follows a character in a sequence; nothing if the sequence is broken, and the character stands outside of it.

fn after_escape(c: char) -> Option<State> {
    match c {
        '[' => Some(State::Control),
        ']' | 'P' | 'X' | '^' | '_' => Some(State::String),
        ' '..='/' => Some(State::Intermediate),
        '0'..='~' => Some(State::Text),
        _ => None,
    }
}

fn after_intermediate(c: char) -> Option<State> {
    match c {
        ' '..='/' => Some(State::Intermediate),
        '0'..='~' => Some(State::Text),
        _ => None,
    }
}

fn in_control(c: char) -> Option<State> {
    match c {
        ' '..='?' => Some(State::Control),
        '@'..='~' => Some(State::Text),
        _ => None,
    }
}

fn in_string(c: char) -> Option<State> {
    match c {
        '\u{1b}' => Some(State::StringEscape),
        '\u{7}' | '\u{9c}' | '\u{18}' | '\u{1a}' => Some(State::Text),
        '\n' => None,
        _ => Some(State::String),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(bytes: &[u8]) -> String {
        cleaned_in_pieces(bytes, bytes.len().max(1))
    }

    fn cleaned_in_pieces(bytes: &[u8], size: usize) -> String {
        let (mut cleaner, mut text) = (Cleaner::default(), String::new());
        bytes.chunks(size).for_each(|piece| cleaner.feed(piece, &mut text));
        cleaner.finish(&mut text);
        text
    }

    #[test]
    fn escape_sequences_are_removed_and_white_space_stays() {
        let cases: [(&str, &str); 12] = [
            ("\u{1b}[1;31mred\u{1b}[0m\tplain\r\n", "red\tplain\r\n"),
            ("\u{1b}[38:2::1:2:3mx\u{1b}[?25l", "x"),
            ("\u{1b}]0;title\u{7}text", "text"),
            ("\u{1b}]8;;https://a.example/\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}P1$r0m\u{1b}\\a\u{1b}_Gf=32;AAAA\u{1b}\\b", "ab"),
            ("\u{1b}(B\u{1b}=\u{1b}7x\u{1b}#8", "x"),
            ("\u{9b}31mred\u{9d}0;t\u{9c}!", "red!"),
            ("bell\u{7} back\u{8}space\u{7f}\u{c}\u{b}\u{85}", "bell backspace"),
            ("a\0b\0", "a\0b\0"),
            ("ünïcödé 漢字 🎉", "ünïcödé 漢字 🎉"),
            ("", ""),
            ("\u{1b}\u{1b}[1mx", "x"),
        ];
        for (input, expected) in cases {
            assert_eq!(cleaned(input.as_bytes()), expected, "{input:?}");
        }
    }

    #[test]
    fn broken_sequences_swallow_no_more_than_their_line() {
        assert_eq!(cleaned(b"\x1b]0;never ends\nnext"), "\nnext");
        assert_eq!(cleaned(b"\x1b[31\nnext"), "\nnext");
        assert_eq!(cleaned("\u{1b}[3漢".as_bytes()), "漢");
        assert_eq!(cleaned("\u{1b}漢".as_bytes()), "漢");
        assert_eq!(cleaned(b"\x1b]0;t\x1b[1mbold"), "bold");
        assert_eq!(cleaned(b"text\x1b[3"), "text");
        assert_eq!(cleaned(b"text\x1b"), "text");
    }

    #[test]
    fn invalid_bytes_become_replacement_characters() {
        assert_eq!(cleaned(b"a\xffb\xc3"), "a\u{fffd}b\u{fffd}");
        assert_eq!(cleaned(b"\xed\xa0\x80"), "\u{fffd}\u{fffd}\u{fffd}");
        assert_eq!(cleaned(b"\xf0\x9f\x8e"), "\u{fffd}");
    }

    #[test]
    fn the_text_is_the_same_however_the_bytes_come() {
        let bytes = "x\u{1b}[1;31m漢🎉\u{1b}]8;;u\u{1b}\\l\u{9b}0m\r\né".as_bytes();
        let mixed = [bytes, b"\xff\xf0\x9f\x8e!\xe6"].concat();
        for size in 1..mixed.len() {
            assert_eq!(cleaned_in_pieces(&mixed, size), cleaned(&mixed), "pieces of {size}");
        }
    }
}
