//! Declares the contract's objects. A struct in a macro has only the attributes in which it differs from other structs.

/// Declares the objects in answers. The server may send fewer fields than the contract names, and more in later
/// versions. `$style` is the style of the contract's names.
macro_rules! answers {
    ($style:literal $($(#[$meta:meta])* pub struct $name:ident { $($fields:tt)* })*) => {$(
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, rename_all = $style)]
        #[non_exhaustive]
        $(#[$meta])*
        pub struct $name { $($fields)* }
    )*};
}

/// Declares the objects in requests.
macro_rules! requests {
    ($style:literal $($(#[$meta:meta])* pub struct $name:ident { $($fields:tt)* })*) => {$(
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = $style)]
        $(#[$meta])*
        pub struct $name { $($fields)* }
    )*};
}

/// Declares the objects that are in requests and in answers.
macro_rules! both {
    ($style:literal $($(#[$meta:meta])* pub struct $name:ident { $($fields:tt)* })*) => {$(
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, rename_all = $style)]
        $(#[$meta])*
        pub struct $name { $($fields)* }
    )*};
}

/// Declares the forms of operations.
macro_rules! forms {
    ($($(#[$meta:meta])* pub struct $name:ident { $($fields:tt)* })*) => {$(
        #[derive(Clone, Debug)]
        $(#[$meta])*
        pub struct $name { $($fields)* }
    )*};
}

/// Declares a function `new` for each object with required fields: `Name(required: Type) { absent, kind = "text" }`.
macro_rules! constructors {
    ($($name:ident($($field:ident: $type:ty),*) { $($absent:ident $(= $text:literal)?),* $(,)? })*) => {$(
        impl $name {
            /// Begins with the required fields. The other fields are absent.
            #[allow(clippy::too_many_arguments)]
            pub fn new($($field: $type),*) -> Self {
                Self { $($field: $field.into(),)* $($absent: initial!($($text)?),)* }
            }
        }
    )*};
}

/// Declares the defaults of objects that have no required fields but constants: `Name { absent, kind = "text" }`.
macro_rules! defaults {
    ($($name:ident { $($absent:ident $(= $text:literal)?),* $(,)? })*) => {$(
        impl Default for $name {
            fn default() -> Self {
                Self { $($absent: initial!($($text)?),)* }
            }
        }
    )*};
}

macro_rules! initial {
    ($text:literal) => {
        $text.to_owned()
    };
    () => {
        Default::default()
    };
}
