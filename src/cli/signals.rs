//! The signals that the service handles.
//!
//! The first SIGTERM or SIGINT stops it gracefully. A second signal, or SIGQUIT, ends it at once, with exit code 128 plus the
//! signal's number. SIGHUP is only logged.

use std::io::Result;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that end the service.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    quit: Signal,
}

/// A signal that ends the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndSignal(SignalKind);

impl Signals {
    /// Handles signals from now on.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub fn listen() -> Result<Signals> {
        let mut hang_ups = signal(SignalKind::hangup())?;
        tokio::spawn(async move {
            while hang_ups.recv().await.is_some() {
                tracing::info!("SIGHUP: the service goes on; settings are read at its start only");
            }
        });
        let (interrupt, terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        Ok(Signals { interrupt, terminate, quit: signal(SignalKind::quit())? })
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) -> EndSignal {
        EndSignal(tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt(),
            _ = self.terminate.recv() => SignalKind::terminate(),
            _ = self.quit.recv() => SignalKind::quit(),
        })
    }
}

impl EndSignal {
    /// Whether the service is to end without finishing anything.
    pub fn is_at_once(self) -> bool {
        self.0 == SignalKind::quit()
    }

    /// The signal's number.
    pub fn number(self) -> u8 {
        u8::try_from(self.0.as_raw_value()).unwrap_or(u8::MAX)
    }
}
