//! What the judge says: a level, and every reason for it.

use serde::Serialize;

/// Reasons that are told; the weightiest come first.
const MOST_REASONS: usize = 50;

/// Bytes of a message: what it quotes may be as long as a command.
const MOST_BYTES: usize = 300;

/// How a command may run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Level {
    /// By itself.
    #[default]
    L0,
    /// After a person has agreed.
    L1,
    /// Never.
    L2,
}

/// A decision about a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The highest level of the reasons.
    pub level: Level,
    /// All reasons, the weightiest first.
    pub reasons: Vec<Reason>,
    /// Whether a rule of the user lets the command run by itself. Such a command may write and use the network, so that it cannot run
    /// in the sandbox of those that are harmless.
    #[serde(skip)]
    pub by_rule: bool,
}

/// A reason for a level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// The level that this reason alone would give.
    #[serde(skip)]
    pub level: Level,
    /// The rule that found it.
    pub rule: Rule,
    /// What was found, in a sentence.
    pub message: String,
    /// Whether it is about another command within the command, or an option that starts one: a rule of the user about the first words
    /// does not answer for it.
    #[serde(skip)]
    pub(crate) is_within: bool,
}

impl Decision {
    /// The decision for these reasons.
    pub(crate) fn of(mut reasons: Vec<Reason>) -> Decision {
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.level));
        let mut seen = std::collections::HashSet::new();
        reasons.retain(|reason| seen.insert((reason.rule, reason.message.clone())));
        let level = reasons.iter().map(|reason| reason.level).max().unwrap_or_default();
        let by_rule = reasons.iter().any(|reason| reason.rule == Rule::RuleAllow);
        // What is harmless about a command does not explain why it is asked about.
        reasons.retain(|reason| reason.level == level || reason.level > Level::L0);
        reasons.truncate(MOST_REASONS);
        Decision { level, reasons, by_rule }
    }

    /// The decision about something that cannot be read as a command.
    pub fn invalid_input(message: impl Into<String>) -> Decision {
        Decision::of(vec![Rule::InvalidInput.at(Level::L2, message)])
    }

    /// Whether the command runs in the sandbox that lets it read and nothing else.
    pub fn is_sandboxed(&self) -> bool {
        self.level == Level::L0 && !self.by_rule
    }
}

macro_rules! rules {
    ($($(#[doc = $about:literal])* $name:ident = $text:literal, $levels:literal;)*) => {
        /// The rules of the policy; their names are part of the answers, and stay.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Rule {
            $($(#[doc = $about])* $name,)*
        }

        impl Rule {
            /// Its name in answers.
            pub fn name(self) -> &'static str {
                match self {
                    $(Rule::$name => $text,)*
                }
            }

            /// All rules: each with its levels and what it finds.
            pub const ALL: &[(Rule, &'static str, &'static str)] =
                &[$((Rule::$name, $levels, concat!($($about),*)),)*];
        }
    };
}

rules! {
    /// The program's table says that this form of it only reads.
    Harmless = "harmless", "L0";
    /// A rule of the user lets it run.
    RuleAllow = "rule_allow", "L0";
    /// A rule of the user wants it to be asked about.
    RuleAsk = "rule_ask", "L1";
    /// A rule of the user forbids it.
    RuleDeny = "rule_deny", "L2";
    /// Rules or settings cannot be read, so that nothing runs by itself.
    PolicyBroken = "policy_broken", "L1";
    /// It is not a command: a program (a text), and arguments (texts).
    InvalidInput = "invalid_input", "L2";
    /// The program is not a plain name or path, or there is a NUL byte.
    InvalidProgram = "invalid_program", "L2";
    /// The command has too many words, or commands within commands, to be judged.
    TooLong = "too_long", "L2";
    /// The program is not one of `allowed_programs`.
    NotAllowed = "not_allowed", "L2";
    /// The program is named by a path that is not a folder of installed programs.
    UntrustedProgram = "untrusted_program", "L1";
    /// Nothing is known about what the program does.
    NoTable = "no_table", "L1";
    /// An option that the program's table does not list.
    UnknownOption = "unknown_option", "L1";
    /// An operand that the program's table does not expect.
    UnknownOperand = "unknown_operand", "L1";
    /// A subcommand that has no table; for git it may be an alias.
    UnknownSubcommand = "unknown_subcommand", "L1";
    /// The program only reads in another form (`sed` with `-n`, `tar` with `-t`).
    Form = "form", "L1";
    /// A word that means something to a shell only, and there is no shell.
    ShellSyntax = "shell_syntax", "L1";
    /// It writes files or changes something. L2 with `allow_write = false`.
    Write = "write", "L1, L2";
    /// It uses the network. L2 with `allow_network = false`.
    Network = "network", "L1, L2";
    /// It starts other programs.
    Run = "run", "L1";
    /// It does not end by itself, or wants a terminal.
    Wait = "wait", "L1";
    /// It prints the environment.
    Environment = "environment", "L1";
    /// It follows symbolic links, which may lead out of the workspace.
    Links = "links", "L1";
    /// It reads names of files, options or code that are not known when it is judged.
    Unseen = "unseen", "L1";
    /// It changes the system or other processes.
    System = "system", "L1";
    /// A path outside of the workspace.
    OutsideWorkspace = "outside_workspace", "L1";
    /// A file that is known to hold secrets.
    Secret = "secret", "L1";
    /// It writes to a path of the system.
    SystemPath = "system_path", "L2";
    /// A variable of the environment that may change what is loaded or run.
    Assignment = "assignment", "L1";
    /// It runs code.
    Interpreter = "interpreter", "L1";
    /// Code that reaches a shell through another program.
    ShellReached = "shell_reached", "L2";
    /// Code that is not known when it is judged.
    UnknownCode = "unknown_code", "L2";
    /// Something that is downloaded and run.
    DownloadRun = "download_run", "L2";
    /// A shell of Windows, whose quoting cannot be judged.
    ForeignShell = "foreign_shell", "L2";
    /// It gains privilege. L1 with `allow_sudo = true`.
    Privilege = "privilege", "L1, L2";
    /// It destroys what cannot be brought back.
    Destructive = "destructive", "L2";
    /// The repository's configuration may start programs.
    GitHelper = "git_helper", "L1";
    /// Control characters, or characters that are not seen or change the direction of the text.
    ControlCharacters = "control_characters", "L1";
    /// A character that looks like the dash of an option.
    LookAlike = "look_alike", "L1";
    /// It runs on another machine, whose files and programs are not known here.
    Elsewhere = "elsewhere", "L1";
    /// Whoever proposes the command says that it has to be asked about.
    Requires = "requires", "L1";
}

impl Serialize for Rule {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Rule {
    /// A reason of this rule.
    pub(crate) fn at(self, level: Level, message: impl Into<String>) -> Reason {
        Reason { level, rule: self, message: cut(message.into()), is_within: false }
    }
}

/// A message that is not too long to be read.
fn cut(mut message: String) -> String {
    if message.len() > MOST_BYTES {
        let end = (0..=MOST_BYTES).rev().find(|at| message.is_char_boundary(*at)).unwrap_or_default();
        message.truncate(end);
        message.push('…');
    }
    message
}
