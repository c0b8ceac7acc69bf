use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use serde_json::Value;
use tokio::time::sleep;

use crate::{
    Error, Result,
    events::Frame,
    request::{Identity, Request},
    send::{Answer, Surface},
};

/// How often a stream is opened again without a new event in between.
const ATTEMPTS_MAX: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const PAUSE_MAX: Duration = Duration::from_secs(4);
/// More than the events that a server repeats.
const KEYS_MAX: usize = 10_000;

/// Opens a cut stream again, and drops the events that the server repeats.
pub(crate) struct Resumption {
    surface: Surface,
    request: Request,
    identity: Identity,
    seen: Seen,
    attempts: u32,
    is_resumed: bool,
}

/// The events that the caller has. The older half is forgotten if there are too many.
#[derive(Default)]
struct Seen {
    recent: HashSet<String>,
    older: HashSet<String>,
    /// An event without an identity is a state: only the last one counts.
    states: HashMap<String, String>,
}

impl Resumption {
    /// Returns None if the contract has no Last-Event-ID for the request.
    pub fn new(surface: &Surface, request: Request) -> Option<Self> {
        let identity = request.identity?;
        Some(Self {
            surface: surface.clone(),
            request,
            identity,
            seen: Seen::default(),
            attempts: 0,
            is_resumed: false,
        })
    }

    /// Returns false if the caller has the event.
    pub fn take(&mut self, frame: &Frame) -> bool {
        let field = self.identity.iter().find(|(event, _)| *event == frame.event).map(|(_, field)| *field);
        let is_new = match field {
            Some(field) => self.seen.add(format!("{} {}", frame.event, field_of(&frame.data, field))),
            None => self.seen.states.insert(frame.event.clone(), frame.data.clone()).as_ref() != Some(&frame.data),
        };
        if self.is_resumed && !is_new {
            return false;
        }
        self.attempts = 0;
        true
    }

    /// Opens the stream again after an error. It returns the last error if there must be no further attempt.
    pub async fn reopen(&mut self, last_event_id: &str, mut error: Error) -> Result<Answer> {
        while !last_event_id.is_empty() && self.attempts < ATTEMPTS_MAX && may_pass(&error) {
            sleep((FIRST_PAUSE * (1 << self.attempts)).min(PAUSE_MAX)).await;
            self.attempts += 1;
            self.is_resumed = true;
            match self.surface.attempt(&self.request.clone().after(last_event_id)).await {
                Ok(answer) => return Ok(answer),
                Err(next) => error = next,
            }
        }
        Err(error)
    }
}

impl Seen {
    /// Returns false if the key is known.
    fn add(&mut self, key: String) -> bool {
        if self.older.contains(&key) {
            return false;
        }
        if self.recent.len() >= KEYS_MAX {
            self.older = std::mem::take(&mut self.recent);
        }
        self.recent.insert(key)
    }
}

fn may_pass(error: &Error) -> bool {
    match error {
        Error::Api(failure) => failure.retryable,
        Error::StreamCut { .. } | Error::Connection { .. } | Error::Timeout => true,
        _ => false,
    }
}

/// Returns the JSON of a field.
fn field_of(data: &str, name: &str) -> String {
    let fields: Value = serde_json::from_str(data).unwrap_or_default();
    fields.get(name).map(Value::to_string).unwrap_or_default()
}
