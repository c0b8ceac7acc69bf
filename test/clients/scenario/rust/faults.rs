use std::time::Duration;

use parley::{CallOptions, Error, router::Router};
use serde_json::{Value, json};
use tokio::select;

use crate::{
    Outcome, client_at, print,
    texts::{question, text_of},
    variable,
};

pub const TIMEOUT: Duration = Duration::from_millis(300);

pub async fn run() -> Outcome<()> {
    let answer = at("busy")?.create_response(&question()).await?;
    print("retry", json!({ "text": text_of(&answer) }));
    print("cut_stream", json!({ "error": stream_error(&at("reset")?).await }));
    print("short_stream", json!({ "error": stream_error(&at("short")?).await }));
    print("cancel", cancel().await?);
    let limited = at("silent")?.with(CallOptions::new().timeout(TIMEOUT));
    let late = limited.create_response(&question()).await;
    print("timeout", json!({ "error": late.err().map(|error| name_of(&error)) }));
    Ok(())
}

/// Returns a client for the path with a fault.
fn at(fault: &str) -> Outcome<Router> {
    let url = format!("{}/{fault}", variable("PARLEY_FAULTS_URL")?);
    Ok(Router::new(&client_at(&url)?.build()?))
}

/// A request is cancelled when its future is dropped.
async fn cancel() -> Outcome<Value> {
    let arrived = reqwest::get(format!("{}/sent/silent", variable("PARLEY_FAULTS_URL")?));
    let (silent, question) = (at("silent")?, question());
    select! {
        answer = silent.create_response(&question) => Err(format!("there is an answer: {}", answer.is_ok()).into()),
        arrived = arrived => {
            arrived?;
            Ok(json!({ "error": "cancelled" }))
        }
    }
}

/// Reads a stream to its end. Returns the name of its error, or null.
pub async fn stream_error(router: &Router) -> Value {
    read_stream(router).await.err().map_or(Value::Null, |error| name_of(&error))
}

async fn read_stream(router: &Router) -> parley::Result<()> {
    let mut stream = router.create_response_stream(&question()).await?;
    while let Some(event) = stream.next().await {
        event?;
    }
    Ok(())
}

/// Returns the status of an error answer, or the name of another error.
pub fn name_of(error: &Error) -> Value {
    match error {
        Error::Api(failure) => failure.status.into(),
        Error::Timeout => "timeout".into(),
        Error::Protocol { .. } => "protocol".into(),
        Error::StreamCut { .. } => "truncated".into(),
        Error::Connection { is_sent: true, .. } => "lost".into(),
        Error::Connection { is_sent: false, .. } => "unsent".into(),
        other => other.to_string().into(),
    }
}
