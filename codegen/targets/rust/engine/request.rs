use reqwest::Method;
use serde::Serialize;
use serde_json::Value;

use crate::{
    Audio,
    error::Error,
    form::Form,
    wire::{self, escape},
};

/// The call of an operation. The methods return a changed request.
#[derive(Clone, Debug)]
pub struct Request {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Body,
    pub(crate) accept: &'static str,
    pub(crate) is_idempotent: bool,
    pub(crate) is_public: bool,
    /// The field of an event's data that tells two events apart, by the events' name. Absent if a cut stream cannot be
    /// opened again.
    pub(crate) identity: Option<Identity>,
    /// Why the request cannot be sent.
    pub(crate) fault: Option<String>,
}

pub type Identity = &'static [(&'static str, &'static str)];

#[derive(Clone, Debug)]
pub(crate) enum Body {
    None,
    Json(Vec<u8>),
    Audio(Audio),
    Form(Form),
}

impl Request {
    fn new(method: Method, path: &str) -> Self {
        Self {
            method,
            path: path.to_owned(),
            query: Vec::new(),
            headers: Vec::new(),
            body: Body::None,
            accept: "",
            is_idempotent: false,
            is_public: false,
            identity: None,
            fault: None,
        }
    }

    pub fn get(path: &str) -> Self {
        Self::new(Method::GET, path)
    }

    pub fn post(path: &str) -> Self {
        Self::new(Method::POST, path)
    }

    pub fn put(path: &str) -> Self {
        Self::new(Method::PUT, path)
    }

    pub fn patch(path: &str) -> Self {
        Self::new(Method::PATCH, path)
    }

    pub fn delete(path: &str) -> Self {
        Self::new(Method::DELETE, path)
    }

    /// Puts a value into the path. A URL drops the segments `.` and `..`, so they are refused.
    pub fn path(mut self, name: &str, value: &str) -> Self {
        if matches!(value, "" | "." | "..") {
            self.fault = Some(format!("`{value}` cannot be the {name} in a path"));
        }
        self.path = self.path.replace(&format!("{{{name}}}"), &escape(value));
        self
    }

    /// Takes the query from an object's fields, apart from fields with these names, which are headers.
    pub fn params(mut self, params: &impl Serialize, headers: &[&str]) -> Self {
        let fields = match serde_json::to_value(params) {
            Ok(Value::Object(fields)) => fields,
            _ => return self.failed("the parameters cannot be written"),
        };
        for (name, value) in fields {
            if headers.contains(&name.as_str()) {
                self.headers.push((name, header_text(&value)));
            } else {
                self.query.extend(wire::texts_of(value).into_iter().map(|text| (name.clone(), text)));
            }
        }
        self
    }

    /// Sets a body with a value's JSON. An absent value is no body.
    pub fn json(mut self, value: Option<&impl Serialize>) -> Self {
        match value.map(serde_json::to_vec) {
            Some(Ok(json)) => self.body = Body::Json(json),
            Some(Err(_)) => return self.failed("the body cannot be written as JSON"),
            None => (),
        }
        self
    }

    /// Sets a body with a value's JSON. The field selects the form of the answer.
    pub fn json_with(self, value: &impl Serialize, field: &str, selected: impl Into<Value>) -> Self {
        match serde_json::to_value(value) {
            Ok(Value::Object(mut fields)) => {
                fields.insert(field.to_owned(), selected.into());
                self.json(Some(&fields))
            }
            _ => self.failed("the body cannot be written as JSON"),
        }
    }

    pub fn form(mut self, form: Form) -> Self {
        self.body = Body::Form(form);
        self
    }

    pub fn audio(mut self, audio: Audio) -> Self {
        self.body = Body::Audio(audio);
        self
    }

    pub fn accept(mut self, media_types: &'static str) -> Self {
        self.accept = media_types;
        self
    }

    /// Adds an Idempotency-Key, which is new for each attempt.
    pub fn idempotent(mut self) -> Self {
        self.is_idempotent = true;
        self
    }

    /// Leaves the API key out.
    pub fn public(mut self) -> Self {
        self.is_public = true;
        self
    }

    /// Says that a cut stream can be opened again.
    pub fn resumable(mut self, identity: Identity) -> Self {
        self.identity = Some(identity);
        self
    }

    /// Asks for the events after the last one. The server ignores the header if there is a cursor.
    pub(crate) fn after(mut self, last_event_id: &str) -> Self {
        self.query.retain(|(name, _)| name != "cursor");
        self.headers.retain(|(name, _)| !name.eq_ignore_ascii_case(LAST_EVENT_ID));
        self.headers.push((LAST_EVENT_ID.to_owned(), last_event_id.to_owned()));
        self
    }

    /// Returns the path with the query, or why the request cannot be sent.
    pub(crate) fn target(&self) -> Result<String, Error> {
        if let Some(fault) = &self.fault {
            return Err(Error::Input { message: fault.clone(), source: None });
        }
        let pairs: Vec<String> =
            self.query.iter().map(|(name, value)| format!("{}={}", escape(name), escape(value))).collect();
        let separator = if pairs.is_empty() { "" } else { "?" };
        Ok(format!("{}{separator}{}", self.path, pairs.join("&")))
    }

    fn failed(mut self, fault: &str) -> Self {
        self.fault = Some(fault.to_owned());
        self
    }
}

const LAST_EVENT_ID: &str = "Last-Event-ID";

/// An object goes into a header as JSON, in ASCII.
fn header_text(value: &Value) -> String {
    match value {
        Value::Object(_) => wire::ascii(&value.to_string()),
        _ => wire::texts_of(value.clone()).join(", "),
    }
}

impl Body {
    pub(crate) fn is_repeatable(&self) -> bool {
        match self {
            Self::None | Self::Json(_) => true,
            Self::Audio(audio) => audio.is_repeatable(),
            Self::Form(form) => form.is_repeatable(),
        }
    }
}
