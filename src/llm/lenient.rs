//! Reading JSON of which some is expected, in one pass: what is of another type counts as absent, and what nobody asks for is skipped.
//! Only a number that is out of range (`1e999`) in the place of an expected text, list or object makes the whole invalid.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use template::value::{RawObject, SmolStr, parse_json};

/// A type that is read from some types of JSON; from all others, its default.
pub trait Lenient: Default {
    /// From a text.
    fn of_text(_text: &str) -> Self {
        Self::default()
    }

    /// From a list.
    ///
    /// # Errors
    /// If it is not valid JSON.
    fn of_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }

    /// From an object.
    ///
    /// # Errors
    /// If it is not valid JSON.
    fn of_object<'de, A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

impl Lenient for Option<String> {
    fn of_text(text: &str) -> Option<String> {
        Some(text.to_owned())
    }
}

/// The members of an object, one by one; of a repeated name, the last one counts.
pub trait Members: Default {
    /// Takes the [`value`] of the member `name`, or does a [`skip`].
    ///
    /// # Errors
    /// If it is not valid JSON.
    fn member<'de, A: MapAccess<'de>>(&mut self, name: &str, object: &mut A) -> Result<(), A::Error>;
}

impl<T: Members> Lenient for Option<T> {
    fn of_object<'de, A: MapAccess<'de>>(mut object: A) -> Result<Option<T>, A::Error> {
        let mut members = T::default();
        while let Some(name) = object.next_key::<SmolStr>()? {
            members.member(&name, &mut object)?;
        }
        Ok(Some(members))
    }
}

impl<T: Lenient> Lenient for Vec<T> {
    fn of_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Vec<T>, A::Error> {
        let mut items = Vec::new();
        while let Some(Read(item)) = list.next_element()? {
            items.push(item);
        }
        Ok(items)
    }
}

/// Reads a JSON text.
///
/// # Errors
/// If it is not valid JSON.
pub fn read<T: Lenient>(json: &[u8]) -> Result<T, serde_json::Error> {
    parse_json(json).map(|Read(value)| value)
}

/// Reads a member of an object.
pub fn find<T: Lenient>(object: &RawObject, name: &str) -> T {
    object.find(name).map(|Read(value)| value).unwrap_or_default()
}

/// The value of the member whose name was read last.
///
/// # Errors
/// If it is not valid JSON.
pub fn value<'de, T: Lenient, A: MapAccess<'de>>(object: &mut A) -> Result<T, A::Error> {
    object.next_value().map(|Read(value)| value)
}

/// The same, if it is a whole number that is not negative.
///
/// # Errors
/// If it is not valid JSON.
pub fn number<'de, A: MapAccess<'de>>(object: &mut A) -> Result<Option<u64>, A::Error> {
    let json: &RawValue = object.next_value()?;
    Ok(json.get().parse().ok())
}

/// Skips the value of the member whose name was read last.
///
/// # Errors
/// If it is not valid JSON.
pub fn skip<'de, A: MapAccess<'de>>(object: &mut A) -> Result<(), A::Error> {
    object.next_value::<IgnoredAny>().map(|_| ())
}

/// What is read of a JSON text.
struct Read<T>(T);

impl<'de, T: Lenient> Deserialize<'de> for Read<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Read<T>, D::Error> {
        deserializer.deserialize_any(Reader(PhantomData))
    }
}

struct Reader<T>(PhantomData<T>);

impl<'de, T: Lenient> Visitor<'de> for Reader<T> {
    type Value = Read<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E>(self) -> Result<Read<T>, E> {
        Ok(Read(T::default()))
    }

    fn visit_bool<E>(self, _value: bool) -> Result<Read<T>, E> {
        Ok(Read(T::default()))
    }

    fn visit_i64<E>(self, _number: i64) -> Result<Read<T>, E> {
        Ok(Read(T::default()))
    }

    fn visit_u64<E>(self, _number: u64) -> Result<Read<T>, E> {
        Ok(Read(T::default()))
    }

    fn visit_f64<E>(self, _number: f64) -> Result<Read<T>, E> {
        Ok(Read(T::default()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Read<T>, E> {
        Ok(Read(T::of_text(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Read<T>, A::Error> {
        T::of_list(list).map(Read)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Read<T>, A::Error> {
        T::of_object(object).map(Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An object with one number and one text.
    #[derive(Debug, Default, PartialEq)]
    struct Pair {
        number: Option<u64>,
        text: Option<String>,
    }

    impl Members for Pair {
        fn member<'de, A: MapAccess<'de>>(&mut self, name: &str, object: &mut A) -> Result<(), A::Error> {
            match name {
                "number" => self.number = number(object)?,
                "text" => self.text = value(object)?,
                _ => skip(object)?,
            }
            Ok(())
        }
    }

    fn read<T: Lenient>(json: &str) -> T {
        super::read(json.as_bytes()).unwrap()
    }

    fn pair(number: Option<u64>, text: Option<&str>) -> Option<Pair> {
        Some(Pair { number, text: text.map(str::to_owned) })
    }

    #[test]
    fn what_is_of_another_type_counts_as_absent() {
        for json in ["null", "true", "-1", "1.5", "3", "[1, [\"x\"]]", "{\"a\": {\"b\": 1}}"] {
            assert_eq!(read::<Option<String>>(json), None, "{json}");
        }
        assert_eq!(read::<Option<String>>("\"\\u00e9\"").as_deref(), Some("é"));
        for other in
            ["null", "false", "-1", "1.0", "\"3\"", "[3]", "{\"a\": 3}", "1e999", "18446744073709551616"]
        {
            assert_eq!(
                read::<Option<Pair>>(&format!("{{\"number\": {other}, \"text\": 5}}")),
                pair(None, None)
            );
        }
        for none in ["null", "\"x\"", "[{}]", "7"] {
            assert_eq!(read::<Option<Pair>>(none), None, "{none}");
        }
    }

    #[test]
    fn of_a_repeated_name_the_last_member_counts() {
        let read = read::<Option<Pair>>(
            r#"{"number": 1, "text": "a", "number": 18446744073709551615, "text": null}"#,
        );
        assert_eq!(read, pair(Some(u64::MAX), None));
    }

    #[test]
    fn items_keep_their_places_in_a_list() {
        let read = read::<Vec<Option<String>>>(r#"["a", 5, "b"]"#);
        assert_eq!(read, [Some("a".to_owned()), None, Some("b".to_owned())]);
    }

    #[test]
    fn what_is_skipped_may_nest_deeply() {
        let deep = "[".repeat(10_000) + &"]".repeat(10_000);
        assert_eq!(read::<Option<Pair>>(&format!("{{\"a\": {deep}, \"number\": 1}}")), pair(Some(1), None));
        assert_eq!(read::<Option<String>>(&format!("{{\"a\": {deep}}}")), None);
    }
}
