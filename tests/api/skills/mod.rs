//! Skills.

mod desk;
mod documents;
mod folders;
mod hosts;
mod rehearsals;
mod run;
mod shipped;
mod terminal;
