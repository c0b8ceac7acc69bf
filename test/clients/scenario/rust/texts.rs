use parley::{
    compat::{ChatCompletionRequest, ChatMessage, CreateChatCompletionParams},
    router::{
        CreateResponseEvent, ExplicitRouting, InputMessage, InputText, LlmRequest, LlmResponse, MessageRole,
        OutputItem, OutputItemShell, Tool,
    },
};
use serde_json::{Value, json};

use crate::{Outcome, Program, TEXT, loopback, print};

pub async fn run(program: &Program) -> Outcome<()> {
    print("llm", llm(program).await?);
    print("llm_stream", llm_stream(program).await?);
    print("llm_tool", llm_tool(program).await?);
    print("chat", chat(program).await?);
    print("chat_stream", chat_stream(program).await?);
    Ok(())
}

pub fn question() -> LlmRequest {
    let message = InputMessage::new(MessageRole::User, vec![InputText::new(TEXT)]);
    LlmRequest { routing: Some(loopback().into()), ..LlmRequest::new(vec![message.into()], 20) }
}

pub fn text_of(answer: &LlmResponse) -> String {
    let messages = answer.output.iter().filter_map(|item| match item {
        OutputItem::Message(message) => Some(message),
        _ => None,
    });
    messages.flat_map(|message| &message.content).map(|part| part.text.as_str()).collect()
}

async fn llm(program: &Program) -> Outcome<Value> {
    let answer = program.router.create_response(&question()).await?;
    Ok(json!({ "text": text_of(&answer), "stop_reason": answer.stop_reason }))
}

async fn llm_stream(program: &Program) -> Outcome<Value> {
    let mut stream = program.router.create_response_stream(&question()).await?;
    let (mut text, mut last, mut terminal) = (String::new(), String::new(), 0);
    while let Some(event) = stream.next().await {
        let event = event?;
        last = event.name;
        match event.data {
            CreateResponseEvent::ResponseTextDelta(data) => text += &data.delta,
            CreateResponseEvent::ResponseCompleted(_) | CreateResponseEvent::Error(_) => terminal += 1,
            _ => (),
        }
    }
    Ok(json!({ "text": text, "last": last, "terminal_events": terminal }))
}

async fn llm_tool(program: &Program) -> Outcome<Value> {
    let Value::Object(parameters) = json!({ "type": "object", "properties": {} }) else { unreachable!() };
    let request = LlmRequest {
        routing: Some(ExplicitRouting::new("tools/tools").into()),
        tools: Some(vec![Tool { parameters: Some(parameters), ..Tool::new("weather") }]),
        ..question()
    };
    let mut stream = program.router.create_response_stream(&request).await?;
    let (mut name, mut arguments, mut last) = (String::new(), String::new(), String::new());
    while let Some(event) = stream.next().await {
        let event = event?;
        last = event.name;
        match event.data {
            CreateResponseEvent::ResponseItemAdded(added) => {
                if let OutputItemShell::FunctionCall(call) = added.item {
                    name = call.name;
                }
            }
            CreateResponseEvent::ResponseFunctionCallArgumentsDelta(data) => arguments += &data.delta,
            _ => (),
        }
    }
    Ok(json!({ "name": name, "arguments": arguments, "last": last }))
}

fn chat_request() -> ChatCompletionRequest {
    let mut message = ChatMessage::new("user");
    message.extra.insert("content".to_owned(), TEXT.into());
    ChatCompletionRequest::new(loopback().model, vec![message])
}

async fn chat(program: &Program) -> Outcome<Value> {
    let answer = program.compat.create_chat_completion(&chat_request(), &CreateChatCompletionParams::default()).await?;
    let choice = answer.choices.first().ok_or("there is no choice")?;
    Ok(json!({ "text": choice.message.content }))
}

async fn chat_stream(program: &Program) -> Outcome<Value> {
    let params = CreateChatCompletionParams::default();
    let mut stream = program.compat.create_chat_completion_stream(&chat_request(), &params).await?;
    let mut text = String::new();
    while let Some(chunk) = stream.next().await {
        text.extend(chunk?.choices.into_iter().filter_map(|choice| choice.delta.content));
    }
    Ok(json!({ "text": text }))
}
