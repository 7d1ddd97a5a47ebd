//! Static analysis: what both dialects share to find what a template may use.
//!
//! A dialect walks over its own syntax tree and computes the [`Paths`] in the data that each value may come from. What it
//! meets it notes in [`Facts`], which also count the work, so that the analysis of a hostile text gives up in time. Values
//! that flow backwards (through loops, calls, texts that include one another) are kept in [`Cells`]: the walk is repeated
//! until none of them changes. [`Calls`] tell whether a call is part of a call of the same thing.

mod calls;
mod cells;
mod facts;
mod needs;
mod path;

pub(crate) use calls::Calls;
pub(crate) use cells::{Cells, Join};
pub(crate) use facts::Facts;
pub use needs::{Need, Requirements};
pub(crate) use path::{PathStep, Paths};
