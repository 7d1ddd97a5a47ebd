//! One page of a scan: `SCAN` finds keys, a script measures their values, and one `MGET` of bounded size reads them.
//!
//! The three are pipelined: each page takes one round trip, which reads the keys that earlier pages measured, measures the
//! keys that they found, and finds more.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use ::redis::{ErrorKind, Pipeline, RedisResult, Script, ServerErrorKind, Value, pipe};

use super::link::{Connection, Link, RequestError, limit_for};
use crate::store::{Cursor, Item, ItemError, PAGE_BYTES, PAGE_KEYS, Page, Position, StoreError, VALUE_LIMIT};

/// How many keys the server examines for one `SCAN` reply, which takes it a few milliseconds.
const SCAN_COUNT: usize = 10_000;

/// How much longer than a small command a page may take: no request waits for it, and the server may be slow.
const EXTRA_LIMIT: Duration = Duration::from_millis(1500);

/// Returns the sizes of string values in bytes, and for values of other types the name of the type.
static MEASURE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "
local sizes = {}
for at, key in ipairs(KEYS) do
  local size = redis.pcall('STRLEN', key)
  if type(size) == 'number' then sizes[at] = size
  elseif string.sub(size.err, 1, 9) == 'WRONGTYPE' then sizes[at] = redis.call('TYPE', key).ok
  else return size end
end
return sizes",
    )
});

/// The position of a scan.
#[derive(Debug, Clone)]
pub(in crate::store) struct ScanState {
    /// The server that the cursor belongs to; `None` before the first page.
    server: Option<Arc<str>>,
    /// The server's cursor; `None` when it has returned all keys.
    cursor: Option<Vec<u8>>,
    /// Keys that `SCAN` has returned, and that are to be measured.
    found: Vec<String>,
    /// Measured keys that are to be read, the last one first.
    waiting: Vec<SizedKey>,
}

/// A key and the size of its value.
#[derive(Debug, Clone)]
struct SizedKey {
    key: String,
    bytes: usize,
}

/// The requests of one page.
#[derive(Debug, Default)]
struct Step {
    read: Vec<SizedKey>,
    measure: Vec<String>,
    /// The cursor for `SCAN`.
    cursor: Option<Vec<u8>>,
}

impl ScanState {
    fn start() -> ScanState {
        ScanState { server: None, cursor: Some(b"0".to_vec()), found: Vec::new(), waiting: Vec::new() }
    }

    fn is_done(&self) -> bool {
        self.cursor.is_none() && self.found.is_empty() && self.waiting.is_empty()
    }

    /// The next keys whose values fit into one page together, but at least one key.
    fn take_page(&mut self) -> Vec<SizedKey> {
        let (mut page, mut bytes) = (Vec::new(), 0);
        while let Some(next) = self.waiting.pop() {
            bytes += next.bytes;
            if bytes > PAGE_BYTES && !page.is_empty() {
                self.waiting.push(next);
                break;
            }
            page.push(next);
        }
        page
    }

    /// The next step: read keys that were measured; if none are left after that, also measure the keys that were found, and
    /// find more.
    fn next_step(&mut self) -> Step {
        let mut step = Step { read: self.take_page(), ..Step::default() };
        if self.waiting.is_empty() {
            step.measure = std::mem::take(&mut self.found);
            step.cursor = self.cursor.take();
        }
        step
    }
}

/// Reads the next page.
pub(super) async fn page(link: &Link, prefixes: &[&str], from: Option<Cursor>) -> Result<Page, StoreError> {
    match from {
        Some(Cursor(Position::Scan(state))) => next_page(link, prefixes, state).await,
        _ => next_page(link, prefixes, ScanState::start()).await,
    }
}

/// The first page of these keys, which are read as if a scan had found them.
pub(super) async fn read(link: &Link, keys: Vec<String>) -> Result<Page, StoreError> {
    let state = ScanState { cursor: None, found: keys, ..ScanState::start() };
    next_page(link, &[], state).await
}

