use parley::{
    Bytes, Client, Error,
    realtime::{EndFrame, Realtime, TranscribeStreamSocket},
};
use serde_json::{Value, json};

use crate::{
    Outcome,
    faults::{TIMEOUT, name_of},
    print,
    streams::scripted,
};

const SLOW_FRAMES: u32 = 32;
const SLOW_FRAME_BYTES: usize = 1 << 20;

pub async fn run() -> Outcome<()> {
    let closes = ["normal", "away", "empty", "cut", "reason", "later", "frame", "mild"];
    print("socket_closes", each(&closes).await?);
    print("socket_frames", each(&["text", "list", "null", "large", "largest"]).await?);
    let refused = read_socket(&scripted("refused")?.build()?).await;
    let late = read_socket(&scripted("late")?.timeout(TIMEOUT).build()?).await;
    let moved = match read_socket(&scripted("moved")?.build()?).await {
        Err(Error::Api(failure)) => json!(failure.status),
        other => value_of(other),
    };
    print("socket_openings", json!({ "refused": value_of(refused), "moved": moved, "late": value_of(late) }));
    let offered = read_socket(&scripted("offered")?.header_prefix("Acme").build()?).await;
    print("socket_prefix", json!({ "offered": reason_of(offered)? }));
    print("socket_late_send", late_send().await?);
    print("socket_slow", slow().await?);
    Ok(())
}

async fn each(faults: &[&str]) -> Outcome<Value> {
    let mut values = json!({});
    for fault in faults {
        values[fault] = value_of(read_socket(&scripted(fault)?.build()?).await);
    }
    Ok(values)
}

async fn read_socket(client: &Client) -> parley::Result<()> {
    read_frames(&Realtime::new(client).transcribe_stream().await?).await
}

async fn read_frames(socket: &TranscribeStreamSocket) -> parley::Result<()> {
    while let Some(frame) = socket.next().await {
        frame?;
    }
    Ok(())
}

fn value_of(result: parley::Result<()>) -> Value {
    match result {
        Ok(()) => Value::Null,
        Err(Error::SocketClosed(closed)) => {
            json!([closed.close_code, closed.reason, closed.code, closed.retryable])
        }
        Err(Error::Api(failure)) => json!([failure.status, failure.code]),
        Err(error) => name_of(&error),
    }
}

fn reason_of(result: parley::Result<()>) -> Outcome<String> {
    match result {
        Err(Error::SocketClosed(closed)) => Ok(closed.reason),
        other => Err(format!("the socket was not closed: {other:?}").into()),
    }
}

async fn late_send() -> Outcome<Value> {
    let socket = Realtime::new(&scripted("normal")?.build()?).transcribe_stream().await?;
    read_frames(&socket).await?;
    match socket.send(EndFrame {}).await {
        Err(Error::SocketClosed(closed)) => Ok(json!({ "close": closed.close_code })),
        other => Err(format!("the socket was not closed: {other:?}").into()),
    }
}

async fn slow() -> Outcome<Value> {
    let socket = Realtime::new(&scripted("slow")?.build()?).transcribe_stream().await?;
    let frame = Bytes::from(vec![0; SLOW_FRAME_BYTES]);
    for _ in 0..SLOW_FRAMES {
        socket.send(frame.clone()).await?;
    }
    socket.send(EndFrame {}).await?;
    let bytes: usize = reason_of(read_frames(&socket).await)?.parse()?;
    Ok(json!({ "bytes": bytes }))
}
