//! The client for a Parley server: speech to text, text to speech, language models, agents and calls.
//!
//! [`Client`] has the settings of a connection. The operations are in the modules [`router`], [`compat`] and
//! [`platform`], and the sockets in [`realtime`] and [`session`].

#[macro_use]
mod objects;
#[macro_use]
mod wire;

mod audio;
mod calls;
mod client;
mod error;
mod events;
mod form;
mod request;
mod resume;
mod retries;
mod send;
mod socket;
mod socketclose;
mod stream;
mod webhook;

pub mod compat;
pub mod platform;
pub mod realtime;
pub mod router;
pub mod session;

pub use audio::Audio;
pub use bytes::Bytes;
pub use calls::Download;
pub use chrono::{DateTime, Utc};
pub use client::{CallOptions, Client, ClientBuilder};
pub use error::{ApiError, Error, SocketClosedError};
pub use reqwest::header::HeaderMap;
pub use socket::Socket;
pub use stream::{Event, EventStream};
pub use webhook::{Verifier, WebhookError};
pub use wire::Nullable;

/// The result of all calls.
pub type Result<T> = std::result::Result<T, Error>;