async fn next_page(link: &Link, prefixes: &[&str], mut state: ScanState) -> Result<Page, StoreError> {
    let step = state.next_step();
    let pipeline = step.pipeline(prefixes);
    if pipeline.is_empty() {
        return Ok(Page::default());
    }
    let limit = EXTRA_LIMIT + limit_for(step.read.iter().map(|sized| sized.bytes).sum());
    let (server, answers) = link.with_retry(|connection| ask(link, connection, &pipeline, limit)).await?;
    if state.server.as_ref().is_some_and(|before| *before != server) {
        return Err(StoreError::ScanLost);
    }
    state.server = Some(server);
    let walked = if step.cursor.is_some() { SCAN_COUNT } else { 0 };
    let mut page = Page { walked, ..Page::default() };
    step.take(answers, prefixes, &mut state, &mut page.items)?;
    page.next = (!state.is_done()).then_some(Cursor(Position::Scan(state)));
    Ok(page)
}

/// Sends the pipeline; returns the identity of the server and its replies.
async fn ask(
    link: &Link,
    connection: Connection,
    pipeline: &Pipeline,
    limit: Duration,
) -> Result<(Arc<str>, Vec<Value>), RequestError> {
    let server = link.server(&connection, limit).await?;
    let answers = link.ask(&connection, limit, run(pipeline, connection.clone())).await?;
    Ok((server, answers))
}

/// Runs the commands; if the server does not know the script, loads it and runs them again.
async fn run(pipeline: &Pipeline, mut connection: Connection) -> RedisResult<Vec<Value>> {
    match pipeline.query_async(&mut connection.wire).await {
        Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
            MEASURE.load_async(&mut connection.wire).await?;
            pipeline.query_async(&mut connection.wire).await
        }
        outcome => outcome,
    }
}

impl Step {
    fn pipeline(&self, prefixes: &[&str]) -> Pipeline {
        let mut pipeline = pipe();
        if !self.read.is_empty() {
            let mget = pipeline.cmd("MGET");
            for sized in &self.read {
                mget.arg(&sized.key);
            }
        }
        for keys in self.measure.chunks(PAGE_KEYS) {
            pipeline.cmd("EVALSHA").arg(MEASURE.get_hash()).arg(keys.len()).arg(keys);
        }
        if let Some(cursor) = &self.cursor {
            let scan = pipeline.cmd("SCAN").arg(cursor);
            scan.arg("MATCH").arg(pattern(prefixes)).arg("COUNT").arg(SCAN_COUNT);
        }
        pipeline
    }

    /// Evaluates the replies, in the order of the pipeline.
    fn take(
        self,
        answers: Vec<Value>,
        prefixes: &[&str],
        state: &mut ScanState,
        items: &mut Vec<Item>,
    ) -> Result<(), StoreError> {
        let mut answers = answers.into_iter();
        let mut next = |command| match answers.next() {
            Some(Value::Array(parts)) => Ok(parts),
            _ => Err(unexpected(command)),
        };
        if !self.read.is_empty() {
            take_values(self.read, next("MGET")?, items);
        }
        let mut sizes = Vec::with_capacity(self.measure.len());
        for _ in 0..self.measure.len().div_ceil(PAGE_KEYS) {
            sizes.extend(next("a script")?);
        }
        take_sizes(self.measure, sizes, state, items)?;
        if self.cursor.is_some() {
            take_names(next("SCAN")?, prefixes, state, items)?;
        }
        Ok(())
    }
}

/// Adds the values; keys that no longer exist are left out.
fn take_values(read: Vec<SizedKey>, values: Vec<Value>, items: &mut Vec<Item>) {
    items.reserve(read.len());
    for (SizedKey { key, .. }, value) in read.into_iter().zip(values) {
        if let Value::BulkString(bytes) = value {
            items.push(Item { key, content: Ok(bytes) });
        }
    }
}

