//! Writes, each one script: it looks at the server's clock, then whether the key still holds what was read, then writes.
//!
//! The clock is why a write that was given up on can no longer happen: wherever it was held up, the script finds that its
//! time is over. A comparison alone could not do that, since what was read may come back (a write that is taken back).

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use ::redis::{RedisResult, Script, cmd};
use tokio::time::{Instant, sleep_until};

use super::link::{Fault, Link, Live, limit_for};
use crate::store::StoreError;

/// `ARGV`: until when it may happen (microseconds of the server's clock; empty: for ever), what is expected (`any`, `absent`
/// or `same`), the bytes that are expected, and, unless the key is to be removed, the value and its time to live in
/// milliseconds (0: none).
///
/// The version is a SHA-256, which Lua in Redis cannot compute; so it is checked here, and the script compares bytes.
static WRITE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "
if ARGV[1] ~= '' then
  local now = redis.call('TIME')
  if now[1] * 1000000 + now[2] >= tonumber(ARGV[1]) then return -2 end
end
if ARGV[2] == 'same' and redis.call('GET', KEYS[1]) ~= ARGV[3] then return -1 end
if not ARGV[4] then return redis.call('DEL', KEYS[1]) end
local set = {'SET', KEYS[1], ARGV[4]}
if ARGV[5] ~= '0' then
  set[4] = 'PX'
  set[5] = ARGV[5]
end
if ARGV[2] == 'absent' then set[#set + 1] = 'NX' end
if redis.call(unpack(set)) then return 1 end
return -1",
    )
});

/// A write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Write<'a> {
    /// The key.
    pub(super) key: &'a str,
    /// What is done to it.
    pub(super) change: Change<'a>,
}

/// What a write does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change<'a> {
    /// Puts these bytes, for so many milliseconds if that is not 0.
    Put(&'a [u8], u64),
    /// Removes the key.
    Remove,
}

/// What must be there when the write happens.
#[derive(Debug)]
pub(super) enum Guard {
    /// Anything, or nothing.
    Any,
    /// Nothing.
    Absent,
    /// Exactly these bytes.
    Same(Vec<u8>),
}

/// What became of a write that the server answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It was done; there was something to remove, or a value was put.
    Done,
    /// There was nothing to remove.
    Nothing,
    /// What must be there is not there (any more).
    Changed,
}

/// Why the server did not do it.
#[derive(Debug)]
pub(super) enum Failure {
    /// It was not done, and will not be.
    NotDone(Fault),
    /// It came to the server too late, and was not done.
    Late,
    /// It may have been done; from now on it cannot happen any more.
    Unsure(Fault),
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> StoreError {
        match failure {
            Failure::NotDone(fault) => fault.into(),
            Failure::Late => {
                StoreError::Unavailable { reason: "the write reached the server too late".to_owned() }
            }
            Failure::Unsure(fault) => StoreError::Unsure { reason: fault.to_string() },
        }
    }
}

/// Whether it was said that the server's clock may not be looked at.
static TOLD: AtomicBool = AtomicBool::new(false);

impl Write<'_> {
    /// How many bytes a value moves.
    fn bytes(&self) -> usize {
        match self.change {
            Change::Put(bytes, _) => bytes.len(),
            Change::Remove => 0,
        }
    }

    /// Sends the write, at most once.
    pub(super) async fn send(&self, link: &Link, guard: &Guard) -> Result<Outcome, Failure> {
        let (live, now) = clock(link).await.map_err(Failure::NotDone)?;
        let expected = if let Guard::Same(old) = guard { old.len() } else { 0 };
        let limit = limit_for(self.bytes() + expected);
        // The server's clock was at least at `now` when it answered: when we give up, this time is over there.
        let until = now.map(|now| now.saturating_add(u64::try_from(limit.as_micros()).unwrap_or(u64::MAX)));
        let give_up = Instant::now() + limit;
        match link.ask(&live, limit, self.run(live.clone(), guard, until)).await {
            Ok(1) => Ok(Outcome::Done),
            Ok(0) => Ok(Outcome::Nothing),
            Ok(-1) => Ok(Outcome::Changed),
            Ok(_) => Err(Failure::Late),
            Err(fault) if fault.is_refusal() => Err(Failure::NotDone(fault)),
            Err(fault) => {
                // It may still be on its way, somewhere between us and the server.
                sleep_until(give_up).await;
                Err(Failure::Unsure(fault))
            }
        }
    }

    async fn run(&self, mut live: Live, guard: &Guard, until: Option<u64>) -> RedisResult<i64> {
        let mut script = WRITE.key(self.key);
        script.arg(until.map_or_else(String::new, |until| until.to_string()));
        match guard {
            Guard::Any => script.arg("any").arg(""),
            Guard::Absent => script.arg("absent").arg(""),
            Guard::Same(old) => script.arg("same").arg(old),
        };
        if let Change::Put(bytes, ttl) = self.change {
            script.arg(bytes).arg(ttl);
        }
        script.invoke_async(&mut live.wire).await
    }
}

/// A connection that works, and the time of the server behind it, in microseconds since 1970; none if the user may not ask.
async fn clock(link: &Link) -> Result<(Live, Option<u64>), Fault> {
    let ask = |live: Live| async move {
        let (mut wire, time) = (live.wire.clone(), cmd("TIME"));
        let time = async { time.query_async::<(u64, u64)>(&mut wire).await };
        match link.ask(&live, limit_for(0), time).await {
            Ok((seconds, micros)) => {
                Ok((live, Some(seconds.saturating_mul(1_000_000).saturating_add(micros))))
            }
            Err(fault) if fault.is_not_permitted() => Ok((live, None)),
            Err(fault) => Err(fault),
        }
    };
    let (live, time) = link.again_with(ask).await?;
    if time.is_none() && !TOLD.swap(true, Ordering::Relaxed) {
        tracing::warn!(
            "the Redis user may not run TIME: a write that was given up on can be done later; allow it (+time)"
        );
    }
    Ok((live, time))
}
