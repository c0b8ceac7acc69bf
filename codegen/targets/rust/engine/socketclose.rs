use serde_json::Value;

use crate::SocketClosedError;

/// Returns whether a new socket may succeed after an error code that closes a socket. None for any other code.
pub type RetryableRows = fn(&str) -> Option<bool>;

pub(crate) const NORMAL_CLOSE: u16 = 1000;
/// The codes without an error code that permit a new socket: the connection was lost, the server restarts, or the
/// server has too much work.
const RETRYABLE_CLOSES: [u16; 3] = [1006, 1012, 1013];

/// The fields of an error frame. The channel that is compatible with OpenAI nests the fields in `error`.
#[derive(Debug, Default)]
pub(crate) struct ErrorFrame {
    code: Option<String>,
    retryable: Option<bool>,
}

impl ErrorFrame {
    /// Keeps the frame's error. An error that is not fatal leaves the socket open.
    pub fn take(&mut self, frame: &Value) {
        if frame["type"] != "error" || frame["fatal"] == false {
            return;
        }
        let fields = if frame["error"].is_object() { &frame["error"] } else { frame };
        self.code = fields["code"].as_str().map(str::to_owned);
        self.retryable = fields["retryable"].as_bool();
    }
}

/// Takes the error code from the last error frame, or else from the close's reason.
pub(crate) fn closed_error(
    close_code: u16,
    reason: String,
    failed: &ErrorFrame,
    rows: RetryableRows,
) -> SocketClosedError {
    let sent = failed.code.as_deref().filter(|code| rows(code).is_some() || *code == reason);
    let code = sent.or_else(|| rows(&reason).map(|_| reason.as_str())).map(str::to_owned);
    let in_contract = code.as_deref().and_then(rows).unwrap_or(RETRYABLE_CLOSES.contains(&close_code));
    let retryable = sent.and(failed.retryable).unwrap_or(in_contract);
    SocketClosedError { close_code, reason, code, retryable }
}
