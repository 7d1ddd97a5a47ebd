//! Reads lines of which every shell makes the same words. `reader` finds more commands than there are, rather than fewer; this one
//! gives up rather than be wrong.

use super::{Head, head};

/// The ends of a redirection that throws output away, or joins both outputs.
const HARMLESS_TARGETS: &[&str] = &["&1", "&2", "/dev/null"];

/// The commands of a line, each as its words, or nothing if there is anything in it but plain words and `&&`, `||`, `|`, `;`.
pub fn plain(text: &str) -> Option<Vec<Vec<String>>> {
    let mut reader = Plain { rest: text, ..Plain::default() };
    while let Some(letter) = reader.take() {
        reader.letter(letter)?;
    }
    reader.end_command(End::Line)?;
    let is_whole = !reader.is_joined && !reader.commands.is_empty();
    (is_whole && reader.commands.iter().all(|words| is_program(words))).then_some(reader.commands)
}

/// Whether the words start a program, and neither a builtin that changes the shell nor what follows a keyword.
fn is_program(words: &[String]) -> bool {
    head(words) == Head::Program(words)
}

/// What ends a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The end of a line, or of the text.
    Line,
    /// `;`
    Semicolon,
    /// `&&`, `||` or `|`: another command follows.
    Joint,
}

#[derive(Default)]
struct Plain<'t> {
    rest: &'t str,
    /// The word that is read; an empty text is one, too, if it was quoted.
    word: Option<String>,
    is_quoted: bool,
    words: Vec<String>,
    commands: Vec<Vec<String>>,
    /// Whether a joint waits for the command after it.
    is_joined: bool,
}

