//! `skill new`: a folder with a SKILL.md to begin with.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use super::super::error::CliError;
use super::super::output::say;
use crate::formats::{SKILL_FILE, name_fault};

/// Writes the skill `name` into a folder of its name below `dir`.
///
/// # Errors
/// Wrong usage for a name that agentskills.io does not allow, and when there is a SKILL.md already; the error of a file.
pub fn run(name: &str, dir: &Path) -> Result<(), CliError> {
    if let Some(fault) = name_fault(name) {
        return Err(CliError::Usage(fault));
    }
    let folder = dir.join(name);
    std::fs::create_dir_all(&folder).map_err(|source| CliError::file(&folder, source))?;
    let file = folder.join(SKILL_FILE);
    let mut new =
        OpenOptions::new().write(true).create_new(true).open(&file).map_err(|source| {
            match source.kind() {
                std::io::ErrorKind::AlreadyExists => {
                    CliError::Usage(format!("{} exists already, and is left as it is", file.display()))
                }
                _ => CliError::file(&file, source),
            }
        })?;
    new.write_all(text(name).as_bytes()).map_err(|source| CliError::file(&file, source))?;
    say(format_args!("{} written: say in it what the skill does, and how", file.display()));
    Ok(())
}

fn text(name: &str) -> String {
    let title = name.replace('-', " ");
    format!(
        "---
name: {name}
description: What this skill does, and when to use it.
---

# {title}

## When to use

Say what the user wants when this skill fits, and when it does not.

## Steps

1. Look at the state of things first, with commands that change nothing.
2. Ask the user for what cannot be found out, one question at a time.
3. Do the work, one command at a time, and look at what each one says.
4. Check the result, and tell the user in a sentence what was done.

## Rules

- Change nothing that the user did not ask for.
- If a command fails, say why and stop; do not try the same again.
"
    )
}
