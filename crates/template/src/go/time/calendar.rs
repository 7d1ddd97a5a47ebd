//! Dates of the Gregorian calendar and their days, for all years.

pub(super) const SECONDS_PER_DAY: i64 = 86_400;

/// The days of 400 years.
const DAYS_PER_ERA: i64 = 146_097;

/// A date.
pub(super) struct Date {
    pub year: i64,
    /// From 1.
    pub month: i64,
    /// From 1.
    pub day: i64,
    /// The days since 1970.
    days: i64,
}

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

pub(super) const WEEKDAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

impl Date {
    /// The date of a day, counted from 1970. Years begin in March here, so that the leap day is the last one.
    pub fn from_days(days: i64) -> Date {
        let shifted = days + 719_468;
        let era = shifted.div_euclid(DAYS_PER_ERA);
        let in_era = shifted.rem_euclid(DAYS_PER_ERA);
        let year_of_era = (in_era - in_era / 1_460 + in_era / 36_524 - in_era / 146_096) / 365;
        let in_year = in_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * in_year + 2) / 153;
        let day = in_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Date { year, month, day, days }
    }

    /// From 0 for Sunday.
    pub fn weekday(&self) -> i64 {
        (self.days + 4).rem_euclid(7)
    }

    /// From 1.
    pub fn year_day(&self) -> i64 {
        self.days - days_from(self.year, 1, 1) + 1
    }
}

/// The days from 1970 to a date; the day may be any number.
pub(super) fn days_from(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let from_march = (month + 9) % 12;
    let in_year = (153 * from_march + 2) / 5 + day - 1;
    let in_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + in_year;
    era * DAYS_PER_ERA + in_era - 719_468
}

pub(super) fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

pub(super) fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The name of a month from 1, or of a weekday from 0.
pub(super) fn name_of(names: &'static [&'static str], at: i64) -> &'static str {
    usize::try_from(at).ok().and_then(|at| names.get(at)).copied().unwrap_or_default()
}
