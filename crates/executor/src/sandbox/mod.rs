//! The sandbox: what the kernel refuses a command that is only to look.
//!
//! The command may read and execute everything. It may write to `/dev/null` and its kind, and to its outputs; make, change and
//! remove nothing; have no sockets; change no other process, and nothing of the machine. `files` is Landlock's part of it, `calls`
//! seccomp's; `numbers` and `arguments` list the system calls. Both are laid on a thread that starts the command and ends: they
//! are inherited by what the thread starts, and cannot be taken off. This process stays as it is.
//!
//! Each kernel gives what it has. [`Sandbox`] says what that was, [`offered`] what it will be.

#[cfg(target_os = "linux")]
mod arguments;
#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod numbers;

use std::io;

use tokio::process::Command;
use tokio::runtime::Handle;

use crate::running::Running;

/// How much of a kind is prevented.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing.
    #[default]
    None,
    /// The usual ways, not all.
    Partial,
    /// All ways that are known.
    Full,
}

/// What a command was kept from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// Making, writing, changing and removing files.
    pub files: Level,
    /// Connections, datagrams, and sockets of other processes.
    pub network: Level,
    /// Signals to other processes, and changes of them and of the machine.
    pub processes: Level,
}

impl Sandbox {
    /// Whether all of it was in place.
    pub fn is_complete(self) -> bool {
        [self.files, self.network, self.processes].iter().all(|level| *level == Level::Full)
    }
}

/// What this kernel offers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Offered {
    /// The version of Landlock's interface, as far as it is used here; 0 without Landlock.
    pub landlock: u8,
    /// Whether system calls can be filtered.
    pub seccomp: bool,
}

impl Offered {
    /// What a command is kept from with this.
    pub fn sandbox(self) -> Sandbox {
        let level = |full: bool, partial: bool| match (full, partial) {
            (true, _) => Level::Full,
            (false, true) => Level::Partial,
            (false, false) => Level::None,
        };
        Sandbox {
            files: level(self.seccomp && self.landlock >= 1, self.landlock >= 1),
            network: level(self.seccomp, self.landlock >= 4),
            processes: level(self.seccomp, self.landlock >= 6),
        }
    }
}

/// Asks the kernel what it offers. Nothing is restricted.
pub fn offered() -> Offered {
    #[cfg(target_os = "linux")]
    return Offered { landlock: files::version(), seccomp: calls::is_offered() };
    #[cfg(not(target_os = "linux"))]
    Offered::default()
}

/// Starts a command in the sandbox.
///
/// The blocking thread around the restricted one is what drops the process if nobody waits any more: killing it must not depend
/// on what the sandbox allows.
pub(crate) async fn start(command: Command) -> io::Result<(Running, Sandbox)> {
    let runtime = Handle::current();
    let started = runtime.clone().spawn_blocking(move || {
        let start = move || {
            let _entered = runtime.enter();
            let sandbox = restrict();
            Running::start(command).map(|running| (running, sandbox))
        };
        let thread = std::thread::Builder::new().name("sandbox".to_owned()).spawn(start)?;
        thread.join().map_err(|_| io::Error::other("the thread of the sandbox failed"))?
    });
    started.await.map_err(io::Error::other)?
}

/// Restricts the calling thread for good, and says how far.
#[cfg(target_os = "linux")]
fn restrict() -> Sandbox {
    // The filter comes last: it may refuse what the other needs.
    let landlock = files::restrict();
    let seccomp = calls::restrict(landlock);
    Offered { landlock, seccomp }.sandbox()
}

#[cfg(not(target_os = "linux"))]
fn restrict() -> Sandbox {
    Sandbox::default()
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests;
