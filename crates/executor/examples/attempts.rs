//! Tries one thing that a sandbox should prevent, or allow: `attempts WHAT [ARGUMENT…]`. Exits with 1 if it did not work.

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match linux::attempt(&words) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            std::process::ExitCode::FAILURE
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::{self, File, OpenOptions};
    use std::io::{self, Write};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};
    use std::os::unix::{self, fs::PermissionsExt};

    use rustix::fs::{AtFlags, CWD, IFlags, Mode, OFlags, Timespec, Timestamps, XattrFlags};
    use rustix::process::{Pid, Signal};

    pub fn attempt(words: &[&str]) -> io::Result<()> {
        match words {
            ["tcp", ..] | ["udp", ..] | ["unix", ..] | ["datagram", ..] | ["abstract", ..] | ["listen"] => {
                network(words)
            }
            ["kill", ..] | ["renice", ..] | ["unshare"] | ["threads"] => processes(words),
            ["chmod", ..] | ["chown", ..] | ["touch", ..] | ["attribute", ..] | ["flags", ..] => {
                attributes(words)
            }
            _ => files(words),
        }
    }

    fn files(words: &[&str]) -> io::Result<()> {
        match words {
            ["read", path] => fs::read(path).map(drop),
            ["write", path] => fs::write(path, "attempt"),
            ["append", path] => OpenOptions::new().append(true).open(path)?.write_all(b"attempt"),
            ["cut", path] => OpenOptions::new().write(true).open(path)?.set_len(0),
            ["cut by opening", path] => {
                rustix::fs::open(*path, OFlags::RDONLY | OFlags::TRUNC, Mode::empty())?;
                Ok(())
            }
            ["rename", from, to] => fs::rename(from, to),
            ["link", from, to] => fs::hard_link(from, to),
            ["symlink", from, to] => unix::fs::symlink(from, to),
            ["remove", path] => fs::remove_file(path),
            ["mkdir", path] => fs::create_dir(path),
            ["rmdir", path] => fs::remove_dir(path),
            ["mkfifo", path] => Ok(rustix::fs::mkfifoat(CWD, *path, Mode::RWXU)?),
            _ => Err(io::Error::other("no such attempt")),
        }
    }

    fn attributes(words: &[&str]) -> io::Result<()> {
        let now = Timespec { tv_sec: 1, tv_nsec: 0 };
        match words {
            ["chmod", path] => fs::set_permissions(path, fs::Permissions::from_mode(0o600)),
            ["chown", path] => Ok(rustix::fs::chown(*path, Some(rustix::process::getuid()), None)?),
            ["touch", path] => {
                let times = Timestamps { last_access: now, last_modification: now };
                Ok(rustix::fs::utimensat(CWD, *path, &times, AtFlags::empty())?)
            }
            ["attribute", path] => {
                Ok(rustix::fs::setxattr(*path, "user.attempt", b"x", XattrFlags::empty())?)
            }
            // What `chattr` does: a descriptor for reading is enough.
            ["flags", path] => Ok(rustix::fs::ioctl_setflags(File::open(path)?, IFlags::NODUMP)?),
            _ => Err(io::Error::other("no such attempt")),
        }
    }

    fn network(words: &[&str]) -> io::Result<()> {
        match words {
            ["tcp", address] => TcpStream::connect(address)?.write_all(b"attempt"),
            ["udp", address] => UdpSocket::bind("127.0.0.1:0")?.send_to(b"attempt", address).map(drop),
            ["unix", path] => UnixStream::connect(path)?.write_all(b"attempt"),
            // One of a pair needs no `socket` to send to an address, and no `connect`.
            ["datagram", path] => UnixDatagram::pair()?.0.send_to(b"attempt", path).map(drop),
            ["abstract", name] => {
                UnixStream::connect_addr(&SocketAddr::from_abstract_name(name)?)?.write_all(b"attempt")
            }
            ["listen"] => TcpListener::bind("127.0.0.1:0").map(drop),
            _ => Err(io::Error::other("no such attempt")),
        }
    }

    fn processes(words: &[&str]) -> io::Result<()> {
        let process = words.get(1).and_then(|id| id.parse().ok()).and_then(Pid::from_raw);
        match (words, process) {
            (["kill", _], Some(process)) => Ok(rustix::process::kill_process(process, Signal::TERM)?),
            (["renice", _], Some(process)) => Ok(rustix::process::setpriority_process(Some(process), 5)?),
            (["unshare"], _) => namespaces(),
            (["threads"], _) => threads(),
            _ => Err(io::Error::other("no such attempt")),
        }
    }

    /// A name space of another kind than those that need privileges.
    fn namespaces() -> io::Result<()> {
        let status = std::process::Command::new("unshare").args(["--user", "true"]).status()?;
        if status.success() { Ok(()) } else { Err(io::Error::other("unshare failed")) }
    }

    /// Threads, pipes, pairs of streams, processes and signals to them: what programs need to work.
    fn threads() -> io::Result<()> {
        let work = || {
            let (mut left, _right) = UnixStream::pair()?;
            left.write_all(b"x")?;
            let mut child = std::process::Command::new("sleep").arg("100").spawn()?;
            child.kill()?;
            child.wait().map(drop)
        };
        let threads: Vec<_> = (0..8).map(|_| std::thread::spawn(work)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().map_err(|_| io::Error::other("a thread failed"))?)
    }
}
