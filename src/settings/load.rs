//! Reads settings from their sources and checks them; the only place, with the CLI, that sees the environment.

use std::path::{Path, PathBuf};

use config::{Config, Environment, File, FileFormat};

use super::origins;
use super::section::Bound;
use super::{Secret, Secrets, Settings};

/// The settings file that is read when no other is named, if it is there.
pub const DEFAULT_FILE: &str = "ai-prompt-shell.toml";

/// Why there are no usable settings.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A source cannot be read, or holds an unknown key or a value of the wrong type.
    #[error("settings: {0}")]
    Unreadable(String),
    /// Values that are of the right type and still make no sense; all of them.
    #[error("settings: {}", .0.join("; "))]
    Invalid(Vec<String>),
    /// A file that was named does not exist.
    #[error("settings: there is no file {}", .0.display())]
    NoFile(PathBuf),
}

/// Loads the settings: defaults, then `file` (or [`DEFAULT_FILE`] if it exists), then the environment, then `overrides`
/// (`section.key`, text).
///
/// # Errors
/// [`SettingsError`] for a source that cannot be read, unknown keys, wrong types, and values out of range.
pub fn load(file: Option<&Path>, overrides: &[(&str, String)]) -> Result<Settings, SettingsError> {
    if let Some(file) = file.filter(|file| !file.exists()) {
        return Err(SettingsError::NoFile(file.to_owned()));
    }
    let path = file.unwrap_or(Path::new(DEFAULT_FILE));
    let mut sources = Config::builder()
        .add_source(File::from(path).format(FileFormat::Toml).required(false))
        .add_source(environment());
    for (key, value) in overrides {
        let overridden = match LISTS.contains(key) {
            true => sources.set_override(key, items(value)),
            false => sources.set_override(spelled(key), typed(key, value)),
        };
        sources = overridden.map_err(unreadable)?;
    }
    let mut settings: Settings =
        sources.build().map_err(unreadable)?.try_deserialize().map_err(unreadable)?;
    let mut invalid = invalid_values(&settings);
    invalid.extend(absent_secrets(&mut settings));
    if invalid.is_empty() { Ok(settings) } else { Err(SettingsError::Invalid(invalid)) }
}

/// The settings that are lists: in the environment and in flags, their items are separated by commas.
const LISTS: [&str; 4] =
    ["server.hosts", "server.origins", "tools.allowed_hosts", "assistant.allowed_programs"];

/// The items of a list, as in the file or only separated by commas.
fn items(text: &str) -> Vec<String> {
    let bare = |item: &str| item.trim().trim_matches('"').to_owned();
    serde_json::from_str(text).unwrap_or_else(|_| text.split(',').map(bare).collect())
}

/// The key of a flag. Settings of agents can be spelled in several ways; the way of the environment takes the place of what the
/// environment says, and wins over all others.
fn spelled(key: &str) -> String {
    match key.starts_with("agents.") {
        true => key.to_lowercase().replace('-', "_"),
        false => key.to_owned(),
    }
}

/// What a flag says: a text, of which its setting knows the type; sampling parameters say their type by how they look.
fn typed(key: &str, text: &str) -> config::Value {
    if !key.starts_with("llm.params.") {
        return text.into();
    }
    match (text.parse::<i64>(), text.parse::<f64>(), text.parse::<bool>()) {
        (Ok(whole), ..) => whole.into(),
        (_, Ok(number), _) => number.into(),
        (.., Ok(truth)) => truth.into(),
        _ => text.into(),
    }
}

fn environment() -> Environment {
    let environment =
        Environment::with_prefix("APS").prefix_separator("__").separator("__").try_parsing(true);
    LISTS
        .iter()
        .fold(environment.list_separator(","), |environment, key| environment.with_list_parse_key(key))
}

fn unreadable(error: config::ConfigError) -> SettingsError {
    // A parser shows the line that it stumbles over, and there may be a key in it.
    let told = error.to_string();
    let lines = told.lines().map(str::trim).filter(|line| !line.is_empty() && !line.contains('|'));
    SettingsError::Unreadable(lines.collect::<Vec<_>>().join("; "))
}

/// Everything about the values that cannot work.
fn invalid_values(settings: &Settings) -> Vec<String> {
    let unmet = bounds(settings).into_iter().filter(|bound| !bound.is_met);
    let mut invalid: Vec<String> =
        unmet.map(|Bound { setting, rule, .. }| format!("`{setting}` must be {rule}")).collect();
    if settings.llm.models.iter().any(|model| model.timeout_ms == Some(0)) {
        invalid.push("`llm.models.timeout_ms` must be at least 1".into());
    }
    invalid.extend(settings.llm.foreign());
    invalid.extend(origins::invalid(&settings.server.origins));
    if settings.store.prefix.contains(['*', '?', '[', ']', '\\']) {
        invalid.push("`store.prefix` must not contain any of * ? [ ] \\".into());
    }
    invalid
}

