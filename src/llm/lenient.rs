//! Reading JSON of which some is expected: what is of another type counts as absent, and what nobody asks for is skipped. Only a
//! number that is out of range (`1e999`) in an expected place makes the whole invalid.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A type that is read from some types of JSON; from all others, its default.
pub trait Lenient: Default {
    /// From a text.
    fn of_text(_text: &str) -> Self {
        Self::default()
    }

    /// From a whole number that is not negative.
    fn of_number(_number: u64) -> Self {
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

impl Lenient for Option<u64> {
    fn of_number(number: u64) -> Option<u64> {
        Some(number)
    }
}

/// The value of the member whose name was read last.
///
/// # Errors
/// If it is not valid JSON.
pub fn value<'de, T: Lenient, A: MapAccess<'de>>(object: &mut A) -> Result<T, A::Error> {
    object.next_value().map(|Read(value)| value)
}

/// Skips the value of the member whose name was read last.
///
/// # Errors
/// If it is not valid JSON.
pub fn skip<'de, A: MapAccess<'de>>(object: &mut A) -> Result<(), A::Error> {
    object.next_value::<IgnoredAny>().map(|_| ())
}

/// What is read of a JSON text.
pub struct Read<T>(pub T);

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

    fn visit_f64<E>(self, _number: f64) -> Result<Read<T>, E> {
        Ok(Read(T::default()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Read<T>, E> {
        Ok(Read(T::of_number(number)))
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
    use template::value::parse_json;

    fn read<T: Lenient>(json: &str) -> T {
        let Read(value) = parse_json(json.as_bytes()).unwrap();
        value
    }

    #[test]
    fn what_is_of_another_type_counts_as_absent() {
        for json in ["null", "true", "-1", "1.5", "3", "[1, [\"x\"]]", "{\"a\": {\"b\": 1}}"] {
            assert_eq!(read::<Option<String>>(json), None, "{json}");
        }
        for json in ["null", "false", "-1", "1.0", "\"3\"", "[3]", "{\"a\": 3}"] {
            assert_eq!(read::<Option<u64>>(json), None, "{json}");
        }
        assert_eq!(read::<Option<String>>("\"\\u00e9\"").as_deref(), Some("é"));
        assert_eq!(read::<Option<u64>>("18446744073709551615"), Some(u64::MAX));
    }

    #[test]
    fn what_is_skipped_may_nest_deeply() {
        let deep = "[".repeat(10_000) + &"]".repeat(10_000);
        assert_eq!(read::<Option<String>>(&format!("{{\"a\": {deep}}}")), None);
    }
}
