//! What signals mean to the service.

use std::io::Result;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that end the service.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    quit: Signal,
}

/// A signal to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received(SignalKind);

impl Signals {
    /// Listens for signals from now on. A hang-up (its terminal is gone) is logged, and the service goes on.
    ///
    /// # Errors
    /// When the system does not let it.
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

    /// Waits for the next signal to end.
    pub async fn next(&mut self) -> Received {
        Received(tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt(),
            _ = self.terminate.recv() => SignalKind::terminate(),
            _ = self.quit.recv() => SignalKind::quit(),
        })
    }
}

impl Received {
    /// Whether it wants the service to end without finishing anything.
    pub fn is_at_once(self) -> bool {
        self.0 == SignalKind::quit()
    }

    /// The signal's number.
    pub fn number(self) -> u8 {
        u8::try_from(self.0.as_raw_value()).unwrap_or(u8::MAX)
    }
}
