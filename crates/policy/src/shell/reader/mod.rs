//! From the characters of a shell's code to words and simple commands.

mod expansion;
mod redirection;

use super::word::Word;
use super::{EXPANSION, PATTERN, QUOTED, Script, Simple};

/// Expansions within expansions.
const MOST_DEPTH: usize = 32;

/// Takes code apart.
pub fn read(text: &str) -> Script {
    let mut reader = Reader { text: text.chars().collect(), ..Reader::default() };
    reader.script();
    reader.script
}

/// What the next word is for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    #[default]
    Word,
    /// A file that is written.
    Output,
    /// A file that is read, or a text that is the input.
    Input,
    /// The end of a here-document; whether tabs are taken off.
    HereDocument { tabs: bool },
}

/// A here-document whose text begins after the line.
#[derive(Debug)]
struct HereDocument {
    end: String,
    tabs: bool,
    /// Whether substitutions in it are made.
    expands: bool,
}

#[derive(Debug, Default)]
struct Reader {
    text: Vec<char>,
    at: usize,
    word: Word,
    purpose: Purpose,
    simple: Simple,
    documents: Vec<HereDocument>,
    /// How often two parentheses were read as arithmetic.
    tried: usize,
    /// Expansions around what is read.
    depth: usize,
    /// Parentheses of subshells that are open.
    open: usize,
    /// Whether the pattern of a `case` is expected.
    in_pattern: bool,
    script: Script,
}

