//! Skills.

mod documents;
mod folders;
mod rehearsals;
mod shipped;
