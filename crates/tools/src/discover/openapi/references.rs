//! Local references of a document: `#/components/…`.

use std::borrow::Cow;

use serde_json::Value as Json;

/// How often a reference may lead to another one.
const STEPS: usize = 20;

/// What a document's references lead to.
pub(super) struct References<'a> {
    document: &'a Json,
}

impl<'a> References<'a> {
    pub(super) fn new(document: &'a Json) -> References<'a> {
        References { document }
    }

    /// The value itself, or what its reference leads to.
    ///
    /// # Errors
    /// Why the reference leads nowhere.
    pub(super) fn resolved<'v>(&self, value: &'v Json) -> Result<&'v Json, String>
    where
        'a: 'v,
    {
        let mut value = value;
        for _ in 0..STEPS {
            match value.get("$ref").and_then(Json::as_str) {
                None => return Ok(value),
                Some(reference) => value = self.target(reference)?,
            }
        }
        Err("its references lead in a circle".to_owned())
    }

    /// What a reference leads to.
    ///
    /// # Errors
    /// If it is not local, or leads nowhere.
    pub(super) fn target(&self, reference: &str) -> Result<&'a Json, String> {
        let Some(pointer) = reference.strip_prefix('#') else {
            return Err(format!(
                "it refers to `{reference}` outside of the document; bundle the documents into one first"
            ));
        };
        let target = self.document.pointer(&unescaped(pointer));
        target.ok_or_else(|| format!("`{reference}` leads nowhere"))
    }
}

/// A pointer in a URL may be percent-encoded.
fn unescaped(pointer: &str) -> Cow<'_, str> {
    match pointer.contains('%') {
        true => {
            let pairs =
                url::form_urlencoded::parse(pointer.replace('+', "%2B").replace('=', "%3D").as_bytes())
                    .next()
                    .map(|(name, _)| name.into_owned());
            Cow::Owned(pairs.unwrap_or_default())
        }
        false => Cow::Borrowed(pointer),
    }
}
