//! Skills.

mod documents;
mod folders;