impl Plain<'_> {
    fn take(&mut self) -> Option<char> {
        let letter = self.rest.chars().next()?;
        self.rest = self.rest.get(letter.len_utf8()..)?;
        Some(letter)
    }

    fn skip(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn push(&mut self, letter: char) {
        self.word.get_or_insert_default().push(letter);
    }

    fn letter(&mut self, letter: char) -> Option<()> {
        match letter {
            ' ' | '\t' => self.end_word(),
            '\n' => self.end_command(End::Line)?,
            ';' => self.end_command(End::Semicolon)?,
            '&' if self.skip("&") => self.end_command(End::Joint)?,
            '|' if !self.rest.starts_with('&') => {
                self.skip("|");
                self.end_command(End::Joint)?;
            }
            '\'' => self.single()?,
            '"' => self.double()?,
            '\\' => self.escaped()?,
            '>' => self.redirection()?,
            '#' | '~' if self.begins_expansion() => return None,
            '$' | '`' | '(' | ')' | '<' | '&' | '|' | '*' | '?' | '[' | ']' | '{' | '}' | '!' => return None,
            letter if letter.is_control() => return None,
            letter => self.push(letter),
        }
        Some(())
    }

    /// Whether `~` stands where it may become a home folder, `#` where it may begin a comment.
    fn begins_expansion(&self) -> bool {
        self.word.as_ref().is_none_or(|word| word.ends_with(['=', ':']))
    }

    fn single(&mut self) -> Option<()> {
        let (text, rest) = self.rest.split_once('\'')?;
        self.quoted(text);
        self.rest = rest;
        Some(())
    }

    fn double(&mut self) -> Option<()> {
        self.quoted("");
        loop {
            match self.take()? {
                '"' => return Some(()),
                '\\' => match self.take()? {
                    escaped @ ('"' | '\\' | '$' | '`') => self.push(escaped),
                    _ => return None,
                },
                '$' | '`' => return None,
                letter => self.push(letter),
            }
        }
    }

    fn quoted(&mut self, text: &str) {
        self.is_quoted = true;
        self.word.get_or_insert_default().push_str(text);
    }

    fn escaped(&mut self) -> Option<()> {
        let letter = self.take().filter(|letter| !letter.is_control())?;
        self.quoted("");
        self.push(letter);
        Some(())
    }

    /// Reads what comes after `>`, and the number of the output before it.
    fn redirection(&mut self) -> Option<()> {
        match self.word.as_deref() {
            None => {}
            Some("1" | "2") if !self.is_quoted => self.word = None,
            Some(_) => return None,
        }
        self.skip(">");
        if !self.rest.starts_with('&') {
            self.rest = self.rest.trim_start_matches([' ', '\t']);
        }
        HARMLESS_TARGETS.iter().any(|target| self.skip(target)).then_some(())?;
        let is_whole = self.rest.chars().next().is_none_or(|letter| " \t\n;|&".contains(letter));
        is_whole.then_some(())
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
        self.is_quoted = false;
    }

    fn end_command(&mut self, end: End) -> Option<()> {
        self.end_word();
        let words = std::mem::take(&mut self.words);
        match (words.is_empty(), end) {
            // Empty lines, also after a joint.
            (true, End::Line) => return Some(()),
            (true, _) => return None,
            (false, _) => self.commands.push(words),
        }
        self.is_joined = end == End::Joint;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_are_read_as_every_shell_reads_them() {
        for (text, commands) in [
            ("git status --porcelain", &[&["git", "status", "--porcelain"][..]][..]),
            (" a 'b c' \"d e\" f\\ g '' ", &[&["a", "b c", "d e", "f g", ""]]),
            ("a \"q\\\"s \\$x\" 'it'\\''s' -x='y'", &[&["a", "q\"s $x", "it's", "-x=y"]]),
            ("a && b || c | d; e\nf &&\n g", &[&["a"], &["b"], &["c"], &["d"], &["e"], &["f"], &["g"]]),
            ("git log HEAD~1 x#y HEAD^ a@b 2>/dev/null", &[&["git", "log", "HEAD~1", "x#y", "HEAD^", "a@b"]]),
            ("a 2>&1 | b >> /dev/null;", &[&["a"], &["b"]]),
            ("a \"two\nlines\"", &[&["a", "two\nlines"]]),
            ("git commit -m 'fix: ü ✓'", &[&["git", "commit", "-m", "fix: ü ✓"]]),
            ("a\n\n\nb\n", &[&["a"], &["b"]]),
        ] {
            assert_eq!(plain(text).unwrap_or_default(), commands, "{text}");
        }
    }

    #[test]
    fn anything_else_is_not_plain() {
        for text in [
            "",
            " ",
            "a $x",
            "a `b`",
            "a $(b)",
            "a \"$x\"",
            "a *.rs",
            "a b?",
            "a [x]",
            "a {b,c}",
            "a ~",
            "a ~/x",
            "a x=~/y",
            "a # b",
            "a & b",
            "a &",
            "a > b",
            "a >b",
            "a 2> b",
            "a >/dev/nullx",
            "a >/dev/null/../sda",
            "a < b",
            "a << E\nE",
            "(a)",
            "{ a; }",
            "! a",
            "a !!",
            "A=b c",
            "A=b",
            "if a; then b; fi",
            "for x in a; do b; done",
            "cd x",
            "cd x && a",
            "exec a",
            "eval a",
            ". a",
            "source a",
            "time a",
            "command a",
            "export A=b",
            "set -e",
            "a 'b",
            "a \"b",
            "a \\",
            "a \\\nb",
            "a ;; b",
            "; a",
            "&& a",
            "a &&",
            "a | ",
            "a |& b",
            "a &> b",
            "a \"\\n\"",
            "a\rb",
            "a\0b",
            "f() { a; }",
            "trap a EXIT",
            "a 'x'>b",
            "a '2'>/dev/null",
            "a |\n",
            "alias a=b",
            "[ -f x ]",
            "while a; do b; done",
            "a 3>&1",
            "a >&3",
            "a x:~",
        ] {
            assert_eq!(plain(text), None, "{text:?}");
        }
    }
}
