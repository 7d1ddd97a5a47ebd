//! Landlock's part of the sandbox: files, TCP, signals and abstract sockets.

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

/// The newest version of the interface that this code has been tried with. Of older kernels it takes what they have.
const NEWEST: ABI = ABI::V7;

/// What may be written: it keeps nothing.
const WRITABLE: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];

/// The version of the interface that the kernel has, up to [`NEWEST`]; 0 without Landlock.
pub(super) fn version() -> u8 {
    let file = |access: AccessFs| strict().handle_access(access).is_ok();
    let versions = [
        (1, file(AccessFs::WriteFile)),
        (2, file(AccessFs::Refer)),
        (3, file(AccessFs::Truncate)),
        (4, strict().handle_access(AccessNet::ConnectTcp).is_ok()),
        (5, file(AccessFs::IoctlDev)),
        (6, strict().scope(Scope::Signal).is_ok()),
        (7, has_log_settings()),
    ];
    versions.iter().rev().find(|(_, has)| *has).map_or(0, |(version, _)| *version)
}

/// What version 7 has added. Nothing is logged about what a program does after it has started, as it was before.
fn has_log_settings() -> bool {
    let rules = strict().handle_access(AccessFs::WriteFile).and_then(Ruleset::create);
    rules.and_then(|rules| rules.log_same_exec(false)).is_ok()
}

/// A set that refuses what the kernel does not have.
fn strict() -> Ruleset {
    Ruleset::default().set_compatibility(CompatLevel::HardRequirement)
}

/// Restricts the calling thread, and gives the version in force: 0 if it could not be restricted.
pub(super) fn restrict() -> u8 {
    match rules().and_then(RulesetCreated::restrict_self) {
        Ok(status) if status.ruleset != RulesetStatus::NotEnforced => version(),
        _ => 0,
    }
}

/// Everything that changes something is handled, and so denied, but on [`WRITABLE`]. Reading and executing are not handled.
fn rules() -> Result<RulesetCreated, RulesetError> {
    let rules = Ruleset::default()
        .handle_access(AccessFs::from_write(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    let files = WRITABLE.iter().filter_map(|path| PathFd::new(path).ok());
    let access = AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    rules.add_rules(files.map(|file| Ok::<_, RulesetError>(PathBeneath::new(file, access))))
}
