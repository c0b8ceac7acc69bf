use parley::{
    Audio, Download,
    compat::TranscribeParams,
    router::{CreateTranscriptionForm, ListModelsParams, SpeechRequest, TranscriptionRequest},
};
use serde_json::{Value, json};
use tokio::fs::File;
use tokio_util::io::ReaderStream;

use crate::{Outcome, Program, TEXT, loopback, print, variable, words_of};

pub async fn run(program: &Program) -> Outcome<()> {
    print("models", models(program).await?);
    print("transcription", transcription(program).await?);
    print("raw_transcription", raw_transcription(program).await?);
    let audio = speech(program).await?.bytes().await?;
    print("speech", json!({ "bytes": audio.len() }));
    print("speech_chunks", speech_chunks(program).await?);
    Ok(())
}

async fn models(program: &Program) -> Outcome<Value> {
    let answer = program.router.list_models(&ListModelsParams::default()).await?;
    let ours = answer.models.iter().filter(|model| model.provider == "loopback");
    let mut kinds: Vec<&str> = ours.map(|model| model.kind.as_str()).collect();
    kinds.sort_unstable();
    Ok(json!({ "kinds": kinds }))
}

async fn transcription(program: &Program) -> Outcome<Value> {
    let request = TranscriptionRequest { language: Some("en".to_owned()), ..Default::default() };
    let form = CreateTranscriptionForm::new(request, Audio::file(variable("PARLEY_WAV")?));
    let answer = program.router.create_transcription(form).await?;
    Ok(json!({ "words": words_of(&answer.text) }))
}

async fn raw_transcription(program: &Program) -> Outcome<Value> {
    // A stream has no known length.
    let recording = ReaderStream::new(File::open(variable("PARLEY_WAV")?).await?);
    let answer = program.compat.transcribe(Audio::stream(recording), &TranscribeParams::default()).await?;
    Ok(json!({ "words": words_of(&answer.text) }))
}

async fn speech(program: &Program) -> Outcome<Download> {
    let request = SpeechRequest { routing: Some(loopback().into()), ..SpeechRequest::new(TEXT) };
    Ok(program.router.create_speech(&request).await?)
}

async fn speech_chunks(program: &Program) -> Outcome<Value> {
    let mut audio = speech(program).await?;
    let mut bytes = 0;
    while let Some(chunk) = audio.next().await {
        bytes += chunk?.len();
    }
    Ok(json!({ "bytes": bytes }))
}
