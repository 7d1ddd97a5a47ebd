//! What holds for every command: wrappers, assignments and said needs never lower a level, and nothing in a long command is left out.

use std::sync::LazyLock;

use policy::{
    Command, Decision, Level, Permissions, Policy, Requires, Rule, RuleSource, Rules, Surroundings,
};
use proptest::prelude::*;

use crate::fixture::Fixture;

static FIXTURE: LazyLock<Fixture> = LazyLock::new(Fixture::new);
static POLICY: LazyLock<Policy> = LazyLock::new(|| FIXTURE.policy(Permissions::default()));

/// A program that is allowed, and of which nothing is known.
const UNKNOWN: &str = "tsc";

const PROGRAMS: &[&str] = &[
    "arch", "awk", "bash", "cat", "cp", "curl", "date", "dd", "echo", "env", "fd", "find", "git", "grep",
    "ls", "make", "nice", "node", "npm", "perl", "python3", "rg", "rm", "sed", "sh", "sort", "sudo", "tar",
    "timeout", "tsc", "uniq", "xargs", "docker", "/bin/ls", "./ls",
];

const WORDS: &[&str] = &[
    "",
    "-",
    "--",
    "-c",
    "-C",
    "-e",
    "-exec",
    "-f",
    "-i",
    "-l",
    "-n",
    "-o",
    "-r",
    "-rf",
    "-t",
    "--force",
    "--hard",
    "--help",
    "--list",
    "--output=x",
    "--pre",
    "--recursive",
    "--version",
    ".",
    "..",
    "../x",
    "/etc/passwd",
    "1,5p",
    "5",
    "A=b",
    "HEAD",
    "LANG=C",
    "README.md",
    "a b",
    "branch",
    "clean",
    "diff",
    "find",
    "install",
    "link_out/x",
    "log",
    "ls",
    "ls; rm -rf x",
    "of=x",
    "print(1)",
    "push",
    "reset",
    "rm",
    "rm -rf x",
    "sh",
    "src",
    "status",
    "sudo",
    "x",
    "{}",
    "|",
    "~/.ssh/id_rsa",
    "\u{202e}",
    ".env",
];

/// What may stand before a command.
const WRAPPERS: &[&[&str]] = &[
    &["env"],
    &["env", "-i"],
    &["timeout", "5"],
    &["timeout", "-k", "1", "5"],
    &["nice", "-n", "5"],
    &["nohup"],
    &["stdbuf", "-o", "L"],
    &["xargs"],
    &["xargs", "-n", "1"],
    &["setsid"],
    &["busybox"],
    &["flock", "x"],
    &["ionice", "-c", "3"],
    &["time"],
    &["strace", "-f"],
    &["find", ".", "-exec"],
    &["sudo"],
    &[UNKNOWN],
];

/// Commands that are refused wherever they stand.
const REFUSED: &[&[&str]] = &[
    &["rm", "-rf", "x"],
    &["rm", "--recurs", "--forc", "x"],
    &["sudo", "ls"],
    &["sh", "-c", "ls"],
    &["git", "reset", "--hard"],
    &["dd", "of=x"],
    &["chmod", "-R", "0", "x"],
    &["timeout", "5", "doas", "ls"],
    &["mkfs.ext4", "x"],
    &["find", "-exec", "su", ";"],
];

fn words(most: usize) -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(WORDS), 0..most)
}

fn command() -> impl Strategy<Value = Vec<&'static str>> {
    (prop::sample::select(PROGRAMS), words(6)).prop_map(|(program, mut words)| {
        words.insert(0, program);
        words
    })
}

fn decision(policy: &Policy, words: &[&str]) -> Decision {
    let (program, args) = words.split_first().unwrap();
    let decision = policy.classify(&Command::new(program, args.iter().copied()));
    assert!(!decision.reasons.is_empty(), "{words:?}");
    decision
}

