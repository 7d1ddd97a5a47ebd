//! The elements of layouts such as `2006-01-02 15:04:05`.

/// An element of a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    LongMonth,
    Month,
    NumMonth,
    ZeroMonth,
    LongWeekday,
    Weekday,
    Day,
    UnderDay,
    ZeroDay,
    UnderYearDay,
    ZeroYearDay,
    Hour,
    Hour12,
    ZeroHour12,
    Minute,
    ZeroMinute,
    Second,
    ZeroSecond,
    LongYear,
    Year,
    /// `PM`
    UpperPm,
    /// `pm`
    LowerPm,
    /// `MST`
    ZoneName,
    Offset(Offset),
    /// `.000`: a fraction of a second with exactly so many digits, after this separator.
    Fraction0(usize, u8),
    /// `.999`: without zeros at its end.
    Fraction9(usize, u8),
}

/// The form of an offset from UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Offset {
    /// Whether UTC is `Z`.
    pub iso: bool,
    pub colon: bool,
    pub parts: Parts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parts {
    Hours,
    Minutes,
    Seconds,
}

/// A layout up to its first element, that element as it is and as it is written, and what follows.
pub(super) struct Chunk<'l> {
    pub prefix: &'l [u8],
    pub element: Option<Element>,
    pub text: &'l [u8],
    pub rest: &'l [u8],
}

/// The elements that are told by their first bytes, each before those that are its beginning.
const FIXED: [(&[u8], Element); 33] = [
    (b"January", Element::LongMonth),
    (b"Monday", Element::LongWeekday),
    (b"MST", Element::ZoneName),
    (b"01", Element::ZeroMonth),
    (b"02", Element::ZeroDay),
    (b"03", Element::ZeroHour12),
    (b"04", Element::ZeroMinute),
    (b"05", Element::ZeroSecond),
    (b"06", Element::Year),
    (b"002", Element::ZeroYearDay),
    (b"15", Element::Hour),
    (b"1", Element::NumMonth),
    (b"2006", Element::LongYear),
    (b"2", Element::Day),
    (b"_2", Element::UnderDay),
    (b"__2", Element::UnderYearDay),
    (b"3", Element::Hour12),
    (b"4", Element::Minute),
    (b"5", Element::Second),
    (b"PM", Element::UpperPm),
    (b"pm", Element::LowerPm),
    (b"-070000", offset(false, false, Parts::Seconds)),
    (b"-07:00:00", offset(false, true, Parts::Seconds)),
    (b"-0700", offset(false, false, Parts::Minutes)),
    (b"-07:00", offset(false, true, Parts::Minutes)),
    (b"-07", offset(false, false, Parts::Hours)),
    (b"Z070000", offset(true, false, Parts::Seconds)),
    (b"Z07:00:00", offset(true, true, Parts::Seconds)),
    (b"Z0700", offset(true, false, Parts::Minutes)),
    (b"Z07:00", offset(true, true, Parts::Minutes)),
    (b"Z07", offset(true, false, Parts::Hours)),
    (b"Jan", Element::Month),
    (b"Mon", Element::Weekday),
];

const fn offset(iso: bool, colon: bool, parts: Parts) -> Element {
    Element::Offset(Offset { iso, colon, parts })
}

/// Finds the first element of a layout.
pub(super) fn next_chunk(layout: &[u8]) -> Chunk<'_> {
    for at in 0..layout.len() {
        let (prefix, here) = layout.split_at(at);
        // `_2006` is a line and a year.
        if here.starts_with(b"_2006") {
            continue;
        }
        if let Some((element, length)) = element_at(here) {
            let (text, rest) = here.split_at(length);
            return Chunk { prefix, element: Some(element), text, rest };
        }
    }
    Chunk { prefix: layout, element: None, text: b"", rest: b"" }
}

fn element_at(here: &[u8]) -> Option<(Element, usize)> {
    let first = here.first()?;
    if matches!(first, b'.' | b',') {
        return fraction(here, *first);
    }
    let (text, element) = FIXED.iter().find(|(text, _)| here.starts_with(text))?;
    let short = matches!(element, Element::Month | Element::Weekday);
    let goes_on = here.get(text.len()).is_some_and(u8::is_ascii_lowercase);
    (!(short && goes_on)).then_some((*element, text.len()))
}

/// A fraction of a second; a digit after it makes it something else.
fn fraction(here: &[u8], separator: u8) -> Option<(Element, usize)> {
    let digit = *here.get(1).filter(|byte| matches!(byte, b'0' | b'9'))?;
    let digits = here.iter().skip(1).take_while(|byte| **byte == digit).count();
    if here.get(1 + digits).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let element = match digit {
        b'0' => Element::Fraction0(digits, separator),
        _ => Element::Fraction9(digits, separator),
    };
    Some((element, 1 + digits))
}
