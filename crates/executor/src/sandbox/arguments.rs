//! The system calls that the sandbox refuses by their arguments: the list, to be reviewed.

use libc::{
    AF_UNIX, F_SETLEASE, F_SETOWN, O_ACCMODE, O_RDONLY, O_TRUNC, SOCK_DGRAM, SOCK_RAW, SYS_clone, SYS_fcntl,
    SYS_ioctl, SYS_ioprio_set, SYS_migrate_pages, SYS_move_pages, SYS_openat, SYS_prlimit64,
    SYS_sched_setaffinity, SYS_sched_setattr, SYS_sched_setparam, SYS_sched_setscheduler, SYS_setpriority,
    SYS_socketpair, SYS_syslog, c_int, c_long,
};

/// A test of an argument, which is named by its place, beginning with 0. All but `IsGiven` look at the lower 32 bits, as the
/// kernel does in these calls.
pub(super) enum Test {
    /// The argument has this value.
    Is(u8, u64),
    /// The argument has another value.
    IsNot(u8, u64),
    /// The argument is a pointer that is not null.
    IsGiven(u8),
    /// The bits of a mask have this value.
    Has(u8, u64, u64),
}

use Test::{Has, Is, IsGiven, IsNot};

/// The type of a socket, without flags.
const TYPE: u64 = 0xf;

/// The bits that say how a file is opened and whether it is truncated.
const OPENING: u64 = bits(O_ACCMODE | O_TRUNC);

const F_SETOWN_EX: u64 = 15;

/// Calls that are refused if the arguments pass all tests of a line.
pub(super) const TESTS: &[(c_long, &[Test])] = &[
    // Pairs of stream sockets are like pipes. Others can send to any address, without `connect`.
    (SYS_socketpair, &[IsNot(0, bits(AF_UNIX))]),
    (SYS_socketpair, &[Has(1, TYPE, bits(SOCK_DGRAM))]),
    (SYS_socketpair, &[Has(1, TYPE, bits(SOCK_RAW))]),
    // Truncation without writing, which older versions of Landlock do not see.
    (SYS_openat, &[Has(2, OPENING, bits(O_RDONLY | O_TRUNC))]),
    (SYS_openat, &[Has(2, OPENING, OPENING)]),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, &[Has(1, OPENING, bits(O_RDONLY | O_TRUNC))]),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, &[Has(1, OPENING, OPENING)]),
    // Name spaces, and a child that would not be a descendant.
    (SYS_clone, &[Has(0, bits(libc::CLONE_NEWNS), bits(libc::CLONE_NEWNS))]),
    (SYS_clone, &[Has(0, bits(libc::CLONE_NEWCGROUP), bits(libc::CLONE_NEWCGROUP))]),
    (SYS_clone, &[Has(0, bits(libc::CLONE_NEWUTS), bits(libc::CLONE_NEWUTS))]),
    (SYS_clone, &[Has(0, bits(libc::CLONE_NEWIPC), bits(libc::CLONE_NEWIPC))]),
    (SYS_clone, &[Has(0, bits(libc::CLONE_NEWUSER), bits(libc::CLONE_NEWUSER))]),
    (SYS_clone, &[Has(0, bits(libc::CLONE_NEWPID), bits(libc::CLONE_NEWPID))]),
    (SYS_clone, &[Has(0, bits(libc::CLONE_NEWNET), bits(libc::CLONE_NEWNET))]),
    (SYS_clone, &[Has(0, bits(libc::CLONE_PARENT), bits(libc::CLONE_PARENT))]),
    // Signals by way of a file; leases, which hold up others that open it.
    (SYS_fcntl, &[Is(1, bits(F_SETOWN))]),
    (SYS_fcntl, &[Is(1, F_SETOWN_EX)]),
    (SYS_fcntl, &[Is(1, bits(F_SETLEASE))]),
    // Limits, priorities and places of others. 0 is the process itself, but for a user: all processes of the user.
    (SYS_prlimit64, &[IsNot(0, 0), IsGiven(2)]),
    (SYS_setpriority, &[IsNot(1, 0)]),
    (SYS_setpriority, &[Is(0, libc::PRIO_USER as u64)]),
    (SYS_ioprio_set, &[IsNot(1, 0)]),
    (SYS_ioprio_set, &[Is(0, 3)]),
    (SYS_sched_setscheduler, &[IsNot(0, 0)]),
    (SYS_sched_setparam, &[IsNot(0, 0)]),
    (SYS_sched_setattr, &[IsNot(0, 0)]),
    (SYS_sched_setaffinity, &[IsNot(0, 0)]),
    (SYS_migrate_pages, &[IsNot(0, 0)]),
    (SYS_move_pages, &[IsNot(0, 0)]),
    // The kernel's log may be read and measured, not cleared.
    (SYS_syslog, &[IsNot(0, 3), IsNot(0, 9), IsNot(0, 10)]),
    (SYS_ioctl, IOCTLS),
];

/// All requests but these. The others change terminals (`TIOCSTI` types into them), attributes, volumes, devices.
const IOCTLS: &[Test] = &[
    // TCGETS, TCGETS2, TIOCGWINSZ, TIOCGPGRP, TIOCGSID: what a terminal is like.
    IsNot(1, 0x5401),
    IsNot(1, 0x802c_542a),
    IsNot(1, 0x5413),
    IsNot(1, 0x540f),
    IsNot(1, 0x5429),
    // FIONREAD, FIONBIO, FIOCLEX, FIONCLEX: of a descriptor.
    IsNot(1, 0x541b),
    IsNot(1, 0x5421),
    IsNot(1, 0x5451),
    IsNot(1, 0x5450),
    // FIGETBSZ, FS_IOC_GETFLAGS, FS_IOC_GETVERSION, FS_IOC_FSGETXATTR, FS_IOC_FIEMAP: of a file.
    IsNot(1, 0x2),
    IsNot(1, 0x8008_6601),
    IsNot(1, 0x8008_7601),
    IsNot(1, 0x801c_581f),
    IsNot(1, 0xc020_660b),
    // BLKGETSIZE64, BLKSSZGET: of a disk.
    IsNot(1, 0x8008_1272),
    IsNot(1, 0x1268),
];

/// A constant of C, none of which is negative but for its highest bit.
const fn bits(value: c_int) -> u64 {
    value.cast_unsigned() as u64
}
