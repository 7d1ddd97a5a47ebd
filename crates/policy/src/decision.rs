//! What the judge says: a level, and every reason for it.

use serde::Serialize;

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
    ($($(#[doc = $about:literal])* $name:ident = $levels:literal,)*) => {
        /// The rules of the policy; their names are part of the answers, and stay.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Rule {
            $($(#[doc = $about])* $name,)*
        }

        impl Rule {
            /// All rules: each with its levels and what it finds.
            pub const ALL: &[(Rule, &'static str, &'static str)] =
                &[$((Rule::$name, $levels, concat!($($about),*)),)*];
        }
    };
}

rules! {
    /// The program's table says that this form of it only reads.
    Harmless = "L0",
    /// A rule of the user lets it run.
    RuleAllow = "L0",
    /// A rule of the user wants it to be asked about.
    RuleAsk = "L1",
    /// A rule of the user forbids it.
    RuleDeny = "L2",
    /// Rules or settings cannot be read, so that nothing runs by itself.
    PolicyBroken = "L1",
    /// It is not a command: a program (a text), and arguments (texts).
    InvalidInput = "L2",
    /// The program is not a plain name or path, or there is a NUL byte.
    InvalidProgram = "L2",
    /// The command has too many words, or commands within commands, to be judged.
    TooLong = "L2",
    /// The program is not one of `allowed_programs`.
    NotAllowed = "L2",
    /// The program is named by a path that is not a folder of installed programs.
    UntrustedProgram = "L1",
    /// Nothing is known about what the program does.
    NoTable = "L1",
    /// An option that the program's table does not list.
    UnknownOption = "L1",
    /// An operand that the program's table does not expect.
    UnknownOperand = "L1",
    /// A subcommand that has no table; for git it may be an alias.
    UnknownSubcommand = "L1",
    /// The program only reads in another form (`sed` with `-n`, `tar` with `-t`).
    Form = "L1",
    /// A word that means something to a shell only, and there is no shell.
    ShellSyntax = "L1",
    /// It writes files or changes something. L2 with `allow_write = false`.
    Write = "L1, L2",
    /// It uses the network. L2 with `allow_network = false`.
    Network = "L1, L2",
    /// It starts other programs.
    Run = "L1",
    /// It does not end by itself, or wants a terminal.
    Wait = "L1",
    /// It prints the environment.
    Environment = "L1",
    /// It follows symbolic links, which may lead out of the workspace.
    Links = "L1",
    /// It reads names of files, options or code that are not known when it is judged.
    Unseen = "L1",
    /// It changes the system or other processes.
    System = "L1",
    /// A path outside of the workspace.
    OutsideWorkspace = "L1",
    /// A file that is known to hold secrets.
    Secret = "L1",
    /// It writes to a path of the system.
    SystemPath = "L2",
    /// A variable of the environment that may change what is loaded or run.
    Assignment = "L1",
    /// It runs code.
    Interpreter = "L1",
    /// Code that reaches a shell through another program.
    ShellReached = "L2",
    /// Code that is not known when it is judged.
    UnknownCode = "L2",
    /// Something that is downloaded and run.
    DownloadRun = "L2",
    /// A shell of Windows, whose quoting cannot be judged.
    ForeignShell = "L2",
    /// It gains privilege. L1 with `allow_sudo = true`.
    Privilege = "L1, L2",
    /// It destroys what cannot be brought back.
    Destructive = "L2",
    /// The repository's configuration may start programs.
    GitHelper = "L1",
    /// Control characters, or characters that are not seen or change the direction of the text.
    ControlCharacters = "L1",
    /// A character that looks like the dash of an option.
    LookAlike = "L1",
    /// Whoever proposes the command says that it has to be asked about.
    Requires = "L1",
}

impl Rule {
    /// A reason of this rule.
    pub(crate) fn at(self, level: Level, message: impl Into<String>) -> Reason {
        Reason { level, rule: self, message: message.into() }
    }
}
