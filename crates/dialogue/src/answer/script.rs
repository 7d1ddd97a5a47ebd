//! How far a command of a shell reaches: lines that end in `\`, and here-documents.

use super::here_document::{Ends, HereDocument, Scanner};

/// Lines of a shell, read command by command.
pub(super) struct Script<'a> {
    lines: &'a [&'a str],
    scanner: Scanner,
    ends: Ends<'a>,
}

/// Where a command ends: the line after its last one.
struct Reach {
    end: usize,
    documents: Documents,
}

/// What a command says about here-documents.
#[derive(PartialEq)]
enum Documents {
    None,
    Ended,
    /// One of them does not end.
    Unended,
}

impl<'a> Script<'a> {
    pub(super) fn new(lines: &'a [&'a str]) -> Self {
        Self { lines, scanner: Scanner::default(), ends: Ends::new(lines) }
    }

    /// Where the first command ends. A here-document without an end takes all that follows. After one that ends, the command goes on
    /// while a quotation or a substitution around it is open, as in `-m "$(cat <<EOF`.
    pub(super) fn command_end(&mut self, stops: impl Fn(&str) -> bool) -> usize {
        let reach = self.reach(0, &stops);
        match reach.documents {
            Documents::None => reach.end,
            Documents::Unended => self.lines.len(),
            Documents::Ended => self.closed_end(reach.end, &stops).unwrap_or(reach.end),
        }
    }

    /// Where the command that begins at a line ends. A here-document without an end is none.
    pub(super) fn next_command(&mut self, at: usize, stops: impl Fn(&str) -> bool) -> usize {
        self.reach(at, &stops).end
    }

    fn closed_end(&mut self, mut at: usize, stops: &impl Fn(&str) -> bool) -> Option<usize> {
        while !self.scanner.is_closed() {
            self.lines.get(at).filter(|line| !stops(line))?;
            at = self.reach(at, stops).end;
        }
        Some(at)
    }

    fn reach(&mut self, at: usize, stops: &impl Fn(&str) -> bool) -> Reach {
        let (mut end, mut documents) = (at, Vec::new());
        for (place, line) in self.lines.iter().enumerate().skip(at) {
            if place > at && stops(line) {
                break;
            }
            self.scanner.read(line, &mut documents);
            end = place + 1;
            if !goes_on(line) {
                break;
            }
        }
        self.after(end, &documents)
    }

    fn after(&self, mut end: usize, documents: &[HereDocument]) -> Reach {
        for document in documents {
            match self.ends.find(document, end) {
                Some(last) => end = last + 1,
                None => return Reach { end, documents: Documents::Unended },
            }
        }
        let documents = if documents.is_empty() { Documents::None } else { Documents::Ended };
        Reach { end, documents }
    }
}

/// Whether a line ends in a backslash that no other one quotes.
fn goes_on(line: &str) -> bool {
    let slashes = line.len() - line.trim_end_matches('\\').len();
    slashes % 2 == 1
}
