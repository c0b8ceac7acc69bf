use std::collections::VecDeque;

use bytes::Bytes;
use futures_util::stream::{BoxStream, StreamExt};

use crate::{Error, Result};

/// The longest event, in bytes of its lines.
const EVENT_BYTES_MAX: usize = 16 << 20;
/// The first line can begin with it.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// One event on the wire.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Frame {
    pub id: String,
    pub event: String,
    pub data: String,
}

/// Reads an event stream from its pieces.
pub(crate) struct FrameReader {
    pieces: BoxStream<'static, Result<Bytes>>,
    lines: Lines,
    ready: VecDeque<Frame>,
}

impl FrameReader {
    /// The id is that of the last event before a cut.
    pub fn new(pieces: BoxStream<'static, Result<Bytes>>, id: String) -> Self {
        Self { pieces, lines: Lines { id, ..Lines::default() }, ready: VecDeque::new() }
    }

    /// The id of the last whole event.
    pub fn id(&self) -> &str {
        &self.lines.id
    }

    /// Returns the next event with data. It returns an error if the stream ends.
    pub async fn next(&mut self) -> Result<Frame> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Ok(frame);
            }
            let piece = self.pieces.next().await.unwrap_or(Err(Error::StreamCut { source: None }))?;
            self.lines.take(&piece, &mut self.ready)?;
        }
    }
}

/// Collects the lines of an event: lines end in LF, CR or CRLF, a blank line ends an event, and a colon starts a
/// comment. It looks at each byte once, because a line can come in many pieces.
#[derive(Default)]
struct Lines {
    line: Vec<u8>,
    /// A CR ends a line at once, and then an LF is ignored, because it may come much later.
    is_after_cr: bool,
    /// The id counts only at the end of its event.
    id: String,
    next_id: Option<String>,
    event: String,
    data: Option<String>,
    /// The bytes in the lines of this event.
    size: usize,
}

impl Lines {
    fn take(&mut self, piece: &[u8], ready: &mut VecDeque<Frame>) -> Result<()> {
        let mut rest = piece;
        while !rest.is_empty() {
            if std::mem::take(&mut self.is_after_cr) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let length = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
            let part = &rest[..length.unwrap_or(rest.len())];
            self.size += part.len();
            if self.size > EVENT_BYTES_MAX {
                return Err(Error::over_limit(format!("an event is longer than {EVENT_BYTES_MAX} bytes")));
            }
            self.line.extend_from_slice(part);
            let Some(length) = length else { return Ok(()) };
            self.is_after_cr = rest[length] == b'\r';
            rest = &rest[length + 1..];
            ready.extend(self.end_line());
        }
        Ok(())
    }

    /// Returns the event that ends with this line.
    fn end_line(&mut self) -> Option<Frame> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        if line.is_empty() {
            return self.end_event();
        }
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name.strip_prefix(BYTE_ORDER_MARK).unwrap_or(name) {
            "event" => self.event = value.to_owned(),
            "id" => self.next_id = Some(value.to_owned()),
            "data" => match &mut self.data {
                None => self.data = Some(value.to_owned()),
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
            },
            _ => (),
        }
        None
    }

    fn end_event(&mut self) -> Option<Frame> {
        self.size = 0;
        if let Some(id) = self.next_id.take() {
            self.id = id;
        }
        let event = std::mem::take(&mut self.event);
        self.data.take().map(|data| Frame { id: self.id.clone(), event, data })
    }
}
