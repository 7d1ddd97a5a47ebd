//! One template type for both dialects, and the detection of a text's dialect.

use std::sync::Arc;

use super::contract::{
    CompileError, Functions, Limits, NoSurroundings, Partials, Requirements, RunBudget, RunError, Syntax,
};
use super::functions::is_service_function;
use super::go_prompt::{self, GoTemplate};
use super::jinja;
use super::mustache;
use crate::value::Map;

/// A compiled template of either dialect.
pub enum Template {
    /// Go's `text/template`.
    Go(Box<GoTemplate>),
    /// Jinja.
    Jinja(Box<jinja::Template>),
    /// A text without actions.
    Text(Arc<str>),
}

/// The functions and partials that a template is compiled against.
///
/// In Go, a function must exist when the template is compiled. In Jinja it may be added later; only filters and tests must
/// exist.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The prompts that the template may include.
    pub partials: &'a Arc<dyn Partials>,
    /// The functions that the template may call.
    pub functions: &'a dyn Functions,
}

/// The requirements of a text without actions.
static NOTHING: Requirements =
    Requirements { variables: Vec::new(), names: Vec::new(), tools: Vec::new(), partials: Vec::new() };

impl Template {
    /// Compiles a text in the dialect `syntax`; errors name it `name`.
    ///
    /// # Errors
    /// [`CompileError`] if the text, or a partial that it names, is too large or not valid.
    pub fn compile(
        name: &str,
        text: &Arc<str>,
        syntax: Syntax,
        surroundings: Surroundings<'_>,
        limits: &Limits,
    ) -> Result<Template, CompileError> {
        let Surroundings { partials, functions } = surroundings;
        if text.len() > limits.source_bytes {
            return Err(CompileError::TooLarge { bytes: text.len(), limit: limits.source_bytes });
        }
        Ok(match syntax {
            _ if is_plain(text) => Template::Text(text.clone()),
            Syntax::Text => Template::Text(text.clone()),
            Syntax::Go => {
                let template = GoTemplate::compile(name, text, partials.as_ref(), functions, limits)?;
                Template::Go(Box::new(template))
            }
            Syntax::Jinja => {
                let compiled = jinja::Template::compile(name, text, partials, limits);
                let template = compiled.map_err(|error| {
                    mustache::explained(with_go_error(error, name, text, functions), text)
                })?;
                Template::Jinja(Box::new(template))
            }
        })
    }

    /// What the template may use, partials included.
    pub fn requires(&self) -> &Requirements {
        match self {
            Template::Go(template) => template.requires(),
            Template::Jinja(template) => template.requires(),
            Template::Text(_) => &NOTHING,
        }
    }

    /// Runs the template over the data `root`, within `run`.
    ///
    /// # Errors
    /// [`RunError`]; all missing values are reported together.
    pub fn render(
        &self,
        root: &Arc<Map>,
        functions: &Arc<dyn Functions>,
        run: &RunBudget,
    ) -> Result<String, RunError> {
        match self {
            Template::Go(template) => template.render(root, functions.as_ref(), run),
            Template::Jinja(template) => template.render(root, functions, run),
            Template::Text(text) if text.len() > run.output_bytes => {
                Err(RunError::Limit { what: "output", limit: run.output_bytes as u64 })
            }
            Template::Text(text) => Ok(text.to_string()),
        }
    }
}

/// Whether both dialects would copy the text unchanged: it has no action, no final line break, which Jinja drops, and no
/// `\r`, which Jinja replaces by `\n`.
fn is_plain(text: &str) -> bool {
    !(["{{", "{%", "{#", "\r"].iter().any(|mark| text.contains(mark)) || text.ends_with('\n'))
}

/// The functions whose names tell a Go template wherever they stand. The names of all others are names of variables, too.
const SIGNS: [&str; 11] =
    ["default", "dict", "fromJson", "indent", "join", "list", "lower", "split", "toJson", "trim", "upper"];

/// Detects the dialect of a prompt from all its texts.
///
/// 1. If a text has `{%` or `{#`, it is Jinja.
/// 2. If no text has `{{`, it is plain text.
/// 3. If each action of the texts is a name alone (`{{ name }}`, `{{ user.name }}`) and none of them is a tool, it is Jinja: that is
///    how prompts in Mustache's manner are written, and such a name may be that of a Go function, too.
/// 4. If all texts parse as Go, it is Go. An unknown function is accepted if an argument follows it; what is valid Jinja,
///    too, does not become Go by the names of functions such as `now` and `first`.
/// 5. If an action begins with a field or a variable (`{{.a`, `{{if .a}}`), it is Go, although the text is not valid Go: the
///    author meant Go, and is to get Go's error message.
/// 6. Everything else is Jinja.
pub fn detect(texts: &[&str], functions: &dyn Functions) -> Syntax {
    let any = |mark: &str| texts.iter().any(|text| text.contains(mark));
    let all_parse = |known: &dyn Fn(&str) -> bool| texts.iter().all(|text| go_prompt::parses(text, known));
    let is_sign = |name: &str| SIGNS.contains(&name) || functions.contains(name);
    let is_function = |name: &str| is_service_function(name) || functions.contains(name);
    if any("{%") || any("{#") {
        Syntax::Jinja
    } else if !any("{{") {
        Syntax::Text
    } else if texts.iter().all(|text| has_only_names(text, functions)) {
        Syntax::Jinja
    } else if all_parse(&is_sign)
        || texts.iter().any(|text| is_meant_as_go(text))
        || (all_parse(&is_function) && !texts.iter().all(|text| is_valid_jinja(text)))
    {
        Syntax::Go
    } else {
        Syntax::Jinja
    }
}

