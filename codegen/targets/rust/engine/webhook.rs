use std::{error, fmt, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use chrono::{DateTime, TimeDelta, Utc};
use hmac::{Hmac, KeyInit, Mac};
use reqwest::header::HeaderMap;
use serde_json::Value;
use sha2::Sha256;

const DEFAULT_TOLERANCE: Duration = Duration::from_secs(300);
/// Limits the work for one webhook. While the server replaces a secret, a webhook has two signatures.
const SIGNATURES_MAX: usize = 8;
const KEY_BYTES_MIN: usize = 24;
const KEY_BYTES_MAX: usize = 64;
/// The contract's minimum. Anybody can sign with an empty secret, such as that of a variable that is not set.
const SECRET_CHARS_MIN: usize = 8;
const TIMESTAMP_DIGITS_MAX: usize = 12;

/// Why a webhook was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WebhookError {
    /// A header is missing.
    Header,
    /// The webhook is too old, or its time is not valid.
    Timestamp,
    /// No signature fits a secret.
    Signature,
    /// The body is no JSON object, or not what the contract says.
    Body,
    /// A fault in this program: there is no secret, or a secret has less than 8 characters.
    Secret,
}

impl fmt::Display for WebhookError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Header => "a header of the webhook is missing",
            Self::Timestamp => "the webhook's time is not valid",
            Self::Signature => "the webhook's signature is not valid",
            Self::Body => "the webhook's body is not valid",
            Self::Secret => "the secret of a webhook has at least 8 characters",
        })
    }
}

impl error::Error for WebhookError {}

/// Checks that webhooks come from the server that has one of the secrets (Standard Webhooks 1.0).
#[derive(Clone)]
pub struct Verifier {
    secrets: Vec<String>,
    tolerance: Duration,
    /// The present time in tests. Absent if the clock decides.
    now: Option<DateTime<Utc>>,
}

impl Verifier {
    /// Takes the current secret and, while it is replaced, the one before.
    pub fn new(secrets: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let secrets = secrets.into_iter().map(Into::into).collect();
        Self { secrets, tolerance: DEFAULT_TOLERANCE, now: None }
    }

    /// Sets the limit for the age of a webhook. The default is 5 minutes.
    #[must_use]
    pub fn tolerance(mut self, tolerance: Duration) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Sets the present time, for tests.
    #[must_use]
    pub fn at(mut self, now: DateTime<Utc>) -> Self {
        self.now = Some(now);
        self
    }

    /// Checks a webhook. The signature covers the exact bytes of the body, so the body must not be parsed and written
    /// again before.
    pub fn verify(&self, headers: &HeaderMap, body: &[u8]) -> Result<(), WebhookError> {
        if self.secrets.is_empty() || self.secrets.iter().any(|secret| secret.chars().count() < SECRET_CHARS_MIN) {
            return Err(WebhookError::Secret);
        }
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).filter(|value| !value.is_empty());
        let id = header("webhook-id").ok_or(WebhookError::Header)?;
        let timestamp = header("webhook-timestamp").ok_or(WebhookError::Header)?;
        let signatures = header("webhook-signature").ok_or(WebhookError::Header)?;
        if !self.is_recent(timestamp) {
            return Err(WebhookError::Timestamp);
        }
        let message = [id.as_bytes(), b".", timestamp.as_bytes(), b".", body].concat();
        if !self.secrets.iter().any(|secret| is_signed(&message, secret, signatures)) {
            return Err(WebhookError::Signature);
        }
        match serde_json::from_slice(body) {
            Ok(Value::Object(_)) => Ok(()),
            _ => Err(WebhookError::Body),
        }
    }

    fn is_recent(&self, timestamp: &str) -> bool {
        let is_number = timestamp.bytes().all(|byte| byte.is_ascii_digit()) && timestamp.len() <= TIMESTAMP_DIGITS_MAX;
        let seconds = timestamp.parse().ok().filter(|_| is_number);
        let Some(at) = seconds.and_then(|seconds| DateTime::from_timestamp(seconds, 0)) else { return false };
        let tolerance = TimeDelta::from_std(self.tolerance).unwrap_or(TimeDelta::MAX);
        (self.now.unwrap_or_else(Utc::now) - at).abs() <= tolerance
    }
}

fn is_signed(message: &[u8], secret: &str, signatures: &str) -> bool {
    let given = signatures.split(' ').take(SIGNATURES_MAX).filter_map(|signature| signature.strip_prefix("v1,"));
    given.filter_map(|text| STANDARD.decode(text).ok()).any(|signature| {
        let mac = Hmac::<Sha256>::new_from_slice(&key_of(secret));
        mac.is_ok_and(|mac| mac.chain_update(message).verify_slice(&signature).is_ok())
    })
}

/// Decodes a secret in the standard's form. Any other text is used unchanged.
fn key_of(secret: &str) -> Vec<u8> {
    let standard = secret.strip_prefix("whsec_").and_then(|text| STANDARD.decode(text).ok());
    let usual = standard.filter(|key| (KEY_BYTES_MIN..=KEY_BYTES_MAX).contains(&key.len()));
    usual.unwrap_or_else(|| secret.as_bytes().to_vec())
}
