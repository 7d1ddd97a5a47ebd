//! The composition root: creates all services from the settings and connects them. No lower layer refers to it.

mod upstreams;

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::{JoinHandle, JoinSet};

use crate::agents::{self, Agents};
use crate::catalog::{self, Catalog};
use crate::chat::Chat;
use crate::llm::{self, Llm};
use crate::render::{self, Renderer, checker};
use crate::requests::{Ideas, Requests, RequestsOptions};
use crate::sessions::{SessionOptions, Sessions};
use crate::settings::{
    Capabilities, Dependences, Duplicates, McpServer, Model, Module, OnDisconnect, Secrets, Settings,
    ToolFailure, Undefined, UnknownFormat,
};
use crate::skills::{self, Skills, SkillsOptions};
use crate::store::{self, StoreError};
use crate::structured::{Structured, StructuredOptions};
use crate::toolbox::Toolbox;
use base::memory::Memory;
use base::pool::Pool;
use template::Limits;
use tools::{self, Tools};

/// The pause before the sources are followed again after a panic.
const RESTART_PAUSE: Duration = Duration::from_secs(1);

/// All services.
pub struct App {
    /// The runtime on which the catalog is changed; checking and merging documents would block serving threads.
    pub runtime: Handle,
    /// The memory budget of bodies and answers.
    pub memory: Arc<Memory>,
    /// The threads for work that is too long for a serving thread.
    pub pool: Arc<Pool>,
    /// The documents.
    pub catalog: Arc<Catalog>,
    /// The client of all tools, with its connections and its cache.
    pub tools: Arc<Tools>,
    /// Calls tools outside of a render.
    pub toolbox: Arc<Toolbox>,
    /// Renders prompts.
    pub renderer: Arc<Renderer>,
    /// The client of the models.
    pub llm: Arc<Llm>,
    /// Renders prompts and has models answer them.
    pub chat: Chat,
    /// Has models give values that fit schemas.
    pub requests: Arc<Requests>,
    /// Where sessions are kept.
    pub sessions: Arc<Sessions>,
    /// Starts sessions of skills, and takes their events.
    pub skills: Skills,
    /// Starts sessions of agents, and takes their messages.
    pub agents: Agents,
}