/// The bounds of all sections.
fn bounds(settings: &Settings) -> Vec<Bound> {
    let Settings {
        server,
        store,
        packages,
        render,
        tools,
        llm,
        requests,
        skills,
        assistant,
        log,
        extensions: _,
        agents: _,
    } = settings;
    let sections = [
        server.bounds(),
        store.bounds(),
        packages.bounds(),
        render.bounds(),
        tools.bounds(),
        llm.bounds(),
        requests.bounds(),
        skills.bounds(),
        assistant.bounds(),
        log.bounds(),
    ];
    sections.into_iter().flatten().collect()
}

/// Puts the values of the environment in place of `env:NAME` and `api_key_env`; returns what is not there.
fn absent_secrets(settings: &mut Settings) -> Vec<String> {
    let mut absent = Vec::new();
    for (place, secrets) in tables_of_secrets(settings) {
        for (key, variable) in secrets.resolve(variable) {
            absent.push(not_set(&place, &key, &variable));
        }
    }
    for (place, key, name) in keys(settings) {
        if let (Some(name), Some(_)) = (&name, &key) {
            absent.push(format!("`{place}` has both `api_key` and `api_key_env` ({name}); give one of them"));
        }
        if let Some(name) = name {
            *key = Some(Secret::from(format!("env:{name}").as_str()));
        }
        if let Some(variable) = key.as_mut().and_then(|key| key.resolve(variable)) {
            absent.push(not_set(&place, "api_key", &variable));
        }
    }
    absent
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn not_set(place: &str, key: &str, variable: &str) -> String {
    format!("`{place}` takes `{key}` from the environment variable {variable}, which is not set")
}

fn tables_of_secrets(settings: &mut Settings) -> Vec<(String, &mut Secrets)> {
    let (tools, llm) = (&mut settings.tools, &mut settings.llm);
    let modules =
        tools.modules.iter_mut().map(|(name, module)| (format!("tools.modules.{name}"), &mut module.headers));
    let servers =
        tools.servers.iter_mut().map(|(name, server)| (format!("tools.servers.{name}"), &mut server.env));
    let models = llm.models.iter_mut().map(|model| (place_of(&model.name), &mut model.headers));
    let default = std::iter::once(("llm".to_owned(), &mut llm.headers));
    modules.chain(servers).chain(default).chain(models).collect()
}

/// The keys of the upstreams, and the variables that hold them.
fn keys(settings: &mut Settings) -> Vec<(String, &mut Option<Secret>, Option<String>)> {
    let llm = &mut settings.llm;
    let default = ("llm".to_owned(), &mut llm.api_key, llm.api_key_env.clone());
    let models = llm.models.iter_mut();
    let models = models.map(|model| (place_of(&model.name), &mut model.api_key, model.api_key_env.clone()));
    std::iter::once(default).chain(models).collect()
}

fn place_of(model: &str) -> String {
    format!("llm.models, name = {model:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load_text(text: &str, overrides: &[(&str, String)]) -> Result<Settings, SettingsError> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("s.toml");
        std::fs::write(&file, text).unwrap();
        load(Some(&file), overrides)
    }

    #[test]
    fn an_empty_file_gives_the_defaults() {
        assert_eq!(load_text("", &[]).unwrap(), Settings::default());
    }

    #[test]
    fn the_sample_file_and_the_documentation_show_the_defaults() {
        let sample = include_str!("../../deploy/ai-prompt-shell.toml");
        assert_eq!(load_text(sample, &[]).unwrap(), Settings::default());
        let (_, settings) = sample.split_once("\n\n").unwrap();
        assert!(include_str!("../../docs/settings.md").contains(settings.trim_end()));
    }

    #[test]
    fn every_setting_with_a_bound_is_on_the_page_of_limits() {
        let page = include_str!("../../docs/limits.md");
        let all = bounds(&Settings::default());
        assert!(all.iter().all(|bound| bound.is_met), "a default breaks its own bound");
        let missing: Vec<&str> = all
            .iter()
            .map(|bound| bound.setting)
            .filter(|name| !page.contains(&format!("`{name}`")))
            .collect();
        assert_eq!(missing, Vec::<&str>::new());
    }

    #[test]
    fn the_command_line_wins_over_the_file() {
        let text = "[server]\nlisten = \"127.0.0.1:1\"\n[store]\nprefix = \"p:\"";
        let settings = load_text(text, &[("server.listen", "127.0.0.1:2".into())]).unwrap();
        assert_eq!(settings.server.listen.to_string(), "127.0.0.1:2");
        assert_eq!(settings.store.prefix, "p:");
        let settings = load_text("", &[("server.hosts", "a.test, b.test".into())]).unwrap();
        assert_eq!(settings.server.hosts, ["a.test", "b.test"]);
        for (text, hosts) in [
            (r#"["a.test", "b.test"]"#, &["a.test", "b.test"][..]),
            (r#""a.test""#, &["a.test"]),
            ("[]", &[]),
            ("[::1],b.test", &["[::1]", "b.test"]),
        ] {
            assert_eq!(
                load_text("", &[("server.hosts", text.into())]).unwrap().server.hosts,
                hosts,
                "{text}"
            );
        }
    }

    #[test]
    fn a_line_that_cannot_be_read_is_not_shown() {
        let error = load_text("[llm]\napi_key = \"sk-hidden\n", &[]).unwrap_err().to_string();
        assert!(error.contains("line 2") && !error.contains("sk-hidden"), "{error}");
    }

    #[test]
    fn the_key_of_an_upstream_is_read_from_the_environment() {
        let named = load_text("[llm]\napi_key_env = \"PATH\"", &[]).unwrap().llm.api_key.unwrap();
        assert_eq!(named.reveal(), std::env::var("PATH").unwrap());
        for text in [
            "[llm]\napi_key = \"k\"\napi_key_env = \"PATH\"",
            "[[llm.models]]\nname = \"m\"\napi_key_env = \"NO_SUCH_VARIABLE_HERE\"",
        ] {
            assert!(matches!(load_text(text, &[]), Err(SettingsError::Invalid(_))), "{text}");
        }
        let params =
            load_text("", &[("llm.params.temperature", "0".into()), ("llm.params.stop", "x".into())]);
        let params = params.unwrap().llm.params;
        assert!(params["temperature"] == 0 && params["stop"] == "x", "{params:?}");
    }

    #[test]
    fn an_unknown_key_is_an_error_that_names_it() {
        let error = load_text("[render]\ntimeout = 3", &[]).unwrap_err().to_string();
        assert!(error.contains("timeout"), "{error}");
    }

    #[test]
    fn every_value_that_cannot_work_is_named() {
        let error = load_text("[render]\ntimeout_ms = 0\nqueue = 0\n[store]\nprefix = \"*\"", &[]);
        let error = error.unwrap_err().to_string();
        for name in ["render.timeout_ms", "render.queue", "store.prefix"] {
            assert!(error.contains(name), "{error}");
        }
    }

    #[test]
    fn what_belongs_to_another_protocol_is_named_in_each_place() {
        let text = r#"
            [llm]
            scope = "A"
            [[llm.models]]
            name = "one"
            oauth_url = "https://h/"
            [[llm.models]]
            name = "two"
            protocol = "gigachat"
            scope = "B"
            [[llm.models]]
            name = "three"
            protocol = "gigachat"
            capabilities = { functions = true }
        "#;
        let error = load_text(text, &[]).unwrap_err().to_string();
        for told in [
            "`llm` has `scope`",
            "`llm.models, name = \"one\"` has `oauth_url`",
            "`llm.models, name = \"three\"` has `capabilities.functions`",
        ] {
            assert!(error.contains(told), "{error}");
        }
        assert!(!error.contains("two"), "{error}");
        let of_default = "[llm]\nprotocol = \"gigachat\"\n[[llm.models]]\nname = \"m\"\nscope = \"B\"";
        assert!(load_text(of_default, &[]).is_ok());
        let error = load_text("[llm]\nprotocol = \"telepathy\"", &[]).unwrap_err().to_string();
        assert!(error.contains("telepathy") && error.contains("gigachat"), "{error}");
    }

    #[test]
    fn modules_and_servers_are_read_in_both_spellings_and_secrets_from_the_environment() {
        let text = r#"
            [tools]
            allowed_hosts = ["*.example.com"]
            [tools.modules]
            plain = "http://a/"
            [tools.modules.Full_One]
            url = "http://b/"
            headers = { Authorization = "env:PATH", X-Key = "written", X-Number = 12345 }
            [tools.servers.files]
            command = "files"
            args = ["--root", "."]
            env = { TOKEN = "env:PATH" }
        "#;
        let tools = load_text(text, &[]).unwrap().tools;
        assert_eq!(tools.modules["plain"].url.as_deref(), Some("http://a/"));
        let path = std::env::var("PATH").unwrap();
        let headers: Vec<_> = tools.modules["Full_One"].headers.reveal().collect();
        assert_eq!(headers, [("Authorization", path.as_str()), ("X-Key", "written"), ("X-Number", "12345")]);
        assert_eq!(tools.servers["files"].env.reveal().collect::<Vec<_>>(), [("TOKEN", path.as_str())]);
        assert!(!format!("{tools:?}").contains("written"), "{tools:?}");
        let absent = load_text("[tools.modules.m]\nheaders = { A = \"env:NO_SUCH_VARIABLE_HERE\" }", &[]);
        assert!(absent.unwrap_err().to_string().contains("NO_SUCH_VARIABLE_HERE"));
        for (text, told) in [
            ("[tools.modules.m]\nurls = \"x\"", "urls"),
            ("[tools.modules]\nm = 1", "a URL, or a table"),
            ("[tools.servers.m]\ncommand = \"c\"\nenv = \"hidden-text\"", "a table of texts"),
        ] {
            let error = load_text(text, &[]).unwrap_err().to_string();
            assert!(error.contains(told) && !error.contains("hidden-text"), "{error}");
        }
    }

    #[test]
    fn a_named_file_that_is_not_there_is_an_error() {
        assert!(matches!(load(Some(Path::new("no/such.toml")), &[]), Err(SettingsError::NoFile(_))));
    }
}
