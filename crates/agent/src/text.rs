//! The templates of an agent's texts: pure, so that a text can neither call tools nor read anything but what it is given.

use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant, SystemTime};

use template::value::Map;
use template::{
    Functions, Limits, NoSurroundings, Partials, RunBudget, Surroundings, Syntax, Template, Undefined,
};

/// The limits of one text.
const LIMITS: Limits =
    Limits { steps: 200_000, recursion: 100, output_bytes: 1 << 20, source_bytes: 64 << 10 };

/// The time for one text.
const TIME: Duration = Duration::from_secs(5);

static PARTIALS: LazyLock<Arc<dyn Partials>> = LazyLock::new(|| Arc::new(NoSurroundings));
static FUNCTIONS: LazyLock<Arc<dyn Functions>> = LazyLock::new(|| Arc::new(NoSurroundings));

/// A compiled text.
pub struct Text {
    template: Template,
    /// The named texts that it contains.
    pub named: Vec<String>,
    /// Whether it contains the help text.
    pub has_help: bool,
}

impl Text {
    /// Compiles a text that may use these names. `name` is what errors call it.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn compile(name: &str, source: &str, syntax: Syntax, known: &Known<'_>) -> Result<Text, Vec<String>> {
        let surroundings = Surroundings { partials: &PARTIALS, functions: &NoSurroundings };
        let template = Template::compile(name, &Arc::from(source), syntax, surroundings, &LIMITS);
        let template = template.map_err(|error| vec![described(&error)])?;
        let faults = known.faults(&template);
        if !faults.is_empty() {
            return Err(faults);
        }
        let names = template.requires().names.iter();
        let named = names.filter_map(|need| Some(member(&need.name, "texts")?.to_owned())).collect();
        let has_help = template.requires().names.iter().any(|need| need.first_name() == "help");
        Ok(Text { template, named, has_help })
    }

    /// Renders the text.
    ///
    /// # Errors
    /// Why it cannot be rendered.
    pub fn render(&self, data: &Arc<Map>) -> Result<String, String> {
        let run = RunBudget {
            steps: LIMITS.steps,
            output_bytes: LIMITS.output_bytes,
            deadline: Instant::now() + TIME,
            undefined: Undefined::Lenient,
            moment: SystemTime::now(),
            seed: 0,
        };
        self.template.render(data, &FUNCTIONS, &run).map_err(|error| error.to_string())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Text").finish_non_exhaustive()
    }
}

/// The error with its place in the text.
fn described(error: &template::CompileError) -> String {
    match error.position() {
        Some(position) => {
            let column = position.column.map(|column| format!(", column {column}")).unwrap_or_default();
            format!("is not a valid template: {error} (line {}{column})", position.line)
        }
        None => format!("is not a valid template: {error}"),
    }
}

/// The member of `root` that a path begins with.
fn member<'p>(path: &'p str, root: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(root)?.strip_prefix('.')?;
    rest.split(['.', '[']).next()
}

/// The names that a text may use.
pub struct Known<'k> {
    /// Those at the top level.
    pub names: &'k [&'k str],
    /// The settings.
    pub settings: &'k [String],
    /// The named texts.
    pub texts: &'k [String],
}

impl Known<'_> {
    /// What a template uses that there is not.
    fn faults(&self, template: &Template) -> Vec<String> {
        let requires = template.requires();
        let mut faults: Vec<String> = Vec::new();
        for need in &requires.names {
            let name = need.first_name();
            if !self.names.contains(&name) {
                let known = self.names.join("`, `");
                faults.push(format!("uses `{name}`, which is not known here; it can use `{known}`"));
                continue;
            }
            if name == "texts" && member(&need.name, "texts").is_none() {
                faults.push("uses `texts` as a whole; name the text that is meant: `texts.NAME`".to_owned());
            }
            for (root, known) in [("settings", self.settings), ("texts", self.texts)] {
                if let Some(member) = member(&need.name, root)
                    && !known.iter().any(|name| name == member)
                {
                    faults.push(format!("uses `{root}.{member}`, but `{root}` has no such member"));
                }
            }
        }
        let functions = requires.tools.iter();
        faults.extend(functions.map(|need| format!("calls `{}`, but texts call no tools", need.name)));
        let partials = requires.partials.iter();
        faults.extend(partials.map(|need| format!("includes `{}`, but texts include no prompts", need.name)));
        faults.dedup();
        faults
    }
}
