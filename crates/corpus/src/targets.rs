//! Properties that hold for any input: no panic, no hang, no exceeded limit, and consistent results.

use template::go::{
    ArgumentUse, Context, ExecError, ExecOptions, Functions, Missing, MissingKey, Need, Outcome,
    ParseOptions, Set, Signature, UnknownFunctions, Val,
};
use template::value::{Value, from_json};

use crate::functions::CorpusFunctions;

/// The limits of a run; they are small, so that errors show soon.
const LIMITS: ExecOptions = ExecOptions {
    missing_key: MissingKey::Default,
    steps: 20_000,
    recursion: 100,
    output_bytes: 1 << 16,
    scratch_bytes: 1 << 20,
    live_data: false,
    deadline: None,
};

/// The functions of the corpus, and some with special results.
struct AllFunctions;

impl Functions for AllFunctions {
    fn signature(&self, name: &str) -> Option<Signature> {
        match name {
            "default" => Some(Signature { takes_missing: Missing::Last, ..Signature::ANY }),
            "later" | "gap" => Some(Signature::ANY),
            _ => CorpusFunctions.signature(name),
        }
    }

    fn call<'a>(&self, name: &str, args: &[Val<'a>], context: &Context<'a>) -> Outcome<'a> {
        match (name, args) {
            ("default", [fallback, value]) if !value.is_true() => Outcome::Value(*fallback),
            ("default", _) => Outcome::Value(args.last().copied().unwrap_or(Val::nil())),
            ("later", _) => Outcome::Pending(0),
            ("gap", _) => Outcome::Gap,
            _ => CorpusFunctions.call(name, args, context),
        }
    }
}

fn is_function(name: &str) -> bool {
    AllFunctions.signature(name).is_some()
}

fn use_of_arguments(name: &str) -> ArgumentUse {
    if name == "default" { ArgumentUse::LastTested } else { ArgumentUse::Needed }
}

/// The most parts of an input; the last one has the rest.
const MAX_PARTS: usize = 8;

/// An input: flags in the first byte, then parts separated by zero bytes. Invalid UTF-8 is replaced.
pub(crate) struct Input {
    /// The first byte.
    pub flags: u8,
    pub parts: Vec<String>,
}

impl Input {
    pub fn new(bytes: &[u8]) -> Input {
        let (flags, rest) = bytes.split_first().map_or((0, bytes), |(flags, rest)| (*flags, rest));
        let parts =
            rest.splitn(MAX_PARTS, |&byte| byte == 0).map(|part| String::from_utf8_lossy(part).into_owned());
        Input { flags, parts: parts.collect() }
    }

    pub fn part(&self, at: usize) -> &str {
        self.parts.get(at).map_or("", String::as_str)
    }
}

/// Parses each part as a template, and checks the resulting set.
pub fn parse(bytes: &[u8]) {
    let input = Input::new(bytes);
    let unknown = [UnknownFunctions::Reject, UnknownFunctions::Accept, UnknownFunctions::AcceptWithArgument];
    let unknown = unknown[usize::from(input.flags) % unknown.len()];
    let options = ParseOptions { unknown, ..ParseOptions::new(&is_function) };
    let mut set = Set::new();
    for (at, text) in input.parts.iter().enumerate() {
        let name = format!("t{at}");
        let before = set.names().len();
        match set.parse(&name, text, &options) {
            Ok(()) => assert!(set.contains(&name)),
            Err(error) => {
                assert!(error.message.starts_with(&format!("template: {name}:{}: ", error.line)), "{error}");
                assert!(error.line <= 1 + text.matches('\n').count(), "{error}");
                assert_eq!(set.names().len(), before, "a text that is refused changes nothing");
            }
        }
    }
    for name in set.names() {
        set.requires(name, &use_of_arguments);
    }
    assert!(set.undefined().iter().all(|name| !set.contains(name)));
    set.functions();
}

/// Executes the first part over the data in the second, which is JSON; the others are further templates.
pub fn execute(bytes: &[u8]) {
    let input = Input::new(bytes);
    let missing_key = [MissingKey::Default, MissingKey::Zero, MissingKey::Error, MissingKey::Strict];
    let options = ExecOptions { missing_key: missing_key[usize::from(input.flags) % 4], ..LIMITS };
    let Ok(data) = from_json(input.part(1).as_bytes()) else { return };
    let mut set = Set::new();
    let parsed = ParseOptions::new(&is_function);
    for (at, text) in input.parts.iter().enumerate().filter(|(at, _)| *at != 1).rev() {
        if set.parse(&format!("t{at}"), text, &parsed).is_err() {
            return;
        }
    }
    let (out, result) = run(&set, &data, &options);
    assert!(out.len() <= options.output_bytes);
    assert_eq!(run(&set, &data, &options), (out.clone(), result.clone()), "a run gives the same again");
    match result {
        Err(ExecError::Output { .. }) => assert_eq!(out.len(), options.output_bytes),
        Err(ExecError::Missing(missing)) => {
            assert_eq!(options.missing_key, MissingKey::Strict);
            assert!(missing.iter().map(|miss| miss.path.len()).sum::<usize>() <= 4 * options.scratch_bytes);
            let listed = set.requires("t0", &use_of_arguments).paths;
            for miss in missing.iter().filter(|miss| !miss.path.starts_with("(an expression)")) {
                assert!(is_listed(&miss.path, &listed), "{} is not in {listed:?}", miss.path);
            }
        }
        _ => {}
    }
}

fn run(set: &Set, data: &Value, options: &ExecOptions) -> (Vec<u8>, Result<(), ExecError>) {
    let mut out = Vec::new();
    let result = set.execute("t0", data, &AllFunctions, options, &mut out);
    (out, result)
}

/// Whether the list has a path, or a prefix of it that is used as a whole; indexes are ignored.
fn is_listed(path: &str, listed: &[Need]) -> bool {
    let path = without_positions(path);
    listed.iter().any(|need| {
        let place = without_positions(&need.name);
        let below = place.is_empty() || path.strip_prefix(&place).is_some_and(|rest| rest.starts_with('.'));
        path == place || (below && (need.whole || need.dynamic))
    })
}

/// The path without the indexes in brackets.
fn without_positions(path: &str) -> String {
    let mut inside = false;
    let outside = |c: &char| {
        inside = (inside || *c == '[') && *c != ']';
        !inside && *c != ']'
    };
    path.chars().filter(outside).collect()
}
