//! Go's package `time`, as far as templates can tell: moments, layouts, durations.
//!
//! - `calendar`: dates and their days; `layout`: the elements of layouts; `format` and `parse` read and write moments by them
//! - `duration`: durations as texts; `methods`: what templates can call on a moment

mod calendar;
mod duration;
mod format;
mod layout;
mod methods;
mod parse;

use std::time::{SystemTime, UNIX_EPOCH};

use smol_str::SmolStr;

pub use duration::{format_duration, parse_duration, round_to_seconds};
pub(super) use methods::{call_method, method, name_of_whole};
pub use parse::parse;

use calendar::{Date, SECONDS_PER_DAY};

/// Go's `time.Time`: a moment, and the zone in which it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// The seconds since 1970.
    pub seconds: i64,
    /// The nanoseconds since then.
    pub nanos: u32,
    /// The zone in which it is shown.
    pub zone: Zone,
}

/// A zone: what has to be added to UTC, and the name that is printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone {
    /// In seconds.
    pub offset: i32,
    /// Such as `UTC` or `CEST`; may be empty.
    pub name: SmolStr,
}

impl Zone {
    /// The zone UTC.
    pub fn utc() -> Zone {
        Zone { offset: 0, name: SmolStr::new_static("UTC") }
    }
}

/// The date and the time of day in the zone of a moment.
struct Civil {
    date: Date,
    /// The seconds since midnight.
    clock: i64,
}

impl Moment {
    /// A moment in UTC.
    pub fn from_unix(seconds: i64, nanos: u32) -> Moment {
        Moment { seconds, nanos, zone: Zone::utc() }
    }

    /// Go's zero time: the start of the year 1.
    pub fn zero() -> Moment {
        Moment::from_unix(calendar::days_from(1, 1, 1) * SECONDS_PER_DAY, 0)
    }

    /// The same moment in another zone.
    #[must_use]
    pub fn in_zone(&self, zone: Zone) -> Moment {
        Moment { zone, ..*self }
    }

    /// The moment so many nanoseconds later.
    #[must_use]
    pub fn plus(&self, nanos: i64) -> Moment {
        let sum = i64::from(self.nanos) + nanos.rem_euclid(NANOS);
        let seconds = self.seconds.wrapping_add(nanos.div_euclid(NANOS)).wrapping_add(sum / NANOS);
        Moment { seconds, nanos: (sum % NANOS) as u32, zone: self.zone.clone() }
    }

    /// The nanoseconds from `earlier` to this moment, as close as 64 bits allow.
    pub fn since(&self, earlier: &Moment) -> i64 {
        let seconds = i128::from(self.seconds) - i128::from(earlier.seconds);
        let nanos = seconds * i128::from(NANOS) + i128::from(self.nanos) - i128::from(earlier.nanos);
        i64::try_from(nanos).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX })
    }

    fn civil(&self) -> Civil {
        let local = self.seconds.saturating_add(i64::from(self.zone.offset));
        let date = Date::from_days(local.div_euclid(SECONDS_PER_DAY));
        Civil { date, clock: local.rem_euclid(SECONDS_PER_DAY) }
    }

    /// The moment so many years, months and days later, at the same time of day.
    #[must_use]
    fn add_date(&self, years: i64, months: i64, days: i64) -> Moment {
        let Civil { date, clock } = self.civil();
        // Far beyond any date: numbers of this size would overflow.
        let bounded = |n: i64| n.clamp(-1_000_000_000, 1_000_000_000);
        let months = date.month - 1 + bounded(months);
        let year = date.year + bounded(years) + months.div_euclid(12);
        let day = calendar::days_from(year, months.rem_euclid(12) + 1, 1) + date.day - 1 + bounded(days);
        let seconds = day * SECONDS_PER_DAY + clock - i64::from(self.zone.offset);
        Moment { seconds, nanos: self.nanos, zone: self.zone.clone() }
    }
}

/// The nanoseconds of a second.
const NANOS: i64 = 1_000_000_000;

impl From<SystemTime> for Moment {
    fn from(time: SystemTime) -> Moment {
        let epoch = Moment::from_unix(0, 0);
        match time.duration_since(UNIX_EPOCH) {
            Ok(since) => Moment::from_unix(since.as_secs() as i64, since.subsec_nanos()),
            Err(before) => epoch.plus(-i64::try_from(before.duration().as_nanos()).unwrap_or(i64::MAX)),
        }
    }
}

/// A text as the messages of Go's package `time` quote it.
fn quoted(text: &[u8]) -> String {
    let mut out = String::from("\"");
    for &byte in text {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b' '..=b'\x7f' => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out.push('"');
    out
}
