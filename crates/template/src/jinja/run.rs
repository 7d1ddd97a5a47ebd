//! What one render uses up and finds missing, known to every object and filter of the thread that runs it.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use minijinja::{Error, ErrorKind, Output, Value as Engine};

use super::library::Library;
use super::missing::Missing;
use crate::value::Map;
use crate::{RunBudget, RunError};

/// The longest string and the largest sequence that an expression may build, in bytes and elements.
pub(super) const STRING_LIMIT: usize = 4 << 20;
/// The most elements that an expression may build.
pub(super) const ITEMS_LIMIT: usize = 100_000;
/// The most bytes that one run may build in strings and sequences, freed ones included.
const BUILD_LIMIT: usize = 1 << 30;
/// Missing values beyond this many are not told apart any more.
const MISSES_KEPT: usize = 1_000;
/// The longest that one operation may take that cannot be interrupted, in milliseconds.
const OPERATION_MS: u64 = 200;
/// An operation that takes less, in nanoseconds, is work like any other: so many bytes of it are touched in a nanosecond.
const LIGHT_NANOSECONDS: u64 = 20_000;
const BYTES_A_NANOSECOND: u64 = 4;
/// How much work (see [`work`]) passes between two looks at the clock.
const WORK_BETWEEN_LOOKS: usize = 256;

/// What looking up an absent member of our data gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lookup {
    /// An object that can be tested and looked into, and that records itself when it is used.
    Chain,
    /// The same, and it is recorded at once: a filter is about to use what it finds.
    Record,
    /// Nothing: a filter has a default for it.
    Absent,
}

/// The state of one render.
pub(super) struct RunState {
    /// The texts of the template.
    pub library: Arc<Library>,
    /// The data.
    pub root: Arc<Map>,
    limits: RunBudget,
    lookup: Cell<Lookup>,
    misses: RefCell<Vec<Arc<Missing>>>,
    stop: RefCell<Option<RunError>>,
    /// Whether a call was made whose result is not known yet.
    pending: Cell<bool>,
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<RunState>>> = const { RefCell::new(None) };
    // The counters stand alone, because everything that a template prints goes through them.
    static OUTPUT_LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
    static BUILD_LEFT: Cell<usize> = const { Cell::new(BUILD_LIMIT) };
    static WORK_LEFT: Cell<usize> = const { Cell::new(WORK_BETWEEN_LOOKS) };
    static TEXT_REACHED: Cell<bool> = const { Cell::new(false) };
}

/// Makes a run the current one of its thread until it is dropped; runs may nest.
pub(super) struct Entered {
    outer: Option<Rc<RunState>>,
    outer_output_left: usize,
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.with(|current| *current.borrow_mut() = self.outer.take());
        OUTPUT_LEFT.set(self.outer_output_left);
    }
}

/// Calls `f` with the run of this thread, if there is one.
pub(super) fn with<R>(f: impl FnOnce(&RunState) -> R) -> Option<R> {
    CURRENT.with(|current| current.borrow().as_deref().map(f))
}

/// The run of this thread.
pub(super) fn current() -> Option<Rc<RunState>> {
    CURRENT.with(|current| current.borrow().clone())
}

/// Accounts for a piece of work that touches `bytes` bytes, and looks at the clock now and then.
#[inline]
pub(super) fn work(bytes: usize) -> Result<(), Error> {
    let units = bytes / 512 + 1;
    match WORK_LEFT.get().checked_sub(units) {
        Some(left) => {
            WORK_LEFT.set(left);
            Ok(())
        }
        None => look_at_the_clock(),
    }
}

/// Accounts for an operation that cannot be interrupted and may take so long: if that is longer than the run has time, the
/// run ends before it.
#[inline]
pub(super) fn heavy(nanoseconds: u64) -> Result<(), Error> {
    if nanoseconds <= LIGHT_NANOSECONDS {
        return work((nanoseconds * BYTES_A_NANOSECOND) as usize);
    }
    with(|run| run.has_time_for(nanoseconds)).unwrap_or(Ok(()))
}

#[cold]
fn look_at_the_clock() -> Result<(), Error> {
    WORK_LEFT.set(WORK_BETWEEN_LOOKS);
    let result = with(RunState::goes_on).unwrap_or(Ok(()));
    if result.is_err() {
        // Whatever swallows the error gets the next one at once.
        WORK_LEFT.set(0);
    }
    result
}

/// Accounts for a value that an expression has built.
pub(super) fn built(value: Engine) -> Result<Engine, Error> {
    let bytes = match (value.as_str(), value.as_object()) {
        (Some(text), _) => text.len(),
        (None, Some(object)) => object.enumerator_len().unwrap_or(0).saturating_mul(size_of::<Engine>()),
        (None, None) => 0,
    };
    match BUILD_LEFT.get().checked_sub(bytes) {
        Some(left) => {
            BUILD_LEFT.set(left);
            Ok(value)
        }
        None => Err(limit("memory", BUILD_LIMIT)),
    }
}

/// Accounts for output, captured or not.
#[inline]
pub(super) fn write(bytes: usize) -> Result<(), Error> {
    match OUTPUT_LEFT.get().checked_sub(bytes) {
        Some(left) => {
            OUTPUT_LEFT.set(left);
            work(bytes)
        }
        None => Err(output_full()),
    }
}

