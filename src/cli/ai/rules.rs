//! `ai rules`: the user's own rules.

use std::io::Write;
use std::path::Path;

use policy::{RuleSource, RulesError};

use super::args::{RulesAction, RulesCommand};
use super::judge::read_rules;
use crate::cli::error::CliError;
use crate::cli::output::{on_one_line, say};

/// Lists, checks or takes out rules.
///
/// # Errors
/// [`CliError`] for a file that cannot be read or written, or whose rules are wrong.
pub fn run(options: &RulesCommand) -> Result<(), CliError> {
    let (file, source) = read_rules(options.rules.as_deref())?;
    let wrong = |error: RulesError| CliError::Rules { path: file.display().to_string(), error };
    match options.action {
        RulesAction::List | RulesAction::Check => {
            let rules = source.rules().map_err(wrong)?;
            let count = rules.all().len();
            if matches!(options.action, RulesAction::List) {
                let numbered = (1..).zip(rules.all());
                numbered.for_each(|(number, rule)| {
                    say(format_args!("{number}  {}", on_one_line(&rule.to_string())))
                });
            }
            if count == 0 || matches!(options.action, RulesAction::Check) {
                say(format_args!("{}: {}", file.display(), crate::cli::check::counted(count, "rule")));
            }
            Ok(())
        }
        RulesAction::Rm { number } => {
            let left = source.without(number).map_err(wrong)?;
            write(&file, &left).map_err(|source| CliError::file(&file, source))?;
            say(format_args!("rule {number} is removed from {}", file.display()));
            Ok(())
        }
    }
}

/// Writes the file in one step, so that nobody reads half of it.
fn write(file: &Path, source: &RuleSource) -> std::io::Result<()> {
    // A link stays one: what it leads to is replaced.
    let file = file.canonicalize()?;
    let folder = file.parent().unwrap_or(Path::new("/"));
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(source.0.as_bytes())?;
    new.as_file().set_permissions(std::fs::metadata(&file)?.permissions())?;
    new.as_file().sync_all()?;
    new.persist(&file)?;
    Ok(())
}
