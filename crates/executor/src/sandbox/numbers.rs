//! The system calls that the sandbox refuses by their numbers: the lists, to be reviewed.

use libc::{
    SYS_accept, SYS_accept4, SYS_acct, SYS_add_key, SYS_adjtimex, SYS_bind, SYS_bpf, SYS_chroot,
    SYS_clock_adjtime, SYS_clock_settime, SYS_clone3, SYS_connect, SYS_delete_module, SYS_fanotify_init,
    SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_finit_module, SYS_fremovexattr, SYS_fsconfig,
    SYS_fsetxattr, SYS_fsmount, SYS_fsopen, SYS_fspick, SYS_init_module, SYS_io_uring_enter,
    SYS_io_uring_register, SYS_io_uring_setup, SYS_kexec_load, SYS_keyctl, SYS_kill, SYS_linkat, SYS_listen,
    SYS_lremovexattr, SYS_lsetxattr, SYS_mkdirat, SYS_mknodat, SYS_mount, SYS_mount_setattr, SYS_move_mount,
    SYS_mq_notify, SYS_mq_open, SYS_mq_timedreceive, SYS_mq_timedsend, SYS_mq_unlink, SYS_msgctl, SYS_msgget,
    SYS_msgrcv, SYS_msgsnd, SYS_open_by_handle_at, SYS_open_tree, SYS_openat2, SYS_perf_event_open,
    SYS_pidfd_getfd, SYS_pidfd_send_signal, SYS_pivot_root, SYS_process_madvise, SYS_process_vm_readv,
    SYS_process_vm_writev, SYS_ptrace, SYS_quotactl, SYS_reboot, SYS_removexattr, SYS_renameat2,
    SYS_request_key, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_semctl, SYS_semget, SYS_semop,
    SYS_semtimedop, SYS_setdomainname, SYS_sethostname, SYS_setns, SYS_settimeofday, SYS_setxattr, SYS_shmat,
    SYS_shmctl, SYS_shmget, SYS_socket, SYS_swapoff, SYS_swapon, SYS_symlinkat, SYS_tgkill, SYS_tkill,
    SYS_truncate, SYS_umount2, SYS_unlinkat, SYS_unshare, SYS_userfaultfd, SYS_utimensat, SYS_vhangup,
    c_long,
};

// Calls that `libc` does not name on each architecture. New calls have the same number everywhere.
#[cfg(not(target_arch = "x86_64"))]
const RENAMEAT: c_long = 38;
const QUOTACTL_FD: c_long = 443;
const PROCESS_MRELEASE: c_long = 448;
const FCHMODAT2: c_long = 452;
const SETXATTRAT: c_long = 463;
const REMOVEXATTRAT: c_long = 466;
const OPEN_TREE_ATTR: c_long = 467;
const FILE_SETATTR: c_long = 469;

/// Numbers beyond the newest call that was looked at, as far as new calls may get.
pub(super) const UNKNOWN: std::ops::RangeInclusive<c_long> = 470..=511;

/// Its arguments lie in memory; programs take `clone` instead, whose flags are tested.
pub(super) const ABSENT: [c_long; 1] = [SYS_clone3];

/// Absent where Landlock does not handle truncation, which may hide in the arguments.
pub(super) const ABSENT_ALONE: [c_long; 1] = [SYS_openat2];

/// Refused where Landlock does not keep signals inside of the sandbox.
pub(super) const REFUSED_ALONE: [c_long; 6] =
    [SYS_kill, SYS_tkill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_pidfd_send_signal];

/// Refused whatever the arguments are.
pub(super) const REFUSED: [&[c_long]; 9] =
    [SOCKETS, CHANGES, ATTRIBUTES, MOUNTS, PROCESSES, MESSAGES, UNSEEN, MACHINE, OLD_CALLS];

/// No family of sockets: not TCP, not UDP, not the sockets of Docker, systemd or a session's bus.
const SOCKETS: &[c_long] = &[SYS_socket, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4];