/// The error for too much output.
#[cold]
pub(super) fn output_full() -> Error {
    OUTPUT_LEFT.set(0);
    let limit = with(|run| run.limits.output_bytes).unwrap_or(0);
    self::limit("output", limit)
}

/// Output that is still allowed, in bytes.
pub(super) fn output_left() -> usize {
    OUTPUT_LEFT.get()
}

/// Records a missing value in the run of this thread.
pub(super) fn record(missing: &Arc<Missing>) {
    with(|run| run.record(missing));
}

/// The error for a string that would grow beyond the limit.
pub(super) fn too_long() -> Error {
    limit("string", STRING_LIMIT)
}

/// The error for a sequence that would grow beyond the limit.
pub(super) fn too_many() -> Error {
    limit("items", ITEMS_LIMIT)
}

/// The error for passing the limit `what`, which also ends the run of this thread.
pub(super) fn limit(what: &'static str, limit: usize) -> Error {
    end(RunError::Limit { what, limit: limit as u64 })
}

/// Ends the run of this thread with an error of ours; the returned one only carries it through the engine.
pub(super) fn end(error: RunError) -> Error {
    let text = error.to_string();
    with(|run| run.stop(error)).unwrap_or_else(|| Error::new(ErrorKind::InvalidOperation, text))
}

/// Notes that the text of this run is not the final one.
pub(super) fn note_pending() {
    with(|run| run.pending.set(true));
}

/// Whether what is written to `out` becomes a part of the text as it is, and is not captured: an empty write tells.
pub(super) fn reaches_text(out: &mut Output<'_>) -> bool {
    TEXT_REACHED.set(false);
    out.write_str("").is_ok() && TEXT_REACHED.get()
}

/// The text of a run.
pub(super) struct Text {
    bytes: Vec<u8>,
}

impl Text {
    /// A text that is expected to have so many bytes.
    pub fn with_capacity(bytes: usize) -> Text {
        Text { bytes: Vec::with_capacity(bytes) }
    }

    /// The text as far as it was written.
    pub fn finish(self) -> String {
        String::from_utf8(self.bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}

impl io::Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        TEXT_REACHED.set(true);
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl RunState {
    /// A run of the texts in `library` over `root`, with what `limits` leave it.
    pub fn new(root: Arc<Map>, library: Arc<Library>, limits: RunBudget) -> Rc<RunState> {
        Rc::new(RunState {
            library,
            root,
            limits,
            lookup: Cell::new(Lookup::Chain),
            misses: RefCell::default(),
            stop: RefCell::default(),
            pending: Cell::default(),
        })
    }

    /// Makes this the run of the thread.
    pub fn enter(self: &Rc<RunState>) -> Entered {
        WORK_LEFT.set(WORK_BETWEEN_LOOKS);
        BUILD_LEFT.set(BUILD_LIMIT);
        Entered {
            outer: CURRENT.with(|current| current.borrow_mut().replace(self.clone())),
            outer_output_left: OUTPUT_LEFT.replace(self.limits.output_bytes),
        }
    }

    /// Ends the run; see [`end`].
    fn stop(&self, error: RunError) -> Error {
        let carrier = Error::new(ErrorKind::InvalidOperation, error.to_string());
        self.stop.borrow_mut().get_or_insert(error);
        carrier
    }

    /// The error with which the run was ended, if it was.
    pub fn stopped(&self) -> Option<RunError> {
        self.stop.borrow().clone()
    }

    /// Whether a call was made whose result is not known yet.
    pub fn is_pending(&self) -> bool {
        self.pending.get()
    }

    /// Whether the run may do something that takes so long.
    fn has_time_for(&self, nanoseconds: u64) -> Result<(), Error> {
        if nanoseconds > OPERATION_MS * 1_000_000 {
            return Err(self.stop(RunError::Limit { what: "operation (in ms)", limit: OPERATION_MS }));
        }
        self.goes_on()?;
        if Instant::now() + Duration::from_nanos(nanoseconds) > self.limits.deadline {
            return Err(self.stop(RunError::Deadline));
        }
        Ok(())
    }

    /// Whether the run may go on.
    fn goes_on(&self) -> Result<(), Error> {
        if self.stop.borrow().is_some() {
            return Err(Error::new(ErrorKind::InvalidOperation, "the run was ended"));
        }
        if Instant::now() >= self.limits.deadline {
            return Err(self.stop(RunError::Deadline));
        }
        Ok(())
    }

    /// Remembers a missing value that was used, once.
    pub fn record(&self, missing: &Arc<Missing>) {
        let mut misses = self.misses.borrow_mut();
        if misses.len() < MISSES_KEPT && !misses.iter().any(|known| known.same_place(missing)) {
            misses.push(missing.clone());
        }
    }

    /// The missing values that were used.
    pub fn misses(&self) -> Vec<Arc<Missing>> {
        self.misses.borrow().clone()
    }

    /// What absent members give just now.
    pub fn lookup(&self) -> Lookup {
        self.lookup.get()
    }

    /// Calls `f` while absent members give something else.
    pub fn looking_up<R>(&self, lookup: Lookup, f: impl FnOnce() -> R) -> R {
        let before = self.lookup.replace(lookup);
        let result = f();
        self.lookup.set(before);
        result
    }
}
