//! Texts in the documents of tools in which `{name}` stands for an argument of the call.

/// A text in which `{name}` stands for an argument.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArgumentText {
    parts: Vec<TextPart>,
}

/// A part of an [`ArgumentText`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextPart {
    /// Stands for itself.
    Text(String),
    /// Stands for the argument of this name.
    Argument(String),
}

/// A text whose braces do not pair up, or that has no name between them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}; write `{{name}}` for an argument, and %7B and %7D for the braces themselves")]
pub struct InvalidArgumentText {
    message: String,
}

impl ArgumentText {
    /// Reads a text.
    ///
    /// # Errors
    /// If a brace has no partner, or there is no name between two.
    pub fn parse(text: &str) -> Result<ArgumentText, InvalidArgumentText> {
        let invalid = |message: &str| InvalidArgumentText { message: message.to_owned() };
        let mut parts = Vec::new();
        let mut left = text;
        while let Some(at) = left.find(['{', '}']) {
            let (before, from_brace) = left.split_at(at);
            let inside = from_brace.strip_prefix('{').ok_or_else(|| invalid("a `}` has no `{` before it"))?;
            let (name, after) = inside.split_once('}').ok_or_else(|| invalid("a `{` is not closed"))?;
            match name {
                "" => return Err(invalid("there is no name in `{}`")),
                name if name.contains('{') => return Err(invalid("a `{` is not closed before the next one")),
                name => {
                    parts.extend(text_part(before));
                    parts.push(TextPart::Argument(name.to_owned()));
                }
            }
            left = after;
        }
        parts.extend(text_part(left));
        Ok(ArgumentText { parts })
    }

    /// The parts, in order.
    pub fn parts(&self) -> &[TextPart] {
        &self.parts
    }

    /// The names of the arguments, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            TextPart::Argument(name) => Some(name.as_str()),
            TextPart::Text(_) => None,
        })
    }

    /// The name of the argument, if the text is nothing but one.
    pub fn argument(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [TextPart::Argument(name)] => Some(name),
            _ => None,
        }
    }
}

fn text_part(text: &str) -> Option<TextPart> {
    (!text.is_empty()).then(|| TextPart::Text(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_between_braces() {
        let text = ArgumentText::parse("/a/{b}/c{d e}?{b}").unwrap();
        assert_eq!(text.names().collect::<Vec<_>>(), ["b", "d e", "b"]);
        assert_eq!(text.argument(), None);
        assert_eq!(ArgumentText::parse("{b}").unwrap().argument(), Some("b"));
        assert_eq!(ArgumentText::parse("").unwrap().parts(), []);
    }

    #[test]
    fn braces_without_partner_or_name_are_refused() {
        for (text, expected) in [
            ("/a/{b", "not closed"),
            ("/a/b}", "no `{` before"),
            ("/{a{b}}", "before the next one"),
            ("/{a}}", "no `{` before"),
            ("/{}/", "no name"),
        ] {
            let error = ArgumentText::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected) && error.contains("%7B"), "{text}: {error}");
        }
    }
}
