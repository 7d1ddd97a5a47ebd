//! Texts as moments, by a layout.

use smol_str::SmolStr;

use super::calendar::{MONTHS, SECONDS_PER_DAY, WEEKDAYS, days_from, days_in, is_leap};
use super::layout::{Element, Offset, Parts, next_chunk};
use super::{Moment, Zone, quoted};

/// What is wrong with the part of a text that an element of the layout stands for.
enum Wrong {
    /// The part cannot be read.
    Bad,
    /// The named field is out of range.
    Range(&'static str),
}

/// The fields that were read.
#[derive(Default)]
struct Fields {
    year: i64,
    month: Option<i64>,
    day: Option<i64>,
    year_day: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    nanos: u32,
    am: bool,
    pm: bool,
    utc: bool,
    offset: Option<i64>,
    zone: Option<SmolStr>,
}

/// Reads a moment by a layout, in UTC unless the text names a zone.
///
/// # Errors
/// Go's message.
pub fn parse(layout: &[u8], text: &[u8]) -> Result<Moment, String> {
    let parsing = || format!("parsing time {}", quoted(text));
    let cannot = |part: &[u8], element: &[u8]| {
        format!("{} as {}: cannot parse {} as {}", parsing(), quoted(layout), quoted(part), quoted(element))
    };
    let (mut fields, mut left, mut pattern) = (Fields::default(), text, layout);
    loop {
        let chunk = next_chunk(pattern);
        left = skip(left, chunk.prefix).map_err(|at| cannot(at, chunk.prefix))?;
        let Some(element) = chunk.element else { break };
        let before = left;
        pattern = chunk.rest;
        match fields.read(element, &mut left, pattern) {
            Ok(()) => {}
            Err(Wrong::Bad) => return Err(cannot(before, chunk.text)),
            Err(Wrong::Range(what)) => return Err(format!("{}: {what} out of range", parsing())),
        }
    }
    if !left.is_empty() {
        return Err(format!("{}: extra text: {}", parsing(), quoted(left)));
    }
    fields.moment().map_err(|what| format!("{}: {what}", parsing()))
}

/// Removes the prefix, in which any spaces stand for any others; or says where it differs.
fn skip<'t>(mut text: &'t [u8], mut prefix: &[u8]) -> Result<&'t [u8], &'t [u8]> {
    while let Some((&first, rest)) = prefix.split_first() {
        if first == b' ' {
            if text.first().is_some_and(|byte| *byte != b' ') {
                return Err(text);
            }
            prefix = without_spaces(prefix);
            text = without_spaces(text);
            continue;
        }
        match text.split_first() {
            Some((&byte, after)) if byte == first => (text, prefix) = (after, rest),
            _ => return Err(text),
        }
    }
    Ok(text)
}

fn without_spaces(text: &[u8]) -> &[u8] {
    let spaces = text.iter().take_while(|byte| **byte == b' ').count();
    text.get(spaces..).unwrap_or_default()
}

/// Takes so many bytes.
fn take<'t>(left: &mut &'t [u8], count: usize) -> Result<&'t [u8], Wrong> {
    let (taken, rest) = left.split_at_checked(count).ok_or(Wrong::Bad)?;
    *left = rest;
    Ok(taken)
}

/// Reads one to `most` digits, or exactly so many.
fn number(left: &mut &[u8], most: usize, fixed: bool) -> Result<i64, Wrong> {
    let digits = left.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 || fixed && digits != most {
        return Err(Wrong::Bad);
    }
    Ok(value_of(take(left, digits)?))
}

fn value_of(digits: &[u8]) -> i64 {
    digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'))
}

/// A number of two digits that must not be larger than `most`.
fn two(left: &mut &[u8], fixed: bool, most: i64, what: &'static str) -> Result<i64, Wrong> {
    let number = number(left, 2, fixed)?;
    if number > most { Err(Wrong::Range(what)) } else { Ok(number) }
}

/// Reads one of the names, of which `short` letters count if that is not 0; gives its place.
fn name(left: &mut &[u8], names: &[&str], short: usize) -> Result<i64, Wrong> {
    for (at, name) in names.iter().enumerate() {
        let name = if short > 0 { name.get(..short).unwrap_or(name) } else { name };
        if left.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes())) {
            take(left, name.len())?;
            return Ok(at as i64);
        }
    }
    Err(Wrong::Bad)
}

