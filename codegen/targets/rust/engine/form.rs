use reqwest::multipart;
use serde::Serialize;

use crate::{Audio, Error, Result, wire};

/// The parts of a multipart body, which go over the wire in this order.
#[derive(Clone, Debug, Default)]
pub struct Form {
    parts: Vec<(&'static str, Part)>,
    fault: Option<String>,
}

#[derive(Clone, Debug)]
enum Part {
    Text(String),
    Json(Vec<u8>),
    Audio(Audio),
}

impl Form {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a part for each text. An absent value has no part.
    pub fn text(mut self, name: &'static str, value: &impl Serialize) -> Self {
        match wire::texts(value) {
            Ok(texts) => self.parts.extend(texts.into_iter().map(|text| (name, Part::Text(text)))),
            Err(error) => self.fault = Some(error.to_string()),
        }
        self
    }

    pub fn json(mut self, name: &'static str, value: &impl Serialize) -> Self {
        match serde_json::to_vec(value) {
            Ok(json) => self.parts.push((name, Part::Json(json))),
            Err(error) => self.fault = Some(error.to_string()),
        }
        self
    }

    pub fn audio(mut self, name: &'static str, audio: Audio) -> Self {
        self.parts.push((name, Part::Audio(audio)));
        self
    }

    pub(crate) fn is_repeatable(&self) -> bool {
        self.parts.iter().all(|(_, part)| match part {
            Part::Audio(audio) => audio.is_repeatable(),
            Part::Text(_) | Part::Json(_) => true,
        })
    }

    pub(crate) async fn open(&self) -> Result<multipart::Form> {
        if let Some(fault) = &self.fault {
            return Err(Error::input("the form cannot be written", fault.clone()));
        }
        let mut form = multipart::Form::new().percent_encode_noop();
        for (name, part) in &self.parts {
            form = form.part(*name, part.open().await?);
        }
        Ok(form)
    }
}

impl Part {
    async fn open(&self) -> Result<multipart::Part> {
        let typed = |part: multipart::Part, kind| {
            part.mime_str(kind).map_err(|error| Error::input("the form cannot be written", error))
        };
        match self {
            Self::Text(text) => Ok(multipart::Part::text(text.clone())),
            Self::Json(json) => typed(multipart::Part::bytes(json.clone()), "application/json"),
            Self::Audio(audio) => {
                let part = match audio.open().await? {
                    (body, Some(length)) => multipart::Part::stream_with_length(body, length),
                    (body, None) => multipart::Part::stream(body),
                };
                typed(part.file_name("audio"), "application/octet-stream")
            }
        }
    }
}
