//! From TOML to tables.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::spec::{self, Class, OptionSpec};
use super::{Grammar, Interpreter, Program, Tables};

/// Why tables cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// It is not TOML, or has unknown members.
    #[error("{file}: {message}")]
    Toml {
        /// The file.
        file: String,
        /// What is wrong.
        message: String,
    },
    /// An option is not written as `-x`, `--long`, `--long=KIND` or `--long[=KIND]`.
    #[error("`{token}` is no option: write -x, --long, --long=KIND or --long[=KIND]")]
    Option {
        /// What is written.
        token: String,
    },
    /// An operand's role is unknown.
    #[error("`{word}` is no role of an operand")]
    Role {
        /// What is written.
        word: String,
    },
    /// Something in a table refers to what is not there, or is there twice.
    #[error("[{name:?}]: {message}")]
    Table {
        /// The table.
        name: String,
        /// What is wrong.
        message: String,
    },
}

/// A table as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Written {
    aliases: String,
    does: String,
    why: String,
    options: BTreeMap<Class, String>,
    operands: String,
    operands_with: BTreeMap<String, String>,
    needs: String,
    otherwise: Option<Class>,
    effects: String,
    refuse_together: Vec<String>,
    options_end: bool,
    include: String,
    hardened: String,
    grammar: Grammar,
    interpreter: Option<Interpreter>,
    alone: Option<Class>,
    chdir: String,
    code_from: String,
    tells: String,
}

/// Tables by their names; those that begin with `+` are groups of options.
type ByName = BTreeMap<String, Written>;

impl Tables {
    /// Reads tables from files: their names, for errors, and their texts.
    ///
    /// # Errors
    /// [`TableError`] for the first thing that is wrong.
    pub fn parse(files: &[(&str, &str)]) -> Result<Tables, TableError> {
        let mut written = ByName::new();
        for (file, text) in files {
            let tables: ByName = toml::from_str(text)
                .map_err(|error| TableError::Toml { file: (*file).to_owned(), message: error.to_string() })?;
            for (name, table) in tables {
                if written.insert(name.clone(), table).is_some() {
                    return Err(wrong(&name, "there are two of it"));
                }
            }
        }
        let mut tables = Tables::default();
        for (name, table) in written.iter().filter(|(name, _)| !name.starts_with('+')) {
            tables.add(program(name, table, &written)?)?;
        }
        tables.mark_subcommands()?;
        Ok(tables)
    }

    fn add(&mut self, program: Program) -> Result<(), TableError> {
        let place = self.programs.len();
        let parent = program.name.rsplit_once(' ').map(|(parent, _)| parent);
        let aliases = program.aliases.iter().map(|alias| match parent {
            Some(parent) => format!("{parent} {alias}"),
            None => alias.clone(),
        });
        for name in std::iter::once(program.name.clone()).chain(aliases) {
            if self.names.insert(name.clone(), place).is_some() {
                return Err(wrong(&name, "two tables have this name"));
            }
        }
        self.programs.push(program);
        Ok(())
    }

    fn mark_subcommands(&mut self) -> Result<(), TableError> {
        let names: Vec<String> = self.programs.iter().map(|program| program.name.clone()).collect();
        for name in names {
            let Some((parent, _)) = name.rsplit_once(' ') else { continue };
            let place = self.names.get(parent).copied();
            let Some(parent) = place.and_then(|place| self.programs.get_mut(place)) else {
                return Err(wrong(&name, "there is no table of the program itself"));
            };
            parent.has_subcommands = true;
        }
        Ok(())
    }
}

fn wrong(name: &str, message: impl Into<String>) -> TableError {
    TableError::Table { name: name.to_owned(), message: message.into() }
}

fn program(name: &str, written: &Written, all: &ByName) -> Result<Program, TableError> {
    let operands_with = written.operands_with.iter();
    let operands_with = operands_with.map(|(names, roles)| Ok((words(names), spec::roles(roles)?)));
    let program = Program {
        name: name.to_owned(),
        aliases: words(&written.aliases),
        does: written.does.clone(),
        why: written.why.clone(),
        options: options(name, written, all)?,
        operands: spec::roles(&written.operands)?,
        operands_with: operands_with.collect::<Result<_, TableError>>()?,
        needs: words(&written.needs),
        otherwise: written.otherwise,
        effects: effects(name, &written.effects)?,
        refuse_together: written.refuse_together.iter().map(|group| words(group)).collect(),
        options_end: written.options_end,
        hardened: words(&written.hardened),
        grammar: written.grammar,
        interpreter: written.interpreter,
        alone: written.alone,
        chdir: words(&written.chdir),
        code_from: words(&written.code_from),
        tells: words(&written.tells),
        has_subcommands: false,
    };
    check_names(&program)?;
    Ok(program)
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn effects(name: &str, text: &str) -> Result<Vec<Class>, TableError> {
    let class = |word: &str| {
        let value = toml::Value::String(word.to_owned());
        value.try_into::<Class>().map_err(|_| wrong(name, format!("`{word}` is no effect")))
    };
    text.split_whitespace().map(class).collect()
}

/// The options of a table and of the groups that it includes. Its own word about an option is nearer than that of a group.
fn options(name: &str, written: &Written, all: &ByName) -> Result<Vec<OptionSpec>, TableError> {
    let mut found = BTreeMap::new();
    let group = |group: &str| {
        let group = format!("+{group}");
        all.get(&group).ok_or_else(|| wrong(name, format!("there is no group {group}")))
    };
    let groups: Vec<&Written> = written.include.split_whitespace().map(group).collect::<Result<_, _>>()?;
    for table in groups.into_iter().chain([written]) {
        found.extend(own_options(name, table)?.into_iter().map(|option| (option.name.clone(), option)));
    }
    Ok(found.into_values().collect())
}

fn own_options(name: &str, written: &Written) -> Result<Vec<OptionSpec>, TableError> {
    let mut options: Vec<OptionSpec> = Vec::new();
    for (class, tokens) in &written.options {
        for token in tokens.split_whitespace() {
            let option = spec::option(token, *class)?;
            if options.iter().any(|other| other.name == option.name) {
                return Err(wrong(name, format!("{} is listed twice", option.name)));
            }
            options.push(option);
        }
    }
    Ok(options)
}

/// Every option that a table names must be listed.
fn check_names(program: &Program) -> Result<(), TableError> {
    let with = program.operands_with.iter().flat_map(|(names, _)| names);
    let together = program.refuse_together.iter().flatten();
    let mut named = with
        .chain(together)
        .chain(&program.needs)
        .chain(&program.chdir)
        .chain(&program.code_from)
        .chain(&program.tells);
    match named.find(|name| program.option(name).is_none()) {
        Some(name) => Err(wrong(&program.name, format!("{name} is named, and not listed among the options"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::FILES;
    use super::*;

    #[test]
    fn the_rules_that_ship_can_be_read() {
        let tables = Tables::parse(FILES).unwrap_or_else(|error| panic!("{error}"));
        assert!(tables.all().count() > 100);
    }
}
