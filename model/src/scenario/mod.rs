//! Scenario files: the types, reading and writing, validation, and answers to mistakes.
//!
//! | file | what |
//! |---|---|
//! | [`schema`] | the types; their doc comments, defaults and ranges are the reference |
//! | [`map`] | names and values, each name once |
//! | [`read`](mod@read) | text to [`Scenario`](schema::Scenario), or all its mistakes |
//! | [`write`](mod@write) | and back |
//! | [`validate`](mod@validate) | what a scenario must mean, beyond its form |
//! | [`mistake`] | a mistake as data: title, place, help |
//! | [`locate`](mod@locate) | the place of a path in the text |
//! | `repair`, `values`, `punctuation`, `syntax` | what a person did wrong, from what ron says |
//! | `tokens` | the pieces of a text, right or wrong |
//! | `shape` | what may stand where, from `schemars` |
//! | [`fields`](mod@fields) | the same as a reference for people |
//! | [`nearest`](mod@nearest) | "did you mean" |
//!
//! ```
//! let mistakes = millpond_model::scenario::read("Scenario(abuot: \"Totals\")").unwrap_err();
//! assert_eq!(mistakes[0].title, "unknown field `abuot` in the scenario");
//! assert_eq!(mistakes[0].patch.as_ref().unwrap().message, "did you mean `about`?");
//! ```

pub mod fields;
pub mod locate;
pub mod map;
pub mod mistake;
pub mod nearest;
mod punctuation;
pub mod read;
mod repair;
pub mod schema;
mod shape;
mod syntax;
#[cfg(test)]
mod tests;
mod tokens;
pub mod validate;
mod values;
pub mod write;

pub use self::read::read;
pub use self::validate::validate;
pub use self::write::write;
