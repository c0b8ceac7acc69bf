use std::{error, fmt};

use bytes::Bytes;
use reqwest::header::HeaderMap;
use serde::Deserialize;
use serde_json::Value;

pub(crate) type Source = Box<dyn error::Error + Send + Sync>;

/// Why a call, a stream or a socket failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The server answered with another status than 2xx.
    Api(Box<ApiError>),
    /// The client has no connection to the server, or the connection ended before an answer. If `is_sent` is true, the
    /// request may have reached the server, and the client does not repeat it.
    Connection { is_sent: bool, source: Source },
    /// The server did not answer in time. It may have processed the request, so the client does not repeat it.
    Timeout,
    /// An answer is not as the contract says, such as a page of HTML from a proxy.
    Protocol { message: String, source: Option<Source> },
    /// A stream or audio ended before its end: the answer is incomplete.
    StreamCut { source: Option<Source> },
    /// The server closed a socket with another code than 1000, or the connection was lost.
    SocketClosed(Box<SocketClosedError>),
    /// The call cannot be sent as it is, for example because a file is missing.
    Input { message: String, source: Option<Source> },
}

impl Error {
    pub(crate) fn input(message: &str, source: impl Into<Source>) -> Self {
        Self::Input { message: message.to_owned(), source: Some(source.into()) }
    }

    pub(crate) fn protocol(message: &str, source: impl Into<Source>) -> Self {
        Self::Protocol { message: message.to_owned(), source: Some(source.into()) }
    }

    pub(crate) fn over_limit(message: String) -> Self {
        Self::Protocol { message, source: None }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Api(failure) => failure.fmt(formatter),
            Self::Connection { .. } => formatter.write_str("there is no answer"),
            Self::Timeout => formatter.write_str("the server did not answer in time"),
            Self::StreamCut { .. } => formatter.write_str("the stream was cut"),
            Self::SocketClosed(closed) => closed.fmt(formatter),
            Self::Protocol { message, .. } | Self::Input { message, .. } => formatter.write_str(message),
        }
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Connection { source, .. } => Some(source.as_ref()),
            Self::Protocol { source, .. } | Self::StreamCut { source } | Self::Input { source, .. } => {
                source.as_ref().map(|source| source.as_ref() as _)
            }
            Self::Api(_) | Self::SocketClosed(_) | Self::Timeout => None,
        }
    }
}

/// An answer with another status than 2xx.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ApiError {
    /// The HTTP status.
    pub status: u16,
    /// The code is for programs. It is absent if something between client and server made the answer.
    pub code: Option<String>,
    /// Groups the codes, such as `rate_limit_error`.
    pub kind: Option<String>,
    /// A sentence for people.
    pub message: String,
    /// Says what to do.
    pub hint: Option<String>,
    /// True if the same request may succeed when it is sent again.
    pub retryable: bool,
    /// The request's id in the server's log.
    pub request_id: Option<String>,
    /// The answer's headers.
    pub headers: HeaderMap,
    /// The answer's body, at most 1 MiB.
    pub body: Bytes,
}

impl fmt::Display for ApiError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.code {
            None => return write!(formatter, "the server answered {}", self.status),
            Some(code) => write!(formatter, "{} {code}: {}", self.status, self.message)?,
        }
        self.hint.as_ref().map_or(Ok(()), |hint| write!(formatter, " {hint}"))
    }
}

/// The server closed a socket with another code than 1000, or the connection was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SocketClosedError {
    /// The WebSocket's close code: 1005 if the server sent no code, 1006 if the connection was lost.
    pub close_code: u16,
    /// The server's text in the close.
    pub reason: String,
    /// The error code, for programs. It is absent if the server sent no error.
    pub code: Option<String>,
    /// True if a new socket with the same settings may succeed.
    pub retryable: bool,
}

impl fmt::Display for SocketClosedError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.code.as_deref().unwrap_or(&self.reason);
        write!(formatter, "the socket closed with {} {code}", self.close_code)
    }
}

/// What the contract says about an error code.
#[derive(Clone, Copy, Debug)]
pub struct ErrorRow {
    pub kind: &'static str,
    pub retryable: bool,
}

/// The fields of the surfaces' two kinds of error bodies.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ErrorBody {
    code: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    message: Option<String>,
    hint: Option<String>,
    retryable: Option<bool>,
    #[serde(alias = "requestId")]
    request_id: Option<String>,
}

/// Makes an error of an answer. A row of the contract fills in the fields that the body lacks.
pub(crate) fn api_error(
    status: u16,
    headers: HeaderMap,
    body: Bytes,
    request_id: Option<String>,
    rows: fn(&str) -> Option<ErrorRow>,
) -> ApiError {
    let fields = read_error_body(&body);
    let row = fields.code.as_deref().and_then(rows);
    ApiError {
        status,
        kind: fields.kind.or(row.map(|row| row.kind.to_owned())),
        message: fields.message.unwrap_or_default(),
        hint: fields.hint,
        retryable: fields.retryable.unwrap_or(row.is_some_and(|row| row.retryable)),
        request_id: request_id.or(fields.request_id),
        code: fields.code,
        headers,
        body,
    }
}

/// Reads `{"error": {"code", "message", …}}` and `{"error": "message", "code", …}`.
fn read_error_body(body: &[u8]) -> ErrorBody {
    let Ok(mut outer) = serde_json::from_slice::<Value>(body) else { return ErrorBody::default() };
    match outer.get_mut("error").map(Value::take) {
        Some(Value::String(message)) => {
            let fields: ErrorBody = serde_json::from_value(outer).unwrap_or_default();
            ErrorBody { message: Some(message), ..fields }
        }
        Some(inner @ Value::Object(_)) => serde_json::from_value(inner).unwrap_or_default(),
        _ => serde_json::from_value(outer).unwrap_or_default(),
    }
}
