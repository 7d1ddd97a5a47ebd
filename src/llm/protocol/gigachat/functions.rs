//! What may be called, and whether it has to be: OpenAI's `tools` and `tool_choice`, or `functions` and `function_call`, as GigaChat takes
//! them.
//!
//! GigaChat calls nothing unless it is told `function_call`. It can be made to call one function, not any one of several.

use serde_json::{Value as Json, json};

use super::problems::Problems;
use super::schema::{self, Budget};
use template::value::RawObject;

/// The longest text of `tools`, `functions` or `tool_choice`, in bytes: what is read of it takes a multiple of that.
const OFFERED_BYTES: usize = 1 << 20;

/// What a client offers.
struct Offered {
    /// The member in which it does so.
    member: &'static str,
    /// The functions, each with its place.
    functions: Vec<(usize, Json)>,
    /// Its `tool_choice`.
    choice: Option<Json>,
}

/// Puts `functions` and `function_call` in the place of what the client sent; what is wrong with it is added to `problems`.
///
/// # Errors
/// Those of `serde_json`.
pub fn write(body: &mut RawObject, problems: &mut Problems) -> Result<(), serde_json::Error> {
    let Offered { member, functions, choice } = Offered::take(body, problems);
    if let Some(call) = called(member, &functions, choice.as_ref(), problems) {
        body.set("function_call", &call)?;
    }
    if functions.is_empty() {
        return Ok(());
    }
    let mut budget = Budget::default();
    let functions = functions.into_iter().filter_map(|(at, function)| {
        let simplified = simplified(function, &mut budget);
        simplified.map_err(|problem| problems.add(member, format!("[{at}] {problem}"))).ok()
    });
    body.set("functions", &functions.collect::<Vec<Json>>())?;
    match body.get("function_call") {
        Some(_) => Ok(()),
        None => body.set("function_call", "auto"),
    }
}

impl Offered {
    /// Takes it out of a request.
    fn take(body: &mut RawObject, problems: &mut Problems) -> Offered {
        let tools: Vec<Json> = list(body, "tools", problems);
        let own: Vec<Json> = list(body, "functions", problems);
        let choice = is_short(body, "tool_choice", problems).then(|| body.find("tool_choice")).flatten();
        ["tools", "functions", "tool_choice"].iter().for_each(|name| drop(body.remove(name)));
        if tools.is_empty() {
            return Offered { member: "functions", functions: own.into_iter().enumerate().collect(), choice };
        }
        if !own.is_empty() {
            problems.add("functions", "cannot be given together with `tools`; give one of them");
        }
        let of_tool = |(at, tool)| Some((at, function_of(at, tool, problems)?));
        let functions = tools.into_iter().enumerate().filter_map(of_tool).collect();
        Offered { member: "tools", functions, choice }
    }
}

/// GigaChat's `function_call` for what OpenAI's clients say of tools; `None` where they say nothing.
fn called(
    member: &str,
    functions: &[(usize, Json)],
    choice: Option<&Json>,
    problems: &mut Problems,
) -> Option<Json> {
    if member != "tools" && choice.is_none() {
        return None;
    }
    let names = functions.iter().filter_map(|(_, function)| Some(function.get("name")?.as_str()?.to_owned()));
    let call = function_call(choice, &names.collect::<Vec<String>>());
    let call = call.map_err(|problem| problems.add("tool_choice", problem)).ok()?;
    // Without functions of the client, `auto` would have GigaChat call functions of its own.
    Some(call).filter(|_| !functions.is_empty())
}

/// Whether a member is not longer than it may be; if it is, that is a problem.
fn is_short(body: &RawObject, member: &'static str, problems: &mut Problems) -> bool {
    let is_short = body.get(member).is_none_or(|text| text.get().len() <= OFFERED_BYTES);
    if !is_short {
        problems.add(member, format!("is longer than {OFFERED_BYTES} bytes; offer less"));
    }
    is_short
}

fn list(body: &RawObject, member: &'static str, problems: &mut Problems) -> Vec<Json> {
    if !is_short(body, member, problems) {
        return Vec::new();
    }
    body.read(member).map(Option::unwrap_or_default).unwrap_or_else(|_| {
        problems.add(member, "must be a list");
        Vec::new()
    })
}

/// The function of a tool.
fn function_of(at: usize, mut tool: Json, problems: &mut Problems) -> Option<Json> {
    let function = tool.get_mut("function").filter(|function| function.is_object()).map(Json::take);
    if function.is_none() {
        let kind = tool.get("type").and_then(Json::as_str).unwrap_or_default();
        problems.add("tools", format!("[{at}] is of the type {kind:?}: GigaChat calls functions only"));
    }
    function
}

/// A function with parameters that GigaChat knows.
///
/// # Errors
/// What is wrong with it, as the rest of a sentence.
fn simplified(mut function: Json, budget: &mut Budget) -> Result<Json, String> {
    let members = function.as_object_mut().ok_or("must be an object")?;
    if members.get("name").and_then(Json::as_str).is_none_or(str::is_empty) {
        return Err("has no `name`".to_owned());
    }
    members.remove("strict");
    members.retain(|_, value| !value.is_null());
    for name in ["parameters", "return_parameters"] {
        let given = members.remove(name);
        if given.is_some() || name == "parameters" {
            let schema = schema::simplified(given.as_ref(), budget);
            let schema = schema.map_err(|problem| format!("has `{name}` that {problem}"))?;
            members.insert(name.to_owned(), schema);
        }
    }
    Ok(function)
}

