//! What the machines of both dialects share: the budget of steps and time, the record of missing values,
//! and random numbers.

mod budget;
mod misses;
#[cfg(feature = "jinja")]
mod random;

pub(crate) use budget::{Budget, Exhausted};
pub(crate) use misses::{Absent, Holder, Misses, Step};
#[cfg(feature = "jinja")]
pub(crate) use random::Random;
