//! Turns values into the contract's texts, and declares the kinds of types that serde alone cannot.

use std::fmt::Write;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// An optional field that can be null. By default it is absent, and then it is not sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Nullable<T> {
    #[default]
    Absent,
    Null,
    Value(T),
}

impl<T> Nullable<T> {
    /// Returns the value, unless the field is null or absent.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }

    /// True if the field is not sent.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

impl<T> From<T> for Nullable<T> {
    fn from(value: T) -> Self {
        Self::Value(value)
    }
}

impl<T: Serialize> Serialize for Nullable<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Nullable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Null, Self::Value))
    }
}

/// Returns the text of a field that tells the types of a union apart.
pub fn tag_of(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Returns a field's text in JSON.
pub fn tag_in(json: &str, name: &str) -> Option<String> {
    let value: Value = serde_json::from_str(json).ok()?;
    Some(value.get(name)?.as_str()?.to_owned())
}

/// Returns the kind of a JSON value.
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns a value's texts: several for a list, no text if the value is absent.
pub fn texts(value: &impl Serialize) -> serde_json::Result<Vec<String>> {
    serde_json::to_value(value).map(texts_of)
}

pub fn texts_of(value: Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::String(text) => vec![text],
        Value::Array(items) => items.into_iter().flat_map(texts_of).collect(),
        other => vec![other.to_string()],
    }
}

/// Escapes all characters that a header may not hold.
pub fn ascii(text: &str) -> String {
    let mut escaped = String::new();
    for unit in text.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if byte < 0x7f => escaped.push(char::from(byte)),
            _ => _ = write!(escaped, "\\u{unit:04x}"),
        }
    }
    escaped
}

/// Escapes a text for a query.
pub fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => escaped.push(char::from(byte)),
            _ => _ = write!(escaped, "%{byte:02X}"),
        }
    }
    escaped
}

/// Declares enums of texts. A text that the contract does not list is `Unknown`.
macro_rules! open_enums {
    ($($(#[$meta:meta])* $name:ident { $($variant:ident = $text:literal),* $(,)? })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $(#[doc = concat!("`", $text, "`")] $variant,)*
            /// A text from a later version of the server.
            Unknown(String),
        }

        impl $name {
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)*
                    Self::Unknown(text) => text,
                }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::Unknown(String::new())
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                match text {
                    $($text => Self::$variant,)*
                    _ => Self::Unknown(text.to_owned()),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Ok(String::deserialize(deserializer)?.as_str().into())
            }
        }
    )*};
}

/// Declares unions. A box around the larger types would burden each use, so Clippy's rule is off here. A text finds the type: that of the field `tag`, or else the kind of the JSON.
macro_rules! unions {
    ($($(#[$meta:meta])* $name:ident $(by $tag:literal)? { $($variant:ident($type:ty) = $text:pat),* $(,)? })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        #[allow(clippy::large_enum_variant)]
        #[non_exhaustive]
        pub enum $name {
            $($variant($type),)*
            /// A value from a later version of the server.
            Unknown(serde_json::Value),
        }

        impl Default for $name {
            fn default() -> Self {
                Self::Unknown(serde_json::Value::Null)
            }
        }

        $(impl From<$type> for $name {
            fn from(value: $type) -> Self {
                Self::$variant(value)
            }
        })*

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(value) => value.serialize(serializer),)*
                    Self::Unknown(value) => value.serialize(serializer),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = serde_json::Value::deserialize(deserializer)?;
                let found: &str = &match_text!(value $(, $tag)?);
                match found {
                    $($text => serde_json::from_value(value).map(Self::$variant),)*
                    _ => Ok(Self::Unknown(value)),
                }
                .map_err(serde::de::Error::custom)
            }
        }
    )*};
}

macro_rules! match_text {
    ($value:ident, $tag:literal) => {
        crate::wire::tag_of(&$value, $tag)
    };
    ($value:ident) => {
        crate::wire::kind_of(&$value)
    };
}

/// Declares the data of a stream's events. The event's name finds the type.
macro_rules! events {
    ($($(#[$meta:meta])* $name:ident { $($variant:ident($type:ty) = $event:literal),* $(,)? })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        #[allow(clippy::large_enum_variant)]
        #[non_exhaustive]
        pub enum $name {
            $($variant($type),)*
            /// An event from a later version of the server.
            Unknown(serde_json::Value),
        }

        impl crate::stream::EventData for $name {
            fn read(name: &str, data: &str) -> serde_json::Result<Self> {
                match name {
                    $($event => serde_json::from_str(data).map(Self::$variant),)*
                    _ => serde_json::from_str(data).map(Self::Unknown),
                }
            }
        }
    )*};
}

/// Declares a socket's frames of both sides. Binary frames are audio.
macro_rules! frames {
    ($name:ident sends { $($sent:ident($sent_type:ty)),* $(,)? }
     $received_name:ident by $tag:literal receives { $($received:ident($received_type:ty) = $text:literal),* $(,)? }) => {
        /// A frame of the client.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(clippy::large_enum_variant)]
        #[non_exhaustive]
        pub enum $name {
            $($sent($sent_type),)*
            /// A binary frame.
            Audio(bytes::Bytes),
        }

        $(impl From<$sent_type> for $name {
            fn from(frame: $sent_type) -> Self {
                Self::$sent(frame)
            }
        })*

        impl From<bytes::Bytes> for $name {
            fn from(audio: bytes::Bytes) -> Self {
                Self::Audio(audio)
            }
        }

        impl crate::socket::SentFrame for $name {
            fn message(self) -> serde_json::Result<tokio_tungstenite::tungstenite::Message> {
                match self {
                    $(Self::$sent(frame) => Ok(serde_json::to_string(&frame)?.into()),)*
                    Self::Audio(audio) => Ok(audio.into()),
                }
            }
        }

        /// A frame of the server.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(clippy::large_enum_variant)]
        #[non_exhaustive]
        pub enum $received_name {
            $($received($received_type),)*
            /// A binary frame.
            Audio(bytes::Bytes),
            /// A frame from a later version of the server.
            Unknown(serde_json::Value),
        }

        impl crate::socket::ReceivedFrame for $received_name {
            fn text(frame: serde_json::Value) -> serde_json::Result<Self> {
                match crate::wire::tag_of(&frame, $tag).as_str() {
                    $($text => serde_json::from_value(frame).map(Self::$received),)*
                    _ => Ok(Self::Unknown(frame)),
                }
            }

            fn binary(bytes: bytes::Bytes) -> Self {
                Self::Audio(bytes)
            }
        }
    };
}
