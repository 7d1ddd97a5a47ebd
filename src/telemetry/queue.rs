//! A bounded queue of log lines, and the thread that writes them.

use std::cell::RefCell;
use std::io::{ErrorKind, Result, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// The largest number of lines in the queue.
const LINES: usize = 16_384;

/// The largest number of bytes in the queue.
const BYTES: usize = 8 << 20;

/// The approximate size of one write.
const BATCH_BYTES: usize = 64 << 10;

/// The pause before a write is retried on a non-blocking output that accepts nothing just now (a terminal, for instance).
const PAUSE: Duration = Duration::from_millis(10);

/// The number of lines that were dropped since the process started.
static DROPPED: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// On the writing thread, the line that it logs itself: it bypasses the queue, which may be full.
    static OWN: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

/// How many log lines were dropped since the process started, because standard error was not read fast enough.
pub fn dropped() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}

/// The sending end of the queue.
#[derive(Clone)]
pub(super) struct Queue {
    sender: SyncSender<Message>,
    /// The bytes in the queue.
    waiting: Arc<AtomicUsize>,
}

enum Message {
    Line(Vec<u8>),
    /// Asks for an answer when everything before it is written.
    Flush(SyncSender<()>),
}

impl Queue {
    /// A queue, and a thread that writes its lines to `out`.
    pub fn start(out: impl Write + Send + 'static) -> Result<Queue> {
        let (sender, lines) = sync_channel(LINES);
        let waiting = Arc::new(AtomicUsize::new(0));
        let mut drain = Drain { out, lines, waiting: waiting.clone(), reported: dropped() };
        thread::Builder::new().name("log".to_owned()).spawn(move || drain.run())?;
        Ok(Queue { sender, waiting })
    }

    /// Waits until all lines that are in the queue now are written, but at most for `limit`.
    pub fn flush(&self, limit: Duration) {
        let deadline = Instant::now() + limit;
        let (answer, written) = sync_channel(1);
        while Instant::now() < deadline {
            if self.sender.try_send(Message::Flush(answer.clone())).is_ok() {
                let _timed_out = written.recv_timeout(deadline.saturating_duration_since(Instant::now()));
                return;
            }
            thread::sleep(PAUSE);
        }
    }

    /// Puts a line into the queue, or drops it if the queue is full.
    fn put(&self, line: &[u8]) {
        let fits = self.waiting.fetch_add(line.len(), Ordering::Relaxed) + line.len() <= BYTES;
        if !(fits && self.sender.try_send(Message::Line(line.to_vec())).is_ok()) {
            self.waiting.fetch_sub(line.len(), Ordering::Relaxed);
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Write for Queue {
    /// Takes one line; the subscriber writes whole lines.
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

/// The receiving end of the queue.
struct Drain<W> {
    out: W,
    lines: Receiver<Message>,
    waiting: Arc<AtomicUsize>,
    /// How many dropped lines have been reported in the log.
    reported: u64,
}

impl<W: Write> Drain<W> {
    /// Writes lines until the process ends.
    fn run(&mut self) {
        let mut batch = Vec::new();
        while let Ok(first) = self.lines.recv() {
            let (mut count, mut flushes) = (0, Vec::new());
            for message in std::iter::once(first).chain(std::iter::from_fn(|| self.lines.try_recv().ok())) {
                match message {
                    Message::Line(line) => {
                        batch.extend_from_slice(&line);
                        count += 1;
                    }
                    Message::Flush(answer) => flushes.push(answer),
                }
                if batch.len() >= BATCH_BYTES || !flushes.is_empty() {
                    break;
                }
            }
            self.write(&batch, count);
            batch.clear();
            for answer in &flushes {
                let _receiver_is_gone = answer.try_send(());
            }
        }
    }

    fn write(&mut self, batch: &[u8], count: u64) {
        let written = write_all(&mut self.out, batch);
        self.waiting.fetch_sub(batch.len(), Ordering::Relaxed);
        match written {
            // The pipe is closed: the lines are lost.
            Err(_) => drop(DROPPED.fetch_add(count, Ordering::Relaxed)),
            Ok(()) => self.report_dropped(),
        }
    }

    /// Logs how many lines were dropped since the last report; it is called when there is room again.
    fn report_dropped(&mut self) {
        let dropped = dropped();
        let lines = dropped - std::mem::replace(&mut self.reported, dropped);
        if lines == 0 {
            return;
        }
        OWN.set(Some(Vec::new()));
        tracing::warn!(lines, "log lines were dropped because standard error was not read fast enough");
        let own = OWN.take().unwrap_or_default();
        if write_all(&mut self.out, &own).is_err() {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Writes everything; retries on a non-blocking output that accepts nothing just now.
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
