//! Here-documents of shells: where a line begins them, and where they end.

use std::cell::OnceCell;

/// A here-document that a line begins.
#[derive(Debug, PartialEq)]
pub(super) struct HereDocument {
    /// The line that ends it.
    delimiter: String,
    /// Whether tabs may stand before that line (`<<-`).
    allows_tabs: bool,
}

/// What a character stands in.
#[derive(Clone, Copy, PartialEq)]
enum Context {
    Single,
    Double,
    /// `(` or `$(`.
    Commands,
    /// A parenthesis of `((` or `$((`, where `<<` shifts bits.
    Arithmetic,
}

/// Reads lines of a shell for the here-documents that they begin. Quotations may go over lines.
#[derive(Default)]
pub(super) struct Scanner {
    contexts: Vec<Context>,
}

impl Scanner {
    /// Whether no quotation and no parenthesis is open.
    pub(super) fn is_closed(&self) -> bool {
        self.contexts.is_empty()
    }

    /// Reads one line, and adds the here-documents that it begins.
    pub(super) fn read(&mut self, line: &str, documents: &mut Vec<HereDocument>) {
        let (mut rest, mut begins_word) = (line, true);
        while let Some(c) = rest.chars().next() {
            let is_code = matches!(self.contexts.last(), None | Some(Context::Commands));
            if is_code && c == '#' && begins_word {
                return;
            }
            if let Some(after) = rest.strip_prefix("<<").filter(|_| is_code) {
                rest = begun(after, documents);
                continue;
            }
            begins_word = c.is_ascii_whitespace() || matches!(c, ';' | '(' | '&' | '|');
            rest = self.step(c, rest);
        }
    }

    /// Reads the character, or the sign, that a text begins with; what follows it.
    fn step<'t>(&mut self, c: char, text: &'t str) -> &'t str {
        use Context::{Arithmetic, Commands, Double, Single};
        let context = self.contexts.last().copied();
        match (context, c) {
            (Some(Single), '\'') | (Some(Double), '"') | (Some(Commands | Arithmetic), ')') => {
                self.contexts.pop();
            }
            (Some(Single), _) => {}
            (_, '\\') => return after_characters(text, 2),
            (Some(Arithmetic), '(') => self.contexts.push(Arithmetic),
            (None | Some(Commands), '\'') => self.contexts.push(Single),
            (None | Some(Commands), '"') => self.contexts.push(Double),
            (None | Some(Commands), '(') => return self.parenthesis(text),
            (None | Some(Commands | Double), '$') => return self.parenthesis(after_characters(text, 1)),
            _ => {}
        }
        after_characters(text, 1)
    }

    /// Reads the parentheses that a text may begin with; what follows them.
    fn parenthesis<'t>(&mut self, text: &'t str) -> &'t str {
        if let Some(after) = text.strip_prefix("((") {
            self.contexts.extend([Context::Arithmetic; 2]);
            return after;
        }
        let Some(after) = text.strip_prefix('(') else { return text };
        self.contexts.push(Context::Commands);
        after
    }
}

fn after_characters(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).and_then(|(at, _)| text.get(at..)).unwrap_or_default()
}

/// Reads the delimiter after `<<`; what follows it. After a third `<` it is a text instead of a document.
fn begun<'t>(text: &'t str, documents: &mut Vec<HereDocument>) -> &'t str {
    if let Some(after) = text.strip_prefix('<') {
        return after;
    }
    let (allows_tabs, word) = text.strip_prefix('-').map_or((false, text), |word| (true, word));
    let (delimiter, rest) = word_of(word.trim_start_matches([' ', '\t']));
    if !delimiter.is_empty() {
        documents.push(HereDocument { delimiter, allows_tabs });
    }
    rest
}

/// The word that a text begins with, without its quotes, and what follows it.
fn word_of(text: &str) -> (String, &str) {
    let (mut word, mut quote, mut characters) = (String::new(), None, text.chars());
    loop {
        let rest = characters.as_str();
        match (characters.next(), quote) {
            (None, _) => return (word, rest),
            (Some(c), Some(open)) if c == open => quote = None,
            (Some(c), Some(_)) => word.push(c),
            (Some(c @ ('\'' | '"')), None) => quote = Some(c),
            (Some('\\'), None) => word.extend(characters.next()),
            (Some(' ' | '\t' | ';' | '&' | '|' | '<' | '>' | '(' | ')'), None) => return (word, rest),
            (Some(c), None) => word.push(c),
        }
    }
}

/// Finds the lines that end here-documents: sorted, so that many documents do not each read all lines.
pub(super) struct Ends<'a> {
    lines: &'a [&'a str],
    plain: OnceCell<Vec<(&'a str, usize)>>,
    without_tabs: OnceCell<Vec<(&'a str, usize)>>,
}

impl<'a> Ends<'a> {
    pub(super) fn new(lines: &'a [&'a str]) -> Self {
        Self { lines, plain: OnceCell::new(), without_tabs: OnceCell::new() }
    }

    /// The first line, from one on, that ends a document.
    pub(super) fn find(&self, document: &HereDocument, from: usize) -> Option<usize> {
        let sorted = if document.allows_tabs {
            self.without_tabs.get_or_init(|| self.sorted(|line| line.trim_start_matches('\t')))
        } else {
            self.plain.get_or_init(|| self.sorted(|line| line))
        };
        let delimiter = document.delimiter.as_str();
        let at = sorted.partition_point(|entry| *entry < (delimiter, from));
        sorted.get(at).filter(|(line, _)| *line == delimiter).map(|(_, at)| *at)
    }

    fn sorted(&self, shown: impl Fn(&'a str) -> &'a str) -> Vec<(&'a str, usize)> {
        let mut sorted: Vec<_> = self.lines.iter().enumerate().map(|(at, line)| (shown(line), at)).collect();
        sorted.sort_unstable();
        sorted
    }
}
