//! The rules of the house, read off the `use` lines: who may name whom, and which crates stay in which room.

use std::fs;
use std::path::{Path, PathBuf};

/// The layers from the ground up; a module names only modules of lower layers.
const LAYERS: [&[&str]; 9] = [
    &["error", "value", "trace"],
    &["model", "settings", "schema", "pool", "memory"],
    &["telemetry"],
    &["store", "outbound"],
    &["catalog", "template", "tools", "llm", "content"],
    &["render"],
    &["chat"],
    &["app"],
    &["http"],
];

/// The top of the house may name everything.
const TOP: &str = "cli";

/// Names that stay in their rooms.
const ROOMS: [(&str, &[&str]); 20] = [
    ("actix_web", &["http"]),
    ("minijinja", &["template/jinja"]),
    ("minijinja_contrib", &["template/jinja"]),
    ("redis::", &["store"]),
    ("redb", &["store"]),
    ("reqwest", &["outbound", "tools", "llm", "cli/client.rs"]),
    ("tonic", &["tools/grpc"]),
    ("prost_reflect", &["tools/grpc"]),
    ("rmcp", &["tools/mcp"]),
    ("moka", &["tools"]),
    ("jsonschema::", &["schema"]),
    ("referencing::", &["schema"]),
    ("clap", &["cli"]),
    ("config::", &["settings"]),
    ("notify::", &["catalog"]),
    ("include_dir", &["catalog"]),
    ("std::env::var", &["settings", "cli", "tools/mcp/child.rs"]),
    ("use std::env;", &[]),
    ("println!", &["cli"]),
    ("tracing_subscriber", &["telemetry/mod.rs"]),
];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Every source file: its path below `src`, and its code without comments and tests.
fn sources() -> Vec<(String, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    files(&src, &mut found);
    assert!(found.len() > 50, "the test looks at the wrong folder");
    let name = |path: &Path| path.strip_prefix(&src).unwrap().to_str().unwrap().replace('\\', "/");
    let is_test = |name: &str| name.contains("/tests/") || name.ends_with("/tests.rs");
    let all = found.iter().map(|path| (name(path), fs::read_to_string(path).unwrap()));
    all.filter(|(name, _)| !is_test(name)).map(|(name, text)| (name, code_of(&text))).collect()
}

/// The lines before the first test module, without comments.
fn code_of(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).map(|line| format!("{line}\n")).collect()
}

fn module_of(file: &str) -> &str {
    file.split(['/', '.']).next().unwrap_or(file)
}

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// The modules of this crate that a piece of code names.
fn named(code: &str) -> Vec<String> {
    let after = code.split("crate::").skip(1);
    let names =
        after.map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>());
    names.filter(|name| layer_of(name).is_some() || name == TOP).collect()
}

#[test]
fn every_module_has_its_layer() {
    for (file, _) in sources() {
        let module = module_of(&file);
        let known = layer_of(module).is_some() || [TOP, "lib", "main"].contains(&module);
        assert!(known, "{file} is in no layer: add `{module}` to the picture and to this test");
    }
}

#[test]
fn modules_name_only_modules_of_lower_layers() {
    let mut faults = Vec::new();
    for (file, code) in sources() {
        let module = module_of(&file);
        let Some(layer) = layer_of(module) else { continue };
        // Both would name modules where this test does not see them.
        let steps_out = file.matches('/').count() + 1 - usize::from(file.ends_with("/mod.rs"));
        if code.contains("crate::{") || code.contains(&"super::".repeat(steps_out)) {
            faults.push(format!("src/{file} reaches out of its module other than by `crate::NAME`"));
        }
        for name in named(&code) {
            let below = layer_of(&name).is_some_and(|other| other < layer);
            if name != module && !below {
                faults.push(format!("src/{file} names `{name}`, which is not below `{module}`"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_go_dialect_knows_nothing_but_the_value_tree() {
    for (file, code) in sources().iter().filter(|(file, _)| file.starts_with("template/go/")) {
        assert!(named(code).iter().all(|name| name == "value"), "src/{file} names more than `value`");
        // From a file of the room itself, `super` is the room; from its mod.rs, it is already outside.
        let steps_out = file.matches('/').count() - usize::from(file.ends_with("/mod.rs"));
        assert!(!code.contains(&"super::".repeat(steps_out)), "src/{file} reaches out of its room");
    }
}

/// The names of a manifest's dependencies, as code writes them.
fn dependencies(manifest: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(manifest);
    let text = fs::read_to_string(path).unwrap();
    let section = text.split("\n[dependencies]\n").nth(1).unwrap().split("\n[").next().unwrap().to_owned();
    let names = section.lines().filter_map(|line| Some(line.split_once(" = ")?.0.replace('-', "_")));
    names.collect()
}

#[test]
fn the_fuzz_targets_have_what_the_go_dialect_needs() {
    let fuzzed = dependencies("tests/fuzz/Cargo.toml");
    let ours = dependencies("Cargo.toml");
    assert!(ours.len() > fuzzed.len(), "the test looks at the wrong sections");
    for (file, code) in sources() {
        let fuzz_builds_it = ["template/go/", "value/"].iter().any(|room| file.starts_with(room));
        for name in ours.iter().filter(|name| fuzz_builds_it && code.contains(&format!("{name}::"))) {
            assert!(fuzzed.contains(name), "src/{file} uses `{name}`, which tests/fuzz/Cargo.toml lacks");
        }
    }
}

#[test]
fn outside_crates_stay_in_their_rooms() {
    let mut faults = Vec::new();
    for (file, code) in sources() {
        for (name, rooms) in ROOMS {
            let own = |at: usize| {
                let before = code.get(..at).and_then(|text| text.chars().next_back());
                // `crate::redis::` and `self::redis::` are modules of ours; `eprintln!` is not `println!`.
                !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')
            };
            let used = code.match_indices(name).any(|(at, _)| own(at));
            if used && !rooms.iter().any(|room| file.starts_with(room)) {
                faults.push(format!("src/{file} uses `{name}`, whose room is {rooms:?}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_file_says_what_it_is_for() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    files(&src, &mut found);
    for file in found {
        assert!(fs::read_to_string(&file).unwrap().starts_with("//! "), "{} has no //! line", file.display());
    }
}