impl Fields {
    /// Reads the part of the text that an element stands for; `after` is the rest of the layout.
    fn read(&mut self, element: Element, left: &mut &[u8], after: &[u8]) -> Result<(), Wrong> {
        match element {
            Element::Year => {
                let digits = take(left, 2)?;
                let year =
                    digits.iter().all(u8::is_ascii_digit).then(|| value_of(digits)).ok_or(Wrong::Bad)?;
                self.year = if year >= 69 { year + 1_900 } else { year + 2_000 };
            }
            Element::LongYear => self.year = number(left, 4, true)?,
            Element::Month => self.month = Some(name(left, &MONTHS, 3)? + 1),
            Element::LongMonth => self.month = Some(name(left, &MONTHS, 0)? + 1),
            Element::NumMonth | Element::ZeroMonth => {
                let month = two(left, element == Element::ZeroMonth, 12, "month")?;
                self.month = Some(if month == 0 { return Err(Wrong::Range("month")) } else { month });
            }
            Element::Weekday => drop(name(left, &WEEKDAYS, 3)?),
            Element::LongWeekday => drop(name(left, &WEEKDAYS, 0)?),
            Element::Day | Element::UnderDay | Element::ZeroDay => {
                self.skip_spaces(left, usize::from(element == Element::UnderDay));
                self.day = Some(number(left, 2, element == Element::ZeroDay)?);
            }
            Element::UnderYearDay | Element::ZeroYearDay => {
                let zero = element == Element::ZeroYearDay;
                self.skip_spaces(left, if zero { 0 } else { 2 });
                self.year_day = Some(number(left, 3, zero)?);
            }
            Element::Hour => self.hour = two(left, false, 23, "hour")?,
            Element::Hour12 | Element::ZeroHour12 => {
                self.hour = two(left, element == Element::ZeroHour12, 12, "hour")?;
            }
            Element::Minute | Element::ZeroMinute => {
                self.minute = two(left, element == Element::ZeroMinute, 59, "minute")?;
            }
            Element::Second | Element::ZeroSecond => {
                self.second = two(left, element == Element::ZeroSecond, 59, "second")?;
                // A fraction that the layout does not have is accepted here.
                let next = next_chunk(after).element;
                if !matches!(next, Some(Element::Fraction0(..) | Element::Fraction9(..))) {
                    self.optional_fraction(left)?;
                }
            }
            Element::UpperPm => self.half_day(take(left, 2)?, [b"AM", b"PM"])?,
            Element::LowerPm => self.half_day(take(left, 2)?, [b"am", b"pm"])?,
            Element::Offset(form) if form.iso && left.first() == Some(&b'Z') => {
                take(left, 1)?;
                self.utc = true;
            }
            Element::Offset(form) => self.offset = Some(offset(left, form)?),
            Element::ZoneName if left.starts_with(b"UTC") => {
                take(left, 3)?;
                self.utc = true;
            }
            Element::ZoneName => {
                let length = zone_length(left).ok_or(Wrong::Bad)?;
                self.zone = Some(SmolStr::new(String::from_utf8_lossy(take(left, length)?)));
            }
            Element::Fraction0(digits, _) => {
                let text = take(left, 1 + digits)?;
                self.nanos = nanos(text)?;
            }
            Element::Fraction9(..) => self.optional_fraction(left)?,
        }
        Ok(())
    }

    fn skip_spaces(&self, left: &mut &[u8], most: usize) {
        for _ in 0..most {
            *left = left.strip_prefix(b" ").unwrap_or(left);
        }
    }

    fn optional_fraction(&mut self, left: &mut &[u8]) -> Result<(), Wrong> {
        if let [b'.' | b',', b'0'..=b'9', ..] = left {
            let digits = left.iter().skip(1).take_while(|byte| byte.is_ascii_digit()).count();
            self.nanos = nanos(take(left, 1 + digits)?)?;
        }
        Ok(())
    }

    fn half_day(&mut self, text: &[u8], [am, pm]: [&[u8]; 2]) -> Result<(), Wrong> {
        match text {
            _ if text == pm => self.pm = true,
            _ if text == am => self.am = true,
            _ => return Err(Wrong::Bad),
        }
        Ok(())
    }

    fn moment(mut self) -> Result<Moment, &'static str> {
        if self.pm && self.hour < 12 {
            self.hour += 12;
        } else if self.am && self.hour == 12 {
            self.hour = 0;
        }
        self.apply_year_day()?;
        let (month, day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
        if day < 1 || day > days_in(self.year, month) {
            return Err("day out of range");
        }
        let clock = (self.hour * 60 + self.minute) * 60 + self.second;
        let seconds = days_from(self.year, month, day) * SECONDS_PER_DAY + clock;
        let shown = Moment::from_unix(seconds, self.nanos);
        Ok(self.in_its_zone(shown))
    }

