//! Properties of Jinja's templates that hold for any input: no panic, no hang, no exceeded limit, and waves that change nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use template::jinja::Template;
use template::value::{Map, Value, from_json};
use template::{
    Arguments, CallResult, CompileError, Functions, Limits, Partial, Partials, RunBudget, RunError, Syntax,
    Undefined,
};

use crate::targets::Input;

/// The limits of a template; they are small, so that errors show soon.
const LIMITS: Limits = Limits { steps: 20_000, recursion: 100, output_bytes: 1 << 16, source_bytes: 1 << 16 };

/// The most time of a run.
const TIME: Duration = Duration::from_secs(5);

/// The texts of an input after the template and its data, by the names `p2`, `p3` and so on.
struct Texts(BTreeMap<String, Arc<str>>);

impl Partials for Texts {
    fn find(&self, name: &str) -> Result<Partial, String> {
        let text = self.0.get(name).ok_or_else(|| "there is no such prompt".to_owned())?;
        Ok(Partial { id: name.to_owned(), text: text.clone(), syntax: Syntax::Jinja })
    }
}

/// Functions that answer at once, or wave by wave: `echo` gives its first argument, and the calls of `gap` fail.
struct Calls {
    by_waves: bool,
    calls: Mutex<Vec<Call>>,
}

/// A call by what tells it apart, and whether it was made.
struct Call {
    shown: String,
    result: CallResult,
    made: bool,
}

impl Functions for Calls {
    fn contains(&self, name: &str) -> bool {
        matches!(name, "echo" | "gap")
    }

    fn call(&self, name: &str, arguments: Arguments) -> CallResult {
        let shown = format!("{name} {arguments:?}");
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, call)) = calls.iter().enumerate().find(|(_, call)| call.shown == shown) {
            return if call.made { call.result.clone() } else { CallResult::Pending(at) };
        }
        let result = match name {
            "gap" => CallResult::Gap,
            _ => CallResult::Value(copy(arguments.positional.first())),
        };
        calls.push(Call { shown, result: result.clone(), made: !self.by_waves });
        if self.by_waves { CallResult::Pending(calls.len() - 1) } else { result }
    }
}

/// A copy that shares nothing, as the result of a tool is none of its arguments.
fn copy(value: Option<&Value>) -> Value {
    value.and_then(|value| from_json(value.to_json().to_string().as_bytes()).ok()).unwrap_or(Value::Null)
}

/// Parses each part as a template.
pub fn parse(bytes: &[u8]) {
    let input = Input::new(bytes);
    let partials = partials(&input, 0);
    for text in &input.parts {
        match Template::compile("t", text, &partials, &LIMITS) {
            Ok(template) => drop(template),
            Err(CompileError::TooLarge { bytes, .. }) => assert!(bytes > LIMITS.source_bytes),
            Err(CompileError::Invalid { message, position }) => {
                let position = position.unwrap_or_else(|| panic!("no place: {message}"));
                let lines = input.parts.iter().map(|text| text.split(['\n', '\r']).count()).max();
                assert!(Some(position.line) <= lines, "{position:?}");
                assert!(!message.is_empty());
            }
        }
    }
}

fn partials(input: &Input, from: usize) -> Arc<dyn Partials> {
    let texts =
        input.parts.iter().enumerate().skip(from).map(|(at, text)| (format!("p{at}"), text.as_str().into()));
    Arc::new(Texts(texts.collect()))
}

/// What a run gave: its text, the calls that it made.
struct Outcome {
    result: Result<String, RunError>,
    called: BTreeSet<String>,
}

/// Executes the first part over the data in the second, which is JSON; the others are partials.
pub fn execute(bytes: &[u8]) {
    let input = Input::new(bytes);
    let Ok(Value::Map(root)) = from_json(input.part(1).as_bytes()) else { return };
    let partials = partials(&input, 2);
    let Ok(template) = Template::compile("t", input.part(0), &partials, &LIMITS) else { return };
    let undefined = if input.flags & 1 == 0 { Undefined::Strict } else { Undefined::Lenient };
    let once = run(&template, &root, undefined, false);
    if let Ok(text) = &once.result {
        assert!(text.len() <= LIMITS.output_bytes);
    }
    assert_ne!(once.result, Err(RunError::Deadline), "the steps bound the time");
    // Chance and time change from run to run.
    if input.parts.iter().any(|text| text.contains("random") || text.contains("strftime")) {
        return;
    }
    let waves = run(&template, &root, undefined, true);
    match &once.result {
        Ok(_) => {
            assert_eq!(waves.result, once.result);
            assert_eq!(waves.called, once.called);
        }
        Err(_) => {
            assert!(waves.result.is_err());
            assert!(waves.called.is_subset(&once.called), "{:?} {:?}", waves.called, once.called);
        }
    }
}

fn run(template: &Template, root: &Arc<Map>, undefined: Undefined, by_waves: bool) -> Outcome {
    let calls = Arc::new(Calls { by_waves, calls: Mutex::default() });
    let functions: Arc<dyn Functions> = calls.clone();
    loop {
        let budget = RunBudget {
            steps: LIMITS.steps,
            output_bytes: LIMITS.output_bytes,
            deadline: Instant::now() + TIME,
            undefined,
            moment: SystemTime::now(),
            seed: 1,
        };
        let result = template.render(root, &functions, &budget);
        let mut made = calls.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(RunError::Pending { .. }) = result {
            assert!(made.iter().any(|call| !call.made), "a wave without a new call");
            made.iter_mut().for_each(|call| call.made = true);
            continue;
        }
        let called = made.iter().filter(|call| call.made).map(|call| call.shown.clone()).collect();
        return Outcome { result, called };
    }
}