impl Reader {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).copied()
    }

    fn take(&mut self) -> Option<char> {
        let letter = self.peek(0);
        self.at += usize::from(letter.is_some());
        letter
    }

    /// Takes a character if it is the next one.
    fn skip(&mut self, letter: char) -> bool {
        let is_next = self.peek(0) == Some(letter);
        self.at += usize::from(is_next);
        is_next
    }

    fn script(&mut self) {
        while let Some(letter) = self.take() {
            match letter {
                '\\' => self.escaped(),
                '\'' => self.single(),
                '"' => self.double(),
                '$' => self.dollar(false),
                '`' => self.backticks(EXPANSION),
                '#' if !self.word.begun => self.comment(),
                ' ' | '\t' => self.end_word(),
                '\n' => self.end_line(),
                '<' | '>' => self.redirection(letter),
                '&' => self.ampersand(),
                '|' => self.bar(),
                ';' => self.semicolon(),
                '(' => self.parenthesis(),
                ')' => self.close(),
                '[' if self.begins_pattern() => self.word.push(PATTERN),
                other => self.word.push_bare(other),
            }
        }
        self.end_command();
    }

    /// Whether `[` begins a set of characters, and is not the command `[`.
    fn begins_pattern(&self) -> bool {
        let is_keyword = matches!(self.word.text(), "" | "[")
            && matches!(self.peek(0), Some('[' | ' ' | '\t' | '\n') | None);
        !is_keyword
    }

    fn escaped(&mut self) {
        match self.take() {
            Some('\n') | None => {}
            Some(letter) => {
                self.word.is_quoted = true;
                self.word.push(letter);
            }
        }
    }

    fn single(&mut self) {
        self.word.quote();
        while let Some(letter) = self.take() {
            match letter {
                '\'' => return,
                other => self.word.push(other),
            }
        }
        self.script.is_unclear = true;
    }

    fn double(&mut self) {
        self.word.quote();
        while let Some(letter) = self.take() {
            match letter {
                '"' => return,
                '\\' => match self.take() {
                    Some('\n') | None => {}
                    Some(escaped @ ('$' | '`' | '"' | '\\')) => self.word.push(escaped),
                    Some(other) => {
                        self.word.push('\\');
                        self.word.push(other);
                    }
                },
                '$' => self.dollar(true),
                '`' => self.backticks(QUOTED),
                other => self.word.push(other),
            }
        }
        self.script.is_unclear = true;
    }

    fn comment(&mut self) {
        while self.peek(0).is_some_and(|letter| letter != '\n') {
            self.at += 1;
        }
    }

    fn bar(&mut self) {
        if self.in_pattern {
            return self.word.push('|');
        }
        let is_or = self.skip('|');
        let _ = !is_or && self.skip('&');
        self.end_command();
        self.simple.is_piped = !is_or;
    }

    fn semicolon(&mut self) {
        let is_branch_end = self.skip(';') | self.skip('&');
        self.end_command();
        self.in_pattern = is_branch_end;
    }

    fn parenthesis(&mut self) {
        if super::heads::is_keyword(self.word.text()) && !self.word.is_quoted {
            self.end_word();
        }
        let name = self.word.text();
        if self.word.begun && name.ends_with(['=', '?', '*', '+', '@', '!']) || name.ends_with(PATTERN) {
            // An array, or a pattern: words, in which only substitutions count.
            let inner = self.until_closed('(', ')', true);
            self.expanded(&inner);
            return self.word.push(EXPANSION);
        }
        if self.word.begun && self.peek(0) == Some(')') {
            self.at += 1;
            self.script.functions.push(name.to_owned());
            self.word = Word::default();
            return;
        }
        if !self.word.begun && self.skip('(') {
            return self.arithmetic();
        }
        self.end_command();
        self.open += usize::from(!self.in_pattern);
    }

    fn close(&mut self) {
        let is_pattern = self.in_pattern || self.open == 0;
        self.end_word();
        self.simple.is_pattern |= is_pattern;
        self.end_command();
        self.in_pattern = false;
        if !is_pattern {
            self.open -= 1;
        }
    }

    fn end_line(&mut self) {
        self.end_word();
        if !self.in_pattern {
            self.end_command();
        }
        for document in std::mem::take(&mut self.documents) {
            self.here_document(&document);
        }
    }

    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        if !word.begun {
            return;
        }
        let purpose = std::mem::take(&mut self.purpose);
        let is_quoted = word.is_quoted;
        let words = word.finish();
        match purpose {
            Purpose::Word => self.simple.words.extend(words),
            Purpose::Input => {}
            Purpose::Output => {
                let is_number =
                    |text: &String| text == "-" || text.chars().all(|letter| letter.is_ascii_digit());
                self.simple.writes.extend(words.into_iter().filter(|text| !is_number(text)));
            }
            Purpose::HereDocument { tabs } => {
                let end = words.concat();
                self.script.is_unclear |= super::has_expansion(&end) || end.contains(['{', '}']);
                self.documents.push(HereDocument { end, tabs, expands: !is_quoted });
            }
        }
        if matches!(self.simple.words.as_slice(), [.., first, _, last] if first == "case" && last == "in") {
            self.simple = Simple::default();
            self.in_pattern = true;
        }
        if self.in_pattern && self.simple.words.last().is_some_and(|word| word == "esac") {
            self.in_pattern = false;
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.purpose = Purpose::Word;
        let simple = std::mem::take(&mut self.simple);
        if !simple.words.is_empty() || !simple.writes.is_empty() {
            self.script.commands.push(simple);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Vec<String>> {
        read(text).commands.into_iter().map(|simple| simple.words).collect()
    }

    #[test]
    fn commands_are_found_wherever_they_stand() {
        for (text, found) in [
            ("a b; c && d || e | f & g", &[&["a", "b"][..], &["c"], &["d"], &["e"], &["f"], &["g"]][..]),
            ("(a; b)\nc # d", &[&["a"], &["b"], &["c"]]),
            ("r''m \"-r\"f \\x $'\\x72m\\055'", &[&["rm", "-rf", "x", "rm-"]]),
            ("{rm,-rf,/}", &[&["rm", "-rf", "/"]]),
            ("a \\\n b", &[&["a", "b"]]),
            ("f() { a; }; f", &[&["{", "a"], &["}"], &["f"]]),
            ("cat <<E\nrm -rf /\nE\nb", &[&["cat"], &["b"]]),
            ("a 2>&1 >x <y b", &[&["a", "b"]]),
            ("((i++)); a", &[&["a"]]),
            ("((a); b)", &[&["a"], &["b"]]),
        ] {
            assert_eq!(words(text), found, "{text}");
        }
    }

    #[test]
    fn substitutions_are_code_of_their_own() {
        for (text, nested) in [
            ("a $(b) `c` \"$(d)\" <(e)", &["b", "c", "d", "e"][..]),
            ("a ${x:-$(b)} $((1 + $(c)))", &["b", "c"]),
            ("cat <<E\n$(a)\nE\n", &["a"]),
            ("cat <<'E'\n$(a)\nE\n", &[]),
            ("a $((b); c)", &["(b); c"]),
            ("x=(a $(b))", &["b"]),
        ] {
            assert_eq!(read(text).nested, nested, "{text}");
        }
    }

    #[test]
    fn files_that_are_written_and_pipes_are_known() {
        let script = read("a >x 2>>y | b >|z; c >&2");
        let writes: Vec<&[String]> = script.commands.iter().map(|simple| simple.writes.as_slice()).collect();
        assert_eq!(writes, [&["x".to_owned(), "y".to_owned()][..], &["z".to_owned()], &[]]);
        let piped: Vec<bool> = script.commands.iter().map(|simple| simple.is_piped).collect();
        assert_eq!(piped, [false, true, false]);
    }

    #[test]
    fn patterns_of_case_are_no_commands() {
        let script = read("case $x in a|b) c;; *) d;; esac; e");
        let commands = script.commands.iter().filter(|simple| !simple.is_pattern);
        let heads: Vec<&str> =
            commands.filter_map(|simple| simple.words.first()).map(String::as_str).collect();
        assert_eq!(heads, ["c", "d", "esac", "e"]);
    }
}
