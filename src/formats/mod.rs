//! People's prompt files: what their names and contents say, as pure functions over the files of a folder.
//!
//! [`read`] makes a prompt document of each file that it knows, and says of every other one why it does not.
//!
//! - `folder`: the files of a folder, within bounds
//! - `names`: what the name of a file says (its dialect, whether it is a template, the name of its prompt)
//! - `prompty`, `github`, `fabric`, `flow`, `plain`: one format each
//! - `skill`: `SKILL.md`
//! - `includes`: which files the prompts of others include
//! - `source`: a file as a source of templates; `tags`: the tags of Jinja; `roles`: texts that part
//!   into messages; `threads`: conversations among them;
//!   `fields`: inputs and outputs; `params`: parameters of models; `placeholders`: texts that know nothing but `{{name}}`;
//!   `yaml`: YAML with bounds; `strict_yaml`: the YAML that agentskills.io allows

mod fabric;
mod fields;
mod flow;
mod folder;
mod github;
mod includes;
mod names;
mod params;
mod placeholders;
mod plain;
mod prompty;
mod roles;
mod skill;
mod source;
mod strict_yaml;
mod tags;
mod threads;
pub mod yaml;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

pub use folder::{FILE_BYTES_MAX, Files, Folder, FolderBounds, is_hidden, partials, read_folder, slashed};
pub use includes::included;
pub use names::{
    dialect_of, folder_of, is_manifest, is_prompt_file, is_structured, is_template_file, legal_name,
};
use names::{file_name, is_about_folder};
pub use roles::{attributes_of, heading_lines, role_of};
pub use skill::{
    SKILL_FILE, UnusableSkill, check_skill, is_skill_document, is_skill_file, name_fault, skill, skill_file,
    skill_of_object, stored_skill,
};
use source::{Found, Refusal, Source};
pub use threads::conversations;

/// A prompt that a file holds.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundPrompt {
    /// Its name in the extension: the segments of an id.
    pub name: String,
    /// The path of the file.
    pub file: String,
    /// The path of another file that says something of it, too.
    pub beside: Option<String>,
    /// The format of the file.
    pub format: &'static str,
    /// The prompt document; its texts are references to the file, with their texts filled in.
    pub document: Json,
    /// What the file says and the document does not.
    pub left_out: Vec<String>,
}

/// Why a file, or a part of it, became no prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileNote {
    /// The path of the file.
    pub file: String,
    /// The name that the prompt would have.
    pub name: Option<String>,
    /// Why.
    pub reason: String,
    /// Where in the file, from 1.
    pub line: Option<usize>,
}

/// What the files of a folder hold.
#[derive(Debug, Default)]
pub struct Reading {
    /// The prompts, by the paths of their files.
    pub prompts: Vec<FoundPrompt>,
    /// Files that should be prompts and cannot be taken.
    pub refused: Vec<FileNote>,
    /// Files that are no prompts.
    pub passed_over: Vec<FileNote>,
}

/// How many files of one reason are named.
const SHOWN_MAX: usize = 5;

/// Reads the prompts of a folder. `shown` is what stands before a path where people see it.
pub fn read(files: &Files, shown: &str) -> Reading {
    let mut reader = Reader { files, shown, taken: BTreeSet::new(), reading: Reading::default() };
    let flows: Vec<&String> = files.keys().filter(|path| file_name(path) == flow::FILE).collect();
    flows.into_iter().for_each(|path| reader.flow(path));
    let is_structured = files.keys().any(|path| names::is_structured(path));
    for path in files.keys() {
        if !reader.taken.contains(path.as_str()) {
            reader.file(path, is_structured);
        }
    }
    let mut reading = reader.reading;
    reading.prompts.sort_by(|one, other| one.file.cmp(&other.file));
    reading.refuse_clashes();
    reading
}

struct Reader<'a> {
    files: &'a Files,
    shown: &'a str,
    /// The files that another one named.
    taken: BTreeSet<String>,
    reading: Reading,
}

