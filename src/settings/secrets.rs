//! Secrets in settings: kept, handed on, and never shown.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

/// A text that is never shown, not even in an error about it. One that is written as `env:NAME` is the value of that variable
/// of the environment.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "Text")]
pub struct Secret(String);

impl Secret {
    /// The text itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Puts what `variable` knows in the place of `env:NAME`; returns the variable that it does not know.
    pub(super) fn resolve(&mut self, variable: impl Fn(&str) -> Option<String>) -> Option<String> {
        let wanted = self.0.strip_prefix("env:")?;
        match variable(wanted) {
            None => Some(wanted.to_owned()),
            Some(value) => {
                self.0 = value;
                None
            }
        }
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Secret {
        Secret(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(HIDDEN)
    }
}

/// What is shown instead of a secret.
const HIDDEN: &str = "[hidden]";

/// Texts by name that are never shown, not even in an error about them. One that is written as `env:NAME` is the value of
/// that variable of the environment.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Table")]
pub struct Secrets(BTreeMap<String, Secret>);

impl Secrets {
    /// The names, and the texts themselves.
    pub fn reveal(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, secret)| (name.as_str(), secret.reveal()))
    }

    /// Puts what `variable` knows in the place of `env:NAME`; returns the names, and the variables that it does not know.
    pub(super) fn resolve(&mut self, variable: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
        let absent =
            |(name, secret): (&String, &mut Secret)| Some((name.clone(), secret.resolve(&variable)?));
        self.0.iter_mut().filter_map(absent).collect()
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Serialize for Secrets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(&self.0)
    }
}

impl From<Table> for Secrets {
    fn from(Table::Texts(texts): Table) -> Secrets {
        Secrets(texts.into_iter().map(|(name, text)| (name, Secret(text.into()))).collect())
    }
}

/// Without a tag, errors show what was expected and not what was there.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a table of texts")]
enum Table {
    Texts(BTreeMap<String, Scalar>),
}

/// As [`Table`], for one text.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a text")]
enum Text {
    Scalar(Scalar),
}

impl From<Text> for Secret {
    fn from(Text::Scalar(text): Text) -> Secret {
        Secret(text.into())
    }
}

/// A text, or what the environment makes of one that looks like something else.
#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Text(String),
    Number(i64),
    Truth(bool),
}

impl From<Scalar> for String {
    fn from(scalar: Scalar) -> String {
        match scalar {
            Scalar::Text(text) => text,
            Scalar::Number(number) => number.to_string(),
            Scalar::Truth(truth) => truth.to_string(),
        }
    }
}
