use parley::{
    Client, ClientBuilder, Error,
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
    let (events, error) = read_webhooks("twins").await?;
    error.map_or(Ok(()), Err)?;
    print("resumed_webhooks", json!({ "events": events }));
    print("resumed_session", resumed_session().await?);
    let (events, error) = read_webhooks("lost").await?;
    print("lost_stream", json!({ "events": events, "error": error.as_ref().map(name_of) }));
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

async fn read_webhooks(fault: &str) -> Outcome<(Vec<String>, Option<Error>)> {
    let params = StreamWebhookEventsParams { cursor: Some("0:0".to_owned()), ..Default::default() };
    let mut stream = Platform::new(&scripted_client(fault)?).stream_webhook_events(&params).await?;
    let mut names = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Err(error) => return Ok((names, Some(error))),
            Ok(event) => names.push(match event.data {
                StreamWebhookEventsEvent::Webhook(webhook) => webhook.event_id,
                _ => event.name,
            }),
        }
    }
    Ok((names, None))
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
