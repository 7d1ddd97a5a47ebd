//! The methods of moments that templates can call: `{{now.Year}}`, `{{now.Format "2006-01-02"}}`.

use super::super::call::{Missing, Signature, Type};
use super::super::context::Context;
use super::super::val::{IntType, V, Val};
use super::calendar::{MONTHS, WEEKDAYS, name_of};
use super::{Moment, NANOS, Zone};

const fn takes(params: &'static [Type]) -> Signature {
    Signature {
        params,
        variadic: None,
        result: Type::Reflect,
        takes_missing: Missing::None,
        takes_gaps: false,
    }
}

/// The signature of a method.
pub(in super::super) fn method(name: &str) -> Option<Signature> {
    Some(match name {
        "Year" | "Month" | "Day" | "Hour" | "Minute" | "Second" | "Nanosecond" | "Weekday" | "YearDay"
        | "Unix" | "UnixMilli" | "UnixMicro" | "UnixNano" | "UTC" | "Local" | "String" | "IsZero" => {
            takes(&[])
        }
        "Format" => takes(&[Type::String]),
        "AddDate" => takes(&[Type::Int, Type::Int, Type::Int]),
        "After" | "Before" | "Equal" => takes(&[Type::Time]),
        _ => return None,
    })
}

/// Calls a method with arguments that fit its signature.
pub(in super::super) fn call_method<'a>(
    moment: &Moment,
    name: &str,
    args: &[Val<'a>],
    context: &Context<'a>,
) -> Val<'a> {
    let civil = moment.civil();
    let int = |at: usize| args.get(at).and_then(Val::as_int).unwrap_or(0);
    let other = || args.first().and_then(Val::as_time).map(Moment::instant);
    let unix = |per_second: i64| {
        let nanos = i64::from(moment.nanos) / (NANOS / per_second);
        Val::int64(moment.seconds.wrapping_mul(per_second).wrapping_add(nanos))
    };
    match name {
        "Year" => Val::int(civil.date.year),
        "Month" => Val::of(V::Whole(IntType::Month, civil.date.month)),
        "Day" => Val::int(civil.date.day),
        "Hour" => Val::int(civil.clock / 3_600),
        "Minute" => Val::int(civil.clock / 60 % 60),
        "Second" => Val::int(civil.clock % 60),
        "Nanosecond" => Val::int(i64::from(moment.nanos)),
        "Weekday" => Val::of(V::Whole(IntType::Weekday, civil.date.weekday())),
        "YearDay" => Val::int(civil.date.year_day()),
        "Unix" => unix(1),
        "UnixMilli" => unix(1_000),
        "UnixMicro" => unix(1_000_000),
        "UnixNano" => unix(NANOS),
        "String" => context.bytes(moment.shown()),
        "IsZero" => Val::bool(moment.instant() == Moment::zero().instant()),
        "Format" => context.bytes(moment.format(args.first().and_then(Val::as_bytes).unwrap_or_default())),
        "AddDate" => context.time(moment.add_date(int(0), int(1), int(2))),
        "After" => Val::bool(other().is_some_and(|other| moment.instant() > other)),
        "Before" => Val::bool(other().is_some_and(|other| moment.instant() < other)),
        "Equal" => Val::bool(other().is_some_and(|other| moment.instant() == other)),
        _ => context.time(moment.in_zone(Zone::utc())),
    }
}

impl Moment {
    fn instant(&self) -> (i64, u32) {
        (self.seconds, self.nanos)
    }
}

/// The name of an integer whose type has names.
pub(in super::super) fn name_of_whole(of: IntType, value: i64) -> Option<String> {
    let (names, at, of) = match of {
        IntType::Int64 => return None,
        IntType::Month => (&MONTHS[..], value - 1, "Month"),
        IntType::Weekday => (&WEEKDAYS[..], value, "Weekday"),
    };
    Some(match name_of(names, at) {
        "" => format!("%!{of}({value})"),
        name => name.to_owned(),
    })
}
