//! Writes as one Lua script: it checks the deadline, compares the key's value with the one that was read, and writes.
//!
//! The deadline is in the server's time. It keeps a write that the client has given up on from being applied later, no
//! matter where it was delayed. Comparing values alone could not do that, because an earlier value may return (ABA problem).

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use ::redis::{RedisResult, Script, cmd};
use tokio::time::{Instant, sleep_until};

use super::link::{Connection, Link, RequestError, limit_for};
use crate::store::StoreError;

/// `ARGV`: the deadline (microseconds of the server's clock; empty: none), the condition (`any`, `absent` or `same`), the
/// expected bytes, and, unless the key is to be removed, the value and its time to live in milliseconds (0: none).
///
/// It returns 1 (written or removed), 0 (there was nothing to remove), -1 (the condition does not hold) or -2 (too late).
///
/// The script compares bytes because Redis' Lua cannot compute a SHA-256; the client has checked the version.
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

/// A write of one key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Write<'a> {
    pub(super) key: &'a str,
    pub(super) operation: Operation<'a>,
}

/// What a write does to its key.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operation<'a> {
    /// Stores these bytes, with this time to live in milliseconds (0: none).
    Put(&'a [u8], u64),
    /// Removes the key.
    Remove,
}

/// What the key must hold when the script runs.
#[derive(Debug)]
pub(super) enum ScriptCondition {
    /// Any value, or none.
    Any,
    /// No value.
    Absent,
    /// Exactly these bytes.
    Same(Vec<u8>),
}

/// The result of a script that was run.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ScriptOutcome {
    /// The value was stored, or the key was removed.
    Done,
    /// There was nothing to remove.
    Nothing,
    /// The condition does not hold.
    Changed,
}

/// The error of a write.
#[derive(Debug)]
pub(super) enum RedisWriteError {
    /// The write was not applied, and will not be.
    NotApplied(RequestError),
    /// The write reached the server after its deadline and was not applied.
    Late,
    /// The write may have been applied; if not, it will not be applied later.
    Unsure(RequestError),
}

impl From<RedisWriteError> for StoreError {
    fn from(error: RedisWriteError) -> StoreError {
        match error {
            RedisWriteError::NotApplied(error) => error.into(),
            RedisWriteError::Late => {
                StoreError::Unavailable { message: "the write reached the server too late".to_owned() }
            }
            RedisWriteError::Unsure(error) => StoreError::Unsure { message: error.to_string() },
        }
    }
}

/// Whether the missing permission for `TIME` has been logged.
static WARNED: AtomicBool = AtomicBool::new(false);

impl Write<'_> {
    /// The size of the value that is sent.
    fn bytes(&self) -> usize {
        match self.operation {
            Operation::Put(bytes, _) => bytes.len(),
            Operation::Remove => 0,
        }
    }

    /// Sends the write at most once; it is not retried.
    pub(super) async fn send(
        &self,
        link: &Link,
        condition: &ScriptCondition,
    ) -> Result<ScriptOutcome, RedisWriteError> {
        let (connection, now) = clock(link).await.map_err(RedisWriteError::NotApplied)?;
        let expected = if let ScriptCondition::Same(old) = condition { old.len() } else { 0 };
        let limit = limit_for(self.bytes() + expected);
        // The server's clock showed at least `now` when it replied, so this deadline has passed there when we give up.
        let deadline =
            now.map(|now| now.saturating_add(u64::try_from(limit.as_micros()).unwrap_or(u64::MAX)));
        let give_up_at = Instant::now() + limit;
        match link.ask(&connection, limit, self.run(connection.clone(), condition, deadline)).await {
            Ok(1) => Ok(ScriptOutcome::Done),
            Ok(0) => Ok(ScriptOutcome::Nothing),
            Ok(-1) => Ok(ScriptOutcome::Changed),
            Ok(_) => Err(RedisWriteError::Late),
            Err(error) if error.is_error_reply() => Err(RedisWriteError::NotApplied(error)),
            Err(error) => {
                // The request may still be on its way to the server: wait until its deadline has passed.
                sleep_until(give_up_at).await;
                Err(RedisWriteError::Unsure(error))
            }
        }
    }

    async fn run(
        &self,
        mut connection: Connection,
        condition: &ScriptCondition,
        deadline: Option<u64>,
    ) -> RedisResult<i64> {
        let mut script = WRITE.key(self.key);
        script.arg(deadline.map_or_else(String::new, |deadline| deadline.to_string()));
        match condition {
            ScriptCondition::Any => script.arg("any").arg(""),
            ScriptCondition::Absent => script.arg("absent").arg(""),
            ScriptCondition::Same(old) => script.arg("same").arg(old),
        };
        if let Operation::Put(bytes, ttl) = self.operation {
            script.arg(bytes).arg(ttl);
        }
        script.invoke_async(&mut connection.wire).await
    }
}

/// A working connection and the time of its server, in microseconds since 1970; no time if the user may not run `TIME`.
async fn clock(link: &Link) -> Result<(Connection, Option<u64>), RequestError> {
    let ask = |connection: Connection| async move {
        let (mut wire, time) = (connection.wire.clone(), cmd("TIME"));
        let time = async { time.query_async::<(u64, u64)>(&mut wire).await };
        match link.ask(&connection, limit_for(0), time).await {
            Ok((seconds, micros)) => {
                Ok((connection, Some(seconds.saturating_mul(1_000_000).saturating_add(micros))))
            }
            Err(error) if error.is_not_permitted() => Ok((connection, None)),
            Err(error) => Err(error),
        }
    };
    let (connection, time) = link.with_retry(ask).await?;
    if time.is_none() && !WARNED.swap(true, Ordering::Relaxed) {
        tracing::warn!(
            "the Redis user may not run TIME, so a write that timed out can still be applied later; allow it (+time)"
        );
    }
    Ok((connection, time))
}
