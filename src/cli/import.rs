//! The import of prompt files: reads a folder, stores a prompt for each file, and says what became of every one.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value as Json, json};

use super::args::{Common, Import};
use super::check::{counted, without_new_store};
use super::client::Client;
use super::documents::{path, print_json};
use super::error::CliError;
use super::output::{say, warn};
use super::target;
use crate::app::App;
use crate::formats::{self, FoundPrompt, Reading, dialect_of, is_prompt_file, legal_name, read_folder};
use crate::store;
use base::model::{DocumentKind, Id, without_files};

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

/// What became of one prompt.
struct Outcome<'a> {
    prompt: &'a FoundPrompt,
    id: Id,
    /// The dialect, and what a render gives.
    became: Result<(String, String), String>,
}

impl PromptFiles {
    /// Reads the folder.
    pub fn read(options: &Import) -> PromptFiles {
        let dir = options.dir.as_path();
        let folder = read_folder(dir, &is_prompt_file, FILES_MAX);
        let mut others = BTreeMap::new();
        for path in &folder.others {
            let name = path.rsplit('/').next().unwrap_or(path);
            let extension = name.rsplit_once('.').map_or("(none)", |(_, extension)| extension);
            *others.entry(extension.to_owned()).or_default() += 1;
        }
        let partials = formats::partials(&folder.files).map(|(path, text)| (path, text.to_owned())).collect();
        PromptFiles {
            extension: extension_of(dir, options.extension.as_deref()),
            reading: formats::read(&folder.files, &dir.display().to_string()),
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
            let message = "an extension is named by letters, digits, `_` and `-`: say one with --as NAME";
            CliError::Usage(message.to_owned())
        })?;
        let (known, stored) = match options.dry_run {
            false => (target::open(common).await?, None),
            true => in_memory(common).await?,
        };
        let client = stored.as_ref().unwrap_or(&known);
        let mut importer = Importer { known: &known, client, extension, replace: options.replace };
        importer.put_partials(self).await?;
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
            Some(json!({"file": prompt.file, "id": id, "format": prompt.format, "syntax": syntax, "became": became,
                        "left_out": prompt.left_out}))
        });
        let refused = self
            .reading
            .refused
            .iter()
            .map(|note| json!({"file": note.file, "line": note.line, "reason": note.reason}));
        let failed = outcomes.iter().filter_map(|outcome| {
            let reason = outcome.became.as_ref().err()?;
            Some(json!({"file": outcome.prompt.file, "id": outcome.id, "reason": reason}))
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
        let taken: Vec<_> = outcomes.iter().filter_map(|o| Some((o, o.became.as_ref().ok()?))).collect();
        let width = |of: fn(&Outcome<'_>) -> usize| taken.iter().map(|(o, _)| of(o)).max().unwrap_or(0);
        let (files, ids) = (width(|o| o.prompt.file.len()), width(|o| o.id.as_str().len()));
        for (Outcome { prompt, id, .. }, (syntax, became)) in &taken {
            say(format_args!(
                "{:files$}  {:ids$}  {syntax:5}  {became} ({})",
                prompt.file,
                id.as_str(),
                prompt.format
            ));
            if !prompt.left_out.is_empty() {
                say(format_args!("{:files$}  left out: {}", "", prompt.left_out.join(", ")));
            }
        }
        for note in &self.reading.passed_over {
            say(format_args!("not taken: {}: {}", note.file, note.reason));
        }
        if !self.others.is_empty() {
            let kinds: Vec<String> =
                self.others.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
            say(format_args!("not taken: files of other kinds ({})", kinds.join(", ")));
        }
        for note in &self.reading.refused {
            let line = note.line.map(|line| format!(":{line}")).unwrap_or_default();
            warn(format_args!("refused: {}{line}: {}", note.file, note.reason));
        }
        let failed = outcomes.iter().filter_map(|o| Some((o, o.became.as_ref().err()?)));
        failed.for_each(|(o, reason)| warn(format_args!("refused: {} ({}): {reason}", o.prompt.file, o.id)));
        if !self.is_complete {
            warn(format_args!("the folder has more than {FILES_MAX} files; the others were not looked at"));
        }
        let refused = outcomes.len() - taken.len() + self.reading.refused.len();
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

/// A client of the store as it is, and one of a service over a store in memory.
async fn in_memory(common: &Common) -> Result<(Client, Option<Client>), CliError> {
    let known = match &common.server {
        Some(_) => target::open(common).await?,
        None => target::open_with(&without_new_store(&target::settings(common)?)).await?,
    };
    let mut settings = target::settings(common)?;
    settings.store.url = store::MEMORY.to_owned();
    let app = App::build(&settings).await?;
    Ok((known, Some(target::inside(&app, &settings)?)))
}

/// Stores prompts.
struct Importer<'a> {
    /// The service that knows what is stored.
    known: &'a Client,
    /// The service that prompts are stored with.
    client: &'a Client,
    extension: &'a Id,
    replace: bool,
}

impl Importer<'_> {
    /// Stores the texts that templates include, in the extension's document.
    async fn put_partials(&self, files: &PromptFiles) -> Result<(), CliError> {
        let partials = formats::included(&files.reading.prompts, &files.partials);
        if partials.is_empty() {
            return Ok(());
        }
        let document = json!({"name": self.extension, "contributes": {"partials": partials}});
        let at = path(DocumentKind::Extension, self.extension.as_str());
        let before = self.known.get_bytes(&format!("{at}?raw=store")).await?;
        let before = before.and_then(|bytes| serde_json::from_slice::<Json>(&bytes).ok());
        if before.as_ref().is_some_and(|before| *before != document) && !self.replace {
            let id = self.extension;
            let message = format!(
                "an extension `{id}` is already stored, and differs: --replace replaces it, --as NAME names another"
            );
            return Err(CliError::Usage(message));
        }
        let bytes: usize = partials.values().map(String::len).sum();
        self.client.put(&at, document.to_string().into_bytes()).await.map(drop).map_err(|error| match error {
            CliError::Refused { code, message } => CliError::Refused {
                code,
                message: format!(
                    "the {} that templates include ({bytes} bytes together) cannot be stored: {message}",
                    counted(partials.len(), "file")
                ),
            },
            error => error,
        })
    }

    /// Stores all prompts. One may include another one that comes later: those that were refused are tried again as long as
    /// something gets through.
    async fn put_all<'p>(&mut self, prompts: &'p [FoundPrompt]) -> Result<Vec<Outcome<'p>>, CliError> {
        let mut outcomes: Vec<Outcome<'p>> = Vec::new();
        let mut waiting: Vec<&FoundPrompt> = prompts.iter().collect();
        loop {
            let before = waiting.len();
            let mut refused = Vec::new();
            for prompt in waiting {
                let outcome = self.put(prompt).await?;
                if outcome.became.is_err() { &mut refused } else { &mut outcomes }.push(outcome);
            }
            if refused.is_empty() || refused.len() == before {
                outcomes.extend(refused);
                outcomes.sort_by(|one, other| one.prompt.file.cmp(&other.prompt.file));
                return Ok(outcomes);
            }
            waiting = refused.into_iter().map(|outcome| outcome.prompt).collect();
        }
    }

    async fn put<'p>(&self, prompt: &'p FoundPrompt) -> Result<Outcome<'p>, CliError> {
        let id = self.extension.child(&prompt.name).map_err(|error| CliError::Usage(error.to_string()))?;
        let document = without_files(prompt.document.clone());
        let at = path(DocumentKind::Prompt, id.as_str());
        let before = self.known.get_bytes(&format!("{at}?raw=store")).await?;
        let before = before.and_then(|bytes| serde_json::from_slice::<Json>(&bytes).ok());
        if before.is_some_and(|before| before != document) && !self.replace {
            let reason =
                "a prompt of this id is already stored, and differs: --replace replaces it".to_owned();
            return Ok(Outcome { prompt, id, became: Err(reason) });
        }
        let became = match self.client.put(&at, document.to_string().into_bytes()).await {
            Ok(_) => Ok((self.syntax_of(&at).await?, became(&document))),
            Err(CliError::Refused { message, .. }) => Err(message),
            Err(error) => return Err(error),
        };
        Ok(Outcome { prompt, id, became })
    }

    async fn syntax_of(&self, at: &str) -> Result<String, CliError> {
        let shown = self.client.get(at).await?;
        Ok(shown.get("syntax").and_then(Json::as_str).unwrap_or_default().to_owned())
    }
}

/// What a render of the document gives.
fn became(document: &Json) -> String {
    let messages = document.get("messages").and_then(Json::as_array);
    let roles =
        messages.map(|messages| messages.iter().filter_map(|m| m.get("role")?.as_str()).collect::<Vec<_>>());
    let text = if document.get("roles").is_some() { "messages by headings" } else { "text" };
    roles.map_or_else(|| text.to_owned(), |roles| roles.join("+"))
}
