//! The grammar of JSON as a machine that is fed with single bytes, so that a text can be followed while it arrives.

use super::number::Number;

/// How deep the parser lets values nest; deeper ones are no JSON for this machine either.
const DEPTH_MAX: usize = 127;

/// What holds other values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    /// `{…}`
    Object,
    /// `[…]`
    List,
}

/// What one byte did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Nothing that matters outside: white space, a comma, a part of a name or of a number.
    Nothing,
    /// It opened an object or a list.
    Opened(Container),
    /// It closed the innermost object or list.
    Closed,
    /// It began a member's name.
    NameBegan,
    /// It ended a member's name.
    NameEnded,
    /// It began a string, which is a value.
    StringBegan,
    /// It began a number, `true`, `false` or `null`.
    ScalarBegan,
    /// Up to it, everything in a string is known, except for the end of a character of several bytes.
    Text,
    /// It ended an escaped UTF-16 unit in a string.
    Unit(u16),
    /// It ended a string or literal, which is a value.
    Ended,
    /// It cannot stand where it does: the text is no JSON.
    Refused,
}

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// A value.
    Value,
    /// A value, or the end of the list.
    FirstItem,
    /// A name, or the end of the object.
    FirstName,
    /// A name.
    Name,
    /// The colon after a name.
    Colon,
    /// A comma, or the end of what is open.
    After,
    /// The rest of a string.
    Within { place: Place, is_name: bool },
    /// The rest of a number.
    Number(Number),
    /// These letters.
    Letters(&'static [u8]),
    /// Nothing but white space.
    End,
    /// Nothing: the text is no JSON.
    Refused,
}

/// A place in a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Text,
    /// After a backslash.
    Escape,
    /// In a `\u` escape: how many digits are missing, and the unit so far.
    Digits(u8, u16),
}

/// The machine. It accepts one object or list; what comes before it is no concern of its.
#[derive(Debug, Clone)]
pub struct Scanner {
    open: Vec<Container>,
    state: State,
}

impl Scanner {
    /// A machine before the first byte of a value.
    pub fn new() -> Scanner {
        Scanner { open: Vec::new(), state: State::Value }
    }

    /// The open objects and lists, the innermost last.
    pub fn open(&self) -> &[Container] {
        &self.open
    }

