use std::time::Duration;

use parley::platform::{
    AgentIntent, GetCallRecordingAudioParams, NewAgent, NewSession, RecordingStatus, StackPreferences,
    StackPreferencesAllowedProviders,
};
use parley::session::{HangUpFrame, PlayedFrame, Session, SessionMediaReceived, SessionMediaSent, UserMessageFrame};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{Outcome, Program, print};

const TRIES_MAX: u32 = 200;
const TRIES_PAUSE: Duration = Duration::from_millis(100);
const LONG_BYTES: usize = 10_000;
const QUESTIONS: [&str; 2] = ["How are you?", "Goodbye."];

pub async fn run(program: &Program) -> Outcome<()> {
    let agent_id = create_agent(program).await?;
    let session_id = talk(program, agent_id).await?;
    print("call", ended_call(program, &session_id).await?);
    print("report", report(program, &session_id).await?);
    print("recording", recording(program, &session_id).await?);
    Ok(())
}

async fn create_agent(program: &Program) -> Outcome<String> {
    let providers = Some(vec!["loopback".to_owned()]);
    let allowed = StackPreferencesAllowedProviders {
        stt: providers.clone(),
        llm: providers.clone(),
        tts: providers,
        ..Default::default()
    };
    let preferences = StackPreferences { allowed_providers: Some(allowed) };
    let agent = program
        .platform
        .create_agent(&NewAgent {
            stack_preferences: preferences.into(),
            ..NewAgent::new("Scenario", "Be brief.", AgentIntent::new("en"))
        })
        .await?;
    print("agent", json!({ "name": agent.name, "language": agent.intent.language }));
    Ok(agent.id)
}

/// Types each question after the answer to the one before, and hangs up after the last answer.
async fn talk(program: &Program, agent_id: String) -> Outcome<String> {
    let started =
        program.platform.create_session(&NewSession { agent_id: agent_id.into(), ..Default::default() }).await?;
    let media = Session::new(&program.client.with_api_key(&started.transport_token));
    let socket = media.session_media(&started.session_id).await?;
    let mut answers = Vec::new();
    while let Some(frame) = socket.next().await {
        match frame? {
            SessionMediaReceived::Ready(_) => socket.send(next(&answers)).await?,
            SessionMediaReceived::Mark(mark) => {
                socket.send(PlayedFrame::new(Some(mark.name))).await?;
            }
            SessionMediaReceived::AgentMessage(message) if message.is_final => {
                answers.push(message.text);
                socket.send(next(&answers)).await?;
            }
            SessionMediaReceived::End(end) => {
                print("session", json!({ "answers": answers, "end": end.reason }));
                return Ok(started.session_id);
            }
            _ => (),
        }
    }
    Err("the socket closed without an end".into())
}

fn next(answers: &[String]) -> SessionMediaSent {
    match QUESTIONS.get(answers.len()) {
        Some(question) => UserMessageFrame::new(*question).into(),
        None => HangUpFrame {}.into(),
    }
}

/// Waits until the recording is stored.
async fn ended_call(program: &Program, session_id: &str) -> Outcome<Value> {
    for _ in 0..TRIES_MAX {
        let state = program.platform.get_session(session_id).await?;
        if state.recording_status == Some(RecordingStatus::Ready) {
            let call = program.platform.get_call(session_id).await?;
            return Ok(json!({ "status": call.status, "kind": call.kind }));
        }
        sleep(TRIES_PAUSE).await;
    }
    Err("the recording is not ready".into())
}

async fn report(program: &Program, session_id: &str) -> Outcome<Value> {
    let report = program.platform.get_call_report(session_id).await?;
    let turns = report.transcript.entries.iter().map(|entry| format!("{}: {}", entry.source, entry.text));
    Ok(json!({ "turns": turns.collect::<Vec<_>>() }))
}

async fn recording(program: &Program, session_id: &str) -> Outcome<Value> {
    let params = GetCallRecordingAudioParams::default();
    let audio = program.platform.get_call_recording_audio(session_id, &params).await?.bytes().await?;
    let starts = String::from_utf8_lossy(&audio[..audio.len().min(4)]);
    Ok(json!({ "starts": starts, "is_long": audio.len() > LONG_BYTES }))
}
