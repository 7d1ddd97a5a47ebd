//! People's prompt files: what their names and contents say, as pure functions over the files of a folder.
//!
//! - `folder`: the files of a folder, within bounds
//! - `names`: what the name of a file says (its dialect, whether it is a template)

mod folder;
mod names;

pub use folder::{Files, Folder, is_hidden, partials, read_folder, slashed};
pub use names::{dialect_of, folder_of, is_template_file};
