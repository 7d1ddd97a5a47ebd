//! The `wordwrap` filter: `textwrap.wrap` as Jinja2 calls it.

use super::PyError;
use super::chars::{is_decimal, is_space, is_word};
use super::out::Bounded;
use super::split::split_lines;
use super::text::{bytes, len};

/// The arguments of `wordwrap`.
#[derive(Clone, Copy, Debug)]
pub struct WrapOptions<'o> {
    /// The most characters of a line.
    pub width: i64,
    /// Whether words that are longer than a line are broken.
    pub break_long_words: bool,
    /// What stands between lines.
    pub wrapstring: &'o str,
    /// Whether a line may end after a hyphen inside a word.
    pub break_on_hyphens: bool,
}

impl Default for WrapOptions<'_> {
    fn default() -> Self {
        WrapOptions { width: 79, break_long_words: true, wrapstring: "\n", break_on_hyphens: true }
    }
}

/// The `wordwrap` filter: every line of the text is wrapped by itself.
pub fn wordwrap(text: &str, options: &WrapOptions<'_>, room: usize) -> Result<String, PyError> {
    let mut out = Bounded::new(room);
    for (at, line) in split_lines(text, false).into_iter().enumerate() {
        if at > 0 {
            out.push_str(options.wrapstring)?;
        }
        wrap_line(&mut out, line, options)?;
    }
    Ok(out.finish())
}

/// A piece of text that is not broken unless it must be, and its length in characters.
#[derive(Clone, Copy)]
struct Chunk<'t> {
    text: &'t str,
    len: usize,
}

impl Chunk<'_> {
    fn is_blank(self) -> bool {
        self.text.chars().all(is_space)
    }
}

fn wrap_line(out: &mut Bounded, line: &str, options: &WrapOptions<'_>) -> Result<(), PyError> {
    let width = usize::try_from(options.width)
        .ok()
        .filter(|&width| width > 0)
        .ok_or_else(|| PyError::Value(format!("invalid width {} (must be > 0)", options.width)))?;
    let mut chunks: Vec<_> = split_chunks(line, options.break_on_hyphens)
        .into_iter()
        .map(|text| Chunk { text, len: len(text) })
        .rev()
        .collect();
    let mut lines = 0;
    while !chunks.is_empty() {
        let filled = fill_line(&mut chunks, width, options, lines > 0);
        if !filled.is_empty() {
            if lines > 0 {
                out.push_str(options.wrapstring)?;
            }
            lines += 1;
            filled.iter().try_for_each(|chunk| out.push_str(chunk.text))?;
        }
    }
    Ok(())
}

/// Takes the chunks of one line from the end of `chunks`.
fn fill_line<'t>(
    chunks: &mut Vec<Chunk<'t>>,
    width: usize,
    options: &WrapOptions<'_>,
    drop_blank: bool,
) -> Vec<Chunk<'t>> {
    let mut line = Vec::new();
    let mut size = 0;
    if drop_blank {
        chunks.pop_if(|chunk| chunk.is_blank());
    }
    while let Some(chunk) = chunks.pop_if(|chunk| size + chunk.len <= width) {
        size += chunk.len;
        line.push(chunk);
    }
    if let Some(long) = chunks.last_mut().filter(|chunk| chunk.len > width) {
        if options.break_long_words {
            line.push(break_chunk(long, width - size, options.break_on_hyphens));
        } else if line.is_empty() {
            line.extend(chunks.pop());
        }
    }
    line.pop_if(|chunk| chunk.is_blank());
    line
}

/// Cuts off what fits into `space` characters, after the last hyphen if there is one.
fn break_chunk<'t>(chunk: &mut Chunk<'t>, space: usize, break_on_hyphens: bool) -> Chunk<'t> {
    let whole = chunk.text;
    let fitting = whole.get(..bytes(whole, space)).unwrap_or_default();
    let mut end = fitting.len();
    if break_on_hyphens && chunk.len > space {
        let hyphen = fitting
            .rfind('-')
            .filter(|&at| fitting.get(..at).is_some_and(|head| head.contains(|c| c != '-')));
        end = hyphen.map_or(end, |at| at + 1);
    }
    let (text, rest) = whole.split_at(end);
    let part = Chunk { text, len: len(text) };
    *chunk = Chunk { text: rest, len: chunk.len - part.len };
    part
}

