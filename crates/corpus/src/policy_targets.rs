//! Properties of the risk policy that hold for any words: a level with its reasons, the same one each time, and never a lower one behind
//! a wrapper.

use std::path::PathBuf;
use std::sync::LazyLock;

use policy::{Command, Decision, Permissions, Policy, Rules, Surroundings};

/// A workspace that does not exist: paths in it are taken as they are written.
static POLICY: LazyLock<Policy> = LazyLock::new(|| {
    let workspace = PathBuf::from("/home/fuzz/work");
    let surroundings = Surroundings {
        cwd: workspace.clone(),
        workspace,
        home: Some(PathBuf::from("/home/fuzz")),
        path: "/usr/bin:/bin".to_owned(),
    };
    Policy::new(surroundings, Permissions::default(), Rules::default())
});

/// Judges the words of an input, which zero bytes separate; the first byte is not used.
pub fn classify(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes.get(1..).unwrap_or_default());
    let words: Vec<&str> = text.split('\0').collect();
    let decision = judged(&words);
    assert!(!decision.reasons.is_empty(), "a level without a reason");
    assert_eq!(judged(&words), decision, "the same words, another level");
    // A wrapper reads options and assignments of its own; one word more may be too many.
    let is_program = words.first().is_some_and(|program| !program.starts_with('-') && !program.contains('='));
    if is_program && words.len() < 1_000 && text.len() < 10_000 {
        let wrapped: Vec<&str> = ["nice", "-n", "5"].into_iter().chain(words).collect();
        assert!(judged(&wrapped).level >= decision.level, "a wrapper lowers the level");
    }
}

fn judged(words: &[&str]) -> Decision {
    let (program, args) = words.split_first().map_or(("", words), |(program, args)| (*program, args));
    POLICY.classify(&Command::new(program, args.iter().copied()))
}
