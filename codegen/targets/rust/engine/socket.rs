use std::{
    marker::PhantomData,
    pin::pin,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures_util::{
    SinkExt, Stream, StreamExt,
    stream::{self, SplitSink, SplitStream},
};
use reqwest::{
    Response, StatusCode, Upgraded,
    header::{
        AUTHORIZATION, CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
        SEC_WEBSOCKET_VERSION, UPGRADE, USER_AGENT,
    },
};
use tokio::{
    sync::Mutex,
    time::{Instant, timeout, timeout_at},
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        self, Message,
        handshake::{client::generate_key, derive_accept_key},
        protocol::{CloseFrame, Role, WebSocketConfig, frame::coding::CloseCode},
    },
};

use crate::{
    Client, Error, Result, SocketClosedError,
    send::{connection_error, read_error},
    socketclose::{ErrorFrame, NORMAL_CLOSE, RetryableRows, closed_error},
    wire::escape,
};

/// Limits the opening of a socket if the client's timeout is longer.
const OPEN_TIMEOUT_MAX: Duration = Duration::from_secs(30);
/// Limits the wait for the server's part of a close.
const CLOSE_TIMEOUT_MAX: Duration = Duration::from_secs(5);
/// The longest frame that a socket accepts.
const FRAME_BYTES_MAX: usize = 16 << 20;

/// A socket's row in the contract.
pub struct Channel<'a> {
    pub address: String,
    pub query: &'a [(&'a str, &'a str)],
    pub subprotocol: &'a str,
    /// For each code of an error that closes the socket: true if a new socket may succeed.
    pub retryable: RetryableRows,
}

/// A frame of the client.
pub trait SentFrame: Send {
    fn message(self) -> serde_json::Result<Message>;
}

/// A frame of the server.
pub trait ReceivedFrame: Sized + Send {
    fn text(frame: serde_json::Value) -> serde_json::Result<Self>;
    fn binary(bytes: Bytes) -> Self;
}

/// A typed socket. Sending and receiving may happen at the same time. If the socket is dropped, its connection ends.
pub struct Socket<Sent, Received> {
    sink: Mutex<SplitSink<WebSocketStream<Upgraded>, Message>>,
    frames: Mutex<Frames>,
    retryable: RetryableRows,
    /// How the socket was closed. Absent while it is open.
    closed: OnceLock<SocketClosedError>,
    is_closed_here: AtomicBool,
    types: PhantomData<fn(Sent) -> Received>,
}

struct Frames {
    messages: SplitStream<WebSocketStream<Upgraded>>,
    /// The last error frame.
    failed: ErrorFrame,
    is_over: bool,
}

impl<Sent: SentFrame, Received: ReceivedFrame> Socket<Sent, Received> {
    /// Opens a socket within the client's timeout, at most 30 seconds.
    pub async fn open(client: &Client, channel: Channel<'_>) -> Result<Self> {
        let deadline = Instant::now() + client.settings.timeout.min(OPEN_TIMEOUT_MAX);
        let connection =
            timeout_at(deadline, connect(client, &channel, deadline)).await.map_err(|_| Error::Timeout)??;
        let mut limits = WebSocketConfig::default();
        limits.max_message_size = Some(FRAME_BYTES_MAX);
        limits.max_frame_size = Some(FRAME_BYTES_MAX);
        let socket = WebSocketStream::from_raw_socket(connection, Role::Client, Some(limits)).await;
        let (sink, messages) = socket.split();
        Ok(Self {
            sink: Mutex::new(sink),
            frames: Mutex::new(Frames { messages, failed: ErrorFrame::default(), is_over: false }),
            retryable: channel.retryable,
            closed: OnceLock::new(),
            is_closed_here: AtomicBool::new(false),
            types: PhantomData,
        })
    }

    /// Sends a frame. It waits if the network is slower than the caller. After a close, the result is
    /// [`Error::SocketClosed`].
    pub async fn send(&self, frame: impl Into<Sent>) -> Result<()> {
        let message = frame.into().message().map_err(|error| Error::input("the frame cannot be written", error))?;
        let sent = match self.closed.get() {
            Some(_) => Err(tungstenite::Error::AlreadyClosed),
            None => self.sink.lock().await.send(message).await,
        };
        sent.map_err(|error| match self.closed.get() {
            Some(closed) => Error::SocketClosed(Box::new(closed.clone())),
            None => self.lost(&error, &ErrorFrame::default()),
        })
    }

    /// Returns the server's next frame. None after a close with 1000, or by you. Any other close is an error, and then
    /// None. A frame that is no JSON object, or longer than 16 MiB, is [`Error::Protocol`].
    pub async fn next(&self) -> Option<Result<Received>> {
        let mut frames = self.frames.lock().await;
        if frames.is_over {
            return None;
        }
        let next = self.receive(&mut frames).await;
        frames.is_over = !matches!(next, Some(Ok(_)));
        next
    }

