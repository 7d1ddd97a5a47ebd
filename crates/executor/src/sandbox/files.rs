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
    let files =
        [(1, AccessFs::WriteFile), (2, AccessFs::Refer), (3, AccessFs::Truncate), (5, AccessFs::IoctlDev)];
    let files = files.into_iter().filter(|(_, access)| strict().handle_access(*access).is_ok());
    let network = strict().handle_access(AccessNet::ConnectTcp).is_ok().then_some(4);
    // Version 7 is about logging: nothing that is used here.
    let scope = strict().scope(Scope::Signal).is_ok().then_some(6);
    files.map(|(version, _)| version).chain(network).chain(scope).max().unwrap_or(0)
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
