use parley::{
    Bytes, Error,
    realtime::{
        EndFrame, SttConfig, SttConfigContentType, SynthesizeStreamReceived, TextFrame, TranscribeStreamReceived,
        TranscribeStreamSocket, TtsConfig,
    },
};
use serde_json::{Value, json};
use tokio::{fs, try_join};

use crate::{Outcome, Program, TEXT, loopback, print, variable, words_of};

const FRAME_BYTES: usize = 3_200;
const NORMAL_CLOSE: u16 = 1_000;

pub async fn run(program: &Program) -> Outcome<()> {
    print("socket_transcribe", transcribe(program).await?);
    print("socket_synthesize", synthesize(program).await?);
    print("socket_refused", refused(program).await?);
    Ok(())
}

async fn transcribe(program: &Program) -> Outcome<Value> {
    let recording = Bytes::from(fs::read(variable("PARLEY_WAV")?).await?);
    let socket = program.realtime.transcribe_stream().await?;
    let ((), words) = try_join!(send_recording(&socket, recording), final_words(&socket))?;
    Ok(json!({ "words": words_of(&words), "close": NORMAL_CLOSE }))
}

async fn send_recording(socket: &TranscribeStreamSocket, mut recording: Bytes) -> parley::Result<()> {
    let config = SttConfig {
        language: Some("en".to_owned()),
        content_type: Some(SttConfigContentType::AudioWav),
        ..Default::default()
    };
    socket.send(config).await?;
    while !recording.is_empty() {
        socket.send(recording.split_to(FRAME_BYTES.min(recording.len()))).await?;
    }
    socket.send(EndFrame {}).await
}

async fn final_words(socket: &TranscribeStreamSocket) -> parley::Result<String> {
    let mut words = String::new();
    while let Some(frame) = socket.next().await {
        if let TranscribeStreamReceived::Transcript(transcript) = frame?
            && transcript.is_final
        {
            words += &transcript.text;
            words += " ";
        }
    }
    Ok(words)
}

async fn synthesize(program: &Program) -> Outcome<Value> {
    let socket = program.realtime.synthesize_stream().await?;
    socket.send(TtsConfig { model: Some(loopback().model), ..Default::default() }).await?;
    socket.send(TextFrame::new(TEXT)).await?;
    socket.send(EndFrame {}).await?;
    let (mut bytes, mut characters) = (0, 0);
    while let Some(frame) = socket.next().await {
        match frame? {
            SynthesizeStreamReceived::Audio(audio) => bytes += audio.len(),
            SynthesizeStreamReceived::End(end) => characters = end.usage.characters,
            _ => (),
        }
    }
    Ok(json!({ "bytes": bytes, "characters": characters, "close": NORMAL_CLOSE }))
}

async fn refused(program: &Program) -> Outcome<Value> {
    let socket = program.realtime.synthesize_stream().await?;
    socket.send(TtsConfig { sample_rate: Some(1), ..Default::default() }).await?;
    while let Some(frame) = socket.next().await {
        if let Err(Error::SocketClosed(closed)) = frame {
            return Ok(json!({ "code": closed.code, "close": closed.close_code, "retryable": closed.retryable }));
        }
    }
    Err("the socket closed without an error".into())
}
