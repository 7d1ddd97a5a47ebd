//! The built-in types of content objects, and the lists in which they may stand.

/// What a list of messages is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A chat.
    Chat,
    /// A structured request.
    Request,
}

impl Purpose {
    /// The JSON Pointer of the list.
    pub(super) fn path(self) -> &'static str {
        match self {
            Purpose::Chat => "/messages",
            Purpose::Request => "/context",
        }
    }

    /// The built-in types that such a list may use.
    pub(super) fn types(self) -> impl Iterator<Item = &'static str> {
        let may_use = move |kind| self == Purpose::Request || kind != ObjectType::Tool;
        TYPES.into_iter().filter(move |(_, kind)| may_use(*kind)).map(|(name, _)| name)
    }
}

/// The built-in types of content objects. The number is the priority: objects with a higher one are handled first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ObjectType {
    Text = 0,
    Data = 1,
    Input = 4,
    State = 5,
    Config = 80,
    Tool = 90,
}

/// The name of each type.
pub(super) const TYPES: [(&str, ObjectType); 6] = [
    ("tool", ObjectType::Tool),
    ("config", ObjectType::Config),
    ("state", ObjectType::State),
    ("input", ObjectType::Input),
    ("data", ObjectType::Data),
    ("text", ObjectType::Text),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_types_are_listed_by_priority() {
        assert!(TYPES.is_sorted_by(|(_, higher), (_, lower)| higher > lower));
    }
}