impl Reader<'_> {
    fn flow(&mut self, path: &str) {
        self.taken.insert(path.to_owned());
        let flow = match self.source(path).and_then(|source| flow::read(&source)) {
            Ok(flow) => flow,
            Err(refusal) => return self.refuse(path, refusal),
        };
        if flow.nodes.is_empty() {
            self.pass_over(path, Some("none of its nodes has a template".to_owned()));
        }
        self.pass_over(path, flow.other_nodes());
        for node in &flow.nodes {
            let file = node.file.clone();
            if let (false, Some(place)) = (self.files.contains_key(&file), flow.source_of(&file)) {
                let reason = format!(
                    "the node `{}` is that of `{place}`, which is taken with its own folder",
                    node.name
                );
                self.pass_over(path, Some(reason));
            } else if !self.files.contains_key(&file) {
                let reason = format!("the node `{}` names `{file}`, which is not there", node.name);
                self.refuse(path, Refusal::new(reason));
            } else {
                // A template of several nodes is one prompt for each: the first is called by the file, the others by their nodes.
                let name = match self.taken.insert(file.clone()) {
                    true => names::name_of(&file),
                    false => names::name_beside(path, &node.name),
                };
                let found = self.source(&file).and_then(|source| flow::prompt(&source, node));
                self.add_named(&file, name, Some(path.to_owned()), found);
            }
        }
    }

    fn file(&mut self, path: &str, is_structured: bool) {
        let name = file_name(path);
        let lower = name.to_ascii_lowercase();
        if lower.ends_with(prompty::EXTENSION) {
            let found = self.source(path).and_then(|source| prompty::read(&source));
            self.add(path, found);
        } else if github::EXTENSIONS.iter().any(|extension| lower.ends_with(extension)) {
            let found = self.source(path).and_then(|source| github::read(&source));
            self.add(path, found);
        } else if name == fabric::SYSTEM {
            self.pattern(path);
        } else if is_skill_file(path) {
            self.pass_over(path, Some("it is a skill, and no prompt".to_owned()));
        } else if is_about_folder(path) {
            self.pass_over(path, Some("it is about the folder".to_owned()));
        } else if !is_template_file(path) {
            let reason = match self.files.get(path) {
                Some(Err(error)) => return self.refuse(path, Refusal::new(error.clone())),
                _ => "it is no prompt file",
            };
            self.pass_over(path, Some(reason.to_owned()));
        } else if is_structured && dialect_of(path).is_none() {
            let reason =
                "plain texts (.txt, .md) are no prompts in a folder with prompt files of other formats";
            self.pass_over(path, Some(reason.to_owned()));
        } else {
            let found = self.source(path).map(|source| plain::read(&source)).and_then(|found| found);
            self.add(path, found);
        }
    }

    fn pattern(&mut self, path: &str) {
        let beside = match folder_of(path) {
            "" => fabric::USER.to_owned(),
            folder => format!("{folder}/{}", fabric::USER),
        };
        let user = match self.files.contains_key(&beside) {
            true => Some(self.source(&beside)),
            false => None,
        };
        self.taken.insert(beside.clone());
        let found = match (self.source(path), user.transpose()) {
            (Ok(system), Ok(user)) => fabric::read(&system, user.as_ref()),
            (Err(refusal), _) | (_, Err(refusal)) => Err(refusal),
        };
        let beside = self.files.contains_key(&beside).then_some(beside);
        self.add_named(path, names::name_of(path), beside.clone(), found);
        // They were walked before their `system.md`, or will be after it.
        self.reading.passed_over.retain(|note| Some(&note.file) != beside.as_ref());
    }

    fn source(&self, path: &str) -> Result<Source, Refusal> {
        let contents = self.files.get(path).ok_or_else(|| Refusal::new("it is not there".to_owned()))?;
        let text = folder::text_of(contents).map_err(Refusal::new)?;
        Ok(Source::new(path, self.shown, text))
    }

    fn add(&mut self, path: &str, found: Result<Found, Refusal>) {
        self.add_named(path, names::name_of(path), None, found);
    }

    fn add_named(
        &mut self,
        path: &str,
        name: Option<String>,
        beside: Option<String>,
        found: Result<Found, Refusal>,
    ) {
        let named = name.ok_or_else(|| Refusal::new("its name has no letter or digit".to_owned()));
        match found.and_then(|found| Ok((named?, found))) {
            Ok((name, Found { format, document, left_out })) => self.reading.prompts.push(FoundPrompt {
                name,
                file: path.to_owned(),
                beside,
                format,
                document: Json::Object(document),
                left_out,
            }),
            Err(refusal) => self.refuse(path, refusal),
        }
    }

    fn refuse(&mut self, path: &str, Refusal { message, line }: Refusal) {
        let file = path.to_owned();
        let note = FileNote { file, name: names::name_of(path), reason: message, line };
        self.reading.refused.push(note);
    }

    fn pass_over(&mut self, path: &str, reason: Option<String>) {
        let note = |reason| FileNote { file: path.to_owned(), name: None, reason, line: None };
        self.reading.passed_over.extend(reason.map(note));
    }
}

impl Reading {
    /// Whether any file of the folder is meant as a prompt.
    pub fn is_empty(&self) -> bool {
        self.prompts.is_empty() && self.refused.is_empty()
    }

    /// Adds files that were not looked at, with the reasons.
    pub fn pass_over(&mut self, skipped: Vec<(String, String)>) {
        let note = |(file, reason)| FileNote { file, name: None, reason, line: None };
        self.passed_over.extend(skipped.into_iter().map(note));
    }

    /// The files that are no prompts, with the reasons; of many with the same reason, only the first are named.
    pub fn in_short(&self) -> Vec<(String, &str)> {
        let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for note in &self.passed_over {
            by_reason.entry(&note.reason).or_default().push(&note.file);
        }
        let mut short = Vec::new();
        for (reason, files) in by_reason {
            match files.get(..SHOWN_MAX) {
                Some(first) if files.len() > SHOWN_MAX + 1 => {
                    let more = files.len() - SHOWN_MAX;
                    short.push((format!("{} and {more} more", first.join(", ")), reason));
                }
                _ => short.extend(files.into_iter().map(|file| (file.to_owned(), reason))),
            }
        }
        short
    }

    /// Of several files whose prompts would have one name, the first has it.
    fn refuse_clashes(&mut self) {
        let mut owners: BTreeMap<String, String> = BTreeMap::new();
        let refused = &mut self.refused;
        self.prompts.retain(|prompt| match owners.get(&prompt.name) {
            None => owners.insert(prompt.name.clone(), prompt.file.clone()).is_none(),
            Some(owner) => {
                let reason =
                    format!("its prompt would be called `{}`, as that of {owner}: rename one", prompt.name);
                refused.push(FileNote { file: prompt.file.clone(), name: None, reason, line: None });
                false
            }
        });
    }
}
