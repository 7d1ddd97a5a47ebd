//! The user's rules: allow, ask, deny; the strictest one wins, and none lifts what is refused.

use policy::{Command, Decision, Level, Permissions, Policy, RuleSource};

use crate::fixture::Fixture;

fn policy(fixture: &Fixture, rules: &str) -> Policy {
    fixture.policy_with(Permissions::default(), RuleSource(rules.to_owned()).rules().unwrap())
}

fn classify(policy: &Policy, words: &[&str]) -> Decision {
    let (program, args) = words.split_first().unwrap();
    policy.classify(&Command::new(program, args.iter().copied()))
}

fn rule(decision: &str, kind: &str, words: &[&str]) -> String {
    format!("[[rule]]\ndecision = {decision:?}\n{kind} = {words:?}\n")
}

#[test]
fn a_rule_allows_asks_or_denies() {
    let fixture = Fixture::new();
    let rules = [
        rule("allow", "prefix", &["cargo", "test"]),
        rule("allow", "exact", &["bash", "-c", "ls"]),
        rule("ask", "prefix", &["ls", "-R"]),
        rule("deny", "prefix", &["rm"]),
        rule("allow", "prefix", &["rm", "x"]),
        rule("allow", "prefix", &["git", "push"]),
        rule("ask", "exact", &["git", "push", "--force"]),
    ];
    let policy = policy(&fixture, &rules.concat());
    for (words, level) in [
        (&["cargo", "test"][..], Level::L0),
        (&["cargo", "test", "--lib"], Level::L0),
        (&["timeout", "60", "cargo", "test"], Level::L0),
        (&["cargo", "tests"], Level::L1),
        (&["./cargo", "test"], Level::L1),
        (&["bash", "-c", "ls"], Level::L0),
        (&["bash", "-c", "ls", "x"], Level::L1),
        (&["ls"], Level::L0),
        (&["ls", "-R", "src"], Level::L1),
        (&["rm", "x"], Level::L2),
        (&["/bin/rm", "y"], Level::L2),
        (&["./rm", "y"], Level::L2),
        (&["nice", "rm", "y"], Level::L2),
        (&["tsc", "--", "rm", "y"], Level::L2),
        (&["sh", "-c", "ls; rm y"], Level::L2),
        (&["git", "push", "origin"], Level::L0),
        (&["git", "push", "--force"], Level::L1),
    ] {
        assert_eq!(classify(&policy, words).level, level, "{words:?}");
    }
    let allowed = classify(&policy, &["cargo", "test"]);
    assert!(allowed.by_rule && !allowed.is_sandboxed(), "what a rule allows may write");
    assert!(classify(&policy, &["ls"]).is_sandboxed());
}

#[test]
fn no_rule_lifts_what_is_refused() {
    let fixture = Fixture::new();
    let refused: &[&[&str]] = &[
        &["rm", "-rf", "x"],
        &["sudo", "ls"],
        &["cargo", "test", "sudo", "ls"],
        &["docker", "ps"],
        &["git", "reset", "--hard"],
        &["cp", "x", "/etc/passwd"],
        &["find", ".", "-exec", "sh", "-c", "ls", ";"],
    ];
    for words in refused {
        let policy = policy(&fixture, &rule("allow", "exact", words));
        assert_eq!(classify(&policy, words).level, Level::L2, "{words:?}");
    }
}

#[test]
fn a_prefix_does_not_answer_for_what_the_words_behind_it_name() {
    let fixture = Fixture::new();
    let prefix = policy(&fixture, &rule("allow", "prefix", &["cat"]));
    let exact = policy(&fixture, &rule("allow", "exact", &["cat", ".env"]));
    assert_eq!(classify(&prefix, &["cat", "README.md"]).level, Level::L0);
    assert_eq!(classify(&prefix, &["cat", ".env"]).level, Level::L1);
    assert_eq!(classify(&prefix, &["cat", "/etc/hosts"]).level, Level::L1);
    assert_eq!(classify(&exact, &["cat", ".env"]).level, Level::L0);
}

#[test]
fn a_rule_is_about_words_and_not_about_places_needs_or_repositories() {
    let fixture = Fixture::new();
    let policy = policy(&fixture, &rule("allow", "prefix", &["git", "diff"]));
    let diff = Command::new("git", ["diff"]);
    assert_eq!(policy.classify(&diff).level, Level::L0);
    let elsewhere = Command { cwd: Some("/tmp".into()), ..diff.clone() };
    assert_eq!(policy.classify(&elsewhere).level, Level::L1);
    let confirmed =
        Command { requires: policy::Requires { confirm: true, ..Default::default() }, ..diff.clone() };
    assert_eq!(policy.classify(&confirmed).level, Level::L1);
    assert_eq!(classify(&policy, &["git", "diff", "\u{202e}"]).level, Level::L1);
    std::fs::write(fixture.workspace.join(".git/config"), "[filter \"x\"]\nclean = evil\n").unwrap();
    assert_eq!(policy.classify(&diff).level, Level::L1);
}

#[test]
fn what_cannot_be_read_lets_nothing_run_by_itself() {
    let fixture = Fixture::new();
    let policy = fixture.policy(Permissions::default()).broken(["rules.toml: no rules".to_owned()]);
    for words in [&["ls"][..], &["git", "status"], &["true"]] {
        let decision = classify(&policy, words);
        assert_eq!(decision.level, Level::L1, "{words:?}");
        assert!(decision.reasons.iter().any(|reason| reason.message.contains("rules.toml: no rules")));
    }
}

#[test]
fn a_prefix_does_not_answer_for_what_the_words_behind_it_start() {
    let fixture = Fixture::new();
    for (prefix, words) in [
        (&["find"][..], &["find", ".", "-exec", "curl", "http://x", ";"][..]),
        (&["fd"], &["fd", "-x", "curl"]),
        (&["git"], &["git", "-c", "core.pager=x", "log"]),
        (&["tar"], &["tar", "-tf", "a.tar", "-I", "make"]),
        (&["cp"], &["cp", "a", ".git/hooks/pre-commit"]),
    ] {
        let policy = policy(&fixture, &rule("allow", "prefix", prefix));
        assert_eq!(classify(&policy, words).level, Level::L1, "{words:?}");
    }
    for prefix in [
        &["bash"][..],
        &["python3"],
        &["env"],
        &["xargs"],
        &["watch"],
        &["parallel"],
        &["./gradlew"],
        &["/bin/ls"],
    ] {
        assert!(RuleSource(rule("allow", "prefix", prefix)).rules().is_err(), "{prefix:?}");
    }
}

#[test]
fn options_before_a_subcommand_do_not_hide_it_from_rules_that_deny_or_ask() {
    let fixture = Fixture::new();
    let rules =
        [rule("deny", "prefix", &["git", "push"]), rule("ask", "prefix", &["/usr/bin/git", "log"])].concat();
    let policy = policy(&fixture, &rules);
    for words in [
        &["git", "push"][..],
        &["git", "-C", ".", "push"],
        &["git", "--no-pager", "push", "-f"],
        &["/usr/bin/git", "push"],
    ] {
        assert_eq!(classify(&policy, words).level, Level::L2, "{words:?}");
    }
    assert_eq!(classify(&policy, &["git", "--no-pager", "log"]).level, Level::L1);
    assert_eq!(classify(&policy, &["git", "status"]).level, Level::L0);
}
