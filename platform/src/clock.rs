//! Time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use super::system::monotonic_ns;

/// Monotonic time in nanoseconds since the first call in this process, which the layer makes when it is loaded.
pub fn now_ns() -> u64 {
    // No `OnceLock`: the child of a fork could wait for the thread that was filling it.
    static START: AtomicU64 = AtomicU64::new(0);
    let now = monotonic_ns();
    match START.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => 0,
        Err(start) => now.saturating_sub(start),
    }
}

/// The date in UTC as `YYYY-MM-DD`.
///
/// UTC, because local time reads the environment and the time zone files in the middle of somebody else's process.
pub fn date() -> String {
    date_of(seconds_now() / 86_400)
}

/// Date and time in UTC as RFC 3339 has them, to the second: `YYYY-MM-DDThh:mm:ssZ`.
pub fn date_and_time() -> String {
    let seconds = seconds_now();
    let (hours, minutes) = (seconds / 3_600 % 24, seconds / 60 % 60);
    format!("{}T{hours:02}:{minutes:02}:{:02}Z", date_of(seconds / 86_400), seconds % 60)
}

/// The seconds since 1970, 0 where there is no clock: a page has none that Rust's library could ask.
fn seconds_now() -> u64 {
    if cfg!(target_family = "wasm") {
        return 0;
    }
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The date that is `days` days after 1970-01-01, as `YYYY-MM-DD`.
pub fn date_of(days: u64) -> String {
    let (year, month, day) = civil_from_days(days);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The days from 1970-01-01 to a date, `YYYY-MM-DD`, if the calendar has it.
pub fn days_of(text: &str) -> Option<u64> {
    let [year, month, day] = *text.split('-').collect::<Vec<_>>() else { return None };
    if (year.len(), month.len(), day.len()) != (4, 2, 2) {
        return None;
    }
    let (year, month, day): (u64, u64, u64) = (year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
    if year < 1970 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years begin in March, so that the leap day ends one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    let days = days.checked_sub(719_468)?;
    // The way back tells days that a month does not have.
    (date_of(days) == text).then_some(days)
}

/// The day of the Gregorian calendar that is `days` days after 1970-01-01: year, month 1..=12, day 1..=31.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    // Count from 0000-03-01, so that the leap day ends the year, in eras of 400 years = 146,097 days.
    let since_march = days + 719_468;
    let era = since_march / 146_097;
    let day_of_era = since_march % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!(civil_from_days(0), (1970, 1, 1));
        assert_eq!(civil_from_days(58), (1970, 2, 28));
        assert_eq!(civil_from_days(59), (1970, 3, 1));
        assert_eq!(civil_from_days(11_016), (2000, 2, 29));
        assert_eq!(civil_from_days(11_017), (2000, 3, 1));
        assert_eq!(civil_from_days(20_453), (2025, 12, 31));
        assert_eq!(civil_from_days(20_454), (2026, 1, 1));
        assert_eq!(civil_from_days(47_540), (2100, 2, 28));
        assert_eq!(civil_from_days(47_541), (2100, 3, 1));
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut before = civil_from_days(0);
        for days in 1..150_000 {
            let date = civil_from_days(days);
            let is_next_day = date.2 == before.2 + 1 && date.1 == before.1 && date.0 == before.0;
            let is_next_month = date.2 == 1 && date.1 == before.1 + 1 && date.0 == before.0 && before.2 >= 28;
            let is_next_year = (date.1, date.2) == (1, 1) && (before.1, before.2) == (12, 31) && date.0 == before.0 + 1;
            assert!(is_next_day || is_next_month || is_next_year, "{before:?} then {date:?}");
            before = date;
        }
    }

    #[test]
    fn the_date_has_its_shape() {
        let date = date();
        assert_eq!(date.len(), 10, "{date}");
        assert!(date.starts_with("20") && date.bytes().filter(|&byte| byte == b'-').count() == 2, "{date}");
    }

    #[test]
    fn dates_are_days() {
        assert_eq!(days_of("1970-01-01"), Some(0));
        assert_eq!(days_of("2000-02-29"), Some(11_016));
        assert_eq!(days_of("2026-11-22"), Some(20_779));
        for wrong in [
            "2026-02-29",
            "2100-02-29",
            "2026-04-31",
            "2026-13-01",
            "2026-00-01",
            "1969-12-31",
            "2026-1-01",
            "20261122",
            "",
            "2026-11-00",
        ] {
            assert_eq!(days_of(wrong), None, "{wrong}");
        }
        for days in (0..60_000).step_by(7) {
            assert_eq!(days_of(&date_of(days)), Some(days));
        }
    }

    #[test]
    fn date_and_time_are_those_of_the_system() {
        let said = std::process::Command::new("date").args(["-u", "+%Y-%m-%dT%H:%MZ"]).output().unwrap();
        let own = date_and_time();
        // A minute may end between the two.
        let later = std::process::Command::new("date").args(["-u", "+%Y-%m-%dT%H:%MZ"]).output().unwrap();
        let minute = format!("{}Z", &own[..16]);
        assert!([said, later].iter().any(|said| String::from_utf8_lossy(&said.stdout).trim() == minute), "{own}");
        assert_eq!(own.len(), 20, "{own}");
    }

    #[test]
    fn time_passes() {
        let first = now_ns();
        std::thread::sleep(std::time::Duration::from_millis(2));
        let second = now_ns();
        assert!(second - first >= 2_000_000 && second < 3_600_000_000_000, "{first} then {second}");
    }
}
