//! Options and operands as the tables write them: `--output=path`, `path...`.

use super::load::TableError;

/// What an option does, or a program as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// It changes only what is printed.
    Safe,
    /// It writes files, or changes something.
    Write,
    /// It starts other programs.
    Run,
    /// It does not end by itself, or wants a terminal.
    Wait,
    /// It prints the environment.
    Environment,
    /// It follows symbolic links that are found on the way.
    Links,
    /// It reads names of files, options or code that are not known yet.
    Unseen,
    /// It uses the network.
    Network,
    /// It changes the system or other processes.
    System,
    /// It destroys what cannot be brought back.
    Destroy,
    /// It gains privilege.
    Privilege,
    /// Its value is a command line for a shell.
    Shell,
    /// Its value is code of the program's own language.
    Code,
    /// It is a shell of Windows.
    Foreign,
    /// It changes variables for what it starts.
    Variables,
}

/// An option of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionSpec {
    /// `-x`, `--long`, or `-NUM` for a number.
    pub name: String,
    /// What it does.
    pub class: Class,
    /// Whether it takes a value.
    pub takes: Takes,
}

impl OptionSpec {
    /// Whether it takes the next argument as its value.
    pub fn takes_value(&self) -> bool {
        matches!(self.takes, Takes::Value(_))
    }

    /// The kind of its value, if it takes one.
    pub fn kind(&self) -> Option<Kind> {
        match self.takes {
            Takes::Nothing => None,
            Takes::Value(kind) | Takes::Attached(kind) => Some(kind),
        }
    }
}

/// Whether an option takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// None.
    Nothing,
    /// One that is attached, or the next argument.
    Value(Kind),
    /// One that is attached, if any.
    Attached(Kind),
}

/// What the value of an option is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A file or folder.
    Path,
    /// A pattern of file names.
    Glob,
    /// A format of git's, which may have signatures checked.
    Pretty,
    /// `RANGE:FILE`.
    Lines,
    /// A file; of a folder, what its links lead to is read, too.
    File,
    /// A date, which may name a file with a time zone.
    Date,
    /// It is a program; its arguments follow, up to a `;`.
    Command,
}

impl Class {
    /// What it means, to go on "`sort -o` …".
    pub fn sentence(self) -> &'static str {
        match self {
            Class::Safe => "changes only what is printed",
            Class::Write => "writes files, or changes something",
            Class::Run => "starts other programs",
            Class::Wait => "does not end by itself, or wants a terminal",
            Class::Environment => "can print the environment",
            Class::Links => "follows symbolic links, which may lead out of the workspace",
            Class::Unseen => "reads names of files, options or code that are not known yet",
            Class::Network => "uses the network",
            Class::System => "changes the system or other processes",
            Class::Destroy => "destroys what cannot be brought back",
            Class::Privilege => "gains privilege",
            Class::Shell => "hands a text to a shell",
            Class::Code => "runs code",
            Class::Variables => "changes variables, which may change what is loaded or run",
            Class::Foreign => "is a shell of Windows, whose quoting cannot be judged",
        }
    }
}

/// What an operand is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Any text.
    Text,
    /// A number that is not large.
    Number,
    /// Any number of texts.
    Texts,
    /// A file or folder that is read.
    Path,
    /// Any number of them.
    Paths,
    /// A file that is read; of a folder, what its links lead to is read, too.
    File,
    /// Any number of them.
    Files,
    /// A file or folder that is written, changed or removed.
    Target,
    /// Any number of them.
    Targets,
    /// A text that begins with `+`.
    Plus,
    /// A revision, a path or a pathspec of git.
    Rev,
    /// Any number of them.
    Revs,
    /// Any number of `NAME=VALUE`.
    Assignments,
    /// What is left is another command.
    Command,
    /// What is left makes a command line for a shell.
    ShellWords,
}

impl Role {
    /// Whether what is left is a command, or a line for a shell.
    pub fn starts_a_command(self) -> bool {
        matches!(self, Role::Command | Role::ShellWords)
    }

    /// Whether it stands for any number of operands.
    pub fn repeats(self) -> bool {
        !matches!(
            self,
            Role::Text | Role::Number | Role::Path | Role::File | Role::Target | Role::Plus | Role::Rev
        )
    }
}

/// An option as it is written in a table.
pub fn option(token: &str, class: Class) -> Result<OptionSpec, TableError> {
    let wrong = || TableError::Option { token: token.to_owned() };
    let (name, takes) = match token.split_once('=') {
        None => (token, Takes::Nothing),
        Some((name, rest)) => match name.strip_suffix('[') {
            Some(name) => {
                (name, Takes::Attached(kind(rest.strip_suffix(']').ok_or_else(wrong)?).ok_or_else(wrong)?))
            }
            None => (name, Takes::Value(kind(rest).ok_or_else(wrong)?)),
        },
    };
    let is_name = name.len() > 1 && name.starts_with('-') && name != "--" && !name.contains(['[', ']', ',']);
    if is_name { Ok(OptionSpec { name: name.to_owned(), class, takes }) } else { Err(wrong()) }
}

fn kind(name: &str) -> Option<Kind> {
    Some(match name {
        "" | "text" => Kind::Text,
        "path" => Kind::Path,
        "glob" => Kind::Glob,
        "pretty" => Kind::Pretty,
        "lines" => Kind::Lines,
        "file" => Kind::File,
        "date" => Kind::Date,
        "command" => Kind::Command,
        _ => return None,
    })
}

/// The roles of operands as they are written in a table: `text path...`.
pub fn roles(text: &str) -> Result<Vec<Role>, TableError> {
    text.split_whitespace().map(role).collect()
}

fn role(word: &str) -> Result<Role, TableError> {
    Ok(match word {
        "text" => Role::Text,
        "number" => Role::Number,
        "text..." => Role::Texts,
        "path" => Role::Path,
        "path..." => Role::Paths,
        "file" => Role::File,
        "file..." => Role::Files,
        "target" => Role::Target,
        "target..." => Role::Targets,
        "+text" => Role::Plus,
        "rev" => Role::Rev,
        "rev..." => Role::Revs,
        "assignments" => Role::Assignments,
        "command" => Role::Command,
        "shell..." => Role::ShellWords,
        _ => return Err(TableError::Role { word: word.to_owned() }),
    })
}

/// The role of an operand among `count`.
pub fn role_at(roles: &[Role], at: usize, count: usize) -> Option<Role> {
    let Some(repeated) = roles.iter().position(|role| role.repeats()) else { return roles.get(at).copied() };
    let after = roles.len() - repeated - 1;
    if at + after >= count {
        return roles.get(repeated + 1 + (at + after - count)).copied();
    }
    if at < repeated {
        return roles.get(at).copied();
    }
    roles.get(repeated).map(|role| match role {
        Role::Texts => Role::Text,
        Role::Paths => Role::Path,
        Role::Files => Role::File,
        Role::Targets => Role::Target,
        Role::Revs => Role::Rev,
        other => *other,
    })
}
