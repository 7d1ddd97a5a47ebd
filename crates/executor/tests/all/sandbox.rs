//! What commands in the sandbox cannot do, and what they can. Each attempt is made without the sandbox, too, where it works.

use std::fs;
use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::Path;
use std::process::{Child, Command};

use crate::common::{attempts, is_alive, run, until};
use ai_prompt_executor::{Level, offered};

/// Makes an attempt; whether it worked. What is said about the sandbox must be what the kernel offers.
async fn attempt(cwd: &Path, sandboxed: bool, words: &[&str]) -> bool {
    let program = attempts();
    let outcome = run(cwd, sandboxed, &[&[program.as_str()], words].concat()).await;
    assert!(outcome.error.is_none() && !outcome.timed_out, "{words:?}: {outcome:?}");
    assert!(!outcome.stderr.text.contains("no such attempt"), "{words:?}");
    assert_eq!(outcome.sandbox, sandboxed.then(|| offered().sandbox()), "{words:?}");
    outcome.exit_code == Some(0)
}

/// Whether the sandbox, as the kernel offers it, prevents all of a kind. Where it does not, nothing else is claimed: the level was
/// compared with what [`attempt`] got.
fn prevents(level: Level) -> bool {
    eprintln!("the kernel offers {:?}: {:?}", offered(), offered().sandbox());
    level == Level::Full
}

/// All that can be seen of a folder, with contents, modes and times.
fn state(folder: &Path) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let data = path.symlink_metadata().unwrap();
        let seen = (
            data.mode(),
            data.mtime(),
            data.mtime_nsec(),
            data.ctime(),
            data.ctime_nsec(),
            data.len(),
            data.nlink(),
        );
        all.push(format!("{path:?} {seen:?}"));
    }
    all.sort();
    all
}

fn prepared() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "text").unwrap();
    fs::create_dir(folder.path().join("folder")).unwrap();
    folder
}

#[tokio::test]
async fn nothing_is_written_made_changed_or_removed() {
    let (probe, temporary) = (prevents(offered().sandbox().files), std::env::temp_dir());
    let name = format!("attempt-{}", std::process::id());
    let elsewhere = temporary.join(&name);
    let elsewhere = elsewhere.to_str().unwrap();
    let tries: [&[&str]; 19] = [
        &["write", "file"],
        &["write", "new"],
        &["write", elsewhere],
        &["append", "file"],
        &["cut", "file"],
        &["cut by opening", "file"],
        &["rename", "file", "renamed"],
        &["rename", "file", "folder/moved"],
        &["link", "file", "linked"],
        &["symlink", "file", "symbolic"],
        &["remove", "file"],
        &["mkdir", "made"],
        &["rmdir", "folder"],
        &["mkfifo", "pipe"],
        &["chmod", "file"],
        &["chown", "file"],
        &["touch", "file"],
        &["attribute", "file"],
        &["flags", "file"],
    ];
    for words in tries {
        let folder = prepared();
        let before = state(folder.path());
        if probe {
            assert!(!attempt(folder.path(), true, words).await, "{words:?} worked in the sandbox");
            assert_eq!(state(folder.path()), before, "{words:?} changed something");
            assert!(!Path::new(elsewhere).exists());
        } else {
            attempt(folder.path(), true, words).await;
        }
        let fresh = prepared();
        assert!(attempt(fresh.path(), false, words).await, "{words:?} does not work without the sandbox");
        let _ = fs::remove_file(elsewhere);
    }
}

#[tokio::test]
async fn no_connection_comes_in() {
    let folder = tempfile::tempdir().unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let unix = UnixListener::bind(folder.path().join("socket")).unwrap();
    let datagrams = UnixDatagram::bind(folder.path().join("datagrams")).unwrap();
    let name = format!("attempt-{}", std::process::id());
    let hidden = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    unix.set_nonblocking(true).unwrap();
    datagrams.set_nonblocking(true).unwrap();
    hidden.set_nonblocking(true).unwrap();
    let (tcp_address, udp_address) =
        (tcp.local_addr().unwrap().to_string(), udp.local_addr().unwrap().to_string());
    let came = |which: &str| {
        let error = match which {
            "tcp" => tcp.accept().err(),
            "udp" => udp.recv(&mut [0; 9]).err(),
            "unix" => unix.accept().err(),
            "datagram" => datagrams.recv(&mut [0; 9]).err(),
            _ => hidden.accept().err(),
        };
        assert!(error.as_ref().is_none_or(|error| error.kind() == ErrorKind::WouldBlock), "{error:?}");
        error.is_none()
    };
    let probe = prevents(offered().sandbox().network);
    let tries = [
        ["tcp", &tcp_address],
        ["udp", &udp_address],
        ["unix", "socket"],
        ["datagram", "datagrams"],
        ["abstract", &name],
    ];
    for words in tries {
        let worked = attempt(folder.path(), true, &words).await;
        assert!(!probe || (!worked && !came(words[0])), "{words:?} worked in the sandbox");
        while came(words[0]) {}
        assert!(attempt(folder.path(), false, &words).await, "{words:?} does not work without the sandbox");
        assert!(came(words[0]), "{words:?} did not come in");
    }
    let listened = attempt(folder.path(), true, &["listen"]).await;
    assert!(!probe || !listened, "listening worked in the sandbox");
    assert!(attempt(folder.path(), false, &["listen"]).await);
}

