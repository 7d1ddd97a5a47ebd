//! The text semantics of Python 3.11 and of Jinja2 3.1.6's filters, as pure functions over Rust's own types.
//!
//! Positions and widths count code points, as Python's do. A function whose result can be much larger than its input takes
//! `room`, the most bytes that the result may have, and answers [`PyError::TooLarge`] before it reserves more.
//!
//! What differs from Python on purpose: a `str` here has no lone surrogates (an escape that names one gives U+FFFD); `\N{…}`
//! in a literal is an error; a power that would be a complex number is an error; `strftime` does not pad directives that
//! do not exist.

pub mod arg;
pub mod case;
pub mod chars;
pub mod error;
pub mod filters;
pub mod float;
pub mod format;
pub mod format_value;
pub mod html;
pub mod number;
pub mod number_text;
pub mod pad;
pub mod percent;
pub mod repr;
pub mod search;
pub mod split;
pub mod text;
pub mod time;
pub mod urlize;
pub mod wrap;

mod char_tables;
mod entities;
mod float_text;
mod format_spec;
mod link;
mod out;
mod percent_item;

pub use error::PyError;