/// The error of creating the services.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The settings of the tools are not valid.
    #[error("settings: {0}")]
    Tools(#[from] tools::InvalidToolOptions),
    /// The settings of the models are not valid.
    #[error("settings: {0}")]
    Llm(#[from] llm::InvalidModels),
    /// The operating system starts no threads.
    #[error("the threads for long work cannot be started: {0}")]
    Threads(#[from] std::io::Error),
}

impl App {
    /// As [`App::open`], and reads the store.
    ///
    /// # Errors
    /// [`BuildError`]. An unreachable Redis is not an error: packages serve until it can be reached.
    pub async fn build(settings: &Settings) -> Result<Arc<App>, BuildError> {
        let app = App::open(settings).await?;
        app.catalog.read_store().await;
        Ok(app)
    }

    /// Opens the store, loads the packages, and connects the services. [`App::follow`] reads the store; until then, requests
    /// for other documents than those of packages are answered with 503 `not_ready`.
    ///
    /// # Errors
    /// [`BuildError`].
    pub async fn open(settings: &Settings) -> Result<Arc<App>, BuildError> {
        let limits = limits(&settings.render);
        let tools = Arc::new(Tools::new(tool_options(&settings.tools))?);
        let memory = Memory::new(settings.server.memory_bytes);
        let llm = Arc::new(Llm::new(llm_options(&settings.llm), memory.clone())?);
        let store = store::open(&settings.store.url).await?;
        let ttl = Duration::from_secs(settings.requests.ideas_ttl_seconds);
        let ideas = Ideas::new(store.clone(), &settings.store.prefix, ttl);
        let sessions =
            Arc::new(Sessions::new(store.clone(), &settings.store.prefix, session_options(&settings.skills)));
        let catalog = Arc::new(Catalog::new(catalog_options(settings), store, checker(limits)));
        catalog.load_packages().await;
        let options = renderer_options(settings, limits, memory.clone());
        let timeout = options.timeout;
        let pool = Arc::new(Pool::start(pool_threads(), settings.render.queue)?);
        let renderer = Arc::new(Renderer::new(catalog.clone(), tools.clone(), pool.clone(), options));
        let toolbox = Arc::new(Toolbox::new(catalog.clone(), tools.clone(), pool.clone(), timeout));
        let structured =
            Structured::new(renderer.clone(), llm.clone(), structured_options(&settings.requests));
        let structured = Arc::new(structured);
        let params = settings.llm.params.clone();
        let chat =
            Chat::new(catalog.clone(), renderer.clone(), llm.clone(), structured.clone(), params.clone());
        let options = requests_options(&settings.requests, params.clone());
        let requests = Arc::new(Requests::new(renderer.clone(), llm.clone(), structured, ideas, options));
        let parts = skills::Parts {
            catalog: catalog.clone(),
            renderer: renderer.clone(),
            llm: llm.clone(),
            requests: requests.clone(),
            sessions: sessions.clone(),
        };
        let skills = Skills::new(parts, skills_options(&settings.skills, params.clone()));
        let parts = agents::Parts {
            catalog: catalog.clone(),
            renderer: renderer.clone(),
            llm: llm.clone(),
            requests: requests.clone(),
            toolbox: toolbox.clone(),
            sessions: sessions.clone(),
        };
        let agents = Agents::new(parts, agents_options(settings, params));
        Ok(Arc::new(App {
            runtime: Handle::current(),
            memory,
            pool,
            catalog,
            tools,
            toolbox,
            renderer,
            llm,
            chat,
            requests,
            sessions,
            skills,
            agents,
        }))
    }

    /// Starts the MCP servers of the settings, so that no call has to wait for them; aborting the handle stops none of them.
    pub fn start_servers(&self) -> JoinHandle<()> {
        let tools = self.tools.clone();
        tokio::spawn(async move { tools.start_servers().await })
    }

    /// Keeps the catalog up to date until the handle is aborted; restarts after a panic.
    pub fn follow(&self) -> JoinHandle<()> {
        let catalog = self.catalog.clone();
        tokio::spawn(async move {
            loop {
                // A JoinSet aborts its tasks when it is dropped.
                let mut following = JoinSet::new();
                following.spawn(catalog.clone().follow());
                if let Some(Err(error)) = following.join_next().await {
                    tracing::error!(%error, "following the sources ended in a panic; it is restarted");
                }
                tokio::time::sleep(RESTART_PAUSE).await;
            }
        })
    }
}

/// One thread more than there are cores: long work never takes all threads, but may use all cores.
fn pool_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get) + 1
}

fn limits(render: &crate::settings::Render) -> Limits {
    Limits {
        steps: render.steps,
        recursion: render.recursion,
        output_bytes: render.output_bytes,
        source_bytes: render.source_bytes,
    }
}

fn catalog_options(settings: &Settings) -> catalog::CatalogOptions {
    catalog::CatalogOptions {
        root: settings.store.prefix.clone(),
        packages: settings.packages.dir.clone(),
        builtin: settings.packages.builtin,
        enforce_dependences: settings.extensions.dependences == Dependences::Enforce,
        scan_every: Duration::from_secs(settings.store.scan_seconds),
        keep_missing: Duration::from_secs(settings.store.keep_missing_seconds),
    }
}

fn renderer_options(settings: &Settings, limits: Limits, memory: Arc<Memory>) -> render::RendererOptions {
    render::RendererOptions {
        timeout: Duration::from_millis(settings.render.timeout_ms),
        templates_cached: settings.render.templates_cached,
        limits,
        undefined: match settings.render.undefined {
            Undefined::Strict => template::Undefined::Strict,
            Undefined::Lenient => template::Undefined::Lenient,
        },
        tool_failure: match settings.tools.on_failure {
            ToolFailure::Default => base::model::ToolFailure::Default,
            ToolFailure::Refuse => base::model::ToolFailure::Refuse,
        },
        tool_calls: settings.render.tool_calls,
        tool_calls_at_once: settings.tools.parallel,
        memory,
    }
}

fn structured_options(settings: &crate::settings::Requests) -> StructuredOptions {
    StructuredOptions {
        timeout: Duration::from_millis(settings.timeout_ms),
        max_repairs: settings.max_repairs,
        emulate: settings.emulate,
    }
}

