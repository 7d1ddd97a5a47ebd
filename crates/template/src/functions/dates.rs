//! Dates and durations. `now` is the same moment in all runs of a render; the local zone is UTC.

use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};

use super::call::{Call, Made};
use super::convert::atoi_or_nearest;
use crate::go::Val;
use crate::go::time::{Moment, Zone, format_duration, parse, parse_duration, round_to_seconds};

/// The zones that come with the program, so that a prompt is the same on every machine.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

pub fn now<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(call.context.time(call.moment.clone()))
}

/// A time, or whole seconds since 1970; anything else stands for now.
fn moment_of(call: &Call<'_, '_>, value: &Val<'_>) -> Moment {
    match (value.as_time(), value.as_int()) {
        (Some(moment), _) => moment.clone(),
        (None, Some(seconds)) if matches!(value.type_name(), "int" | "int64") => {
            Moment::from_unix(seconds, 0)
        }
        _ => call.moment.clone(),
    }
}

/// Go's `time.LoadLocation`, and the zone as it was or will be at a moment; what is unknown is UTC.
fn zone_at(name: &[u8], moment: &Moment) -> Zone {
    let known = std::str::from_utf8(name).ok().and_then(|name| {
        // The names of zones are told apart by case, as on Go's systems.
        ZONES.get(name).ok().filter(|zone| zone.iana_name() == Some(name))
    });
    known.map_or_else(Zone::utc, |zone| in_effect(&zone, moment))
}

fn in_effect(zone: &TimeZone, moment: &Moment) -> Zone {
    let bounds = Timestamp::MIN.as_second()..=Timestamp::MAX.as_second();
    let seconds = moment.seconds.clamp(*bounds.start(), *bounds.end());
    let Ok(timestamp) = Timestamp::from_second(seconds) else { return Zone::utc() };
    let info = zone.to_offset_info(timestamp);
    Zone { offset: info.offset().seconds(), name: info.abbreviation().into() }
}

fn formatted<'a>(call: &Call<'_, 'a>, layout: &[u8], value: &Val<'a>, zone: &[u8]) -> Made<'a> {
    let moment = moment_of(call, value);
    let zone = if zone.is_empty() || zone == b"Local" { Zone::utc() } else { zone_at(zone, &moment) };
    call.room(layout.len().saturating_mul(10))?;
    call.string(moment.in_zone(zone).format(layout))
}

const DATE: &[u8] = b"2006-01-02";

pub fn date<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    formatted(call, call.text(0), &call.arg(1), b"")
}

pub fn date_in_zone<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    formatted(call, call.text(0), &call.arg(1), call.text(2))
}

pub fn html_date<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    formatted(call, DATE, &call.arg(0), b"")
}

pub fn html_date_in_zone<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    formatted(call, DATE, &call.arg(0), call.text(1))
}

pub fn must_date_modify<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let Some(moment) = call.arg(1).as_time() else { return Ok(Val::nil()) };
    Ok(call.context.time(moment.plus(parse_duration(call.text(0))?)))
}

pub fn date_modify<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    must_date_modify(call).or_else(|_| Ok(call.arg(1)))
}

pub fn must_to_date<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    parse(call.text(0), call.text(1)).map(|moment| call.context.time(moment))
}

pub fn to_date<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    must_to_date(call).or_else(|_| Ok(call.context.time(Moment::zero())))
}

pub fn unix_epoch<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let seconds = call.arg(0).as_time().map_or(0, |moment| moment.seconds);
    call.string(seconds.to_string().into_bytes())
}

pub fn ago<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let since = call.moment.since(&moment_of(call, &call.arg(0)));
    Ok(call.context.text(format_duration(round_to_seconds(since))))
}

/// The integer of an `int64`, and of no other type.
fn int64_of(value: &Val<'_>) -> Option<i64> {
    value.as_int().filter(|_| value.type_name() == "int64")
}

pub fn duration<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let value = call.arg(0);
    let seconds = value.as_bytes().map(atoi_or_nearest).or_else(|| int64_of(&value)).unwrap_or(0);
    Ok(call.context.text(format_duration(seconds.wrapping_mul(1_000_000_000))))
}

/// The largest unit of a duration that it has more than one of.
pub fn duration_round<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    const HOUR: u64 = 3_600_000_000_000;
    const UNITS: [(u64, &str); 6] = [
        (HOUR * 24 * 365, "y"),
        (HOUR * 24 * 30, "mo"),
        (HOUR * 24, "d"),
        (HOUR, "h"),
        (HOUR / 60, "m"),
        (HOUR / 3_600, "s"),
    ];
    let value = call.arg(0);
    let since = value.as_time().map(|moment| call.moment.since(moment));
    let text = value.as_bytes().map(|text| parse_duration(text).unwrap_or(0));
    let size = since.or(text).or_else(|| int64_of(&value)).unwrap_or(0).unsigned_abs();
    let unit = UNITS.iter().find(|(unit, _)| size > *unit);
    Ok(call
        .context
        .text(unit.map_or_else(|| "0s".to_owned(), |(unit, name)| format!("{}{name}", size / unit))))
}