    /// Go's reading of zones where the local one is UTC.
    fn in_its_zone(self, shown: Moment) -> Moment {
        let name = self.zone.unwrap_or_default();
        match self.offset {
            _ if self.utc => shown,
            Some(0) if name.is_empty() || name == "UTC" => shown,
            // Go takes the offset of minus one second for none.
            Some(offset) if offset != -1 => {
                let zone = Zone { offset: offset as i32, name };
                Moment { seconds: shown.seconds - offset, nanos: shown.nanos, zone }
            }
            _ if name.is_empty() => shown,
            // The zone is unknown: the text is taken as UTC, and the name is kept.
            _ => {
                let hours = name.strip_prefix("GMT").and_then(|hours| hours.parse::<i32>().ok()).unwrap_or(0);
                Moment { zone: Zone { offset: hours * 3_600, name }, ..shown }
            }
        }
    }

    /// Turns the day of the year into a month and a day, which must be those that were read.
    fn apply_year_day(&mut self) -> Result<(), &'static str> {
        let Some(year_day) = self.year_day else { return Ok(()) };
        if !(1..=365 + i64::from(is_leap(self.year))).contains(&year_day) {
            return Err("day-of-year out of range");
        }
        let (mut month, mut day) = (1, year_day);
        while day > days_in(self.year, month) {
            day -= days_in(self.year, month);
            month += 1;
        }
        if self.month.is_some_and(|known| known != month) {
            return Err("day-of-year does not match month");
        }
        if self.day.is_some_and(|known| known != day) {
            return Err("day-of-year does not match day");
        }
        (self.month, self.day) = (Some(month), Some(day));
        Ok(())
    }
}

/// The nanoseconds of a fraction; further digits are dropped.
fn nanos(text: &[u8]) -> Result<u32, Wrong> {
    let [b'.' | b',', digits @ ..] = text else { return Err(Wrong::Bad) };
    let digits = digits.get(..9).unwrap_or(digits);
    if !digits.iter().all(u8::is_ascii_digit) {
        return Err(Wrong::Bad);
    }
    Ok(value_of(digits) as u32 * 10_u32.pow(9 - digits.len() as u32))
}

fn offset(left: &mut &[u8], form: Offset) -> Result<i64, Wrong> {
    let parts = match form.parts {
        Parts::Hours => 1,
        Parts::Minutes => 2,
        Parts::Seconds => 3,
    };
    let colons = if form.colon { parts - 1 } else { 0 };
    let mut text = take(left, 1 + 2 * parts + colons)?;
    let sign = take(&mut text, 1)?;
    let (mut read, mut wrong) = ([0; 3], None);
    let bounds =
        [(24, "time zone offset hour"), (60, "time zone offset minute"), (60, "time zone offset second")];
    for (at, (slot, (most, what))) in read.iter_mut().zip(bounds).enumerate().take(parts) {
        if at > 0 && form.colon && take(&mut text, 1)? != b":" {
            return Err(Wrong::Bad);
        }
        *slot = number(&mut text, 2, true)?;
        if *slot > most {
            wrong = Some(Wrong::Range(what));
        }
    }
    let [hours, minutes, seconds] = read;
    let offset = (hours * 60 + minutes) * 60 + seconds;
    match (wrong, sign) {
        (Some(wrong), _) => Err(wrong),
        (None, b"+") => Ok(offset),
        (None, b"-") => Ok(-offset),
        (None, _) => Err(Wrong::Bad),
    }
}

/// The length of the abbreviation of a zone at the start of a text.
fn zone_length(text: &[u8]) -> Option<usize> {
    if text.len() < 3 {
        return None;
    }
    if text.starts_with(b"ChST") || text.starts_with(b"MeST") {
        return Some(4);
    }
    if let Some(after) = text.strip_prefix(b"GMT") {
        return Some(3 + signed_offset_length(after));
    }
    if matches!(text.first(), Some(b'+' | b'-')) {
        return Some(signed_offset_length(text)).filter(|length| *length > 0);
    }
    let upper = text.iter().take(6).take_while(|byte| byte.is_ascii_uppercase()).count();
    match upper {
        5 => (text.get(4) == Some(&b'T')).then_some(5),
        4 => (text.get(3) == Some(&b'T') || text.starts_with(b"WITA")).then_some(4),
        3 => Some(3),
        _ => None,
    }
}

/// The length of an offset such as `+3`, up to 23 hours; 0 if there is none.
fn signed_offset_length(text: &[u8]) -> usize {
    let Some((b'+' | b'-', digits)) = text.split_first() else { return 0 };
    let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let hours = digits
        .iter()
        .take(count)
        .try_fold(0_u32, |sum, digit| sum.checked_mul(10)?.checked_add(u32::from(digit - b'0')));
    if count > 0 && hours.is_some_and(|hours| hours <= 23) { 1 + count } else { 0 }
}
