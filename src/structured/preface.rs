//! What comes before the value in a stream: white space, thoughts, a code fence, sentences.

const OPENING: &[u8] = b"<think>";
const CLOSING: &[u8] = b"</think>";
const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// Where in it a stream is.
#[derive(Debug, Clone, Copy)]
pub enum Preface {
    /// Before the first byte that is no white space.
    Begin,
    /// After so many bytes of `<think>`.
    Opening(usize),
    /// In the thoughts, after so many bytes of `</think>`.
    Thoughts(usize),
    /// In other text, which a bracket ends.
    Prose,
    /// In a part of it that stands in brackets, of which so many are open.
    Aside(usize),
}

impl Preface {
    /// The place after one more byte; `None` if the byte is the first one of the value.
    pub fn with(self, byte: u8) -> Option<Preface> {
        match (self, byte) {
            (Preface::Thoughts(matched), _) => Some(in_thoughts(matched, byte)),
            (Preface::Aside(open), _) => Some(in_aside(open, byte)),
            (_, b'{' | b'[') => None,
            (Preface::Begin, b'<') => Some(Preface::Opening(1)),
            (Preface::Begin, _) if byte.is_ascii_whitespace() || BYTE_ORDER_MARK.contains(&byte) => {
                Some(Preface::Begin)
            }
            (Preface::Opening(matched), _) if OPENING.get(matched) == Some(&byte) => {
                Some(if matched + 1 == OPENING.len() {
                    Preface::Thoughts(0)
                } else {
                    Preface::Opening(matched + 1)
                })
            }
            _ => Some(Preface::Prose),
        }
    }
}

fn in_aside(open: usize, byte: u8) -> Preface {
    match byte {
        b'{' | b'[' => Preface::Aside(open + 1),
        b'}' | b']' if open <= 1 => Preface::Prose,
        b'}' | b']' => Preface::Aside(open - 1),
        _ => Preface::Aside(open),
    }
}

fn in_thoughts(matched: usize, byte: u8) -> Preface {
    match CLOSING.get(matched) == Some(&byte) {
        true if matched + 1 == CLOSING.len() => Preface::Prose,
        true => Preface::Thoughts(matched + 1),
        // The first byte of the tag is nowhere else in it.
        false => Preface::Thoughts(usize::from(byte == b'<')),
    }
}
