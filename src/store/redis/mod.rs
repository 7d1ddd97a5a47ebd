//! The Redis store: a server that others read and write as well.

mod address;
mod link;
mod scan;

use std::sync::LazyLock;
use std::time::Duration;

use ::redis::aio::MultiplexedConnection;
use ::redis::{RedisResult, Script, cmd};
use async_trait::async_trait;

use self::link::{Fault, Link, limit_for};
pub(super) use self::scan::ScanState;
use super::{Changes, Cursor, Etag, Expect, Page, Record, Store, StoreError, VALUE_LIMIT, check_size};

/// How often a conditional write starts over because the key changed between reading and writing.
const ATTEMPTS: usize = 16;

/// The longest time to live, in milliseconds; Redis refuses times that end too far in the future.
const LONGEST_TTL: u64 = 100_000_000_000_000;

/// Writes (`ARGV[2]`, for `ARGV[3]` ms if not 0) if the key still holds exactly the bytes that we read (`ARGV[1]`).
///
/// The version is a SHA-256, which Lua in Redis cannot compute; so we check it here and let the script compare bytes.
static REPLACE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[3] == '0' then redis.call('SET', KEYS[1], ARGV[2])
else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1",
    )
});

/// Removes the key if it still holds exactly the bytes that we read (`ARGV[1]`).
static REMOVE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])",
    )
});

/// A store on a Redis server.
pub(super) struct Redis {
    description: String,
    link: Link,
}

impl Redis {
    /// Checks the address; connects when the first call needs it.
    pub(super) async fn open(url: &str) -> Result<Redis, StoreError> {
        let (client, description) = address::client(url).await?;
        Ok(Redis { description, link: Link::new(client) })
    }

    /// Reads a value, after a look at its size.
    async fn read(&self, key: &str) -> Result<Option<Record>, StoreError> {
        let size = self.link.again(limit_for(0), |mut c| async move {
            cmd("STRLEN").arg(key).query_async::<usize>(&mut c).await
        });
        let size = match size.await {
            Err(fault) => return Err(self.explain(key, fault).await),
            Ok(size) => size,
        };
        check_size(key, size)?;
        let value = self.link.again(limit_for(VALUE_LIMIT), |mut c| async move {
            cmd("GET").arg(key).query_async::<Option<Vec<u8>>>(&mut c).await
        });
        match value.await {
            Ok(value) => Ok(value.map(Record::new)),
            Err(fault) => Err(self.explain(key, fault).await),
        }
    }

    /// Names the type of a key that turned out to hold no string.
    async fn explain(&self, key: &str, fault: Fault) -> StoreError {
        if !fault.is_wrong_type() {
            return fault.into();
        }
        let found = self.link.again(limit_for(0), |mut c| async move {
            cmd("TYPE").arg(key).query_async::<String>(&mut c).await
        });
        match found.await {
            Ok(found) => StoreError::WrongType { key: key.to_owned(), found },
            Err(fault) => fault.into(),
        }
    }

    /// Reads, checks, and lets `write` do its part if nothing changed meanwhile (it says so), until one of them
    /// is content.
    ///
    /// Reading first also makes sure of a connection that works, so that what must not be sent twice rarely fails.
    async fn compare_and<F: Future<Output = RedisResult<bool>>>(
        &self,
        key: &str,
        expect: Expect,
        moved: usize,
        write: impl Fn(MultiplexedConnection, Option<Vec<u8>>) -> F,
    ) -> Result<bool, StoreError> {
        for _ in 0..ATTEMPTS {
            let found = self.read(key).await?;
            expect.check(key, found.as_ref().map(|record| record.etag))?;
            let old = found.map(|record| record.bytes);
            let was_there = old.is_some();
            let limit = limit_for(moved + old.as_ref().map_or(0, Vec::len));
            match self.link.once(limit, |c| write(c, old)).await {
                Ok(true) => return Ok(was_there),
                Ok(false) => {}
                Err(fault) => return Err(self.explain(key, fault).await),
            }
        }
        Err(StoreError::Unavailable { reason: format!("the key {key} keeps changing") })
    }

    async fn put_any(&self, key: &str, bytes: &[u8], ttl: u64) -> Result<(), StoreError> {
        let set = self.link.again(limit_for(bytes.len()), |mut c| async move {
            let mut set = cmd("SET");
            set.arg(key).arg(bytes);
            if ttl > 0 {
                set.arg("PX").arg(ttl);
            }
            set.exec_async(&mut c).await
        });
        Ok(set.await?)
    }

    async fn put_if(&self, key: &str, bytes: &[u8], expect: Expect, ttl: u64) -> Result<(), StoreError> {
        let done = self.compare_and(key, expect, bytes.len(), |mut c, old| async move {
            if let Some(old) = old {
                return REPLACE.key(key).arg(old).arg(bytes).arg(ttl).invoke_async(&mut c).await;
            }
            let mut set = cmd("SET");
            set.arg(key).arg(bytes).arg("NX");
            if ttl > 0 {
                set.arg("PX").arg(ttl);
            }
            set.query_async(&mut c).await
        });
        done.await.map(drop)
    }
}

#[async_trait]
impl Store for Redis {
    fn describe(&self) -> &str {
        &self.description
    }

    async fn ping(&self) -> Result<(), StoreError> {
        let ping = self.link.again(limit_for(0), |mut c| async move { cmd("PING").exec_async(&mut c).await });
        Ok(ping.await?)
    }

    async fn scan(&self, prefix: &str, from: Option<Cursor>) -> Result<Page, StoreError> {
        scan::page(&self.link, prefix, from).await
    }

    async fn get(&self, key: &str) -> Result<Option<Record>, StoreError> {
        self.read(key).await
    }

    async fn put(
        &self,
        key: &str,
        bytes: &[u8],
        expect: Expect,
        ttl: Option<Duration>,
    ) -> Result<Etag, StoreError> {
        check_size(key, bytes.len())?;
        let ttl = ttl.map_or(0, milliseconds);
        match expect {
            Expect::Any => self.put_any(key, bytes, ttl).await?,
            _ => self.put_if(key, bytes, expect, ttl).await?,
        }
        Ok(Etag::of(bytes))
    }

    async fn delete(&self, key: &str, expect: Expect) -> Result<bool, StoreError> {
        if expect == Expect::Any {
            let delete = self.link.again(limit_for(0), |mut c| async move {
                cmd("DEL").arg(key).query_async::<bool>(&mut c).await
            });
            return Ok(delete.await?);
        }
        self.compare_and(key, expect, 0, |mut c, old| async move {
            match old {
                Some(old) => REMOVE.key(key).arg(old).invoke_async(&mut c).await,
                None => Ok(true),
            }
        })
        .await
    }

    /// A server cannot tell us yet.
    fn watch(&self, _prefixes: Vec<String>) -> Option<Changes> {
        None
    }
}

fn milliseconds(ttl: Duration) -> u64 {
    u64::try_from(ttl.as_millis()).unwrap_or(LONGEST_TTL).clamp(1, LONGEST_TTL)
}