fn requests_options(
    settings: &crate::settings::Requests,
    params: serde_json::Map<String, serde_json::Value>,
) -> RequestsOptions {
    RequestsOptions { params, keep_ideas: settings.keep_ideas, batch_parallel: settings.batch_parallel }
}

fn session_options(settings: &crate::settings::Skills) -> SessionOptions {
    SessionOptions {
        ttl: Duration::from_secs(settings.ttl_seconds),
        ttl_waiting: Duration::from_secs(settings.ttl_waiting_seconds),
    }
}

fn skills_options(
    settings: &crate::settings::Skills,
    params: serde_json::Map<String, serde_json::Value>,
) -> SkillsOptions {
    let duplicates = match settings.duplicates {
        Duplicates::All => dialogue::Duplicates::All,
        Duplicates::Consecutive => dialogue::Duplicates::Consecutive,
        Duplicates::None => dialogue::Duplicates::None,
    };
    SkillsOptions {
        model: settings.model.clone(),
        temperature: settings.temperature,
        max_tokens: settings.max_tokens,
        timeout: Duration::from_millis(settings.timeout_ms),
        max_steps: settings.max_steps,
        unknown_format: match settings.unknown_format {
            UnknownFormat::Command => dialogue::UnknownFormat::Command,
            UnknownFormat::Error => dialogue::UnknownFormat::Error,
        },
        cleaning: dialogue::Cleaning { duplicates, chars: settings.output_chars },
        params,
    }
}

fn agents_options(
    settings: &Settings,
    params: serde_json::Map<String, serde_json::Value>,
) -> agents::AgentsOptions {
    agents::AgentsOptions {
        overrides: settings.agents.0.clone(),
        log_content: settings.llm.log_content,
        params,
    }
}

fn llm_options(settings: &crate::settings::Llm) -> llm::LlmOptions {
    let upstream = upstreams::default(settings);
    let model = |model: &Model| llm::ModelOptions {
        name: model.name.clone(),
        upstream_model: model.upstream_model.clone(),
        upstream: upstreams::own(upstream.as_ref(), model),
        timeout: model.timeout_ms.map(Duration::from_millis),
        fallback: model.fallback.clone(),
        capabilities: capabilities(model.capabilities),
    };
    llm::LlmOptions {
        models: settings.models.iter().map(model).collect(),
        upstream,
        default_model: settings.default_model.clone(),
        default_embedding_model: settings.default_embedding_model.clone(),
        timeout: Duration::from_millis(settings.timeout_ms),
        chunk_timeout: Duration::from_millis(settings.chunk_timeout_ms),
        stream_timeout: Duration::from_millis(settings.stream_timeout_ms),
        keep_alive: Duration::from_millis(settings.keep_alive_ms),
        answer_bytes: settings.answer_bytes,
        kept_bytes: settings.kept_bytes,
        parallel: settings.parallel,
        drain: settings.on_disconnect == OnDisconnect::Drain,
        log_content: settings.log_content,
        proxy: settings.proxy.as_ref().map(|proxy| proxy.reveal().to_owned()),
    }
}

fn capabilities(settings: Capabilities) -> llm::Capabilities {
    let Capabilities { json_schema, tools, json_object, functions } = settings;
    llm::Capabilities { json_schema, tools, json_object, functions }
}

fn revealed<C: FromIterator<(String, String)>>(secrets: &Secrets) -> C {
    secrets.reveal().map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
}

fn tool_options(settings: &crate::settings::Tools) -> tools::ToolOptions {
    let module = |module: &Module| tools::ModuleOptions {
        url: module.url.clone(),
        headers: revealed(&module.headers),
    };
    let server = |server: &McpServer| tools::mcp::ServerCommand {
        program: server.command.clone(),
        args: server.args.clone(),
        env: revealed(&server.env),
    };
    tools::ToolOptions {
        timeout: Duration::from_millis(settings.timeout_ms),
        start_timeout: Duration::from_millis(settings.start_timeout_ms),
        parallel_per_tool: settings.parallel_per_tool,
        answer_bytes: settings.answer_bytes,
        cache_bytes: settings.cache_bytes,
        allowed_hosts: settings.allowed_hosts.clone(),
        modules: settings.modules.iter().map(|(name, value)| (name.clone(), module(value))).collect(),
        servers: settings.servers.iter().map(|(name, value)| (name.clone(), server(value))).collect(),
    }
}
