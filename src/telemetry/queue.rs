//! Log lines on their way out: a queue of bounded size, and a thread that writes.

use std::cell::RefCell;
use std::io::{ErrorKind, Result, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// The lines that may wait.
const LINES: usize = 16_384;

/// The bytes of the lines that may wait.
const BYTES: usize = 8 << 20;

/// About so many bytes are written at once.
const BATCH_BYTES: usize = 64 << 10;

/// How long a writer that takes nothing just now (a terminal that does not block) is left alone.
const PAUSE: Duration = Duration::from_millis(10);

/// The lines of this process that were dropped.
static DROPPED: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// What the thread that writes has to say itself, while it says it: that goes out at once, also when the queue is full.
    static OWN: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

/// How many lines of the log were dropped since the process began, because nobody took them.
pub fn dropped() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}

/// Where lines are put.
#[derive(Clone)]
pub(super) struct Queue {
    sender: SyncSender<Message>,
    waiting: Arc<AtomicUsize>,
}

enum Message {
    Line(Vec<u8>),
    /// Whoever sent this waits until everything before it is written.
    Flush(SyncSender<()>),
}

impl Queue {
    /// A queue whose lines a thread of its own writes to `out`.
    pub fn start(out: impl Write + Send + 'static) -> Result<Queue> {
        let (sender, lines) = sync_channel(LINES);
        let waiting = Arc::new(AtomicUsize::new(0));
        let mut drain = Drain { out, lines, waiting: waiting.clone(), told: dropped() };
        thread::Builder::new().name("log".to_owned()).spawn(move || drain.run())?;
        Ok(Queue { sender, waiting })
    }

    /// Waits until all lines so far are written, but no longer than `limit`.
    pub fn flush(&self, limit: Duration) {
        let deadline = Instant::now() + limit;
        let (written, done) = sync_channel(1);
        while Instant::now() < deadline {
            if self.sender.try_send(Message::Flush(written.clone())).is_ok() {
                let _in_vain = done.recv_timeout(deadline.saturating_duration_since(Instant::now()));
                return;
            }
            thread::sleep(PAUSE);
        }
    }

    /// Puts a line into the queue, if there is room.
    fn put(&self, line: &[u8]) {
        let fits = self.waiting.fetch_add(line.len(), Ordering::Relaxed) + line.len() <= BYTES;
        if !(fits && self.sender.try_send(Message::Line(line.to_vec())).is_ok()) {
            self.waiting.fetch_sub(line.len(), Ordering::Relaxed);
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Write for Queue {
    /// Takes a whole line, which is how the subscriber writes.
    fn write(&mut self, line: &[u8]) -> Result<usize> {
        let own = OWN.with_borrow_mut(|own| own.as_mut().map(|own| own.extend_from_slice(line)));
        if own.is_none() {
            self.put(line);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// The other end of a queue.
struct Drain<W> {
    out: W,
    lines: Receiver<Message>,
    waiting: Arc<AtomicUsize>,
    /// How many dropped lines the log has told of.
    told: u64,
}

impl<W: Write> Drain<W> {
    /// Writes lines until the process ends.
    fn run(&mut self) {
        let mut batch = Vec::new();
        while let Ok(first) = self.lines.recv() {
            let (mut count, mut flushed) = (0, Vec::new());
            for message in std::iter::once(first).chain(std::iter::from_fn(|| self.lines.try_recv().ok())) {
                match message {
                    Message::Line(line) => {
                        batch.extend_from_slice(&line);
                        count += 1;
                    }
                    Message::Flush(written) => flushed.push(written),
                }
                if batch.len() >= BATCH_BYTES || !flushed.is_empty() {
                    break;
                }
            }
            self.write(&batch, count);
            batch.clear();
            for written in &flushed {
                let _nobody_waits_any_more = written.try_send(());
            }
        }
    }

    fn write(&mut self, batch: &[u8], count: u64) {
        let written = write_all(&mut self.out, batch);
        self.waiting.fetch_sub(batch.len(), Ordering::Relaxed);
        match written {
            // A closed pipe: nobody will ever read this.
            Err(_) => drop(DROPPED.fetch_add(count, Ordering::Relaxed)),
            Ok(()) => self.tell_of_the_dropped(),
        }
    }

    /// Says how many lines were dropped since it last said so: there is room again.
    fn tell_of_the_dropped(&mut self) {
        let dropped = dropped();
        let lines = dropped - std::mem::replace(&mut self.told, dropped);
        if lines == 0 {
            return;
        }
        OWN.set(Some(Vec::new()));
        tracing::warn!(lines, "lines of the log were dropped: they came faster than standard error was read");
        let own = OWN.take().unwrap_or_default();
        if write_all(&mut self.out, &own).is_err() {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Writes everything, also where the other end takes nothing just now.
fn write_all(out: &mut impl Write, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        match out.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(PAUSE),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
