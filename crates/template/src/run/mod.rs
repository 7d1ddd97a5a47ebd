//! What the machines of both dialects share: the budget of steps and time, and the record of missing values.

mod budget;
mod misses;

pub(crate) use budget::{Budget, Exhausted};
pub(crate) use misses::{Absent, Holder, Misses, Step};
