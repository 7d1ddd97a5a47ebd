//! The import of prompt files: reads a folder, stores a prompt for each file, and says what became of every one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value as Json, json};

use super::args::{Common, Import};
use super::check::counted;
use super::documents::print_json;
use super::error::CliError;
use super::importer::{Failure, Importer, Outcome, in_memory};
use super::output::{on_one_line, say, warn};
use super::target;
use crate::formats::{
    self, FileNote, FolderBounds, Reading, dialect_of, is_prompt_file, legal_name, read_folder,
};
use base::model::Id;

/// The most files that are looked at.
const FILES_MAX: usize = 20_000;

/// The prompt files of a folder.
pub struct PromptFiles {
    extension: Option<Id>,
    reading: Reading,
    /// The texts that templates can include, by their paths.
    partials: BTreeMap<String, String>,
    /// Files of other kinds, by their extensions.
    others: BTreeMap<String, usize>,
    is_complete: bool,
}

impl PromptFiles {
    /// Reads the folder.
    pub fn read(options: &Import) -> PromptFiles {
        let dir = options.dir.as_path();
        let folder = read_folder(dir, &is_prompt_file, FolderBounds::of_all(FILES_MAX));
        let mut reading = formats::read(&folder.files, &dir.display().to_string());
        reading.pass_over(folder.skipped);
        let mut others = BTreeMap::new();
        for path in &folder.others {
            let name = path.rsplit('/').next().unwrap_or(path);
            let extension = name.rsplit_once('.').map_or("(none)", |(_, extension)| extension);
            *others.entry(extension.to_owned()).or_default() += 1;
        }
        let partials = formats::partials(&folder.files).map(|(path, text)| (path, text.to_owned())).collect();
        PromptFiles {
            extension: extension_of(dir, options.extension.as_deref()),
            reading,
            partials,
            others,
            is_complete: folder.is_complete,
        }
    }

    /// Whether the folder is one of prompt files. If it could be one of exported documents, too, plain texts say nothing.
    pub fn is_prompts(&self, no_documents: bool) -> bool {
        let told = |file: &str| no_documents || dialect_of(file).is_some() || formats::is_structured(file);
        let refused = self.reading.refused.iter().map(|note| note.file.as_str());
        self.reading.prompts.iter().map(|prompt| prompt.file.as_str()).chain(refused).any(told)
    }

    /// Stores the prompts and prints what became of them; a dry run stores them in memory, so that all checks are made.
    ///
    /// # Errors
    /// [`CliError::Reported`] if a file was refused; the others are stored.
    pub async fn import(&self, common: &Common, options: &Import) -> Result<(), CliError> {
        let extension = self.extension.as_ref().ok_or_else(|| {
            let message =
                "an extension is named by letters, digits, `_`, `-`, and `.` between these: say one with --as NAME";
            CliError::Usage(message.to_owned())
        })?;
        let (known, stored) = match options.dry_run {
            false => (target::open(common).await?, None),
            true => in_memory(common).await?,
        };
        let client = stored.as_ref().unwrap_or(&known);
        let mut importer = Importer { known: &known, client, extension, replace: options.replace };
        importer.put_partials(&formats::included(&self.reading.prompts, &self.partials)).await?;
        let outcomes = importer.put_all(&self.reading.prompts).await?;
        let failed =
            outcomes.iter().filter(|outcome| outcome.became.is_err()).count() + self.reading.refused.len();
        match options.json {
            true => print_json(&self.as_json(extension, &outcomes, options.dry_run)),
            false => self.print(&outcomes, options.dry_run),
        }
        if failed == 0 && self.is_complete { Ok(()) } else { Err(CliError::Reported) }
    }