/// The chunks of a line: runs of blanks, words, and parts of words that end with a hyphen.
fn split_chunks(line: &str, hyphens: bool) -> Vec<&str> {
    let mut chunks = Vec::new();
    let mut rest = line;
    let mut before = Before::default();
    while !rest.is_empty() {
        let blanks = rest.len() - rest.trim_start_matches(is_blank).len();
        let end = match blanks {
            0 if hyphens => chunk_end(rest, before),
            0 => rest.find(is_blank).unwrap_or(rest.len()),
            blanks => blanks,
        };
        let (chunk, after) = rest.split_at(end);
        chunk.chars().rev().take(3).collect::<Vec<_>>().into_iter().rev().for_each(|c| before.push(c));
        chunks.push(chunk);
        rest = after;
    }
    chunks
}

/// What `textwrap` takes for whitespace.
fn is_blank(c: char) -> bool {
    matches!(c, '\t'..='\r' | ' ')
}

fn is_letter(c: char) -> bool {
    is_word(c) && !is_decimal(c)
}

fn is_word_or_punctuation(c: char) -> bool {
    is_word(c) || matches!(c, '!' | '"' | '\'' | '&' | '.' | ',' | '?')
}

/// The last three characters, the latest one last.
#[derive(Clone, Copy, Default)]
struct Before([Option<char>; 3]);

impl Before {
    fn push(&mut self, c: char) {
        let Before([_, second, third]) = *self;
        self.0 = [second, third, Some(c)];
    }

    fn is_word(self) -> bool {
        let Before([_, _, last]) = self;
        last.is_some_and(is_word_or_punctuation)
    }

    /// Whether a hyphen after these characters may end a part of a word: two letters, or letter, hyphen and letter.
    fn takes_hyphen(self) -> bool {
        let letter = |c: Option<char>| c.is_some_and(is_letter);
        let Before([first, second, third]) = self;
        letter(third) && (letter(second) || second == Some('-') && letter(first))
    }
}

/// Whether a dash of several hyphens begins here that stands before a word; then its length.
fn dash(text: &str) -> Option<usize> {
    let after = text.trim_start_matches('-');
    let length = text.len() - after.len();
    (length >= 2 && after.chars().next().is_some_and(is_word)).then_some(length)
}

/// Where the chunk ends that begins with `text`, which begins with no blank.
fn chunk_end(text: &str, mut before: Before) -> usize {
    if before.is_word()
        && let Some(length) = dash(text)
    {
        return length;
    }
    for (at, c) in text.char_indices() {
        let rest = text.get(at..).unwrap_or_default();
        if is_blank(c) {
            return at;
        }
        if c == '-' && at > 0 {
            let next = rest.get(1..).unwrap_or_default();
            if before.takes_hyphen() && begins_part(next) {
                return at + 1;
            }
            if before.is_word() && dash(rest).is_some() {
                return at;
            }
        }
        before.push(c);
    }
    text.len()
}

/// Whether two letters follow, with a hyphen between them perhaps.
fn begins_part(text: &str) -> bool {
    let mut chars = text.chars();
    let first = chars.next().is_some_and(is_letter);
    let second = chars.next();
    let second = if second == Some('-') { chars.next() } else { second };
    first && second.is_some_and(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_where_textwrap_splits_them() {
        let chunks = |text| split_chunks(text, true);
        assert_eq!(
            chunks("Hello there -- you goof-ball, use the -b option!"),
            [
                "Hello", " ", "there", " ", "--", " ", "you", " ", "goof-", "ball,", " ", "use", " ", "the",
                " ", "-b", " ", "option!"
            ]
        );
        assert_eq!(
            chunks("em--dash a-b-c x-1 foo---bar"),
            ["em", "--", "dash", " ", "a-b-c", " ", "x-1", " ", "foo", "---", "bar"]
        );
    }

    #[test]
    fn long_words_are_broken_or_kept() {
        let wrap = |text, width, break_long_words| {
            let options = WrapOptions { width, break_long_words, ..WrapOptions::default() };
            wordwrap(text, &options, 999)
        };
        assert_eq!(wrap("abcd efghijklm no", 5, true).as_deref(), Ok("abcd \nefghi\njklm\nno"));
        assert_eq!(wrap("a abcdefgh b", 5, false).as_deref(), Ok("a\nabcdefgh\nb"));
        assert_eq!(wrap("foo bar\n\nbaz", 5, true).as_deref(), Ok("foo\nbar\n\nbaz"));
        assert_eq!(wrap("x", 0, true), PyError::value_error("invalid width 0 (must be > 0)"));
        let wide = WrapOptions { width: 1, wrapstring: "=========", ..WrapOptions::default() };
        assert_eq!(wordwrap("abcdefghijk", &wide, 100), Err(PyError::TooLarge));
    }
}
