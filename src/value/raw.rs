//! JSON objects whose members stay as they were written.

use std::fmt;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use super::parse_json;

/// A JSON object that can be edited without touching what is not edited: the order of its members, the text of numbers,
/// explicit nulls, and everything inside stay as they were written.
///
/// Of a name that is there several times, the last one counts, and all are kept.
#[derive(Clone, Default)]
pub struct RawObject {
    members: Vec<(String, Box<RawValue>)>,
}

impl RawObject {
    /// The member `name`.
    pub fn get(&self, name: &str) -> Option<&RawValue> {
        self.members.iter().rev().find(|(known, _)| known == name).map(|(_, member)| &**member)
    }

    /// The member `name` as a `T`; `None` if it is not there, or null.
    ///
    /// # Errors
    /// When it is no `T`.
    pub fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, serde_json::Error> {
        self.get(name).map_or(Ok(None), |member| parse_json(member.get().as_bytes()))
    }

    /// Takes the member `name` out.
    pub fn remove(&mut self, name: &str) -> Option<Box<RawValue>> {
        let mut removed = None;
        self.members.retain_mut(|(known, member)| {
            let other = known != name;
            if !other {
                removed = Some(std::mem::take(member));
            }
            other
        });
        removed
    }

    /// Adds a member at the end, whatever is there already.
    pub fn push(&mut self, name: String, member: Box<RawValue>) {
        self.members.push((name, member));
    }

    /// Puts a member in the place of those of this name, or at the end.
    pub fn put(&mut self, name: &str, member: Box<RawValue>) {
        match self.members.iter().position(|(known, _)| known == name) {
            None => self.members.push((name.to_owned(), member)),
            Some(place) => {
                let mut at = 0;
                self.members.retain(|(known, _)| {
                    at += 1;
                    at - 1 == place || known != name
                });
                if let Some((_, old)) = self.members.get_mut(place) {
                    *old = member;
                }
            }
        }
    }

    /// Puts `value` in the place of the members of this name, or at the end.
    ///
    /// # Errors
    /// When the value cannot be written as JSON.
    pub fn set<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), serde_json::Error> {
        self.put(name, to_raw_value(value)?);
        Ok(())
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

/// The names alone: members may be secret.
impl fmt::Debug for RawObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.members.iter().map(|(name, _)| name)).finish()
    }
}

impl Serialize for RawObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.members.len()))?;
        self.members.iter().try_for_each(|(name, member)| map.serialize_entry(name, member))?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawObject, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = RawObject;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawObject, A::Error> {
                let mut members = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    members.push(entry);
                }
                Ok(RawObject { members })
            }
        }

        deserializer.deserialize_map(Members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> RawObject {
        parse_json(text.as_bytes()).unwrap()
    }

    fn text(object: &RawObject) -> String {
        serde_json::to_string(object).unwrap()
    }

    #[test]
    fn what_is_not_edited_stays_as_it_was_written() {
        let written = r#"{"b":1.0,"a":1e3,"n":null,"big":123456789012345678901234567890,"s":"\u00e9\ud800","o":{ "z":0 }}"#;
        let mut edited = object(written);
        assert_eq!(text(&edited), written);
        edited.set("a", &2).unwrap();
        edited.set("new", "x").unwrap();
        assert_eq!(edited.remove("n").unwrap().get(), "null");
        let expected = written.replace("1e3", "2").replace(r#""n":null,"#, "");
        assert_eq!(text(&edited), expected.replace("0 }}", r#"0 },"new":"x"}"#));
    }

    #[test]
    fn of_several_members_of_one_name_the_last_counts_and_an_edit_leaves_one() {
        let mut twice = object(r#"{"a":1,"b":2,"a":3}"#);
        assert_eq!(twice.read::<i64>("a").unwrap(), Some(3));
        assert_eq!(text(&twice), r#"{"a":1,"b":2,"a":3}"#);
        twice.set("a", &4).unwrap();
        assert_eq!(text(&twice), r#"{"a":4,"b":2}"#);
        assert_eq!(object(r#"{"a":1,"a":2}"#).remove("a").unwrap().get(), "2");
    }

    #[test]
    fn null_reads_as_nothing_and_a_wrong_type_as_an_error() {
        let object = object(r#"{"n":null,"t":"x"}"#);
        assert_eq!(object.read::<String>("n").unwrap(), None);
        assert!(object.read::<u64>("t").is_err());
    }

    #[test]
    fn its_debug_form_shows_no_values() {
        assert_eq!(format!("{:?}", object(r#"{"key":"secret"}"#)), r#"{"key"}"#);
    }
}
