//! JSON in one way of writing: no white space, the shortest escapes, numbers as the service prints them. All members stay, in their
//! order, which steers models.

use serde::de::{Deserialize, Deserializer, Error};

use template::value::parse_json;

/// A JSON text in canonical form.
///
/// # Errors
/// If it is no JSON.
pub fn canonical(json: &str) -> Result<String, serde_json::Error> {
    let Canonical(text) = parse_json(json.as_bytes())?;
    Ok(text)
}

/// What is read is written at once, so that no tree is built.
struct Canonical(String);

impl<'de> Deserialize<'de> for Canonical {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Canonical, D::Error> {
        let mut json = Vec::new();
        serde_transcode::transcode(deserializer, &mut serde_json::Serializer::new(&mut json))
            .map_err(D::Error::custom)?;
        String::from_utf8(json).map(Canonical).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_way_to_write_each_value() {
        for (written, expected) in [
            (r#" [ {"b" : "\u00e9\/\u000a", "a": null} ] "#, r#"[{"b":"é/\n","a":null}]"#),
            ("[1e2, 100.0, -0.0, 0.10, 1E-7]", "[100.0,100.0,-0.0,0.1,1e-7]"),
            (
                "[18446744073709551615, -9223372036854775808, 123456789012345678901234567890]",
                "[18446744073709551615,-9223372036854775808,1.2345678901234568e+29]",
            ),
            (r#"{"x": 1, "x": 2}"#, r#"{"x":1,"x":2}"#),
            (r#""a\ud83d""#, "\"a\u{fffd}\""),
        ] {
            assert_eq!(canonical(written).unwrap(), expected, "{written}");
            assert_eq!(canonical(expected).unwrap(), expected);
        }
        assert!(canonical("[1,]").is_err() && canonical("1e400").is_err());
    }
}
