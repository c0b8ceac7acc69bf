use std::{
    error, fmt,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use futures_util::{Stream, TryStreamExt};
use reqwest::Body;
use tokio::fs::File;

use crate::{Error, Result, error::Source};

/// Audio in a request.
#[derive(Clone)]
pub struct Audio {
    content: Content,
}

#[derive(Clone)]
enum Content {
    Memory(Bytes),
    File(PathBuf),
    /// A body that can be read once. It is absent after that.
    Once(Arc<Mutex<Option<Body>>>),
}

impl Audio {
    /// Reads a file while it is sent.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { content: Content::File(path.into()) }
    }

    /// Sends the pieces of a stream as soon as they come. Such a request is never repeated.
    pub fn stream<E>(pieces: impl Stream<Item = std::result::Result<Bytes, E>> + Send + 'static) -> Self
    where
        E: error::Error + Send + Sync + 'static,
    {
        let body = Body::wrap_stream(pieces.map_err(Source::from));
        Self { content: Content::Once(Arc::new(Mutex::new(Some(body)))) }
    }

    /// True if the audio can be sent a second time.
    pub(crate) fn is_repeatable(&self) -> bool {
        !matches!(self.content, Content::Once(_))
    }

    /// Returns the audio from its start, and its length in bytes if it is known.
    pub(crate) async fn open(&self) -> Result<(Body, Option<u64>)> {
        match &self.content {
            Content::Memory(bytes) => Ok((bytes.clone().into(), Some(bytes.len() as u64))),
            Content::File(path) => {
                let opened = open_file(path.clone()).await;
                opened.map_err(|error| Error::input(&format!("the file {} cannot be read", path.display()), error))
            }
            Content::Once(body) => {
                let taken = body.lock().unwrap_or_else(PoisonError::into_inner).take();
                let spent = || Error::input("the stream of audio was sent before", "it can be read once");
                Ok((taken.ok_or_else(spent)?, None))
            }
        }
    }
}

async fn open_file(path: PathBuf) -> std::io::Result<(Body, Option<u64>)> {
    let file = File::open(path).await?;
    let length = file.metadata().await?.len();
    Ok((file.into(), Some(length)))
}

impl fmt::Debug for Audio {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Audio")
    }
}

impl From<Bytes> for Audio {
    fn from(bytes: Bytes) -> Self {
        Self { content: Content::Memory(bytes) }
    }
}

impl From<Vec<u8>> for Audio {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}