fn level(policy: &Policy, words: &[&str]) -> Level {
    decision(policy, words).level
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn a_wrapper_never_lowers_a_level(command in command(), wrapper in prop::sample::select(WRAPPERS)) {
        let wrapped: Vec<&str> = wrapper.iter().chain(&command).copied().collect();
        // Behind a program of which nothing is known, a name that is not allowed is only a word.
        let is_name = |reason: &policy::Reason| matches!(reason.rule, Rule::NotAllowed | Rule::InvalidProgram | Rule::UnknownCode);
        let decision = decision(&POLICY, &command);
        let refusals = decision.reasons.iter().filter(|reason| reason.level == Level::L2);
        let is_only_a_word = wrapper[0] == UNKNOWN && decision.level == Level::L2 && refusals.into_iter().all(is_name);
        prop_assert!(is_only_a_word || level(&POLICY, &wrapped) >= decision.level, "{wrapped:?}");
    }

    #[test]
    fn an_assignment_never_lowers_a_level(command in command(), name in "[A-Z_]{1,8}", value in "[a-z/.:]{0,8}") {
        let assignment = format!("{name}={value}");
        let words: Vec<&str> = ["env", &assignment].into_iter().chain(command.iter().copied()).collect();
        prop_assert!(level(&POLICY, &words) >= level(&POLICY, &command), "{words:?}");
    }

    #[test]
    fn what_is_said_to_be_needed_never_lowers_a_level(command in command(), said in any::<[bool; 4]>()) {
        let (program, args) = command.split_first().unwrap();
        let plain = Command::new(program, args.iter().copied());
        let [confirm, elevated, network, write] = said;
        let needing = Command { requires: Requires { confirm, elevated, network, write }, ..plain.clone() };
        prop_assert!(POLICY.classify(&needing).level >= POLICY.classify(&plain).level, "{needing:?}");
    }

    #[test]
    fn nothing_in_a_longer_command_is_left_out(before in words(40), refused in prop::sample::select(REFUSED), after in words(8)) {
        let words: Vec<&str> = [UNKNOWN].iter().chain(&before).chain(refused).chain(&after).copied().collect();
        prop_assert_eq!(level(&POLICY, &words), Level::L2, "{:?}", words);
    }

    #[test]
    fn a_level_does_not_depend_on_what_is_installed(command in command()) {
        // One folder without programs, and one in which every program is another one.
        let folder = tempfile::tempdir().unwrap();
        for path in [String::new(), folder.path().display().to_string()] {
            let other = Surroundings { path, ..FIXTURE.surroundings() };
            let other = Policy::new(other, Permissions::default(), Rules::default());
            prop_assert_eq!(level(&other, &command), level(&POLICY, &command));
            for program in PROGRAMS.iter().filter(|program| !program.contains('/')) {
                std::fs::write(folder.path().join(program), "#!/bin/sh\n").unwrap();
            }
        }
    }

    #[test]
    fn no_rule_lifts_a_refusal_and_none_that_asks_or_denies_lowers_a_level(
        command in command(),
        decides in prop::sample::select(&["allow", "ask", "deny"][..]),
        length in 1usize..4,
        is_exact in any::<bool>(),
    ) {
        let (kind, words) = if is_exact { ("exact", &command[..]) } else { ("prefix", &command[..length.min(command.len())]) };
        let rules = RuleSource(format!("[[rule]]\ndecision = {decides:?}\n{kind} = {words:?}\n")).rules();
        // Words that TOML cannot have, and rules that would allow anything, are refused when they are read.
        let Ok(rules) = rules else { return Ok(()) };
        let ruled = level(&FIXTURE.policy_with(Permissions::default(), rules), &command);
        let plain = level(&POLICY, &command);
        prop_assert!(ruled >= plain || (decides == "allow" && plain < Level::L2), "{decides} {command:?}");
        prop_assert!(decides != "deny" || ruled == Level::L2);
    }

    #[test]
    fn any_words_get_a_level_and_a_reason(words in prop::collection::vec(any::<String>(), 1..8), cwd in any::<Option<String>>()) {
        let (program, args) = words.split_first().unwrap();
        let command = Command { program: program.clone(), args: args.to_vec(), cwd, requires: Requires::default() };
        let decision = POLICY.classify(&command);
        prop_assert!(!decision.reasons.is_empty());
        prop_assert!(decision.reasons.iter().all(|reason| reason.level <= decision.level && !reason.message.is_empty()));
    }
}

#[test]
fn words_are_never_split() {
    for (words, expected) in [
        (&["git status"][..], Level::L2),
        (&["ls -l"], Level::L2),
        (&["echo", "a; rm -rf /"], Level::L0),
        (&["cat", "a -rf b"], Level::L0),
        (&["rg", "-e", " --pre sh ", "src"], Level::L0),
    ] {
        assert_eq!(level(&POLICY, words), expected, "{words:?}");
    }
}

#[test]
fn the_last_word_of_a_command_as_long_as_is_allowed_counts() {
    let mut words = vec![UNKNOWN];
    words.extend(["x"; 1_995]);
    assert_eq!(level(&POLICY, &words), Level::L1);
    words.extend(["rm", "-rf", "x"]);
    assert_eq!(level(&POLICY, &words), Level::L2);
    words.extend(["x"; 10]);
    assert_eq!(level(&POLICY, &words), Level::L2, "longer ones are refused");
    let nested: Vec<&str> = ["env"; 100].into_iter().chain(["ls"]).collect();
    assert_eq!(level(&POLICY, &nested), Level::L2, "and so are commands in commands in commands");
}
