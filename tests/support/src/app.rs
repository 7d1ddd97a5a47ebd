//! A running service for tests: the real one, on a free port, over a store in memory (or another one).

use std::path::{Path, PathBuf};

use ai_prompt_shell::app::App;
use ai_prompt_shell::http;
use ai_prompt_shell::settings::Settings;
use serde_json::{Value as Json, json};

/// A service and a client of it; both end with it.
pub struct TestApp {
    pub base: String,
    pub client: reqwest::Client,
    pub packages: tempfile::TempDir,
    /// The service itself, unless it is a process of its own.
    inside: Option<(tokio::task::JoinHandle<()>, actix_web::dev::ServerHandle)>,
}

/// An answer: its status, headers and JSON body (null if there is none).
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub body: Json,
}

impl TestApp {
    /// A service with no documents at all.
    pub async fn start() -> TestApp {
        TestApp::start_with(|_| {}).await
    }

    /// A service whose settings `change` has had its way with.
    pub async fn start_with(change: impl FnOnce(&mut Settings)) -> TestApp {
        crate::log::watch();
        let packages = tempfile::tempdir().unwrap();
        let mut settings = Settings::default();
        settings.server.listen = std::net::SocketAddr::from(([127, 0, 0, 1], 0)).into();
        settings.server.workers = 2;
        settings.store.url = "memory:".into();
        settings.store.scan_seconds = 1;
        settings.packages.dir = packages.path().to_owned();
        settings.packages.builtin = false;
        change(&mut settings);
        let app = App::build(&settings).await.unwrap();
        let follow = app.follow();
        let bound = http::bind(&app, &settings.server).unwrap();
        let server = bound.server.handle();
        tokio::spawn(bound.server);
        let base = bound.address.to_string();
        TestApp { base, client: client(), packages, inside: Some((follow, server)) }
    }

    /// A client of a service that runs elsewhere.
    pub fn at(base: &str) -> TestApp {
        let packages = tempfile::tempdir().unwrap();
        TestApp { base: base.to_owned(), client: client(), packages, inside: None }
    }

    /// Writes a file below the package folder.
    pub fn write_package_file(&self, path: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        write(self.packages.path(), path, contents)
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request("GET", path)).await
    }

    pub async fn post(&self, path: &str, body: Json) -> Answer {
        self.send(self.request("POST", path).json(&body)).await
    }

    pub async fn put(&self, path: &str, body: Json) -> Answer {
        self.send(self.request("PUT", path).json(&body)).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(self.request("DELETE", path)).await
    }

    pub fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method.parse().unwrap(), format!("{}{path}", self.base))
    }

    pub async fn send(&self, request: reqwest::RequestBuilder) -> Answer {
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let text = response.text().await.unwrap();
        Answer { status, headers, body: serde_json::from_str(&text).unwrap_or(Json::Null) }
    }

    /// The answer to a GET over a connection of its own.
    pub async fn fresh(&self, path: &str) -> Answer {
        let client = client();
        self.send(client.get(format!("{}{path}", self.base))).await
    }

    /// Waits, ten seconds at most, until something holds.
    pub async fn settled(&self, holds: impl AsyncFn() -> bool) {
        for _ in 0..200 {
            if holds().await {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        panic!("it does not settle");
    }

    /// Stores a prompt and asserts that it was taken.
    pub async fn put_prompt(&self, id: &str, document: Json) {
        let answer = self.put(&format!("/api/prompts/{id}"), document).await;
        assert!([200, 201].contains(&answer.status), "{answer:?}");
    }

    /// Stores an environ and asserts that it was taken.
    pub async fn put_environ(&self, id: &str, value: Json) {
        let answer = self.put(&format!("/api/environs/{id}"), value).await;
        assert!([200, 201].contains(&answer.status), "{answer:?}");
    }

    /// Stores the tool `{module}.{name}` and asserts that it was taken.
    pub async fn put_tool(&self, id: &str, mut document: Json) {
        let (module, name) = id.split_once('.').unwrap();
        document["module"] = module.into();
        document["name"] = name.into();
        let answer = self.put(&format!("/api/tools/{id}"), document).await;
        assert!([200, 201].contains(&answer.status), "{answer:?}");
    }

    /// The settings that a file of this text gives.
    pub fn settings_of(text: &str) -> Settings {
        let file = tempfile::NamedTempFile::with_suffix(".toml").unwrap();
        std::fs::write(file.path(), text).unwrap();
        ai_prompt_shell::settings::load(Some(file.path()), &[]).unwrap()
    }

    pub async fn render(&self, id: &str, variables: Json) -> Answer {
        self.post(&format!("/api/render/prompts/{id}"), json!({"variables": variables})).await
    }

    /// Renders an unregistered template of a dialect.
    pub async fn preview(&self, syntax: &str, template: &str, variables: Json) -> Answer {
        self.post("/api/render", json!({"template": template, "syntax": syntax, "variables": variables}))
            .await
    }

    /// Asks again and again, for at most ten seconds, until the answer is as `wanted`.
    pub async fn eventually(&self, path: &str, wanted: impl Fn(&Answer) -> bool) -> Answer {
        for _ in 0..200 {
            let answer = self.get(path).await;
            if wanted(&answer) {
                return answer;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        panic!("{path} never became as wanted; now it is {:?}", self.get(path).await);
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        crate::log::assert_quiet();
        let Some((follow, server)) = &self.inside else { return };
        follow.abort();
        // The server stops on its own threads; nobody waits for it.
        drop(server.stop(false));
    }
}

impl Answer {
    /// The error's code, type, message and details, which must be in the one shape that all errors have.
    #[track_caller]
    pub fn error(&self) -> (&str, &str, &str, &Json) {
        let error = &self.body["error"];
        let text = |member: &str| error[member].as_str().unwrap_or_else(|| panic!("{self:?}"));
        assert!(error.as_object().unwrap().contains_key("param"), "{self:?}");
        (text("code"), text("type"), text("message"), &error["details"])
    }

    /// Asserts status, type and code.
    #[track_caller]
    pub fn assert_error(&self, status: u16, kind: &str, code: &str) {
        self.assert_error_shape(status, kind, code);
        assert!(self.error().2.len() > 20, "an error says what to do: {self:?}");
        assert!(self.headers.contains_key("x-request-id"));
    }

    /// The same for an error whose words are another server's.
    #[track_caller]
    pub fn assert_error_shape(&self, status: u16, kind: &str, code: &str) {
        let (found_code, found_kind, _, _) = self.error();
        assert_eq!((self.status, found_kind, found_code), (status, kind, code), "{self:?}");
    }

    /// The rendered prompt of a render that must have succeeded.
    #[track_caller]
    pub fn rendered(&self) -> &Json {
        assert_eq!(self.status, 200, "{self:?}");
        assert_eq!(self.body["status"], "success");
        &self.body["rendered_prompt"]
    }
}

/// An HTTP client, as the library has it.
pub fn client() -> reqwest::Client {
    base::outbound::plain_client().build().unwrap()
}

/// Writes a file below a folder, with the folders on the way.
pub fn write(folder: &Path, path: &str, contents: impl AsRef<[u8]>) -> PathBuf {
    let file = folder.join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, contents).unwrap();
    file
}
