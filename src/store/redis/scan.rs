//! One page of a scan: `SCAN` finds keys, a script measures them, one `MGET` of bounded size reads them.

use std::sync::LazyLock;

use ::redis::{Script, Value, cmd};

use super::link::{Link, limit_for};
use crate::store::{
    Cursor, Item, PAGE_BYTES, PAGE_KEYS, Page, Position, StoreError, Unreadable, VALUE_LIMIT,
};

/// As many values of this size, in bytes, as a page has keys fit into a page; they need not be told apart.
const SMALL: usize = PAGE_BYTES / PAGE_KEYS;

/// Names the keys whose values are longer than `ARGV[1]` bytes, or no strings: their places, and their sizes or types.
static MEASURE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "
local odd = {}
for at, key in ipairs(KEYS) do
  local size = redis.pcall('STRLEN', key)
  if type(size) == 'number' then
    if size > tonumber(ARGV[1]) then odd[#odd + 1] = {at - 1, size} end
  elseif string.sub(size.err, 1, 9) == 'WRONGTYPE' then
    odd[#odd + 1] = {at - 1, redis.call('TYPE', key).ok}
  else return size end
end
return odd",
    )
});

/// Where a scan stands.
#[derive(Debug, Clone)]
pub(in crate::store) struct ScanState {
    /// The server's cursor; `None` when it has named all keys.
    server: Option<Vec<u8>>,
    /// Keys that it named and we measured, but that did not fit into the page, last one first.
    waiting: Vec<Measured>,
}

#[derive(Debug, Clone)]
struct Measured {
    key: String,
    bytes: usize,
}

impl ScanState {
    fn start() -> ScanState {
        ScanState { server: Some(b"0".to_vec()), waiting: Vec::new() }
    }

    fn is_done(&self) -> bool {
        self.server.is_none() && self.waiting.is_empty()
    }

    /// The next keys whose values fit into one page together, or a single one.
    fn take_page(&mut self) -> Vec<String> {
        let (mut keys, mut bytes) = (Vec::new(), 0);
        while let Some(next) = self.waiting.pop() {
            bytes += next.bytes;
            if bytes > PAGE_BYTES && !keys.is_empty() {
                self.waiting.push(next);
                break;
            }
            keys.push(next.key);
        }
        keys
    }
}

/// Reads the next page.
pub(super) async fn page(link: &Link, prefix: &str, from: Option<Cursor>) -> Result<Page, StoreError> {
    let mut state = match from {
        Some(Cursor(Position::Scan(state))) => state,
        _ => ScanState::start(),
    };
    let mut items = Vec::new();
    if state.waiting.is_empty()
        && let Some(cursor) = state.server.take()
    {
        let (next, names) = find(link, prefix, &cursor).await?;
        state.server = next;
        let keys = only_text(names, &mut items);
        state.waiting = measure(link, keys, &mut items).await?;
    }
    read(link, state.take_page(), &mut items).await?;
    Ok(Page { items, next: (!state.is_done()).then_some(Cursor(Position::Scan(state))) })
}

type Found = (Option<Vec<u8>>, Vec<Value>);

/// Asks for the next keys, and where to go on.
async fn find(link: &Link, prefix: &str, cursor: &[u8]) -> Result<Found, StoreError> {
    let mut scan = cmd("SCAN");
    scan.arg(cursor).arg("MATCH").arg(pattern(prefix)).arg("COUNT").arg(PAGE_KEYS);
    let scan = &scan;
    let answer =
        link.again(limit_for(0), |mut c| async move { scan.query_async::<Value>(&mut c).await }).await?;
    let Value::Array(parts) = answer else { return Err(unexpected("SCAN")) };
    match <[Value; 2]>::try_from(parts) {
        Ok([Value::BulkString(next), Value::Array(names)]) => Ok(((next != b"0").then_some(next), names)),
        _ => Err(unexpected("SCAN")),
    }
}

