//! Scripts of `sed`: which of their commands do more than print lines.

/// What a command of a script does beside printing.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect<'a> {
    /// It writes this file.
    Writes(&'a str),
    /// It reads this file.
    Reads(&'a str),
    /// It runs this line in a shell.
    Runs(&'a str),
    /// It runs what stands in the text.
    RunsText,
    /// It changes what is printed.
    Other,
    /// It cannot be read with certainty.
    Unreadable,
}

/// What a script does beside printing lines that addresses choose.
pub fn effects(script: &str) -> Vec<Effect<'_>> {
    let (mut found, mut rest) = (Vec::new(), script);
    loop {
        rest = rest.trim_start_matches(|letter: char| letter.is_whitespace() || "{};".contains(letter));
        if rest.is_empty() {
            return found;
        }
        let Some(after) = addresses(rest) else {
            found.push(Effect::Unreadable);
            return found;
        };
        rest = command(after.trim_start_matches(['!', ' ', '\t']), &mut found);
    }
}

/// Reads a command; what comes after it.
fn command<'a>(text: &'a str, found: &mut Vec<Effect<'a>>) -> &'a str {
    let mut letters = text.chars();
    let Some(letter) = letters.next() else { return "" };
    let rest = letters.as_str();
    let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
    match letter {
        '{' | '}' | 'p' | '=' | 'P' | 'l' | 'd' | 'n' | 'F' => rest,
        'q' | 'Q' => rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ' '),
        '#' => after,
        's' => substitution(rest, found),
        'w' | 'W' => {
            found.push(Effect::Writes(line.trim()));
            after
        }
        'r' | 'R' => {
            found.push(Effect::Reads(line.trim()));
            after
        }
        'e' => {
            let code = line.trim();
            found.push(if code.is_empty() || code.starts_with(';') {
                Effect::RunsText
            } else {
                Effect::Runs(code)
            });
            after
        }
        _ => {
            // Text to insert, labels, transliteration: nothing that starts or writes, up to the end of the line or the command.
            found.push(Effect::Other);
            // Buffers may grow without end, or have the script begin anew.
            if "DNGHghxz".contains(letter) {
                return rest;
            }
            if letter == 'y' { substitution_parts(rest).map_or("", |(_, _, rest)| rest) } else { after }
        }
    }
}

/// `s/…/…/flags`
fn substitution<'a>(text: &'a str, found: &mut Vec<Effect<'a>>) -> &'a str {
    found.push(Effect::Other);
    let Some((_, _, mut rest)) = substitution_parts(text) else { return "" };
    loop {
        let mut letters = rest.chars();
        match letters.next() {
            Some('e') => found.push(Effect::RunsText),
            Some('w') => {
                let (file, after) = letters.as_str().split_once('\n').unwrap_or((letters.as_str(), ""));
                found.push(Effect::Writes(file.trim()));
                return after;
            }
            Some(flag) if flag.is_ascii_alphanumeric() => {}
            _ => return rest,
        }
        rest = letters.as_str();
    }
}

/// The two parts between three delimiters, and what comes after them.
fn substitution_parts(text: &str) -> Option<(&str, &str, &str)> {
    let delimiter = text.chars().next()?;
    let text = text.get(delimiter.len_utf8()..)?;
    let (pattern, rest) = until(text, delimiter)?;
    let (replacement, rest) = until(rest, delimiter)?;
    Some((pattern, replacement, rest))
}

/// The text up to a delimiter that no backslash stands before.
fn until(text: &str, delimiter: char) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices() {
        if letter == delimiter && !is_escaped {
            return Some((text.get(..at)?, text.get(at + letter.len_utf8()..)?));
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    None
}

/// What comes after the addresses of a command: `3`, `$`, `/text/`, `3,5`, `3,+2`, `1~2`.
fn addresses(text: &str) -> Option<&str> {
    let rest = address(text)?;
    match rest.trim_start().strip_prefix(',') {
        Some(second) => address(second.trim_start().trim_start_matches(['+', '~'])),
        None => Some(rest),
    }
}

fn address(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix('$') {
        return Some(rest);
    }
    if let Some(pattern) = text.strip_prefix('/') {
        // Sets of characters and escaped slashes are read in different ways by different versions.
        let (pattern, rest) = pattern.split_once('/')?;
        let rest = rest.trim_start_matches(['I', 'M']);
        return (!pattern.contains(['[', '\n']) && !pattern.ends_with('\\')).then_some(rest);
    }
    if let Some(text) = text.strip_prefix('\\') {
        let delimiter = text.chars().next()?;
        let (pattern, rest) = until(text.get(delimiter.len_utf8()..)?, delimiter)?;
        return (!pattern.contains(['[', '\\', '\n'])).then(|| rest.trim_start_matches(['I', 'M']));
    }
    Some(text.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_only_print_have_no_effects() {
        for script in [
            "1,5p",
            "$p",
            "/a b/p",
            "3p;7p",
            "/x/,/y/p",
            "2,+3p",
            "1~2p",
            "$=",
            "5q",
            "/x/!p",
            "p",
            " 1 , 5 p ",
            "/x/{p;q}",
        ] {
            assert_eq!(effects(script), [], "{script}");
        }
    }

    #[test]
    fn what_writes_and_runs_is_found_wherever_it_stands() {
        for (script, effect) in [
            ("w x", Effect::Writes("x")),
            ("1p;3w/etc/x", Effect::Writes("/etc/x")),
            ("s/a/b/gpw x", Effect::Writes("x")),
            ("s|a|b|e", Effect::RunsText),
            ("1e", Effect::RunsText),
            ("1e rm x", Effect::Runs("rm x")),
            ("y/ab/cd/;w x", Effect::Writes("x")),
            ("/a/{p\nw x\n}", Effect::Writes("x")),
            ("$!w x", Effect::Writes("x")),
            ("r y", Effect::Reads("y")),
            ("/[/]/w x/p", Effect::Unreadable),
            ("\\,x,w y", Effect::Writes("y")),
        ] {
            assert!(effects(script).contains(&effect), "{script}: {:?}", effects(script));
        }
    }
}
