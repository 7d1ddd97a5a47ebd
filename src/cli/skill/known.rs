//! A line as it is judged: `$SKILL_DIR` is known before it runs, so that the skill's own scripts are.

use policy::Line;

/// The variable of a skill's folder.
const NAME: &str = "SKILL_DIR";

/// The line with the folder in the place of `$SKILL_DIR` and `${SKILL_DIR}`, if that is what every shell makes of it: nothing in the line
/// sets the variable, no quote or backslash keeps `$` from its meaning, and the folder is one plain word.
pub fn judged(text: &str, folder: Option<&str>) -> Line {
    match folder.filter(|folder| is_plain(folder)).and_then(|folder| filled(text, folder)) {
        Some(filled) => Line::read(&filled),
        None => Line::read(text),
    }
}

fn is_plain(folder: &str) -> bool {
    folder.starts_with('/') && folder.chars().all(|c| c.is_alphanumeric() || "/._-+@".contains(c))
}

fn filled(text: &str, folder: &str) -> Option<String> {
    if text.contains(['\'', '\\']) {
        return None;
    }
    let mut parts = text.split(NAME);
    let mut filled = parts.next()?.to_owned();
    for part in parts {
        let begin = filled.len();
        let rest = match (filled.ends_with("${"), filled.ends_with('$')) {
            (true, _) => {
                filled.truncate(begin - 2);
                part.strip_prefix('}')?
            }
            (false, true) => {
                filled.truncate(begin - 1);
                part
            }
            (false, false) => return None,
        };
        let is_longer_name = rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if is_longer_name && rest.len() == part.len() {
            return None;
        }
        filled.push_str(folder);
        filled.push_str(rest);
    }
    Some(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_stands_in_the_place_of_the_variable() {
        for (text, judged_as) in [
            ("sh \"$SKILL_DIR/a.sh\" x", "sh \"/s/k/a.sh\" x"),
            ("cat ${SKILL_DIR}x $SKILL_DIR", "cat /s/kx /s/k"),
            ("ls", "ls"),
        ] {
            assert_eq!(judged(text, Some("/s/k")).text(), judged_as, "{text}");
        }
    }

    #[test]
    fn nothing_is_filled_in_where_a_shell_might_do_otherwise() {
        for text in [
            "echo '$SKILL_DIR'",
            "echo \\$SKILL_DIR",
            "SKILL_DIR=/etc; cat $SKILL_DIR/x",
            "cat ${SKILL_DIR:-x}",
            "cat $SKILL_DIRECTORY",
            "cat ${#SKILL_DIR}",
            "read SKILL_DIR",
            "cat ${SKILL_DIR%k}",
        ] {
            assert_eq!(judged(text, Some("/s/k")).text(), text);
        }
        for folder in ["/a b", "relative", "/a*", "/a$b", "/a'b"] {
            assert_eq!(judged("ls $SKILL_DIR", Some(folder)).text(), "ls $SKILL_DIR", "{folder}");
        }
        assert_eq!(judged("ls $SKILL_DIR", None).text(), "ls $SKILL_DIR");
    }
}