/// GigaChat's `function_call` for OpenAI's `tool_choice`.
///
/// # Errors
/// What is wrong with it, as the rest of a sentence.
fn function_call(choice: Option<&Json>, names: &[String]) -> Result<Json, String> {
    let named = |name: &str| match names.iter().any(|known| known == name) {
        true => Ok(json!({"name": name})),
        false => Err(format!("names the function {name:?}, which is none of `tools`")),
    };
    match choice {
        None => Ok("auto".into()),
        Some(Json::String(word)) => match (word.as_str(), names) {
            ("auto" | "none", _) => Ok(word.as_str().into()),
            ("required", [only]) => named(only),
            ("required", []) => Err("is \"required\", and there are no `tools`".to_owned()),
            ("required", _) => Err("is \"required\" with several tools: GigaChat can be made to call one function, not any one of several; \
                name one, or say \"auto\""
                .to_owned()),
            _ => Err("must be \"none\", \"auto\", \"required\", or name a function".to_owned()),
        },
        Some(choice) => match choice.pointer("/function/name").and_then(Json::as_str) {
            Some(name) => named(name),
            None => Err("must be \"none\", \"auto\", \"required\", or name a function".to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use template::value::parse_json;

    fn written(body: &Json) -> Result<Json, String> {
        let mut body: RawObject = parse_json(body.to_string().as_bytes()).unwrap();
        let mut problems = Problems::default();
        write(&mut body, &mut problems).unwrap();
        problems.check().map_err(|error| error.to_string())?;
        Ok(json!(body))
    }

    fn tool(name: &str) -> Json {
        json!({"type": "function", "function": {"name": name, "strict": true, "description": "d"}})
    }

    fn function(name: &str) -> Json {
        json!({"name": name, "description": "d", "parameters": {"type": "object", "properties": {}}})
    }

    #[test]
    fn tools_become_functions_and_the_choice_says_whether_one_is_called() {
        let both = json!([tool("f"), tool("g")]);
        for (tools, choice, call) in [
            (&both, Json::Null, json!("auto")),
            (&both, json!("auto"), json!("auto")),
            (&both, json!("none"), json!("none")),
            (&both, json!({"type": "function", "function": {"name": "g"}}), json!({"name": "g"})),
            (&json!([tool("f")]), json!("required"), json!({"name": "f"})),
        ] {
            let body = written(&json!({"tools": tools, "tool_choice": choice})).unwrap();
            assert_eq!(body["function_call"], call);
            assert_eq!(body["functions"][0], function("f"));
            assert!(body.get("tools").is_none() && body.get("tool_choice").is_none());
        }
        for nothing in [
            json!({"tools": []}),
            json!({"tool_choice": "auto"}),
            json!({"tools": null, "tool_choice": "none"}),
        ] {
            assert_eq!(written(&nothing).unwrap(), json!({}));
        }
    }

    #[test]
    fn functions_keep_what_only_gigachat_knows() {
        let own = json!({"name": "f", "few_shot_examples": [{"request": "r", "params": {"x": 1}}],
            "parameters": {"type": "object", "properties": {"x": {"type": "integer", "description": ""}}, "required": ["x"]},
            "return_parameters": {"type": "object", "properties": {"y": {"type": "string"}}}});
        let asked =
            json!({"functions": [own], "function_call": {"name": "f", "partial_arguments": {"x": 1}}});
        assert_eq!(written(&asked).unwrap(), asked);
        assert_eq!(written(&json!({"functions": [own]})).unwrap()["function_call"], "auto");
        // Functions of GigaChat's own need no list.
        assert_eq!(written(&json!({"function_call": "auto"})).unwrap(), json!({"function_call": "auto"}));
    }

    #[test]
    fn what_is_too_long_is_refused_before_it_is_read() {
        let long = json!({"name": "f", "parameters": {"enum": vec![0; OFFERED_BYTES / 2]}});
        for body in [
            json!({"functions": [long]}),
            json!({"tools": [{"type": "function", "function": long}]}),
            json!({"tools": [tool("f")], "tool_choice": long}),
        ] {
            let problem = written(&body).unwrap_err();
            assert!(problem.contains("is longer than 1048576 bytes"), "{problem}");
        }
    }

    #[test]
    fn everything_that_is_wrong_is_named() {
        let all = written(&json!({
            "tools": [tool("f"), {"type": "custom", "custom": {}}, {"type": "function", "function": {}}],
            "functions": [function("f")], "tool_choice": {"type": "function", "function": {"name": "z"}},
        }));
        let all = all.unwrap_err();
        for told in ["together with `tools`", "[1] is of the type \"custom\"", "has no `name`", "\"z\""] {
            assert!(all.contains(told), "{told}: {all}");
        }
        for (choice, told) in [
            (json!("required"), "several tools"),
            (json!("any"), "must be"),
            (json!({"type": "allowed_tools"}), "must be"),
        ] {
            let problem =
                written(&json!({"tools": [tool("f"), tool("g")], "tool_choice": choice})).unwrap_err();
            assert!(problem.starts_with("`tool_choice`") && problem.contains(told), "{problem}");
        }
        assert!(
            written(&json!({"tools": 5, "functions": {}}))
                .unwrap_err()
                .contains("`functions` must be a list")
        );
        assert!(written(&json!({"tool_choice": "required"})).is_err());
    }
}
