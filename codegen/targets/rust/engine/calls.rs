use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use futures_util::{
    Stream,
    stream::{self, BoxStream, StreamExt},
};
use reqwest::{Response, header::HeaderMap};
use serde::de::DeserializeOwned;
use tokio::time::{timeout, timeout_at};

use crate::{
    Error, Result,
    request::Request,
    send::{Answer, Surface, connection_error},
};

/// The longest answer that is not a stream, in bytes.
const JSON_BYTES_MAX: usize = 64 << 20;

impl Surface {
    /// Sends a request and reads the answer's JSON.
    pub async fn json<T: DeserializeOwned>(&self, request: Request) -> Result<T> {
        let body = self.read(request.accept("application/json")).await?;
        serde_json::from_slice(&body)
            .map_err(|error| Error::protocol("the answer is not what the contract says", error))
    }

    /// Sends a request and reads the answer's text.
    pub async fn text(&self, request: Request) -> Result<String> {
        let body = self.read(request).await?;
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    /// Sends a request with an answer that has no body.
    pub async fn empty(&self, request: Request) -> Result<()> {
        self.read(request).await.map(|_| ())
    }

    /// Sends a request and returns the answer as a stream of bytes.
    pub async fn bytes(&self, request: Request) -> Result<Download> {
        let Answer { response, timeout, .. } = self.send(&request).await?;
        Ok(Download { headers: response.headers().clone(), pieces: pieces(response, timeout) })
    }

    async fn read(&self, request: Request) -> Result<Bytes> {
        let Answer { mut response, deadline, .. } = self.send(&request).await?;
        let mut body = BytesMut::new();
        loop {
            let read = timeout_at(deadline, response.chunk()).await.map_err(|_| Error::Timeout)?;
            let Some(piece) = read.map_err(connection_error)? else { return Ok(body.freeze()) };
            if body.len() + piece.len() > JSON_BYTES_MAX {
                return Err(Error::over_limit("the answer is longer than 64 MiB".to_owned()));
            }
            body.extend_from_slice(&piece);
        }
    }
}

/// An answer of bytes, such as audio: a stream of pieces. If the connection is cut before the end, the stream ends with
/// [`Error::StreamCut`]. If the download is dropped, the server stops.
pub struct Download {
    /// The answer's headers, such as Content-Type.
    pub headers: HeaderMap,
    pieces: BoxStream<'static, Result<Bytes>>,
}

impl Download {
    /// Returns the next piece. None after the last one.
    pub async fn next(&mut self) -> Option<Result<Bytes>> {
        self.pieces.next().await
    }

    /// Reads all bytes into memory.
    pub async fn bytes(mut self) -> Result<Bytes> {
        let mut all = BytesMut::new();
        while let Some(piece) = self.next().await {
            all.extend_from_slice(&piece?);
        }
        Ok(all.freeze())
    }
}

impl Stream for Download {
    type Item = Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.pieces.poll_next_unpin(context)
    }
}

/// Returns the pieces of a body, until its end or its first error. Each read has the same limit.
pub(crate) fn pieces(response: Response, limit: Duration) -> BoxStream<'static, Result<Bytes>> {
    let next = move |state: Option<Response>| async move {
        let mut response = state?;
        match timeout(limit, response.chunk()).await {
            Err(_) => Some((Err(Error::Timeout), None)),
            Ok(Err(error)) => Some((Err(Error::StreamCut { source: Some(error.into()) }), None)),
            Ok(Ok(piece)) => piece.map(|piece| (Ok(piece), Some(response))),
        }
    };
    stream::unfold(Some(response), next).boxed()
}
