//! The rules of the house, read off the `use` lines: who may name whom, and which crates stay in which room.
//!
//! Walls between members of the workspace need no test: a crate cannot name what its `Cargo.toml` does not.

#![cfg(test)]

use std::fs;
use std::path::{Path, PathBuf};

/// The layers of the service from the ground up; a module names only modules of lower layers.
const SERVICE: &[&[&str]] = &[
    &["settings"],
    &["telemetry"],
    &["formats", "store"],
    &["catalog", "llm", "content"],
    &["render", "toolbox"],
    &["structured"],
    &["chat", "requests", "sessions"],
    &["skills", "agents"],
    &["app"],
    &["http"],
    &["cli"],
];

/// Those of what the members share.
const BASE: &[&[&str]] = &[
    &["error", "encoding", "caller", "random", "masking"],
    &["model", "pool", "memory", "outbound", "events"],
    &["schema"],
];

/// The crates whose modules have layers.
const LAYERED: [(&str, &[&[&str]]); 2] = [("src/", SERVICE), ("crates/base/src/", BASE)];

/// Names that stay in their rooms.
const ROOMS: [(&str, &[&str]); 31] = [
    ("rustyline", &["src/cli/terminal.rs"]),
    ("console::", &["src/cli"]),
    ("toml::", &["crates/policy"]),
    ("toml_edit::", &["crates/policy/src/rules"]),
    ("actix_cors", &["src/http"]),
    ("actix_http", &["src/http"]),
    ("actix_web", &["src/http"]),
    ("actix_ws", &["src/http"]),
    ("redis::", &["src/store"]),
    ("redb", &["src/store"]),
    ("reqwest", &["crates/base/src/outbound", "crates/tools", "src/llm", "src/cli/client.rs"]),
    ("tonic", &["crates/tools/src/grpc"]),
    ("prost_reflect", &["crates/tools/src/grpc"]),
    ("rmcp", &["crates/tools/src/mcp"]),
    ("moka", &["crates/tools"]),
    ("jsonschema::", &["crates/base/src/schema"]),
    ("referencing::", &["crates/base/src/schema"]),
    ("serde_saphyr", &["src/formats/yaml.rs"]),
    ("granit_parser", &["src/formats/strict_yaml.rs"]),
    ("icu_normalizer", &["src/formats/skill/check.rs"]),
    ("unicode_general_category", &["src/formats/skill/check.rs"]),
    ("landlock::", &["crates/executor/src/sandbox"]),
    ("seccompiler::", &["crates/executor/src/sandbox"]),
    ("clap", &["src/cli"]),
    ("config::", &["src/settings"]),
    ("notify::", &["src/catalog"]),
    ("include_dir", &["src/catalog"]),
    ("std::env::var", &["src/settings", "src/cli", "crates/tools/src/mcp/child.rs"]),
    ("use std::env;", &[]),
    ("println!", &["src/cli"]),
    ("tracing_subscriber", &["src/telemetry/mod.rs"]),
];

/// The members whose code is the product.
const PRODUCT: [&str; 8] = [
    "src",
    "crates/agent/src",
    "crates/dialogue/src",
    "crates/base/src",
    "crates/template/src",
    "crates/tools/src",
    "crates/executor/src",
    "crates/policy/src",
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

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every source file: its path below the repository, and its code without comments and tests.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in PRODUCT {
        files(&root().join(folder), &mut found);
    }
    assert!(found.len() > 200, "the test looks at the wrong folders");
    let name = |path: &Path| path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
    let is_test = |name: &str| name.contains("/tests/") || name.ends_with("/tests.rs");
    let all = found.iter().map(|path| (name(path), fs::read_to_string(path).unwrap()));
    all.filter(|(name, _)| !is_test(name)).map(|(name, text)| (name, code_of(&text))).collect()
}

/// The lines before the first test module, without comments.
fn code_of(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).map(|line| format!("{line}\n")).collect()
}

/// The files of a crate with layers: the path inside of it, and the code.
fn files_of(folder: &str) -> Vec<(String, String)> {
    let all = sources().into_iter();
    all.filter_map(|(file, code)| Some((file.strip_prefix(folder)?.to_owned(), code))).collect()
}

fn module_of(file: &str) -> &str {
    file.split(['/', '.']).next().unwrap_or(file)
}

fn layer_of(layers: &[&[&str]], module: &str) -> Option<usize> {
    layers.iter().position(|layer| layer.contains(&module))
}

/// The modules of its own crate that a piece of code names.
fn named(code: &str) -> Vec<String> {
    let after = code.split("crate::").skip(1);
    after.map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()).collect()
}

#[test]
fn every_module_has_its_layer() {
    for (folder, layers) in LAYERED {
        for (file, _) in files_of(folder) {
            let module = module_of(&file);
            let known = layer_of(layers, module).is_some() || ["lib", "main"].contains(&module);
            assert!(known, "{folder}{file} is in no layer: add `{module}` to the picture and to this test");
        }
    }
}

#[test]
fn modules_name_only_modules_of_lower_layers() {
    let mut wrong = Vec::new();
    for (folder, layers) in LAYERED {
        for (file, code) in files_of(folder) {
            let module = module_of(&file);
            let Some(layer) = layer_of(layers, module) else { continue };
            // Both would name modules where this test does not see them.
            let steps_out = file.matches('/').count() + 1 - usize::from(file.ends_with("/mod.rs"));
            if code.contains("crate::{") || code.contains(&"super::".repeat(steps_out)) {
                wrong.push(format!("{folder}{file} reaches out of its module other than by `crate::NAME`"));
            }
            for name in named(&code) {
                let below = layer_of(layers, &name).is_some_and(|other| other < layer);
                if name != module && !below && layer_of(layers, &name).is_some() {
                    wrong.push(format!("{folder}{file} names `{name}`, which is not below `{module}`"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn outside_crates_stay_in_their_rooms() {
    let mut wrong = Vec::new();
    for (file, code) in sources() {
        for (name, rooms) in ROOMS {
            let own = |at: usize| {
                let before = code.get(..at).and_then(|text| text.chars().next_back());
                // `crate::redis::` and `self::redis::` are modules of ours; `eprintln!` is not `println!`.
                !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')
            };
            let used = code.match_indices(name).any(|(at, _)| own(at));
            if used && !rooms.iter().any(|room| file.starts_with(room)) {
                wrong.push(format!("{file} uses `{name}`, whose room is {rooms:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_file_says_what_it_is_for() {
    let mut found = Vec::new();
    for folder in PRODUCT {
        files(&root().join(folder), &mut found);
    }
    for file in found {
        let text = fs::read_to_string(&file).unwrap();
        let begins = text.starts_with("//! ") || text.starts_with("#![doc = include_str!(");
        assert!(begins, "{} has no //! line", file.display());
    }
}
