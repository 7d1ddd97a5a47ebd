//! Programs of `awk`: what they hand to a shell, and the files that they write.

/// What a program of awk does beside printing.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    /// It runs this line in a shell.
    Runs(String),
    /// It runs a line that is made while it runs.
    RunsUnknown,
    /// It writes this file.
    Writes(String),
}

/// A piece of a program.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    Text(String),
    Word(String),
    Sign(char),
}

/// What a program does beside printing.
pub fn effects(program: &str) -> Vec<Effect> {
    let tokens = tokens(program);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let next = |steps: usize| tokens.get(at + steps);
        let before = |steps: usize| at.checked_sub(steps).and_then(|place| tokens.get(place));
        match token {
            Token::Word(name) if name == "system" => {
                found.push(command(next(2), next(3).is_some_and(|token| *token == Token::Sign(')'))));
            }
            Token::Sign('|')
                if next(1) == Some(&Token::Sign('|')) || before(1) == Some(&Token::Sign('|')) => {}
            Token::Sign('|') => {
                let after = next(1).filter(|token| **token != Token::Sign('&')).or_else(|| next(2));
                let reads = matches!(after, Some(Token::Word(name)) if name == "getline");
                let is_alone = if reads {
                    !matches!(before(2), Some(Token::Text(_)))
                } else {
                    !matches!(next(2), Some(Token::Text(_)))
                };
                found.push(command(if reads { before(1) } else { after }, is_alone));
            }
            Token::Sign('>') => {
                let file = next(1).filter(|token| **token != Token::Sign('>'));
                if let Some(Token::Text(file)) = file {
                    found.push(Effect::Writes(file.clone()));
                }
            }
            _ => {}
        }
    }
    found
}

/// A command line that is a text, or is put together.
fn command(token: Option<&Token>, is_alone: bool) -> Effect {
    match token {
        Some(Token::Text(line)) if is_alone => Effect::Runs(line.clone()),
        _ => Effect::RunsUnknown,
    }
}

fn tokens(program: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut letters = program.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => {
                let mut text = String::new();
                while let Some(letter) = letters.next().filter(|letter| *letter != '"') {
                    match letter {
                        '\\' => text.extend(letters.next()),
                        other => text.push(other),
                    }
                }
                found.push(Token::Text(text));
            }
            letter if letter.is_alphanumeric() || letter == '_' => {
                let mut word = String::from(letter);
                while let Some(letter) = letters.next_if(|letter| letter.is_alphanumeric() || *letter == '_')
                {
                    word.push(letter);
                }
                found.push(Token::Word(word));
            }
            letter if letter.is_whitespace() => {}
            sign => found.push(Token::Sign(sign)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_for_a_shell_are_found_and_those_that_are_made_are_unknown() {
        for (program, effect) in [
            ("BEGIN{system(\"ls\")}", Effect::Runs("ls".into())),
            ("{print | \"sort\"}", Effect::Runs("sort".into())),
            ("BEGIN{\"date\" | getline x}", Effect::Runs("date".into())),
            ("{system($0)}", Effect::RunsUnknown),
            ("BEGIN{system(\"r\" \"m x\")}", Effect::RunsUnknown),
            ("{print | $1}", Effect::RunsUnknown),
            ("{$0 | getline}", Effect::RunsUnknown),
            ("{print > \"/etc/x\"}", Effect::Writes("/etc/x".into())),
            ("{print >> \"x\"}", Effect::Writes("x".into())),
        ] {
            assert_eq!(effects(program), [effect], "{program}");
        }
        for program in ["{print $1}", "$1 > 5 || $2 < 3 {n++}", "/a|b/ && x"] {
            assert!(
                !effects(program).iter().any(|effect| matches!(effect, Effect::Runs(_) | Effect::Writes(_))),
                "{program}"
            );
        }
    }
}
