use std::{
    collections::{BTreeMap, HashSet},
    fs,
};

use parley::{
    Error, HeaderMap, Verifier, WebhookError,
    platform::{ListSessionsParams, NewSession, SessionIntent, WebhookEvent, verify_webhook},
};
use reqwest::header::HeaderName;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Outcome, Program, print, variable};

const SESSIONS_MORE: u32 = 4;
const PAGES_MAX: usize = 10;
const UNKNOWN_CALL: &str = "0198c0de-7c1b-7a4e-9b1d-3a5f0c2e4d6b";

pub async fn run(program: &Program) -> Outcome<()> {
    let webhook = Received::read()?;
    let verifier = Verifier::new([variable("PARLEY_WEBHOOK_SECRET")?]);
    let headers = headers_of(&webhook.headers)?;
    print("webhook", json!({ "type": type_of(&verify_webhook(&verifier, &headers, webhook.body.as_bytes())?) }));
    let changed = format!("{} ", webhook.body);
    let refused = verify_webhook(&verifier, &headers, changed.as_bytes()).err();
    print("webhook_refused", json!({ "error": refused.map(reason_of) }));
    print("pages", pages(program).await?);
    print("not_found", not_found(program).await?);
    Ok(())
}

/// A webhook that the server has sent.
#[derive(Deserialize)]
struct Received {
    headers: BTreeMap<String, String>,
    body: String,
}

impl Received {
    fn read() -> Outcome<Self> {
        Ok(serde_json::from_slice(&fs::read(variable("PARLEY_WEBHOOK")?)?)?)
    }
}

pub fn headers_of(fields: &BTreeMap<String, String>) -> Outcome<HeaderMap> {
    let headers = fields.iter().map(|(name, value)| Outcome::Ok((name.parse::<HeaderName>()?, value.parse()?)));
    headers.collect()
}

pub fn type_of(event: &WebhookEvent) -> &'static str {
    match event {
        WebhookEvent::Report(_) => "call.report",
        WebhookEvent::Status(_) => "call.status",
        _ => "another event",
    }
}

pub fn reason_of(error: WebhookError) -> &'static str {
    match error {
        WebhookError::Header => "header",
        WebhookError::Timestamp => "timestamp",
        WebhookError::Signature => "signature",
        WebhookError::Body => "body",
        _ => "misuse",
    }
}

async fn pages(program: &Program) -> Outcome<Value> {
    for _ in 0..SESSIONS_MORE {
        let intent = SessionIntent { language: Some("en".to_owned()), ..Default::default() };
        program.platform.create_session(&NewSession { intent: Some(intent), ..Default::default() }).await?;
    }
    let mut params = ListSessionsParams { limit: Some(2), ..Default::default() };
    let (mut sizes, mut ids) = (Vec::new(), HashSet::new());
    while sizes.len() < PAGES_MAX {
        let page = program.platform.list_sessions(&params).await?;
        sizes.push(page.entries.len());
        ids.extend(page.entries.into_iter().map(|entry| entry.session_id));
        params.cursor = page.next_cursor;
        if params.cursor.is_none() {
            break;
        }
    }
    Ok(json!({ "sizes": sizes, "ids": ids.len() }))
}

async fn not_found(program: &Program) -> Outcome<Value> {
    match program.platform.get_call(UNKNOWN_CALL).await {
        Err(Error::Api(failure)) => Ok(json!({ "status": failure.status, "code": failure.code })),
        Err(error) => Err(error.into()),
        Ok(_) => Err("the call exists".into()),
    }
}
