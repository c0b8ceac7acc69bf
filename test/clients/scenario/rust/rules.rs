use std::{collections::BTreeMap, fs, time::Duration};

use parley::{
    CallOptions, Client, ClientBuilder, DateTime, Verifier,
    compat::{Compat, Intent, TranscribeParams},
    platform::verify_webhook,
    router::{ListModelsParams, Router, SpeechRequest},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Outcome,
    faults::{name_of, stream_error},
    print,
    texts::question,
    variable,
    webhooks::{headers_of, reason_of, type_of},
};

const READ_TIMEOUT: Duration = Duration::from_secs(1);
const REFUSALS: [&str; 8] = ["limited", "progress", "broken", "upstream", "overloaded", "late", "final", "begun"];

pub async fn run() -> Outcome<()> {
    let with_key = answering("limited")?.with(CallOptions::new().header("idempotency-KEY", "mine"));
    let with_key = post(&with_key).await;
    print(
        "rule_retries",
        json!({ "posts": posts(&REFUSALS).await?, "reads": reads(&REFUSALS).await?, "with_key": with_key }),
    );
    print("rule_redirects", posts(&["moved", "other", "temporary"]).await?);
    print("rule_headers", headers().await?);
    print("rule_errors", errors().await?);
    print("rule_timeouts", timeouts().await?);
    print("rule_webhooks", webhooks()?);
    Ok(())
}

/// Begins a client for a prepared answer. Its key comes from PARLEY_API_KEY.
fn builder(answer: &str) -> Outcome<ClientBuilder> {
    Ok(Client::builder(&format!("{}/{answer}", variable("PARLEY_RULES_URL")?)))
}

fn answering(answer: &str) -> Outcome<Router> {
    Ok(Router::new(&builder(answer)?.build()?))
}

async fn headers() -> Outcome<Value> {
    let client = builder("headers//")?.header_prefix("Voice").build()?;
    let intent = Intent { language: Some("dé🎵".to_owned()), ..Default::default() };
    let params = TranscribeParams { service_intent: Some(intent), ..Default::default() };
    let options = CallOptions::new().header("content-type", "audio/l16; rate=8000");
    let answer = Compat::new(&client).with(options).transcribe(vec![0, 0], &params).await?;
    Ok(json!({ "text": answer.text }))
}

async fn errors() -> Outcome<Value> {
    let mut kinds = reads(&["page", "gateway", "text", "longest", "longer"]).await?;
    kinds["reset"] = post(&answering("reset")?).await;
    kinds["cut"] = post(&answering("cut")?).await;
    let refused = Client::builder("http://127.0.0.1:2").retries_max(1).build()?;
    kinds["refused"] = read(&Router::new(&refused)).await;
    Ok(kinds)
}

async fn timeouts() -> Outcome<Value> {
    let limited = |answer| Outcome::Ok(Router::new(&builder(answer)?.timeout(READ_TIMEOUT).build()?));
    Ok(json!({
        "silent": read(&limited("silent")?).await,
        "slow": read(&limited("slow")?).await,
        "audio": hear(&limited("audio")?).await,
        "stalled": hear(&limited("stalled")?).await,
        "paused": stream_error(&limited("paused")?).await,
    }))
}

async fn posts(answers: &[&str]) -> Outcome<Value> {
    let mut kinds = json!({});
    for answer in answers {
        kinds[answer] = post(&answering(answer)?).await;
    }
    Ok(kinds)
}

async fn reads(answers: &[&str]) -> Outcome<Value> {
    let mut kinds = json!({});
    for answer in answers {
        kinds[answer] = read(&answering(answer)?).await;
    }
    Ok(kinds)
}

async fn post(router: &Router) -> Value {
    kind_of(router.create_response(&question()).await)
}

async fn read(router: &Router) -> Value {
    kind_of(router.list_models(&ListModelsParams::default()).await)
}

async fn hear(router: &Router) -> Value {
    match router.create_speech(&SpeechRequest::new("Hi.")).await {
        Ok(speech) => kind_of(speech.bytes().await),
        Err(error) => name_of(&error),
    }
}

fn kind_of<T>(result: parley::Result<T>) -> Value {
    result.err().map_or(Value::Null, |error| name_of(&error))
}

#[derive(Deserialize)]
struct WebhookCase {
    name: String,
    secrets: Vec<String>,
    headers: BTreeMap<String, String>,
    body: String,
    now: i64,
}

fn webhooks() -> Outcome<Value> {
    let cases: Vec<WebhookCase> = serde_json::from_slice(&fs::read(variable("PARLEY_WEBHOOK_CASES")?)?)?;
    let mut results = json!({});
    for case in cases {
        let now = DateTime::from_timestamp(case.now, 0).ok_or("the time is not valid")?;
        let verifier = Verifier::new(case.secrets).at(now);
        let result = verify_webhook(&verifier, &headers_of(&case.headers)?, case.body.as_bytes());
        results[case.name] = result.as_ref().map_or_else(|error| reason_of(*error), type_of).into();
    }
    Ok(results)
}
