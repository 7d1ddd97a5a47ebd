//! The sandbox on kernels that offer less than this one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::thread;

use super::*;

/// Refuses the calling thread everything that Landlock needs, as a kernel without it does.
fn hide_landlock() {
    let calls =
        [libc::SYS_landlock_create_ruleset, libc::SYS_landlock_restrict_self, libc::SYS_landlock_add_rule];
    let rules = calls.into_iter().map(|call| (call, Vec::new())).collect();
    let (allow, absent) =
        (seccompiler::SeccompAction::Allow, seccompiler::SeccompAction::Errno(libc::ENOSYS as u32));
    let architecture = std::env::consts::ARCH.try_into().unwrap();
    let filter = seccompiler::SeccompFilter::new(rules, allow, absent, architecture).unwrap();
    let program: seccompiler::BpfProgram = filter.try_into().unwrap();
    seccompiler::apply_filter(&program).unwrap();
}

#[test]
fn without_landlock_calls_are_filtered_and_files_are_said_to_be_open() {
    let offers = offered();
    eprintln!("the kernel offers {offers:?}");
    let (seen, sandbox, socket) = thread::spawn(|| {
        hide_landlock();
        (offered(), restrict(), UdpSocket::bind("127.0.0.1:0").map(drop).map_err(|error| error.kind()))
    })
    .join()
    .unwrap();
    assert_eq!(seen, Offered { landlock: 0, seccomp: offers.seccomp });
    assert_eq!(sandbox, seen.sandbox());
    assert_eq!(sandbox.files, Level::None);
    assert_eq!(socket, if offers.seccomp { Err(ErrorKind::PermissionDenied) } else { Ok(()) });
}

/// Changes of a folder with the file `file` and the folder `folder` in it.
fn changes(folder: &Path) -> [io::Result<()>; 8] {
    let at = |name: &str| folder.join(name);
    [
        fs::write(at("file"), "x"),
        fs::write(at("new"), "x"),
        OpenOptions::new().append(true).open(at("file")).map(drop),
        fs::rename(at("file"), at("renamed")),
        fs::hard_link(at("file"), at("linked")),
        fs::create_dir(at("made")),
        fs::remove_dir(at("folder")),
        fs::remove_file(at("file")),
    ]
}

fn prepared() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "text").unwrap();
    fs::create_dir(folder.path().join("folder")).unwrap();
    folder
}

#[test]
fn landlock_alone_keeps_files_and_tcp() {
    let (folder, listener) = (prepared(), TcpListener::bind("127.0.0.1:0").unwrap());
    let (path, address) = (folder.path().to_owned(), listener.local_addr().unwrap());
    let restricted = move || {
        let version = files::restrict();
        (version, changes(&path), fs::write("/dev/null", "x"), TcpStream::connect(address).map(drop))
    };
    let (version, changes, null, tcp) = thread::spawn(restricted).join().unwrap();
    eprintln!("Landlock {version}");
    assert_eq!(version, offered().landlock);
    assert!(null.is_ok(), "{null:?}");
    assert_eq!(changes.iter().all(Result::is_err), version > 0, "{changes:?}");
    assert_eq!(tcp.is_err(), version >= 4, "{tcp:?}");
    assert_eq!(fs::read_to_string(folder.path().join("file")).is_ok_and(|text| text == "text"), version > 0);
}

#[test]
fn filters_alone_keep_files_from_being_renamed_and_removed() {
    let folder = prepared();
    let path = folder.path().to_owned();
    let restricted =
        move || (calls::restrict(0), fs::remove_file(path.join("file")), fs::create_dir(path.join("made")));
    let (filtered, removed, made) = thread::spawn(restricted).join().unwrap();
    assert_eq!(filtered, offered().seccomp);
    assert_eq!((removed.is_err(), made.is_err()), (filtered, filtered));
}

#[test]
fn restricting_a_thread_leaves_all_others_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let sandbox = thread::spawn(restrict).join().unwrap();
    assert_eq!(sandbox, offered().sandbox());
    File::create(file).unwrap();
    UdpSocket::bind("127.0.0.1:0").unwrap();
}

#[test]
fn asking_what_is_offered_restricts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    thread::spawn(move || {
        assert_eq!(offered(), offered());
        File::create(folder.path().join("file")).unwrap();
    })
    .join()
    .unwrap();
}

#[test]
fn a_sandbox_is_said_to_be_as_good_as_its_parts() {
    let of = |landlock, seccomp| {
        let Sandbox { files, network, processes } = Offered { landlock, seccomp }.sandbox();
        (files, network, processes)
    };
    assert_eq!(of(0, false), (Level::None, Level::None, Level::None));
    assert_eq!(of(0, true), (Level::None, Level::Full, Level::Full));
    assert_eq!(of(3, false), (Level::Partial, Level::None, Level::None));
    assert_eq!(of(4, false), (Level::Partial, Level::Partial, Level::None));
    assert_eq!(of(6, false), (Level::Partial, Level::Partial, Level::Partial));
    assert_eq!(of(1, true), (Level::Full, Level::Full, Level::Full));
    assert!(Offered { landlock: 1, seccomp: true }.sandbox().is_complete());
    assert!(!Offered { landlock: 7, seccomp: false }.sandbox().is_complete());
}
