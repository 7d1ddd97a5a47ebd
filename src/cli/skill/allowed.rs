//! `allowed-tools` of a skill: the commands that it wants to run without a question.

use policy::Line;

/// What a skill's `allowed-tools` say of commands. Other tools than the shell are no matter here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowedTools {
    patterns: Vec<Pattern>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Pattern {
    /// `Bash`
    Everything,
    /// `Bash(git status:*)`: these words, and any more.
    Prefix(Vec<String>),
    /// `Bash(npm test)`: this line.
    Exact(String),
}

impl AllowedTools {
    /// Reads the entries of the list.
    pub fn read(entries: &[String]) -> AllowedTools {
        AllowedTools { patterns: entries.iter().filter_map(|entry| pattern(entry.trim())).collect() }
    }

    /// Whether a line may run without a question: each of its commands matches an entry.
    pub fn allows(&self, line: &Line) -> bool {
        let is_exact = |pattern: &Pattern| match pattern {
            Pattern::Everything => true,
            Pattern::Exact(text) => text == line.text().trim(),
            Pattern::Prefix(_) => false,
        };
        let is_each = |commands: &[Vec<String>]| commands.iter().all(|words| self.allows_command(words));
        self.patterns.iter().any(is_exact) || line.commands().is_some_and(is_each)
    }

    fn allows_command(&self, words: &[String]) -> bool {
        self.patterns.iter().any(|pattern| match pattern {
            Pattern::Everything => true,
            Pattern::Prefix(prefix) => words.starts_with(prefix),
            Pattern::Exact(text) => words_of(text).is_some_and(|exact| exact == words),
        })
    }
}

/// An entry; none if it is about another tool.
fn pattern(entry: &str) -> Option<Pattern> {
    let rest = entry.strip_prefix("Bash")?;
    if rest.is_empty() {
        return Some(Pattern::Everything);
    }
    let inner = rest.strip_prefix('(')?.strip_suffix(')')?.trim();
    if matches!(inner, "*" | ":*") {
        return Some(Pattern::Everything);
    }
    match inner.strip_suffix(":*").or_else(|| inner.strip_suffix(" *")) {
        Some(prefix) => words_of(prefix).map(Pattern::Prefix),
        None => (!inner.is_empty()).then(|| Pattern::Exact(inner.to_owned())),
    }
}

/// The words of one plain command.
fn words_of(text: &str) -> Option<Vec<String>> {
    match Line::read(text).commands()? {
        [words] => Some(words.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(entries: &[&str], line: &str) -> bool {
        let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
        AllowedTools::read(&entries).allows(&Line::read(line))
    }

    #[test]
    fn a_prefix_allows_its_words_and_any_more() {
        let git = &["Bash(git status:*)", "Bash(git add *)", "Read", "Bash(git"];
        for line in [
            "git status",
            "git status -s",
            "git add . && git status",
            "git status 2>/dev/null",
            "'git' add 'a b'",
        ] {
            assert!(allows(git, line), "{line}");
        }
        for line in [
            "git",
            "git statusx",
            "git push",
            "git add . && git push",
            "git status $(rm x)",
            "git status > x",
            "git -c a=b status",
            "git status; ls",
            "git status &",
            "git status *",
        ] {
            assert!(!allows(git, line), "{line}");
        }
    }

    #[test]
    fn an_exact_entry_allows_one_line_and_bash_alone_all() {
        assert!(allows(&["Bash(npm test)"], "npm  test"));
        assert!(allows(&["Bash(npm test > log)"], "npm test > log"));
        assert!(!allows(&["Bash(npm test)"], "npm test x"));
        for everything in ["Bash", "Bash(*)", "Bash(:*)", " Bash "] {
            assert!(allows(&[everything], "a | b > $c"), "{everything}");
        }
        for nothing in ["Read", "BashOutput", "Bash()", "bash", "Bash(git $x:*)"] {
            assert!(!allows(&[nothing], "git x"), "{nothing}");
        }
        assert!(!allows(&[], "ls"));
    }
}
