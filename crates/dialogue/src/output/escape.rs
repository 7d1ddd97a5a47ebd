//! Reads escape sequences and control characters: what they say about the line.
//!
//! A sequence that does not go on as it should ends at once.

/// What a terminal does to the line.
#[derive(Debug, PartialEq)]
pub(super) enum Signal {
    /// Write a character over the one that stands here.
    Character(char),
    Left(usize),
    Right(usize),
    /// Go to a column, the first of which is 0.
    Column(usize),
    EraseRest,
    EraseLine,
}

/// Where in an escape sequence the last character stood.
#[derive(Default, Clone, Copy)]
enum State {
    #[default]
    Text,
    /// After `ESC`.
    Escape,
    /// After `ESC` and characters such as `(`: one more character ends it.
    Intermediate,
    /// After `ESC [`, up to a letter.
    Control(Number),
    /// In a string such as a title, up to a bell or `ESC \`.
    String,
    /// After `ESC` in a string.
    StringEscape,
}

/// The first number of a control sequence, if it has no others and no private marks.
#[derive(Clone, Copy)]
enum Number {
    Absent,
    Is(usize),
    Other,
}

/// Reads a line character by character.
#[derive(Default)]
pub(super) struct Escapes {
    state: State,
}

impl Escapes {
    /// What the next character says, if anything.
    pub(super) fn read(&mut self, c: char) -> Option<Signal> {
        let (next, signal) = match self.state {
            State::Text => plain(c),
            State::Escape => after_escape(c),
            State::Intermediate => after_intermediate(c),
            State::Control(number) => in_control(number, c),
            State::String => (in_string(c), None),
            State::StringEscape if c == '\\' => (State::Text, None),
            State::StringEscape => after_escape(c),
        };
        self.state = next;
        signal
    }
}

/// A character outside of sequences.
fn plain(c: char) -> (State, Option<Signal>) {
    match c {
        '\u{1b}' => (State::Escape, None),
        '\u{9b}' => (State::Control(Number::Absent), None),
        '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => (State::String, None),
        '\r' => (State::Text, Some(Signal::Column(0))),
        '\u{8}' => (State::Text, Some(Signal::Left(1))),
        c if c.is_control() && c != '\t' => (State::Text, None),
        c => (State::Text, Some(Signal::Character(c))),
    }
}

fn after_escape(c: char) -> (State, Option<Signal>) {
    match c {
        '[' => (State::Control(Number::Absent), None),
        ']' | 'P' | 'X' | '^' | '_' => (State::String, None),
        _ => after_intermediate(c),
    }
}

fn after_intermediate(c: char) -> (State, Option<Signal>) {
    match c {
        ' '..='/' => (State::Intermediate, None),
        '0'..='~' => (State::Text, None),
        _ => plain(c),
    }
}

fn in_control(number: Number, c: char) -> (State, Option<Signal>) {
    match (c, number) {
        ('0'..='9', Number::Absent) => (State::Control(Number::Is(digit(c))), None),
        ('0'..='9', Number::Is(value)) => {
            (State::Control(Number::Is(value.saturating_mul(10).saturating_add(digit(c)))), None)
        }
        (' '..='?', _) => (State::Control(Number::Other), None),
        ('@'..='~', _) => (State::Text, obeyed(number, c)),
        _ => plain(c),
    }
}

fn digit(c: char) -> usize {
    c.to_digit(10).map_or(0, |digit| digit as usize)
}

/// What a control sequence says about the line. Those that move between lines, and colours, say nothing.
fn obeyed(number: Number, letter: char) -> Option<Signal> {
    let value = match number {
        Number::Absent => 0,
        Number::Is(value) => value,
        Number::Other => return None,
    };
    match (letter, value) {
        ('K', 0) => Some(Signal::EraseRest),
        ('K', 2) => Some(Signal::EraseLine),
        ('G', column) => Some(Signal::Column(column.saturating_sub(1))),
        ('C', count) => Some(Signal::Right(count.max(1))),
        ('D', count) => Some(Signal::Left(count.max(1))),
        _ => None,
    }
}

fn in_string(c: char) -> State {
    match c {
        '\u{1b}' => State::StringEscape,
        '\u{7}' | '\u{9c}' | '\u{18}' | '\u{1a}' => State::Text,
        _ => State::String,
    }
}
