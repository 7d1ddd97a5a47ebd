//! Named values from the command line.

use serde_json::{Map, Value as Json};

use super::args::Values;
use super::error::CliError;

impl Values {
    /// The values as one object.
    ///
    /// # Errors
    /// [`CliError::Usage`] if `--json` is no JSON object.
    pub fn object(&self) -> Result<Map<String, Json>, CliError> {
        let mut object = match self.json.as_deref().map(serde_json::from_str::<Json>) {
            None => Map::new(),
            Some(Ok(Json::Object(object))) => object,
            Some(Ok(_)) => return Err(CliError::Usage("--json must be a JSON object".to_owned())),
            Some(Err(error)) => return Err(CliError::Usage(format!("--json is not valid JSON: {error}"))),
        };
        object.extend(self.texts.iter().map(|(name, text)| (name.clone(), Json::String(text.clone()))));
        Ok(object)
    }
}
