//! The sandbox on kernels that offer less than this one.

use std::fs::File;
use std::io::ErrorKind;
use std::net::UdpSocket;
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