    fn as_json(&self, extension: &Id, outcomes: &[Outcome<'_>], dry_run: bool) -> Json {
        let taken = outcomes.iter().filter_map(|Outcome { prompt, id, became }| {
            let (syntax, became) = became.as_ref().ok()?;
            Some(json!({"file": prompt.file, "beside": prompt.beside, "id": id, "format": prompt.format, "syntax": syntax,
                        "became": became, "left_out": prompt.left_out}))
        });
        let refused = self
            .reading
            .refused
            .iter()
            .map(|note| json!({"file": note.file, "line": note.line, "reason": note.reason}));
        let failed = outcomes.iter().filter_map(|outcome| {
            let Failure { reason, line } = outcome.became.as_ref().err()?;
            Some(json!({"file": outcome.prompt.file, "id": outcome.id, "line": line, "reason": reason}))
        });
        let passed = self.reading.passed_over.iter();
        json!({
            "extension": extension,
            "dry_run": dry_run,
            "taken": taken.collect::<Vec<_>>(),
            "refused": refused.chain(failed).collect::<Vec<_>>(),
            "not_taken": passed.map(|note| json!({"file": note.file, "reason": note.reason})).collect::<Vec<_>>(),
            "other_files": self.others,
            "complete": self.is_complete,
        })
    }

    fn print(&self, outcomes: &[Outcome<'_>], dry_run: bool) {
        let failed: Vec<_> = outcomes.iter().filter_map(|o| Some((o, o.became.as_ref().err()?))).collect();
        let taken: Vec<_> = outcomes.iter().filter_map(|o| Some((o, o.became.as_ref().ok()?))).collect();
        let width = |of: fn(&Outcome<'_>) -> usize| taken.iter().map(|(o, _)| of(o)).max().unwrap_or(0);
        let (files, ids) = (width(|o| o.prompt.file.len()), width(|o| o.id.as_str().len()));
        for (Outcome { prompt, id, .. }, (syntax, became)) in &taken {
            let beside = prompt.beside.as_ref().map(|file| format!(", with {file}")).unwrap_or_default();
            say(on_one_line(&format!(
                "{:files$}  {:ids$}  {syntax:5}  {became} ({}{beside})",
                prompt.file,
                id.as_str(),
                prompt.format
            )));
            if !prompt.left_out.is_empty() {
                say(on_one_line(&format!("{:files$}  left out: {}", "", prompt.left_out.join(", "))));
            }
        }
        for (files, reason) in self.reading.in_short() {
            say(on_one_line(&format!("not taken: {files}: {reason}")));
        }
        if !self.others.is_empty() {
            let kinds: Vec<String> =
                self.others.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
            say(format_args!("not taken: files of other kinds ({})", kinds.join(", ")));
        }
        let at = |file: &str, line: Option<usize>| match line {
            Some(line) => format!("{file}:{line}"),
            None => file.to_owned(),
        };
        for FileNote { file, line, reason, .. } in &self.reading.refused {
            warn(on_one_line(&format!("refused: {}: {reason}", at(file, *line))));
        }
        for (Outcome { prompt, id, .. }, Failure { reason, line }) in failed {
            warn(on_one_line(&format!("refused: {} ({id}): {reason}", at(&prompt.file, *line))));
        }
        if !self.is_complete {
            warn(format_args!("the folder has more than {FILES_MAX} files; the others were not looked at"));
        }
        let failed = outcomes.iter().filter(|o| o.became.is_err()).map(|o| &o.prompt.file);
        let refused: BTreeSet<_> = failed.chain(self.reading.refused.iter().map(|note| &note.file)).collect();
        let refused = refused.len();
        let verb = if dry_run { "would be stored" } else { "stored" };
        say(format_args!("{} {verb}, {} refused", counted(taken.len(), "prompt"), counted(refused, "file")));
    }
}

/// The name of the extension: the one that was said, or that of the folder.
fn extension_of(dir: &Path, said: Option<&str>) -> Option<Id> {
    match said {
        Some(name) => Id::parse(name).ok(),
        None => Id::parse(&legal_name(dir.canonicalize().ok()?.file_name()?.to_str()?)?).ok(),
    }
}
