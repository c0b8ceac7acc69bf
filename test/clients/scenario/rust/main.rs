//! Runs the steps of the scenario with the client for Rust, and prints a line for each step.

mod faults;
mod models;
mod rules;
mod sessions;
mod socketfaults;
mod sockets;
mod streams;
mod texts;
mod webhooks;

use std::{env, error::Error, process::ExitCode};

use parley::{
    Client, ClientBuilder,
    compat::Compat,
    platform::Platform,
    realtime::Realtime,
    router::{ExplicitRouting, Router},
};
use serde_json::Value;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const TEXT: &str = "Hello there.";

/// The clients of all surfaces.
struct Program {
    client: Client,
    router: Router,
    compat: Compat,
    platform: Platform,
    realtime: Realtime,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:?}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Outcome<()> {
    let client = client_at(&variable("PARLEY_URL")?)?.build()?;
    let program = Program {
        router: Router::new(&client),
        compat: Compat::new(&client),
        platform: Platform::new(&client),
        realtime: Realtime::new(&client),
        client,
    };
    models::run(&program).await?;
    texts::run(&program).await?;
    sockets::run(&program).await?;
    sessions::run(&program).await?;
    webhooks::run(&program).await?;
    faults::run().await?;
    streams::run().await?;
    socketfaults::run().await?;
    rules::run().await
}

fn client_at(url: &str) -> Outcome<ClientBuilder> {
    Ok(Client::builder(url).api_key(variable("PARLEY_API_KEY")?))
}

/// The model answers with the request's text, and with a tone as long as the text.
fn loopback() -> ExplicitRouting {
    ExplicitRouting::new("loopback/loopback")
}

/// Prints the values of a step.
fn print(step: &str, mut values: Value) {
    values["step"] = step.into();
    println!("{values}");
}

fn variable(name: &str) -> Outcome<String> {
    env::var(name).map_err(|_| format!("{name} is not set").into())
}

/// Returns the text in lower case, without signs.
fn words_of(transcript: &str) -> String {
    let lower = transcript.to_lowercase();
    let words = lower.split(|sign: char| !sign.is_ascii_lowercase()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}
