//! Timestamps: numbers, or dates in UTC.

use super::lines::Line;
use super::problem;
use crate::DataError;

/// A moment, to be compared with others of the same files: seconds or any other unit since any origin, or the digits of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    whole: i64,
    nanos: u32,
    /// Whether it was written as a date. The digits of a date do not compare with other numbers.
    is_date: bool,
}

impl Moment {
    /// A whole number of units.
    #[cfg(test)]
    pub(crate) fn of(whole: i64) -> Self {
        Self {
            whole,
            nanos: 0,
            is_date: false,
        }
    }

    /// Whether two moments were written in the same way, so that they compare.
    pub(crate) fn compares_with(self, other: Self) -> bool {
        self.is_date == other.is_date
    }

    /// Parses a number, or a date such as `2010-10-19T23:55:27Z`, `2010-10-19 23:55` or `2010-10-19`.
    fn parse(text: &str) -> Option<Self> {
        if let Ok(whole) = text.parse() {
            return Some(Self {
                whole,
                nanos: 0,
                is_date: false,
            });
        }
        match text.parse::<f64>() {
            Ok(number) => Self::of_float(number),
            Err(_) => Self::of_date(text),
        }
    }

    fn of_float(number: f64) -> Option<Self> {
        let whole = number.floor();
        // Beyond this, neighbouring floats are hundreds apart, and conversion would saturate.
        (whole.abs() < 9e18).then_some(Self {
            whole: whole as i64,
            nanos: ((number - whole) * 1e9) as u32,
            is_date: false,
        })
    }

    /// The digits of a date in a row compare as the dates do, if all are written in UTC.
    fn of_date(text: &str) -> Option<Self> {
        let (date, time) = match text.split_once(['T', ' ']) {
            Some((date, time)) => (date, time),
            None => (text, "0:0:0"),
        };
        let time = ["Z", "+00:00", "+0000", " UTC"]
            .iter()
            .find_map(|zone| time.strip_suffix(zone))
            .unwrap_or(time);
        let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
        let [year, month, day] = numbers(date, '-', 3)?;
        let [hour, minute, second] = numbers(time, ':', 2)?;
        let in_range = (1..=9999).contains(&year)
            && (1..=12).contains(&month)
            && (1..=days(year, month)).contains(&day)
            && hour < 24
            && minute < 60
            // A minute may have a leap second.
            && second <= 60;
        let nanos = format!("{fraction:0<9}").get(..9)?.parse().ok();
        nanos.filter(|_| in_range).map(|nanos| Self {
            whole: [month, day, hour, minute, second]
                .iter()
                .fold(year, |whole, part| whole * 100 + part),
            nanos,
            is_date: true,
        })
    }
}

/// Number of days of a month from 1 to 12 in the Gregorian calendar.
fn days(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Three numbers with a separator between them; the last may be left out if `least` is 2.
fn numbers(text: &str, separator: char, least: usize) -> Option<[i64; 3]> {
    let parts: Option<Vec<i64>> = text
        .split(separator)
        .map(|part| {
            part.parse()
                .ok()
                .filter(|_| part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit()))
        })
        .collect();
    match parts?[..] {
        [first, second, third] => Some([first, second, third]),
        [first, second] if least == 2 => Some([first, second, 0]),
        _ => None,
    }
}

impl Line<'_> {
    /// Parses `raw` as a timestamp.
    pub(crate) fn moment(&self, raw: &str) -> Result<Moment, DataError> {
        let problem = if raw.is_empty() { problem::EMPTY } else { problem::NOT_A_TIME };
        Moment::parse(raw).ok_or_else(|| self.bad_field("timestamp", raw, problem))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_compare_as_their_texts_mean() {
        for ascending in [
            &[
                "-5",
                "0",
                "0.25",
                "0.5",
                "1",
                "881250949",
                "881250949.5",
                "1e9",
                "1699999999999999999",
                "1700000000000000000",
            ][..],
            &[
                "1998-12-31",
                "1999-01-01",
                "1999-01-01T00:00:01Z",
                "1999-1-1 0:01",
                "1999-01-01 10:00:00.5",
                "1999-01-01T10:00:00.75+00:00",
                "2010-10-19 23:55:27 UTC",
            ],
        ] {
            let moments: Vec<Moment> = ascending.iter().map(|text| Moment::parse(text).expect(text)).collect();
            assert!(moments.is_sorted_by(|a, b| a < b), "{moments:?}");
        }
        assert_eq!(Moment::parse("2010-10-19"), Moment::parse("2010-10-19 00:00:00"));
    }

    #[test]
    fn the_last_day_of_each_month_is_a_date_and_the_next_is_none() {
        for last in [
            "2010-01-31",
            "2010-02-28",
            "2012-02-29",
            "2000-02-29",
            "1900-02-28",
            "2010-04-30",
            "2010-12-31",
        ] {
            assert!(Moment::parse(last).is_some(), "{last}");
            let (month, day) = last.split_at(8);
            let next = format!("{month}{}", day.parse::<u8>().unwrap() + 1);
            assert_eq!(Moment::parse(&next), None, "{next}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "yesterday",
            "nan",
            "inf",
            "1e300",
            "2010-13-01",
            "2010-10-32",
            "2010-10-19T25:00",
            "10-19",
            "2010-10-19T23:55:27+02:00",
            "2010-10-19T23",
            "2010-10-19T1:2:3.x",
            "2010-10-1é",
        ] {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
    }
}
