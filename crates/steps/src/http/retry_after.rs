//! `Retry-After`: when a destination wants to be asked again.

use std::time::{Duration, SystemTime};

use hyper::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};
use semel_ledger::Millis;

/// The longest that a destination is believed.
const MOST: Millis = Millis::days(1);

/// How long from now; `None` if it does not say so in a way that can be read.
pub(super) fn read(headers: &HeaderMap, now: SystemTime) -> Option<Millis> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Millis(seconds.saturating_mul(1000)).min(MOST));
    }
    let at = httpdate::parse_http_date(text).ok()?;
    // By the destination's own clock, if it tells: ours may differ.
    let now = date(headers, &DATE).unwrap_or(now);
    let wait = at.duration_since(now).unwrap_or(Duration::ZERO);
    Some(crate::outgoing::millis(wait).min(MOST))
}

fn date(headers: &HeaderMap, name: &HeaderName) -> Option<SystemTime> {
    let text = headers.get(name)?.to_str().ok()?;
    httpdate::parse_http_date(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read_and_bounded() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        for (text, millis) in [
            ("0", Some(0)),
            ("120", Some(120_000)),
            (" 7 ", Some(7_000)),
            ("99999999999999999999", None),
            ("18446744073709551615", Some(86_400_000)),
            ("999999", Some(86_400_000)),
            ("-5", None),
            ("soon", None),
            ("1.5", None),
            ("Sun, 06 Nov 1994 08:49:47 GMT", Some(10_000)),
            ("Sunday, 06-Nov-94 08:49:47 GMT", Some(10_000)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("Sat, 06 Nov 2094 08:00:00 GMT", Some(86_400_000)),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, text.parse().unwrap());
            assert_eq!(read(&headers, now), millis.map(Millis), "{text}");
        }
        assert_eq!(read(&HeaderMap::new(), now), None);
    }

    #[test]
    fn the_destinations_clock_counts() {
        let mut headers = HeaderMap::new();
        headers.insert(
            RETRY_AFTER,
            "Sun, 06 Nov 1994 08:49:47 GMT".parse().unwrap(),
        );
        headers.insert(DATE, "Sun, 06 Nov 1994 08:49:17 GMT".parse().unwrap());
        assert_eq!(read(&headers, SystemTime::now()), Some(Millis(30_000)));
    }
}
