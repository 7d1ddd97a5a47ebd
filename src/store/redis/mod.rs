//! The Redis store: a server that others read and write as well.

mod address;
mod link;
mod scan;
mod write;

use std::time::Duration;

use ::redis::cmd;
use async_trait::async_trait;

use self::link::{Fault, Link, limit_for};
pub(super) use self::scan::ScanState;
use self::write::{Change, Failure, Guard, Outcome, Write};
use super::{Changes, Cursor, Etag, Expect, Page, Record, Store, StoreError, VALUE_LIMIT, check_size};

/// How often a conditional write starts over because the key changed between reading and writing.
const ATTEMPTS: usize = 16;

/// The longest time to live, in milliseconds; Redis refuses times that end too far in the future.
const LONGEST_TTL: u64 = 100_000_000_000_000;

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
    async fn read_one(&self, key: &str) -> Result<Option<Record>, StoreError> {
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

    /// Writes, if the expectation holds, and says whether there was anything to remove.
    ///
    /// What is expected is read and checked here, and the server makes sure that it is still so when it writes.
    async fn write(&self, write: Write<'_>, expect: Expect) -> Result<bool, StoreError> {
        for _ in 0..ATTEMPTS {
            let guard = self.guard(write.key, expect).await?;
            if matches!((&guard, write.change), (Guard::Absent, Change::Remove)) {
                return Ok(false);
            }
            match write.send(&self.link, &guard).await {
                Ok(Outcome::Done) => return Ok(true),
                Ok(Outcome::Nothing) => return Ok(false),
                Ok(Outcome::Changed) => {}
                Err(Failure::NotDone(fault)) => return Err(self.explain(write.key, fault).await),
                Err(failure) => return Err(failure.into()),
            }
        }
        Err(StoreError::Unavailable { reason: format!("the key {} keeps changing", write.key) })
    }

    /// What must be there when the write happens, if the expectation holds now.
    async fn guard(&self, key: &str, expect: Expect) -> Result<Guard, StoreError> {
        if expect == Expect::Any {
            return Ok(Guard::Any);
        }
        let found = self.read_one(key).await?;
        expect.check(key, found.as_ref().map(|record| record.etag))?;
        Ok(found.map_or(Guard::Absent, |record| Guard::Same(record.bytes)))
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

    async fn scan(&self, prefixes: &[&str], from: Option<Cursor>) -> Result<Page, StoreError> {
        scan::page(&self.link, prefixes, from).await
    }

    async fn read(&self, keys: Vec<String>) -> Result<Page, StoreError> {
        scan::read(&self.link, keys).await
    }

    async fn get(&self, key: &str) -> Result<Option<Record>, StoreError> {
        self.read_one(key).await
    }

    async fn put(
        &self,
        key: &str,
        bytes: &[u8],
        expect: Expect,
        ttl: Option<Duration>,
    ) -> Result<Etag, StoreError> {
        check_size(key, bytes.len())?;
        let change = Change::Put(bytes, ttl.map_or(0, milliseconds));
        self.write(Write { key, change }, expect).await?;
        Ok(Etag::of(bytes))
    }

    async fn delete(&self, key: &str, expect: Expect) -> Result<bool, StoreError> {
        self.write(Write { key, change: Change::Remove }, expect).await
    }

    /// A server cannot tell us yet.
    fn watch(&self, _prefixes: Vec<String>) -> Option<Changes> {
        None
    }
}

fn milliseconds(ttl: Duration) -> u64 {
    u64::try_from(ttl.as_millis()).unwrap_or(LONGEST_TTL).clamp(1, LONGEST_TTL)
}