/// Keeps the keys that are text, and reports the others.
fn only_text(names: Vec<Value>, items: &mut Vec<Item>) -> Vec<String> {
    let mut keys = Vec::with_capacity(names.len());
    for name in names {
        let Value::BulkString(name) = name else { continue };
        match String::from_utf8(name) {
            Ok(key) => keys.push(key),
            Err(bad) => items.push(Item {
                key: String::from_utf8_lossy(bad.as_bytes()).into_owned(),
                content: Err(Unreadable::KeyNotText),
            }),
        }
    }
    keys
}

/// Asks for the sizes of values before any of them is read, and reports what cannot be read.
async fn measure(link: &Link, keys: Vec<String>, items: &mut Vec<Item>) -> Result<Vec<Measured>, StoreError> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let all = &keys;
    let odd = link.again(limit_for(0), |mut c| async move {
        MEASURE.key(all).arg(SMALL).invoke_async::<Vec<(usize, Value)>>(&mut c).await
    });
    let mut odd = odd.await?.into_iter().peekable();
    let mut measured = Vec::with_capacity(keys.len());
    for (at, key) in keys.into_iter().enumerate() {
        let size = match odd.next_if(|(place, _)| *place == at) {
            None => Ok(SMALL),
            Some((_, what)) => read_size(what)?,
        };
        match size {
            Ok(bytes) => measured.push(Measured { key, bytes }),
            Err(why) => items.push(Item { key, content: Err(why) }),
        }
    }
    measured.reverse();
    Ok(measured)
}

fn read_size(what: Value) -> Result<Result<usize, Unreadable>, StoreError> {
    match what {
        Value::Int(bytes) => match usize::try_from(bytes).unwrap_or(usize::MAX) {
            bytes if bytes > VALUE_LIMIT => Ok(Err(Unreadable::TooLarge { bytes })),
            bytes => Ok(Ok(bytes)),
        },
        Value::BulkString(found) => {
            Ok(Err(Unreadable::WrongType { found: String::from_utf8_lossy(&found).into_owned() }))
        }
        _ => Err(unexpected("a script")),
    }
}

/// Reads the values; keys that are gone by now are left out.
async fn read(link: &Link, keys: Vec<String>, items: &mut Vec<Item>) -> Result<(), StoreError> {
    if keys.is_empty() {
        return Ok(());
    }
    let mut mget = cmd("MGET");
    mget.arg(&keys);
    let (mget, limit) = (&mget, limit_for(VALUE_LIMIT.max(PAGE_BYTES)));
    let answer = link.again(limit, |mut c| async move { mget.query_async::<Value>(&mut c).await }).await?;
    let Value::Array(values) = answer else { return Err(unexpected("MGET")) };
    items.reserve(keys.len());
    for (key, value) in keys.into_iter().zip(values) {
        if let Value::BulkString(bytes) = value {
            items.push(Item { key, content: Ok(bytes) });
        }
    }
    Ok(())
}

/// The pattern that matches all keys with this prefix, and no others.
fn pattern(prefix: &str) -> String {
    let mut pattern = String::with_capacity(prefix.len() + 1);
    for c in prefix.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('*');
    pattern
}

fn unexpected(command: &str) -> StoreError {
    StoreError::Unavailable { reason: format!("the server's answer to {command} makes no sense") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_characters_of_a_pattern_stand_for_themselves_in_a_prefix() {
        assert_eq!(pattern(r"a*b?[c]\:"), r"a\*b\?\[c\]\\:*");
    }

    #[test]
    fn a_page_takes_keys_in_order_until_the_next_value_would_not_fit() {
        let sizes = [PAGE_BYTES - 1, 1, 1, VALUE_LIMIT, 0];
        let mut state = ScanState { server: None, waiting: Vec::new() };
        for (n, bytes) in sizes.into_iter().enumerate().rev() {
            state.waiting.push(Measured { key: n.to_string(), bytes });
        }
        assert_eq!(state.take_page(), ["0", "1"]);
        assert_eq!(state.take_page(), ["2"]);
        assert_eq!(state.take_page(), ["3"]);
        assert!(!state.is_done());
        assert_eq!(state.take_page(), ["4"]);
        assert!(state.is_done());
    }
}
