//! The parameters of a skill: what the client gives, then the defaults of the others.

use serde_json::{Map as JsonMap, Value as Json};

use super::SkillError;
use base::model::Skill;

/// The parameters as texts, in the order in which the model is told them.
///
/// # Errors
/// [`SkillError::MissingParams`], with all of them.
pub fn complete(skill: &Skill, given: JsonMap<String, Json>) -> Result<Vec<(String, String)>, SkillError> {
    let mut missing = Vec::new();
    let mut params = given;
    for declared in &skill.params {
        // A null is a value like others, but none that is required.
        if params.get(&declared.name).is_some_and(|value| !(declared.required && value.is_null())) {
            continue;
        }
        match &declared.default {
            Some(default) => {
                params.insert(declared.name.clone(), default.clone());
            }
            None if declared.required => missing.push(declared.name.clone()),
            None => {}
        }
    }
    match missing.is_empty() {
        true => Ok(params.into_iter().map(|(name, value)| (name, text(value))).collect()),
        false => Err(SkillError::MissingParams { skill: skill.id.to_string(), names: missing }),
    }
}

/// A text as it is, any other value as JSON.
fn text(value: Json) -> String {
    match value {
        Json::String(text) => text,
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::model::{Id, SkillParam};
    use serde_json::json;

    fn skill() -> Skill {
        let param = |name: &str, required, default| SkillParam {
            name: name.to_owned(),
            description: String::new(),
            required,
            default,
        };
        let params = vec![
            param("a", true, None),
            param("b", true, None),
            param("c", false, Some(json!({"x": 1}))),
            param("d", false, None),
            param("e", true, Some(json!("E"))),
        ];
        Skill { params, ..Skill::new(Id::parse("s").unwrap(), "s", "") }
    }

    fn object(json: Json) -> JsonMap<String, Json> {
        json.as_object().unwrap().clone()
    }

    #[test]
    fn what_is_given_comes_first_and_defaults_fill_in_the_rest() {
        let given = object(json!({"z": [1, "two"], "b": 2, "a": " text ", "y": null}));
        let told: Vec<String> =
            complete(&skill(), given).unwrap().into_iter().map(|(n, v)| n + "=" + &v).collect();
        assert_eq!(told, [r#"z=[1,"two"]"#, "b=2", "a= text ", "y=null", r#"c={"x":1}"#, "e=E"]);
    }

    #[test]
    fn all_missing_parameters_are_named() {
        let error = complete(&skill(), object(json!({"a": null}))).unwrap_err();
        assert!(matches!(&error, SkillError::MissingParams { names, .. } if *names == ["a", "b"]), "{error}");
    }
}
