//! The Redis store: a server that other programs read and write as well.

mod address;
mod link;
mod scan;
mod write;

use std::time::Duration;

use ::redis::cmd;
use async_trait::async_trait;

use self::link::{Link, RequestError, limit_for};
pub(super) use self::scan::ScanState;
use self::write::{Operation, RedisWriteError, ScriptCondition, ScriptOutcome, Write};
use super::{
    ChangeStream, Cursor, Etag, Page, Precondition, Record, Store, StoreError, VALUE_LIMIT, check_size,
};

/// How often a conditional write is retried because the key changed between reading and writing.
const ATTEMPTS: usize = 16;

/// The longest time to live, in milliseconds; Redis rejects expiry times that are too far in the future.
const LONGEST_TTL: u64 = 100_000_000_000_000;

/// A store on a Redis server.
pub(super) struct RedisStore {
    description: String,
    link: Link,
}

impl RedisStore {
    /// Checks the address; the first call connects.
    pub(super) async fn open(url: &str) -> Result<RedisStore, StoreError> {
        let (client, description) = address::client(url).await?;
        Ok(RedisStore { description, link: Link::new(client) })
    }

    /// Reads a value after checking its size.
    async fn read_one(&self, key: &str) -> Result<Option<Record>, StoreError> {
        let size = self.link.request(limit_for(0), |mut c| async move {
            cmd("STRLEN").arg(key).query_async::<usize>(&mut c).await
        });
        let size = match size.await {
            Err(error) => return Err(self.explain(key, error).await),
            Ok(size) => size,
        };
        check_size(key, size)?;
        let value = self.link.request(limit_for(VALUE_LIMIT), |mut c| async move {
            cmd("GET").arg(key).query_async::<Option<Vec<u8>>>(&mut c).await
        });
        match value.await {
            Ok(value) => Ok(value.map(Record::new)),
            Err(error) => Err(self.explain(key, error).await),
        }
    }

    /// The error of a request; if the key holds no string, it names the type.
    async fn explain(&self, key: &str, error: RequestError) -> StoreError {
        if !error.is_wrong_type() {
            return error.into();
        }
        let found = self.link.request(limit_for(0), |mut c| async move {
            cmd("TYPE").arg(key).query_async::<String>(&mut c).await
        });
        match found.await {
            Ok(found) => StoreError::WrongType { key: key.to_owned(), found },
            Err(error) => error.into(),
        }
    }

    /// Writes if the precondition holds, and returns whether there was anything to remove.
    ///
    /// The precondition is checked here against the current value; the script then writes only if that value is unchanged
    /// (optimistic locking).
    async fn write(&self, write: Write<'_>, condition: Precondition) -> Result<bool, StoreError> {
        for _ in 0..ATTEMPTS {
            let condition = self.script_condition(write.key, condition).await?;
            if matches!((&condition, write.operation), (ScriptCondition::Absent, Operation::Remove)) {
                return Ok(false);
            }
            match write.send(&self.link, &condition).await {
                Ok(ScriptOutcome::Done) => return Ok(true),
                Ok(ScriptOutcome::Nothing) => return Ok(false),
                Ok(ScriptOutcome::Changed) => {}
                Err(RedisWriteError::NotApplied(error)) => return Err(self.explain(write.key, error).await),
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Unavailable { message: format!("the key {} keeps changing", write.key) })
    }

    /// What the script has to compare, if the precondition holds now.
    async fn script_condition(
        &self,
        key: &str,
        condition: Precondition,
    ) -> Result<ScriptCondition, StoreError> {
        if condition == Precondition::Any {
            return Ok(ScriptCondition::Any);
        }
        let found = self.read_one(key).await?;
        condition.check(key, found.as_ref().map(|record| record.etag))?;
        Ok(found.map_or(ScriptCondition::Absent, |record| ScriptCondition::Same(record.bytes)))
    }
}

#[async_trait]
impl Store for RedisStore {
    fn describe(&self) -> &str {
        &self.description
    }

    fn is_shared(&self) -> bool {
        true
    }

    async fn ping(&self) -> Result<(), StoreError> {
        let ping =
            self.link.request(limit_for(0), |mut c| async move { cmd("PING").exec_async(&mut c).await });
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
        condition: Precondition,
        ttl: Option<Duration>,
    ) -> Result<Etag, StoreError> {
        check_size(key, bytes.len())?;
        let operation = Operation::Put(bytes, ttl.map_or(0, milliseconds));
        self.write(Write { key, operation }, condition).await?;
        Ok(Etag::of(bytes))
    }

    async fn delete(&self, key: &str, condition: Precondition) -> Result<bool, StoreError> {
        self.write(Write { key, operation: Operation::Remove }, condition).await
    }

    /// Pushed changes are not implemented for Redis: the caller scans.
    fn watch(&self, _prefixes: Vec<String>) -> Option<ChangeStream> {
        None
    }
}

fn milliseconds(ttl: Duration) -> u64 {
    u64::try_from(ttl.as_millis()).unwrap_or(LONGEST_TTL).clamp(1, LONGEST_TTL)
}