    /// Returns the server's frames as a stream.
    pub fn frames(&self) -> impl Stream<Item = Result<Received>> + Send + '_ {
        stream::unfold((), async move |()| self.next().await.map(|frame| (frame, ())))
    }

    /// Closes the socket with the code 1000.
    pub async fn close(&self) -> Result<()> {
        self.is_closed_here.store(true, Ordering::Relaxed);
        let frame = CloseFrame { code: CloseCode::Normal, reason: "".into() };
        let closing = async {
            let _ = self.sink.lock().await.send(Message::Close(Some(frame))).await;
            while self.next().await.is_some() {}
        };
        timeout(CLOSE_TIMEOUT_MAX, closing).await.map_err(|_| Error::Timeout)
    }

    async fn receive(&self, frames: &mut Frames) -> Option<Result<Received>> {
        loop {
            let message = match frames.messages.next().await {
                Some(Ok(message)) => message,
                Some(Err(tungstenite::Error::Capacity(error))) => {
                    return Some(Err(Error::protocol("a frame is too long", error)));
                }
                Some(Err(error)) => return self.ended(Err(error), frames),
                None => return self.ended(Err(tungstenite::Error::ConnectionClosed), frames),
            };
            match message {
                Message::Text(text) => return Some(read_text(&text, &mut frames.failed)),
                Message::Binary(bytes) => return Some(Ok(Received::binary(bytes))),
                Message::Close(frame) => {
                    // The library sends its part of the close with the next read.
                    let _ = timeout(CLOSE_TIMEOUT_MAX, pin!(frames.messages.next())).await;
                    return self.ended(Ok(frame), frames);
                }
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => (),
            }
        }
    }

    fn ended(&self, end: tungstenite::Result<Option<CloseFrame>>, frames: &Frames) -> Option<Result<Received>> {
        let error = match end {
            Ok(frame) => {
                let (code, reason) = frame.map_or((NO_CODE, String::new()), |frame| {
                    (u16::from(frame.code), frame.reason.as_str().to_owned())
                });
                self.closed_with(code, reason, &frames.failed)
            }
            Err(error) => self.lost(&error, &frames.failed),
        };
        let is_normal = matches!(&error, Error::SocketClosed(closed) if closed.close_code == NORMAL_CLOSE);
        (!is_normal && !self.is_closed_here.load(Ordering::Relaxed)).then_some(Err(error))
    }

    /// The connection ended without a close.
    fn lost(&self, error: &tungstenite::Error, failed: &ErrorFrame) -> Error {
        let is_closed = matches!(error, tungstenite::Error::ConnectionClosed | tungstenite::Error::AlreadyClosed);
        let was_ours = is_closed && self.is_closed_here.load(Ordering::Relaxed);
        self.closed_with(if was_ours { NORMAL_CLOSE } else { LOST }, String::new(), failed)
    }

    fn closed_with(&self, code: u16, reason: String, failed: &ErrorFrame) -> Error {
        let closed = self.closed.get_or_init(|| closed_error(code, reason, failed, self.retryable));
        Error::SocketClosed(Box::new(closed.clone()))
    }
}

/// The close codes that no server sends: a close without a code, and a lost connection.
const NO_CODE: u16 = 1005;
const LOST: u16 = 1006;

fn read_text<Received: ReceivedFrame>(text: &str, failed: &mut ErrorFrame) -> Result<Received> {
    let unreadable = |error| Error::protocol("a frame is not what the contract says", error);
    let frame: serde_json::Value = serde_json::from_str(text).map_err(unreadable)?;
    if !frame.is_object() {
        return Err(Error::over_limit("a frame is not a JSON object".to_owned()));
    }
    failed.take(&frame);
    Received::text(frame).map_err(unreadable)
}

/// Asks for the socket by HTTP, so that a refusal is an answer like any other.
async fn connect(client: &Client, channel: &Channel<'_>, deadline: Instant) -> Result<Upgraded> {
    let settings = &client.settings;
    let key = generate_key();
    let query: Vec<String> =
        channel.query.iter().map(|(name, value)| format!("{}={}", escape(name), escape(value))).collect();
    let separator = if query.is_empty() { "" } else { "?" };
    let address = format!("{}{}{separator}{}", settings.base_url, channel.address, query.join("&"));
    let mut request = settings.http.get(address);
    if !settings.api_key.is_empty() {
        request = request.header(AUTHORIZATION, format!("Bearer {}", settings.api_key));
    }
    let request = request
        .header(USER_AGENT, &settings.user_agent)
        .header(CONNECTION, "Upgrade")
        .header(UPGRADE, "websocket")
        .header(SEC_WEBSOCKET_VERSION, "13")
        .header(SEC_WEBSOCKET_KEY, &key)
        .header(SEC_WEBSOCKET_PROTOCOL, client.subprotocol(channel.subprotocol));
    let response = request.send().await.map_err(connection_error)?;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS && is_accepted(&response, &key) {
        return response.upgrade().await.map_err(connection_error);
    }
    if response.status() == StatusCode::SWITCHING_PROTOCOLS || response.status().is_success() {
        return Err(Error::over_limit("the server's answer opens no WebSocket".to_owned()));
    }
    Err(read_error(client, response, deadline, |_| None).await)
}

fn is_accepted(response: &Response, key: &str) -> bool {
    let accepted = response.headers().get(SEC_WEBSOCKET_ACCEPT);
    accepted.is_some_and(|value| value.as_bytes() == derive_accept_key(key.as_bytes()).as_bytes())
}
