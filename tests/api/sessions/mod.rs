//! Sessions of skills: dialogues in steps, in front of a scripted model.

mod lasting;
mod leaving;
mod replicas;
