//! JSON objects whose members keep their original text.

use std::collections::HashSet;
use std::fmt;

use serde::de::{
    Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor,
};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use super::parse_json;

/// The most members of an object, since look-ups are linear.
const MEMBERS_MAX: usize = 1_000;

/// A JSON object whose members can be edited while all others keep their original text: the order of members, the spelling
/// of numbers, explicit nulls, and unknown members survive.
///
/// Of a repeated name, the last member counts, and all are kept.
#[derive(Clone, Default)]
pub struct RawObject {
    members: Vec<(String, Box<RawValue>)>,
}

impl RawObject {
    /// The member `name`.
    pub fn get(&self, name: &str) -> Option<&RawValue> {
        self.members.iter().rev().find(|(known, _)| known == name).map(|(_, member)| &**member)
    }

    /// The member `name` as a `T`; `None` if it is absent or null.
    ///
    /// # Errors
    /// If it is not a `T`.
    pub fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, serde_json::Error> {
        self.get(name).map_or(Ok(None), |member| parse_json(member.get().as_bytes()))
    }

    /// The member `name`, if it is a `T`: one of another type counts as absent.
    pub fn find<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.read(name).ok().flatten()
    }

    /// Removes the member `name`, and gives it back.
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

    /// Adds a member at the end, even if there is one of this name.
    ///
    /// # Errors
    /// If the object has the most members that are allowed.
    pub fn push<E: Error>(&mut self, name: String, member: Box<RawValue>) -> Result<(), E> {
        if self.members.len() >= MEMBERS_MAX {
            return Err(E::custom(format_args!("an object of more than {MEMBERS_MAX} members")));
        }
        self.members.push((name, member));
        Ok(())
    }

    /// Adds those of these members whose names are not there yet.
    ///
    /// # Errors
    /// If a value cannot be serialized to JSON.
    pub fn fill<'m, T: Serialize + 'm>(
        &mut self,
        members: impl Iterator<Item = (&'m String, &'m T)>,
    ) -> Result<(), serde_json::Error> {
        let mut members = members.peekable();
        if members.peek().is_none() {
            return Ok(());
        }
        let mut known: HashSet<String> = self.members.iter().map(|(name, _)| name.clone()).collect();
        for (name, member) in members {
            if known.insert(name.clone()) {
                self.members.push((name.clone(), to_raw_value(member)?));
            }
        }
        Ok(())
    }

    /// Adds those members of another object whose names are not there yet.
    pub fn complete(&mut self, other: RawObject) {
        for (name, member) in other.members {
            if self.get(&name).is_none() {
                self.members.push((name, member));
            }
        }
    }

    /// The object as JSON, with `member` in place of the members of its name, or at the end.
    ///
    /// # Errors
    /// Those of `serde_json`.
    pub fn to_json_with(&self, name: &str, member: &RawValue) -> Result<Vec<u8>, serde_json::Error> {
        let bytes = self.members.iter().map(|(name, member)| name.len() + member.get().len() + 4);
        let mut json = Vec::with_capacity(bytes.sum::<usize>() + name.len() + member.get().len() + 8);
        serde_json::to_writer(&mut json, &WithMember { object: self, name, member })?;
        Ok(json)
    }

    /// Replaces the members of this name, or adds one at the end.
    fn put(&mut self, name: &str, member: Box<RawValue>) {
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

    /// Replaces the members of this name by `value`, or adds one at the end.
    ///
    /// # Errors
    /// If the value cannot be serialized to JSON.
    pub fn set<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), serde_json::Error> {
        self.put(name, to_raw_value(value)?);
        Ok(())
    }

    /// The names of the members, in their order; repeated ones as often as they are there.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|(name, _)| name.as_str())
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

/// Shows the names only, since members may be secret.
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

/// An object with one member replaced, for serialization.
struct WithMember<'o> {
    object: &'o RawObject,
    name: &'o str,
    member: &'o RawValue,
}

impl Serialize for WithMember<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut written = false;
        for (name, member) in &self.object.members {
            match name == self.name {
                false => map.serialize_entry(name, member)?,
                true if written => {}
                true => {
                    map.serialize_entry(name, self.member)?;
                    written = true;
                }
            }
        }
        if !written {
            map.serialize_entry(self.name, self.member)?;
        }
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
                let mut object = RawObject::default();
                while let Some((name, member)) = map.next_entry()? {
                    object.push(name, member)?;
                }
                Ok(object)
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// Shows each item of a list to `visit`, and keeps none; what is no list has no items.
pub fn each_item(list: &RawValue, visit: impl FnMut(&RawValue)) {
    // The text was checked when the object around it was read, so that the only error is another type than a list.
    let _no_list = Items(visit).deserialize(&mut serde_json::Deserializer::from_str(list.get()));
}

struct Items<F>(F);

impl<'de, F: FnMut(&RawValue)> DeserializeSeed<'de> for Items<F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, F: FnMut(&RawValue)> Visitor<'de> for Items<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element::<&RawValue>()? {
            (self.0)(item);
        }
        Ok(())
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
    fn it_is_written_with_another_member_and_filled_with_those_that_are_not_there() {
        let member = to_raw_value("x").unwrap();
        for (written, expected) in [
            (r#"{"a":1.0,"m":null,"b":2}"#, r#"{"a":1.0,"m":"x","b":2}"#),
            (r#"{"m":1,"m":2}"#, r#"{"m":"x"}"#),
            ("{}", r#"{"m":"x"}"#),
        ] {
            let json = object(written).to_json_with("m", &member).unwrap();
            assert_eq!(String::from_utf8(json).unwrap(), expected);
        }
        let mut filled = object(r#"{"a":null}"#);
        let more = [("a".to_owned(), 1), ("b".to_owned(), 2), ("b".to_owned(), 3)];
        filled.fill(more.iter().map(|(name, value)| (name, value))).unwrap();
        assert_eq!(text(&filled), r#"{"a":null,"b":2}"#);
    }

    #[test]
    fn an_object_of_very_many_members_is_refused() {
        let members: Vec<String> = (0..1_001).map(|at| format!("\"{at}\":0")).collect();
        let object = |members: &[String]| format!("{{{}}}", members.join(","));
        assert!(parse_json::<RawObject>(object(&members[..1_000]).as_bytes()).is_ok());
        let error = parse_json::<RawObject>(object(&members).as_bytes()).unwrap_err();
        assert!(error.to_string().contains("more than 1000 members"), "{error}");
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

    #[test]
    fn members_of_other_types_count_as_absent_and_what_is_no_list_has_no_items() {
        let object = object(r#"{"a": 1, "b": ["x", [1 , 2], {}], "c": null}"#);
        assert_eq!((object.find::<u8>("a"), object.find::<String>("a")), (Some(1), None));
        assert_eq!((object.find::<u8>("c"), object.find::<u8>("d")), (None, None));
        let items = |name: &str| {
            let mut items = Vec::new();
            each_item(object.get(name).unwrap(), |item| items.push(item.get().to_owned()));
            items
        };
        assert_eq!(items("b"), ["\"x\"", "[1 , 2]", "{}"]);
        assert_eq!((items("a"), items("c")), (vec![], vec![]));
    }
}
