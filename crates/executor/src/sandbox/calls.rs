//! Seccomp's part of the sandbox: a filter of system calls.
//!
//! Landlock decides by what a call acts on, a filter only by the call's number and by arguments that are numbers. So it refuses
//! what is never needed for looking: sockets, what changes files other than by writing, what reaches other processes, and what
//! administers the machine. It refuses, too, what it cannot see through: `io_uring` (calls by way of memory), `clone3` and other
//! calls with their arguments in memory, and calls that are newer than this list. Programs know how to do without those that do
//! not exist (`ENOSYS`).
//!
//! Calls of another architecture (32 bits) kill the program: `seccompiler` begins each filter with that.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

use super::arguments::{self, Test};
use super::numbers;

/// The version of Landlock from which it does all of its part: truncation (3), and signals that stay inside of the sandbox (6).
const COMPLETE: u8 = 6;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;
type Programs = Option<[BpfProgram; 2]>;

/// The filters beside a Landlock that does all of its part, and beside less. Compiled once.
static WITH_LANDLOCK: LazyLock<Programs> = LazyLock::new(|| programs(true));
static ALONE: LazyLock<Programs> = LazyLock::new(|| programs(false));

/// Whether the kernel has filters, and this architecture has one.
pub(super) fn is_offered() -> bool {
    let actions = std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail").unwrap_or_default();
    actions.split_whitespace().any(|action| action == "errno") && WITH_LANDLOCK.is_some()
}

/// Filters the calls of the calling thread, beside a Landlock of this version; whether it worked.
pub(super) fn restrict(landlock: u8) -> bool {
    let programs = if landlock >= COMPLETE { &WITH_LANDLOCK } else { &ALONE };
    let Some([absent, refused]) = programs.as_ref() else { return false };
    // The strictest answer wins, and among errors that of the filter that came last.
    [absent, refused].iter().all(|program| seccompiler::apply_filter(program).is_ok())
}

fn programs(with_landlock: bool) -> Programs {
    let mut absent: Vec<c_long> = numbers::ABSENT.into_iter().chain(numbers::UNKNOWN).collect();
    let mut refused: Vec<c_long> = numbers::REFUSED.concat();
    if !with_landlock {
        absent.extend(numbers::ABSENT_ALONE);
        refused.extend(numbers::REFUSED_ALONE);
    }
    let refused = rules(&refused, arguments::TESTS)?;
    Some([program(rules(&absent, &[])?, libc::ENOSYS)?, program(refused, libc::EPERM)?])
}

fn program(rules: Rules, error: i32) -> Option<BpfProgram> {
    let action = SeccompAction::Errno(error.try_into().ok()?);
    let architecture = std::env::consts::ARCH.try_into().ok()?;
    SeccompFilter::new(rules, SeccompAction::Allow, action, architecture).ok()?.try_into().ok()
}

/// Rules for calls that are refused always, and for those that are refused when their arguments pass a test.
fn rules(always: &[c_long], tests: &[(c_long, &[Test])]) -> Option<Rules> {
    let mut rules = Rules::new();
    for (call, test) in tests {
        let rule = SeccompRule::new(test.iter().filter_map(condition).collect()).ok()?;
        numbers::forms(*call).for_each(|number| rules.entry(number).or_default().push(rule.clone()));
    }
    // No rules mean: always.
    let always = always.iter().copied().flat_map(numbers::forms);
    rules.extend(always.map(|number| (number, Vec::new())));
    Some(rules)
}

fn condition(test: &Test) -> Option<SeccompCondition> {
    use SeccompCmpArgLen::{Dword, Qword};
    let (argument, length, operator, value) = match *test {
        Test::Is(argument, value) => (argument, Dword, SeccompCmpOp::Eq, value),
        Test::IsNot(argument, value) => (argument, Dword, SeccompCmpOp::Ne, value),
        Test::IsGiven(argument) => (argument, Qword, SeccompCmpOp::Ne, 0),
        Test::Has(argument, mask, value) => (argument, Dword, SeccompCmpOp::MaskedEq(mask), value),
    };
    SeccompCondition::new(argument, length, operator, value).ok()
}
