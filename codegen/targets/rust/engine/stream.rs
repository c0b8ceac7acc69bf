use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::{
    Stream,
    stream::{self, BoxStream, StreamExt},
};
use reqwest::header::HeaderMap;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    Error, Result,
    calls::pieces,
    error::api_error,
    events::{Frame, FrameReader},
    request::Request,
    resume::Resumption,
    send::{Answer, Surface, request_id},
    wire,
};

/// A stream of events. It is complete only after its last event: if the connection ends before, the stream ends with
/// [`Error::StreamCut`]. If the stream is dropped, the server stops.
pub struct EventStream<T> {
    /// The answer's headers.
    pub headers: HeaderMap,
    events: BoxStream<'static, Result<T>>,
}

/// An event with a name.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Event<T> {
    /// The kind of the event. The data has the type that belongs to the name.
    pub name: String,
    /// The event's id. It is empty if the stream has no ids.
    pub id: String,
    pub data: T,
}

/// The data of an event, which is read by the event's name.
pub trait EventData: Sized + Send + 'static {
    fn read(name: &str, data: &str) -> serde_json::Result<Self>;
}

impl<T> EventStream<T> {
    /// Returns the next event. None after the last one.
    pub async fn next(&mut self) -> Option<Result<T>> {
        self.events.next().await
    }
}

impl<T> Stream for EventStream<T> {
    type Item = Result<T>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.events.poll_next_unpin(context)
    }
}

impl Surface {
    /// Sends a request and returns a stream of events with names.
    pub async fn events<T: EventData>(&self, request: Request, last_events: Names) -> Result<EventStream<Event<T>>> {
        self.open(request, last_events).await
    }

    /// Sends a request and returns a stream of values. The last value has one of the types, or there is a last frame
    /// `[DONE]`.
    pub async fn data<T>(&self, request: Request, last_types: Names) -> Result<EventStream<T>>
    where
        T: DeserializeOwned + Send + 'static,
    {
        let values = self.open::<Data<T>>(request, last_types).await?;
        let events = values.events.filter_map(async |value| value.map(|Data(value)| value).transpose());
        Ok(EventStream { headers: values.headers, events: events.boxed() })
    }

    async fn open<T: Readable>(&self, request: Request, last: Names) -> Result<EventStream<T>> {
        let request = request.accept("text/event-stream");
        let answer = self.send(&request).await?;
        let headers = answer.response.headers().clone();
        let reader = Reader {
            request_id: request_id(&self.client, &answer.response),
            frames: frames(answer, String::new()),
            resumption: Resumption::new(self, request),
            surface: self.clone(),
            headers: headers.clone(),
            last,
        };
        Ok(EventStream { headers, events: stream::unfold(Some(reader), Reader::step).boxed() })
    }
}

/// The names of events or the types of values that end a stream.
pub type Names = &'static [&'static str];

/// An event's value, which a frame holds.
trait Readable: Sized + Send + 'static {
    fn read(frame: Frame, reader: &Reader) -> Result<Self>;
    fn is_last(frame: &Frame, last: Names) -> bool;
}

struct Reader {
    surface: Surface,
    headers: HeaderMap,
    request_id: Option<String>,
    frames: FrameReader,
    resumption: Option<Resumption>,
    last: Names,
}

impl Reader {
    /// Returns the next event, and the reader unless that was the last event.
    async fn step<T: Readable>(state: Option<Self>) -> Option<(Result<T>, Option<Self>)> {
        let mut reader = state?;
        let frame = match reader.next_frame().await {
            Ok(frame) => frame,
            Err(error) => return Some((Err(error), None)),
        };
        let is_last = T::is_last(&frame, reader.last);
        let value = T::read(frame, &reader);
        let is_over = is_last || value.is_err();
        Some((value, (!is_over).then_some(reader)))
    }

    /// Returns the next frame that the caller does not have. If the stream is cut, it is opened again if possible.
    async fn next_frame(&mut self) -> Result<Frame> {
        loop {
            let error = match (self.frames.next().await, &mut self.resumption) {
                (Ok(frame), None) => return Ok(frame),
                (Ok(frame), Some(resumption)) => {
                    if resumption.take(&frame) {
                        return Ok(frame);
                    }
                    continue;
                }
                (Err(error), _) => error,
            };
            let Some(resumption) = &mut self.resumption else { return Err(error) };
            let last_event_id = self.frames.id().to_owned();
            let answer = resumption.reopen(&last_event_id, error).await?;
            self.frames = frames(answer, last_event_id);
        }
    }
}

fn frames(answer: Answer, id: String) -> FrameReader {
    FrameReader::new(pieces(answer.response, answer.timeout), id)
}

impl<T: EventData> Readable for Event<T> {
    fn read(frame: Frame, _: &Reader) -> Result<Self> {
        let data = T::read(&frame.event, &frame.data).map_err(unreadable)?;
        Ok(Self { name: frame.event, id: frame.id, data })
    }

    fn is_last(frame: &Frame, last: Names) -> bool {
        last.contains(&frame.event.as_str())
    }
}

/// The value of a frame without a name. The frame `[DONE]` has no value.
struct Data<T>(Option<T>);

const DONE: &str = "[DONE]";

impl<T: DeserializeOwned + Send + 'static> Readable for Data<T> {
    fn read(frame: Frame, reader: &Reader) -> Result<Self> {
        if frame.data == DONE {
            return Ok(Self(None));
        }
        let value: Value = serde_json::from_str(&frame.data).map_err(unreadable)?;
        if value.get("error").is_some_and(|error| !error.is_null()) {
            let (headers, id) = (reader.headers.clone(), reader.request_id.clone());
            let failure = api_error(200, headers, Bytes::from(frame.data), id, reader.surface.rows);
            return Err(Error::Api(Box::new(failure)));
        }
        serde_json::from_value(value).map(|value| Self(Some(value))).map_err(unreadable)
    }

    fn is_last(frame: &Frame, last: Names) -> bool {
        frame.data == DONE || last.iter().any(|name| wire::tag_in(&frame.data, "type").as_deref() == Some(*name))
    }
}

fn unreadable(error: serde_json::Error) -> Error {
    Error::protocol("an event is not what the contract says", error)
}
