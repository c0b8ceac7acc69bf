use std::time::Duration;

use parley::{
    Client, ClientBuilder, Error, Event, EventStream,
    platform::{
        Platform, StreamSessionEvent, StreamSessionParams, StreamWebhookEventsEvent, StreamWebhookEventsParams,
    },
    router::Router,
};
use serde_json::{Value, json};

use crate::{
    Outcome, client_at,
    faults::{name_of, stream_error},
    print, variable,
};

pub async fn run() -> Outcome<()> {
    let (events, error) = read_webhooks(scripted("twins")?).await?;
    error.map_or(Ok(()), Err)?;
    print("resumed_webhooks", json!({ "events": events }));
    print("resumed_session", resumed_session().await?);
    let (events, error) = read_webhooks(scripted("lost")?).await?;
    print("lost_stream", json!({ "events": events, "error": error.as_ref().map(name_of) }));
    let (events, error) = read_webhooks(scripted("stalled")?.timeout(Duration::from_secs(1))).await?;
    error.map_or(Ok(()), Err)?;
    print("late_read", json!({ "events": events }));
    let (opening, pausing) = (read_until_closed("opening").await?, read_until_closed("pausing").await?);
    print("closed_streams", json!({ "opening": opening, "pausing": pausing }));
    print("unreadable_event", json!({ "error": response_error("unreadable").await? }));
    let (longest, longer) = (response_error("longest").await?, response_error("long").await?);
    print("long_event", json!({ "longest": longest, "longer": longer }));
    Ok(())
}

/// Begins a connection to a path of the scripted server.
pub fn scripted(fault: &str) -> Outcome<ClientBuilder> {
    client_at(&format!("{}/{fault}", variable("PARLEY_SCRIPTED_URL")?))
}

fn scripted_client(fault: &str) -> Outcome<Client> {
    Ok(scripted(fault)?.build()?)
}

async fn read_webhooks(builder: ClientBuilder) -> Outcome<(Vec<String>, Option<Error>)> {
    let mut stream = open_webhooks(builder).await?;
    let mut names = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Err(error) => return Ok((names, Some(error))),
            Ok(event) => names.push(webhook_name(event)),
        }
    }
    Ok((names, None))
}

/// Reads until the scripted server has been reached. Then drops the stream, which closes the stream.
async fn read_until_closed(fault: &str) -> Outcome<Vec<String>> {
    let mut stream = open_webhooks(scripted(fault)?).await?;
    let mut names = Vec::new();
    let reached = ask("reached", fault);
    tokio::pin!(reached);
    loop {
        tokio::select! {
            answer = &mut reached => break answer?,
            event = stream.next() => match event {
                Some(event) => names.push(webhook_name(event?)),
                None => return Err("the stream ended".into()),
            },
        }
    }
    drop(stream);
    ask("released", fault).await?;
    Ok(names)
}

/// Waits until the scripted server answers a question about a fault.
async fn ask(question: &str, fault: &str) -> Outcome<()> {
    reqwest::get(format!("{}/{question}/{fault}", variable("PARLEY_SCRIPTED_URL")?)).await?;
    Ok(())
}

async fn open_webhooks(builder: ClientBuilder) -> Outcome<EventStream<Event<StreamWebhookEventsEvent>>> {
    let params = StreamWebhookEventsParams { cursor: Some("0:0".to_owned()), ..Default::default() };
    Ok(Platform::new(&builder.build()?).stream_webhook_events(&params).await?)
}

fn webhook_name(event: Event<StreamWebhookEventsEvent>) -> String {
    match event.data {
        StreamWebhookEventsEvent::Webhook(webhook) => webhook.event_id,
        _ => event.name,
    }
}

async fn resumed_session() -> Outcome<Value> {
    let params = StreamSessionParams::default();
    let mut stream = Platform::new(&scripted_client("states")?).stream_session("s", &params).await?;
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event?;
        events.push(match event.data {
            StreamSessionEvent::Status(status) => status.status.to_string(),
            StreamSessionEvent::Transcript(turn) => format!("turn {}", turn.index),
            StreamSessionEvent::Event(call) => format!("event {}", call.id),
            _ => event.name,
        });
    }
    Ok(json!({ "events": events }))
}

async fn response_error(fault: &str) -> Outcome<Value> {
    Ok(stream_error(&Router::new(&scripted_client(fault)?)).await)
}