/// Queues keys whose values can be read, and adds the errors of the others.
fn take_sizes(
    keys: Vec<String>,
    sizes: Vec<Value>,
    state: &mut ScanState,
    items: &mut Vec<Item>,
) -> Result<(), StoreError> {
    if keys.len() != sizes.len() {
        return Err(unexpected("a script"));
    }
    for (key, size) in keys.into_iter().zip(sizes) {
        match read_size(size)? {
            Ok(bytes) => state.waiting.push(SizedKey { key, bytes }),
            Err(error) => items.push(Item { key, content: Err(error) }),
        }
    }
    state.waiting.reverse();
    Ok(())
}

fn read_size(reply: Value) -> Result<Result<usize, ItemError>, StoreError> {
    match reply {
        Value::Int(bytes) => match usize::try_from(bytes).unwrap_or(usize::MAX) {
            bytes if bytes > VALUE_LIMIT => Ok(Err(ItemError::TooLarge { bytes })),
            bytes => Ok(Ok(bytes)),
        },
        Value::BulkString(found) => {
            Ok(Err(ItemError::WrongType { found: String::from_utf8_lossy(&found).into_owned() }))
        }
        _ => Err(unexpected("a script")),
    }
}

/// Takes the next cursor and the keys with one of the prefixes; adds errors for keys that are not UTF-8.
fn take_names(
    reply: Vec<Value>,
    prefixes: &[&str],
    state: &mut ScanState,
    items: &mut Vec<Item>,
) -> Result<(), StoreError> {
    let Ok([Value::BulkString(next), Value::Array(names)]) = <[Value; 2]>::try_from(reply) else {
        return Err(unexpected("SCAN"));
    };
    state.cursor = (next != b"0").then_some(next);
    for name in names {
        let Value::BulkString(name) = name else { continue };
        if !prefixes.iter().any(|prefix| name.starts_with(prefix.as_bytes())) {
            continue;
        }
        match String::from_utf8(name) {
            Ok(key) => state.found.push(key),
            Err(error) => items.push(Item {
                key: String::from_utf8_lossy(error.as_bytes()).into_owned(),
                content: Err(ItemError::KeyNotText),
            }),
        }
    }
    Ok(())
}

/// The glob pattern of the keys that begin with the longest common prefix of these prefixes.
fn pattern(prefixes: &[&str]) -> String {
    let (first, others) = prefixes.split_first().unwrap_or((&"", &[]));
    let mut pattern = String::with_capacity(first.len() + 1);
    for (at, c) in first.char_indices() {
        let with = first.get(..at + c.len_utf8()).unwrap_or_default();
        if !others.iter().all(|other| other.starts_with(with)) {
            break;
        }
        if matches!(c, '*' | '?' | '[' | ']' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('*');
    pattern
}

fn unexpected(command: &str) -> StoreError {
    StoreError::Unavailable {
        message: format!("the server's reply to {command} is not of the expected form"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_characters_of_a_pattern_stand_for_themselves_in_a_prefix() {
        assert_eq!(pattern(&[r"a*b?[c]\:"]), r"a\*b\?\[c\]\\:*");
    }

    #[test]
    fn the_pattern_of_several_prefixes_is_what_they_have_in_common() {
        assert_eq!(pattern(&["é*:tools:", "é*:templates:"]), r"é\*:t*");
        assert_eq!(pattern(&["a", "b"]), "*");
        assert_eq!(pattern(&["ab", "a"]), "a*");
    }

    #[test]
    fn a_page_takes_keys_in_order_until_the_next_value_would_not_fit() {
        let sizes = [PAGE_BYTES - 1, 1, 1, VALUE_LIMIT, 0];
        let mut state = ScanState { cursor: None, ..ScanState::start() };
        for (n, bytes) in sizes.into_iter().enumerate().rev() {
            state.waiting.push(SizedKey { key: n.to_string(), bytes });
        }
        let mut take = || -> Vec<String> { state.take_page().into_iter().map(|sized| sized.key).collect() };
        assert_eq!(take(), ["0", "1"]);
        assert_eq!(take(), ["2"]);
        assert_eq!(take(), ["3"]);
        assert_eq!(take(), ["4"]);
        assert!(state.is_done());
    }
}
