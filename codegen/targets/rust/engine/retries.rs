use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::{
    Method,
    header::{HeaderMap, RETRY_AFTER},
};
use uuid::Uuid;

use crate::error::{ApiError, Error};

/// The longest pause that a server can ask for. If it asks for more, the request fails at once.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(8);

/// Returns the time to wait before the retry with this number, from 0. The server runs no request twice, so a request
/// is repeated only if it never reached the server, or if the server answered that it may be repeated.
pub(crate) fn pause_before(retry: u32, error: &Error, method: &Method) -> Option<Duration> {
    match error {
        Error::Api(failure) if failure.is_repeatable(method) => pause_after(retry, &failure.headers),
        Error::Connection { is_sent: false, .. } => Some(usual_pause(retry)),
        _ => None,
    }
}

impl ApiError {
    /// True if the server has not processed the request. After 500 and 504 the server may have processed it, and with
    /// the header x-should-retry a provider has it already, so the method must allow a second time.
    fn is_repeatable(&self, method: &Method) -> bool {
        let allows_second = *method != Method::POST && *method != Method::PATCH;
        let has_begun = self.headers.get("x-should-retry").is_some_and(|value| value == "false");
        self.retryable
            && match self.status {
                429 | 502 | 503 => allows_second || !has_begun,
                500 | 504 => allows_second,
                _ => false,
            }
    }
}

fn pause_after(retry: u32, headers: &HeaderMap) -> Option<Duration> {
    let asked = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let pause = if let Ok(seconds) = asked.parse() {
        Duration::from_secs(seconds)
    } else if let Ok(at) = DateTime::parse_from_rfc2822(asked) {
        (at.to_utc() - Utc::now()).to_std().unwrap_or_default()
    } else {
        usual_pause(retry)
    };
    (pause <= RETRY_AFTER_MAX).then_some(pause)
}

/// Doubles with each retry. A random half keeps many clients from returning at the same moment.
fn usual_pause(retry: u32) -> Duration {
    let pause = (FIRST_PAUSE * (1 << retry.min(4))).min(PAUSE_MAX);
    let [random, ..] = Uuid::new_v4().into_bytes();
    pause / 2 + pause / 2 * u32::from(random) / 256
}