/// Whether every action is a name, or the path of a member, and none of them calls a tool.
fn has_only_names(text: &str, tools: &dyn Functions) -> bool {
    text.split("{{").skip(1).all(|action| {
        let inner = action.split_once("}}").map_or("", |(inner, _)| inner);
        let inner = inner.strip_prefix('-').unwrap_or(inner);
        let name = inner.strip_suffix('-').unwrap_or(inner).trim();
        let is_name = |part: &str| {
            part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        name.split('.').all(is_name) && !GO_KEYWORDS.contains(&name) && !tools.contains(name)
    })
}

/// Words that are actions of Go by themselves.
const GO_KEYWORDS: [&str; 4] = ["break", "continue", "else", "end"];

/// Whether a text without statements is a valid Jinja template.
fn is_valid_jinja(text: &str) -> bool {
    let partials: Arc<dyn Partials> = Arc::new(NoSurroundings);
    jinja::Template::compile("", text, &partials, &Limits::default()).is_ok()
}

/// Whether an action begins with a field or a variable of Go, with or without a keyword before it.
///
/// (`{{if .x}}` happens to be valid Jinja: the member `x` of a variable `if`.)
fn is_meant_as_go(text: &str) -> bool {
    text.split("{{").skip(1).any(|action| {
        let mut words = action.strip_prefix('-').unwrap_or(action).split_ascii_whitespace();
        let first = words.find(|word| !["if", "else", "range", "with"].contains(word));
        first.is_some_and(|word| word.starts_with(['.', '$']))
    })
}

/// Adds to the error of a Jinja text the error that it has as a Go template, if it may be meant as one.
fn with_go_error(error: CompileError, name: &str, text: &str, functions: &dyn Functions) -> CompileError {
    let is_jinja = text.contains("{%") || text.contains("{#");
    match (error, go_prompt::parse_error(name, text, functions).filter(|_| !is_jinja)) {
        (CompileError::Invalid { message, position }, Some(go)) => {
            CompileError::Invalid { message: format!("{message} (as a Go template: {go})"), position }
        }
        (error, _) => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arguments, CallResult};

    struct Tools;

    impl Functions for Tools {
        fn contains(&self, name: &str) -> bool {
            name == "tracker_issue"
        }

        fn call(&self, _: &str, _: Arguments) -> CallResult {
            CallResult::Gap
        }
    }

    #[track_caller]
    fn expect(syntax: Syntax, texts: &[&str]) {
        for text in texts {
            assert_eq!(detect(&[text], &Tools), syntax, "{text}");
        }
    }

    #[test]
    fn names_of_functions_are_names_of_variables_in_texts_that_have_no_other_sign_of_go() {
        let names = [
            "now", "title", "first", "date", "keys", "list", "values", "int", "get", "dict", "uuidv4", "join",
        ];
        for name in names {
            expect(
                Syntax::Jinja,
                &[&format!("Hello {{{{ {name} }}}}!"), &format!("{{{{{name}}}}} {{{{- title -}}}}")],
            );
        }
        expect(
            Syntax::Jinja,
            &[
                "{{ name | title }}",
                "{{ first | upper }}",
                "{{ title }} by {{ author }}",
                "{{ values | first }}",
                "{{ now.year }}",
                "{{ date|default('today') }}",
                "{{ list }}{% if x %}{% endif %}",
                "{{ title | default(\"x\") }}",
                "{{ user.name }}",
            ],
        );
    }

    #[test]
    fn functions_that_only_go_has_tell_go() {
        expect(
            Syntax::Go,
            &[
                "{{ now | htmlDate }}",
                "{{ now | date \"2006-01-02\" }}",
                "{{ list 1 2 | join \",\" }}",
                "{{ uuidv4 | quote }}",
                "{{ .name | title }}",
                "{{ title .name }}",
                "{{ $x := now }}{{ $x.Year }}",
                "{{ upper \"a\" }}",
                "{{ \"a\" | upper }}",
                "{{ now }} {{ .name }}",
                "{{ tracker_issue 42 }}",
                "{{ replace \"a\" \"b\" .x }}",
                "{{ nindent 2 .x }}",
                "{{ join \",\" (keys .m) }}",
                "{{ (now.AddDate 0 0 1).Format \"2006\" }}",
            ],
        );
        expect(Syntax::Text, &["now", "{ now }"]);
    }
}
