//! Texts in code of other languages: what escapes and concatenations spell, and calls whose argument is no plain text.

/// The code with the escapes of its texts spelled out (`\x72`, `\u0072`, `\162`), and without the joints between two texts
/// (`"r" + "m"`).
pub fn spelled(code: &str) -> String {
    let letters: Vec<char> = code.chars().collect();
    let mut spelled = String::with_capacity(code.len());
    let mut at = 0;
    while let Some(letter) = letters.get(at).copied() {
        at += 1;
        if let Some(length) = joint(&letters, at - 1) {
            at += length - 1;
            continue;
        }
        match (letter, letters.get(at).copied()) {
            ('\\', Some('x')) => at = number(&letters, at + 1, 16, 2, &mut spelled),
            ('\\', Some('u')) => at = number(&letters, at + 1, 16, 4, &mut spelled),
            ('\\', Some('0'..='7')) => at = number(&letters, at, 8, 3, &mut spelled),
            (letter, _) => spelled.push(letter),
        }
    }
    spelled
}

/// Appends the letter of a number; where the digits end.
fn number(letters: &[char], start: usize, base: u32, most: usize, spelled: &mut String) -> usize {
    let digits = letters.iter().skip(start).take(most).map_while(|letter| letter.to_digit(base));
    let (value, count) = digits.fold((0, 0), |(value, count), digit| (value * base + digit, count + 1));
    spelled.extend(char::from_u32(value).filter(|_| count > 0));
    start + count
}

/// How many letters the joint between two texts takes: `" + "`, `' . '`.
fn joint(letters: &[char], at: usize) -> Option<usize> {
    let is_quote = |letter: &&char| matches!(letter, '"' | '\'');
    letters.get(at).filter(is_quote)?;
    let between =
        letters.iter().skip(at + 1).take_while(|letter| letter.is_whitespace() || "+.".contains(**letter));
    let between: Vec<char> = between.copied().collect();
    letters.get(at + 1 + between.len()).filter(is_quote)?;
    let joins = between.iter().any(|letter| "+.".contains(*letter));
    joins.then_some(between.len() + 2)
}

/// Whether a call of this name has an argument that is no plain text: `system(line)`, `eval(read())`.
pub fn has_made_argument(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(at, _)| {
        let before = code.get(..at).and_then(|before| before.chars().next_back());
        let is_name =
            !before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_' || letter == '$');
        // `/x/.exec(text)` matches a pattern.
        let is_method = before == Some('.') && name == "exec" && !code.contains("child_process");
        let after = code.get(at + name.len()..).unwrap_or_default().trim_start();
        is_name
            && !is_method
            && after.strip_prefix('(').is_some_and(|argument| !is_plain(argument.trim_start()))
    })
}

/// The texts that calls of this name are given.
pub fn plain_arguments<'c>(code: &'c str, name: &str) -> impl Iterator<Item = &'c str> {
    code.match_indices(name).filter_map(move |(at, _)| {
        let after = code.get(at + name.len()..)?.trim_start();
        let argument = after.strip_prefix('(').unwrap_or(after).trim_start();
        let quote = argument.chars().next().filter(|quote| "\"'`".contains(*quote))?;
        argument.get(quote.len_utf8()..)?.split(quote).next()
    })
}

/// Whether an argument is one text without anything in it that is known only when the code runs; or none at all.
fn is_plain(argument: &str) -> bool {
    if argument.starts_with(')') {
        return true;
    }
    let bare = argument.trim_start_matches(['r', 'b', 'u']);
    let Some(quote) = bare.chars().next().filter(|quote| "\"'`".contains(*quote)) else { return false };
    let rest = bare.trim_start_matches(quote);
    let Some((text, after)) = rest.split_once(quote) else { return false };
    let is_made = text.contains("${") || text.contains("#{");
    !is_made && after.trim_start_matches(quote).trim_start().starts_with([')', ','])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_concatenations_are_spelled_out() {
        for (code, result) in [
            ("\"\\x72m -rf\"", "\"rm -rf\""),
            ("'\\u0073udo'", "'sudo'"),
            ("\"\\162m\"", "\"rm\""),
            ("\"r\" + \"m -rf\"", "\"rm -rf\""),
            ("'r'.'m'", "'rm'"),
            ("['a', 'b']", "['a', 'b']"),
            ("\\", "\\"),
        ] {
            assert_eq!(spelled(code), result, "{code}");
        }
    }

    #[test]
    fn calls_with_an_argument_that_is_made_are_found() {
        for code in [
            "eval(x)",
            "os.system(\"a\" + b)",
            "system($0)",
            "new Function(argv[1])()",
            "exec(open('x').read())",
            "popen(f\"a {b}\")",
        ] {
            assert!(
                ["eval", "system", "Function", "exec", "popen"]
                    .iter()
                    .any(|name| has_made_argument(code, name)),
                "{code}"
            );
        }
        for code in [
            "os.system('ls')",
            "eval(\"1 + 1\")",
            "/a/.exec(text)",
            "platform.system()",
            "literal_eval(x)",
            "model.eval()",
        ] {
            assert!(!["eval", "system", "exec"].iter().any(|name| has_made_argument(code, name)), "{code}");
        }
    }
}