    /// Whether this byte comes after a number, which it thereby ends. To be asked before [`Scanner::take`].
    pub fn ends_number(&self, byte: u8) -> bool {
        let is_after = matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b']' | b'}');
        is_after && matches!(self.state, State::Number(number) if number.may_end())
    }

    /// Takes the next byte.
    pub fn take(&mut self, byte: u8) -> Event {
        if self.ends_number(byte) {
            self.state = self.after_value();
        }
        let (state, event) = self.next(byte).unwrap_or((State::Refused, Event::Refused));
        self.state = state;
        event
    }

    /// The state and the event after this byte; `None` if it cannot stand here.
    fn next(&mut self, byte: u8) -> Option<(State, Event)> {
        match (self.state, byte) {
            (State::Within { place, is_name }, _) => self.in_string(place, is_name, byte),
            (State::Number(number), _) => Some((State::Number(number.with(byte)?), Event::Nothing)),
            (State::Letters(letters), _) => self.in_letters(letters, byte),
            (State::Refused, _) => None,
            (state, b' ' | b'\t' | b'\n' | b'\r') => Some((state, Event::Nothing)),
            (State::FirstItem | State::After, b']') => self.close(Container::List),
            (State::FirstName | State::After, b'}') => self.close(Container::Object),
            (State::Value | State::FirstItem, _) => self.begin(byte),
            (State::FirstName | State::Name, b'"') => Some((string(true), Event::NameBegan)),
            (State::Colon, b':') => Some((State::Value, Event::Nothing)),
            (State::After, b',') => match self.open.last()? {
                Container::Object => Some((State::Name, Event::Nothing)),
                Container::List => Some((State::Value, Event::Nothing)),
            },
            _ => None,
        }
    }

    fn begin(&mut self, byte: u8) -> Option<(State, Event)> {
        let letters: &[u8] = match byte {
            b'{' => return self.open_one(Container::Object, State::FirstName),
            b'[' => return self.open_one(Container::List, State::FirstItem),
            b'"' => return Some((string(false), Event::StringBegan)),
            b't' => b"rue",
            b'f' => b"alse",
            b'n' => b"ull",
            _ => return Some((State::Number(Number::begun_by(byte)?), Event::ScalarBegan)),
        };
        Some((State::Letters(letters), Event::ScalarBegan))
    }

    fn open_one(&mut self, container: Container, state: State) -> Option<(State, Event)> {
        if self.open.len() >= DEPTH_MAX {
            return None;
        }
        self.open.push(container);
        Some((state, Event::Opened(container)))
    }

    fn close(&mut self, container: Container) -> Option<(State, Event)> {
        self.open.pop_if(|open| *open == container)?;
        Some((self.after_value(), Event::Closed))
    }

    fn after_value(&self) -> State {
        if self.open.is_empty() { State::End } else { State::After }
    }

    fn in_letters(&self, letters: &'static [u8], byte: u8) -> Option<(State, Event)> {
        match letters.split_first()? {
            (letter, _) if *letter != byte => None,
            (_, []) => Some((self.after_value(), Event::Ended)),
            (_, rest) => Some((State::Letters(rest), Event::Nothing)),
        }
    }

    fn in_string(&self, place: Place, is_name: bool, byte: u8) -> Option<(State, Event)> {
        let (place, event) = match (place, byte) {
            (Place::Text, b'"') if is_name => return Some((State::Colon, Event::NameEnded)),
            (Place::Text, b'"') => return Some((self.after_value(), Event::Ended)),
            (Place::Text, b'\\') => (Place::Escape, Event::Nothing),
            (Place::Text, 0..0x20) => return None,
            (Place::Text, _) => (Place::Text, Event::Text),
            (Place::Escape, b'u') => (Place::Digits(4, 0), Event::Nothing),
            (Place::Escape, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                (Place::Text, Event::Text)
            }
            (Place::Escape, _) => return None,
            (Place::Digits(missing, unit), _) => {
                let digit = char::from(byte).to_digit(16).and_then(|digit| u16::try_from(digit).ok())?;
                match unit << 4 | digit {
                    unit if missing <= 1 => (Place::Text, Event::Unit(unit)),
                    unit => (Place::Digits(missing - 1, unit), Event::Nothing),
                }
            }
        };
        let event = if is_name { Event::Nothing } else { event };
        Some((State::Within { place, is_name }, event))
    }
}

fn string(is_name: bool) -> State {
    State::Within { place: Place::Text, is_name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use template::value::{Value, from_json};

    /// Whether the machine takes the whole text as one object or list.
    fn accepts(text: &str) -> bool {
        let mut scanner = Scanner::new();
        text.bytes().all(|byte| scanner.take(byte) != Event::Refused) && scanner.state == State::End
    }

    fn parses(text: &str) -> bool {
        let is_container = |value| matches!(value, Value::List(_) | Value::Map(_));
        from_json(text.as_bytes()).is_ok_and(is_container)
    }

    #[test]
    fn it_accepts_what_the_parser_does() {
        for text in [
            r#"{"a": [1, -0.5e+7, 0, true, false, null, "\u00e4\n"], "": {}}"#,
            "[[], {}]  ",
            "[01]",
            "[1.]",
            "[-]",
            "[1e]",
            "[.5]",
            "[1,]",
            "{,}",
            r#"{"a":1,}"#,
            r#"{"a" 1}"#,
            "{'a': 1}",
            "[nul]",
            "[truee]",
            r#"["\x"]"#,
            "[\"\n\"]",
            "[}",
            "[1] 2",
        ] {
            assert_eq!(accepts(text), parses(text), "{text}");
        }
        for depth in 125..130 {
            let text = "[".repeat(depth) + &"]".repeat(depth);
            assert_eq!(accepts(&text), parses(&text), "{depth}");
        }
    }

    proptest! {
        #[test]
        fn it_accepts_what_the_parser_does_of_any_text(text in r#"[\[{]([\[\]{}",:\\ ue019.+-]|true|"a"|"a":|\\u00e4){0,12}[\]}]"#) {
            prop_assert_eq!(accepts(&text), parses(&text));
        }
    }
}
