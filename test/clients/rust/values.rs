//! How values are written and read.

use std::time::Duration;

use parley::{
    Client, Error, Nullable,
    compat::ChatMessage,
    platform::{AgentChange, Platform},
    router::{InputMessage, InputText, LlmResponse, MessageRole, OutputItem, StopReason},
};
use serde_json::{Value, json};

#[test]
fn values_of_later_versions_are_kept() {
    let image = json!({ "type": "image", "url": "u" });
    let message = json!({ "type": "message", "role": "assistant", "content": [] });
    let body = json!({ "id": "r", "stop_reason": "tired", "more": 1, "output": [image, message] });
    let answer: LlmResponse = serde_json::from_value(body).unwrap();
    assert_eq!(answer.stop_reason, StopReason::Unknown("tired".to_owned()));
    assert_eq!(answer.output[0], OutputItem::Unknown(image));
    assert!(matches!(answer.output[1], OutputItem::Message(_)));
}

#[test]
fn fields_that_an_earlier_version_does_not_send_have_their_default() {
    let answer: LlmResponse = serde_json::from_str(r#"{ "id": "r" }"#).unwrap();
    assert_eq!((answer.id.as_str(), answer.output.len()), ("r", 0));
    assert_eq!(answer.usage, Default::default());
}

#[test]
fn absent_and_null_and_present_fields_differ_in_a_request() {
    let change = AgentChange { voice: Nullable::Null, first_message: "Hi.".to_owned().into(), ..Default::default() };
    assert_eq!(written(&change), json!({ "voice": null, "firstMessage": "Hi." }));
}

#[test]
fn further_fields_and_constants_are_sent() {
    let mut message = ChatMessage::new("user");
    message.extra.insert("content".to_owned(), "Hi.".into());
    assert_eq!(written(&message), json!({ "role": "user", "content": "Hi." }));
    let item = InputMessage::new(MessageRole::User, vec![InputText::new("Hi.")]);
    let content = json!([{ "type": "text", "text": "Hi." }]);
    assert_eq!(written(&item), json!({ "type": "message", "role": "user", "content": content }));
}

#[tokio::test]
async fn an_id_that_would_change_the_path_is_refused() {
    let platform = Platform::new(&client());
    for id in ["", ".", ".."] {
        assert!(matches!(platform.get_call(id).await, Err(Error::Input { .. })));
    }
}

#[tokio::test]
async fn the_longest_duration_is_a_timeout() {
    let client = Client::builder("http://127.0.0.1:1").timeout(Duration::MAX).retries_max(0).build().unwrap();
    assert!(matches!(Platform::new(&client).list_agents().await, Err(Error::Connection { .. })));
}

#[test]
fn the_key_is_not_printed() {
    assert!(!format!("{:?}", Platform::new(&client())).contains("sk_test"));
}

/// No server has this address.
fn client() -> Client {
    Client::builder("http://127.0.0.1:1").api_key("sk_test").build().unwrap()
}

fn written(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}