/// A process that is ended with the test.
struct Sleeper(Child);

impl Sleeper {
    fn start() -> Sleeper {
        Sleeper(Command::new("sleep").arg("1000").spawn().unwrap())
    }

    fn id(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn other_processes_are_left_alone() {
    let (folder, sleeper) = (tempfile::tempdir().unwrap(), Sleeper::start());
    let (id, probe) = (sleeper.id(), prevents(offered().sandbox().processes));
    for what in ["renice", "kill"] {
        let worked = attempt(folder.path(), true, &[what, &id]).await;
        assert!(!probe || !worked, "{what} worked in the sandbox");
    }
    if probe {
        assert!(is_alive(id.parse().unwrap()));
        assert!(attempt(folder.path(), false, &["renice", &id]).await);
        assert!(attempt(folder.path(), false, &["kill", &id]).await);
        until("the process is gone", || !is_alive(id.parse().unwrap())).await;
    }
}

#[tokio::test]
async fn there_are_no_new_name_spaces() {
    let folder = tempfile::tempdir().unwrap();
    let probe = prevents(offered().sandbox().processes);
    let worked = attempt(folder.path(), true, &["unshare"]).await;
    assert!(!probe || !worked);
    if !attempt(folder.path(), false, &["unshare"]).await {
        eprintln!("this machine has no user name spaces for this user, or no unshare");
    }
}

#[tokio::test]
async fn reading_running_and_thinking_work() {
    let folder = prepared();
    for words in
        [["read", "file"].as_slice(), &["read", "/etc/passwd"], &["write", "/dev/null"], &["threads"]]
    {
        assert!(attempt(folder.path(), true, words).await, "{words:?} does not work in the sandbox");
    }
}

#[tokio::test]
async fn the_usual_programs_work() {
    let folder = prepared();
    let cases: [(&[&str], &str); 8] = [
        (&["ls", "-l"], "file"),
        (&["cat", "file"], "text"),
        (&["grep", "-rn", "te.t", "."], "./file:1:text"),
        (&["find", ".", "-type", "f", "-exec", "cat", "{}", ";"], "text"),
        (&["sh", "-c", "cat file | tr t T | sort >/dev/null; echo done; echo no >&2"], "done"),
        (&["sh", "-c", "seq 1 200000 | tail -n 1"], "200000"),
        (&["sh", "-c", "sleep 1000 & kill $!; wait; echo killed"], "killed"),
        (&["id", "-u"], ""),
    ];
    for (command, expected) in cases {
        let outcome = run(folder.path(), true, command).await;
        assert_eq!(outcome.exit_code, Some(0), "{command:?}: {outcome:?}");
        assert!(outcome.stdout.text.contains(expected), "{command:?}: {outcome:?}");
    }
}

#[tokio::test]
async fn the_restrictions_are_inherited_and_setuid_gains_nothing() {
    let folder = prepared();
    let outcome =
        run(folder.path(), true, &["sh", "-c", "grep -E 'NoNewPrivs|Seccomp:' /proc/self/status; (rm file)"])
            .await;
    if offered().seccomp {
        assert!(outcome.stdout.text.contains("NoNewPrivs:\t1"), "{outcome:?}");
        assert!(outcome.stdout.text.contains("Seccomp:\t2"), "{outcome:?}");
        assert!(folder.path().join("file").exists());
    }
    let here = fs::read_to_string("/proc/self/status").unwrap();
    assert!(
        here.contains("NoNewPrivs:\t0") && here.contains("Seccomp:\t0"),
        "this process has been restricted"
    );
}
