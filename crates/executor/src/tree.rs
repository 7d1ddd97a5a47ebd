//! Killing a process with all that it has started.
//!
//! Most of it is in the process group. What has left the group (`setsid`) is found as a descendant, as long as the processes between
//! are alive: therefore the tree is stopped first, so that nothing can be started or lose its parent meanwhile, and killed then. What
//! has lost its parent, too, still has a mark in its environment.

/// How many times the tree is searched for processes that were started during the last search.
#[cfg(target_os = "linux")]
const SEARCHES: usize = 8;

/// How many processes of the machine are looked at in one search.
#[cfg(target_os = "linux")]
const PROCESSES: usize = 65_536;

/// Kills the group of the process `id`, and its descendants.
#[cfg(target_os = "linux")]
pub(crate) fn kill(id: u32) {
    use rustix::process::Signal;
    let mut stopped: Vec<u32> = Vec::new();
    for _ in 0..SEARCHES {
        let fresh: Vec<u32> = linux::tree(id).into_iter().filter(|found| !stopped.contains(found)).collect();
        if fresh.is_empty() {
            break;
        }
        fresh.iter().for_each(|process| linux::signal(*process, Signal::STOP));
        stopped.extend(fresh);
    }
    stopped.into_iter().for_each(|process| linux::signal(process, Signal::KILL));
    kill_group(id);
}

/// Kills the group of the process `id`; its descendants are not known here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn kill(id: u32) {
    kill_group(id);
}

/// Kills everything that has a variable with this value in the environment with which it was started.
#[cfg(target_os = "linux")]
pub(crate) fn kill_marked(name: &str, value: &str) {
    let mark = format!("{name}={value}");
    for _ in 0..SEARCHES {
        let found = linux::marked(mark.as_bytes());
        if found.is_empty() {
            break;
        }
        found.into_iter().for_each(|process| linux::signal(process, rustix::process::Signal::KILL));
    }
}

/// Environments of other processes cannot be read here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn kill_marked(_name: &str, _value: &str) {}

/// Kills what is in the group of the process `id`.
#[cfg(unix)]
pub(crate) fn kill_group(id: u32) {
    let group = i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

/// There are no groups: only the process itself is killed, by its handle.
#[cfg(not(unix))]
pub(crate) fn kill_group(_id: u32) {}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashSet;
    use std::fs;

    use rustix::process::{Pid, Signal};

    /// What `/proc` says about a process.
    pub(super) struct Process {
        pub(super) id: u32,
        pub(super) parent: u32,
        pub(super) group: u32,
    }

    pub(super) fn signal(process: u32, signal: Signal) {
        if let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) {
            let _ = rustix::process::kill_process(process, signal);
        }
    }

    /// The process `root`, those of its group, and the descendants of all of them.
    pub(super) fn tree(root: u32) -> Vec<u32> {
        let (us, mut others) = (std::process::id(), processes());
        // If it is no child of ours, it has ended, and its number may be another's.
        let is_root = |process: &&Process| process.id == root && process.parent == us;
        let first = others.iter().filter(|process| is_root(process) || process.group == root);
        let mut found: HashSet<u32> = first.map(|process| process.id).collect();
        loop {
            let (children, rest): (Vec<_>, Vec<_>) =
                others.into_iter().partition(|process| found.contains(&process.parent));
            if children.is_empty() {
                break;
            }
            found.extend(children.iter().map(|process| process.id));
            others = rest;
        }
        found.remove(&us);
        found.into_iter().collect()
    }

    /// The processes in whose environment, as they were started, this stands. One that has ended has none.
    pub(super) fn marked(mark: &[u8]) -> Vec<u32> {
        let has_mark = |id: &u32| {
            let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == mark)
        };
        ids().into_iter().filter(has_mark).collect()
    }

    fn processes() -> Vec<Process> {
        ids().into_iter().filter_map(process).collect()
    }

    fn ids() -> Vec<u32> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.take(super::PROCESSES).collect()
    }

    fn process(id: u32) -> Option<Process> {
        parse(id, &fs::read(format!("/proc/{id}/stat")).ok()?)
    }

    /// Reads `ID (NAME) STATE PARENT GROUP …`; the name may hold anything, also parentheses.
    pub(super) fn parse(id: u32, stat: &[u8]) -> Option<Process> {
        let end = stat.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(stat.get(end + 1..)?).ok()?;
        let mut fields = rest.split_whitespace().skip(1).map(str::parse);
        Some(Process { id, parent: fields.next()?.ok()?, group: fields.next()?.ok()? })
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::linux;

    #[test]
    fn names_of_processes_may_hold_anything() {
        let process = linux::parse(7, b"7 (a) S 1 2 ) \xff) R 40 41 42 0 -1").unwrap();
        assert_eq!((process.id, process.parent, process.group), (7, 40, 41));
        assert!(linux::parse(7, b"7 (a").is_none());
        assert!(linux::parse(7, b"7 (a) R x").is_none());
    }
}
