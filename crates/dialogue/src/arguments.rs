//! `$ARGUMENTS`, `$1`, … in the body of a skill.

/// The parameter with all positional arguments.
const ALL: &str = "ARGUMENTS";

/// The body with the positional arguments among `params`: `$ARGUMENTS` stands for all of them, `$1`, `$2`, … for one each. Gives
/// also the parameters that are still to be told: all but the arguments that the body uses, and single ones where `ARGUMENTS` has them.
///
/// Without arguments, `$1` stays as it is: it is most likely part of a script that the body shows.
pub fn with_arguments(body: &str, params: Vec<(String, String)>) -> (String, Vec<(String, String)>) {
    let has_arguments = params.iter().any(|(name, _)| is_positional(name));
    let mut filled = String::with_capacity(body.len());
    let (mut rest, mut used) = (body, Vec::new());
    while let Some((before, after)) = rest.split_once('$') {
        filled.push_str(before);
        let name = name_at(after);
        let value = params.iter().find(|(param, _)| param == name).map(|(_, value)| value.as_str());
        match value {
            _ if name.is_empty() || (!has_arguments && name != ALL) => filled.push('$'),
            value => {
                filled.push_str(value.unwrap_or_default());
                rest = after.get(name.len()..).unwrap_or_default();
                used.push(name);
                continue;
            }
        }
        rest = after;
    }
    filled.push_str(rest);
    let has_all = params.iter().any(|(name, _)| name == ALL);
    let is_told = |name: &str| match name {
        name if !is_positional(name) => true,
        ALL => !used.contains(&ALL),
        name => !has_all && !used.contains(&name),
    };
    (filled, params.into_iter().filter(|(name, _)| is_told(name)).collect())
}

/// Whether a parameter is a positional argument, or all of them.
fn is_positional(name: &str) -> bool {
    name == ALL || (name_at(name) == name && !name.is_empty())
}

/// The name of an argument that a text begins with; empty if there is none.
fn name_at(text: &str) -> &str {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    match text.strip_prefix(ALL) {
        Some(rest) if !rest.starts_with(is_word) => ALL,
        Some(_) => "",
        None if text.starts_with('0') => "",
        None => {
            let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            let (number, rest) = text.split_at(end);
            if rest.starts_with(is_word) { "" } else { number }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(body: &str, params: &[(&str, &str)]) -> (String, String) {
        let params = params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let (body, told) = with_arguments(body, params);
        (body, told.into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn arguments_stand_where_the_body_names_them() {
        let params = [("ARGUMENTS", "fix it"), ("1", "fix"), ("2", "it"), ("x", "y")];
        assert_eq!(filled("Do $ARGUMENTS.", &params), ("Do fix it.".into(), "x".into()));
        assert_eq!(filled("$2/$1/$3/$10", &params), ("it/fix//".into(), "ARGUMENTS x".into()));
        assert_eq!(
            filled("$x $ARGUMENTSX $1st $ $$1", &params),
            ("$x $ARGUMENTSX $1st $ $fix".into(), "ARGUMENTS x".into())
        );
    }

    #[test]
    fn arguments_that_the_body_does_not_use_are_told() {
        let params = [("ARGUMENTS", "fix it"), ("1", "fix"), ("2", "it")];
        assert_eq!(filled("Do it.", &params), ("Do it.".into(), "ARGUMENTS".into()));
        assert_eq!(filled("Do it.", &[("1", "fix")]), ("Do it.".into(), "1".into()));
        assert_eq!(
            filled("Do $1.", &[("1", "fix"), ("2", "it"), ("0", "z")]),
            ("Do fix.".into(), "2 0".into())
        );
    }

    #[test]
    fn without_arguments_scripts_stay_as_they_are() {
        assert_eq!(
            filled("awk '{print $1}' $ARGUMENTS", &[("x", "y")]),
            ("awk '{print $1}' ".into(), "x".into())
        );
    }

    #[test]
    fn an_argument_is_not_filled_in_again() {
        assert_eq!(filled("$1", &[("1", "$2 $ARGUMENTS"), ("2", "x")]).0, "$2 $ARGUMENTS");
    }
}
