//! How long to measure.

use std::time::Duration;

use crate::{Outcome, USAGE};

/// What the command line says; what it leaves out is up to each measurement.
#[derive(Default)]
pub struct Options {
    seconds: Option<u64>,
    rounds: Option<usize>,
}

impl Options {
    /// Reads `--seconds N` and `--rounds N`.
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Outcome<Options> {
        let mut options = Options::default();
        while let Some(flag) = arguments.next() {
            let value = arguments.next().ok_or(USAGE)?;
            match flag.as_str() {
                "--seconds" => options.seconds = Some(value.parse()?),
                "--rounds" => options.rounds = Some(value.parse()?),
                _ => return Err(USAGE.into()),
            }
        }
        Ok(options)
    }

    /// The length of one measurement.
    pub fn duration(&self, seconds: u64) -> Duration {
        Duration::from_secs(self.seconds.unwrap_or(seconds).max(1))
    }

    /// How often a measurement is made.
    pub fn rounds(&self, rounds: usize) -> usize {
        self.rounds.unwrap_or(rounds).max(1)
    }
}