/// What Landlock refuses everywhere, too: a second wall, and the only one where there is no Landlock.
const CHANGES: &[c_long] = &[
    SYS_truncate,
    SYS_mkdirat,
    SYS_mknodat,
    SYS_unlinkat,
    SYS_renameat2,
    SYS_linkat,
    SYS_symlinkat,
    #[cfg(not(target_arch = "x86_64"))]
    RENAMEAT,
];

/// Landlock knows nothing of modes, owners, times and attributes.
const ATTRIBUTES: &[c_long] = &[
    SYS_fchmod,
    SYS_fchmodat,
    FCHMODAT2,
    SYS_fchown,
    SYS_fchownat,
    SYS_utimensat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SETXATTRAT,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    REMOVEXATTRAT,
    FILE_SETATTR,
];

/// Another view of the file system, or another name space, in which more would be allowed.
const MOUNTS: &[c_long] = &[
    SYS_mount,
    SYS_umount2,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_open_tree,
    OPEN_TREE_ATTR,
    SYS_mount_setattr,
    SYS_pivot_root,
    SYS_chroot,
    SYS_unshare,
    SYS_setns,
    SYS_open_by_handle_at,
];

/// Other processes: their memory, their descriptors.
const PROCESSES: &[c_long] = &[
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_process_madvise,
    PROCESS_MRELEASE,
    SYS_pidfd_getfd,
];

/// What processes share other than by files: System V's memory, semaphores and queues, POSIX queues, keys.
const MESSAGES: &[c_long] = &[
    SYS_shmget,
    SYS_shmat,
    SYS_shmctl,
    SYS_semget,
    SYS_semop,
    SYS_semtimedop,
    SYS_semctl,
    SYS_msgget,
    SYS_msgsnd,
    SYS_msgrcv,
    SYS_msgctl,
    SYS_mq_open,
    SYS_mq_unlink,
    SYS_mq_timedsend,
    SYS_mq_timedreceive,
    SYS_mq_notify,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
];

/// Calls by way of memory, which a filter does not see; code in the kernel; watchers that hold others up.
const UNSEEN: &[c_long] = &[
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_fanotify_init,
];

/// Administration. An ordinary user may not do it anyway; root may.
const MACHINE: &[c_long] = &[
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_quotactl,
    QUOTACTL_FD,
    SYS_acct,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "aarch64")]
    294,
];

/// Calls that only older architectures have.
#[cfg(target_arch = "x86_64")]
const OLD_CALLS: &[c_long] = &[
    libc::SYS_mkdir,
    libc::SYS_mknod,
    libc::SYS_unlink,
    libc::SYS_rmdir,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_link,
    libc::SYS_symlink,
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_uselib,
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_CALLS: &[c_long] = &[];

/// Calls that have a number of their own in the x32 interface.
#[cfg(target_arch = "x86_64")]
const OWN_X32: [(c_long, c_long); 9] = [
    (libc::SYS_ioctl, 514),
    (SYS_ptrace, 521),
    (SYS_rt_sigqueueinfo, 524),
    (SYS_mq_notify, 527),
    (SYS_kexec_load, 528),
    (libc::SYS_move_pages, 533),
    (SYS_rt_tgsigqueueinfo, 536),
    (SYS_process_vm_readv, 539),
    (SYS_process_vm_writev, 540),
];

/// The numbers under which a call can be made.
#[cfg(target_arch = "x86_64")]
pub(super) fn forms(call: c_long) -> impl Iterator<Item = c_long> {
    // Otherwise the x32 interface has the same numbers, with a bit.
    const X32: c_long = 0x4000_0000;
    let own = OWN_X32.iter().find(|(known, _)| *known == call);
    [call, call | X32].into_iter().chain(own.map(|(_, number)| number | X32))
}

/// The numbers under which a call can be made.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn forms(call: c_long) -> impl Iterator<Item = c_long> {
    std::iter::once(call)
}
