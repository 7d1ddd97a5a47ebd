//! The modules of the settings: the base URLs of their tools, and the headers to send there.
//!
//! A relative URL *continues* its base URL, unlike in HTML: `http://host/v1` and `/x` make `http://host/v1/x`. The headers
//! of a module with a `url` are sent to the origin of that URL only, and never along a redirect to another origin. Without
//! a `url`, they are sent wherever the module's tools are; a warning in the log says so at the start.

use std::collections::HashMap;

use http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::Url;

use super::error::ToolError;
use template::value::Value;

/// The settings of one module; the header values are secrets.
#[derive(Debug, Clone, Default)]
pub struct ModuleOptions {
    /// The base URL that relative URLs of its tools are joined to.
    pub url: Option<String>,
    /// Names and values of the headers that every request to its tools gets.
    pub headers: Vec<(String, String)>,
}

/// An entry of `tools.modules` with an invalid URL or header.
#[derive(Debug, thiserror::Error)]
#[error("tools.modules.{module}: {message}")]
pub struct InvalidModule {
    module: String,
    message: String,
}

/// The configured modules.
#[derive(Debug, Default)]
pub(super) struct Modules {
    modules: HashMap<String, Module>,
}

#[derive(Debug)]
struct Module {
    base: Option<Url>,
    headers: HeaderMap,
}

/// The destination of a request.
#[derive(Debug)]
pub(super) struct Target {
    pub url: Url,
    /// The module's headers; empty if the URL is not on the module's own host.
    pub headers: HeaderMap,
}

impl Modules {
    /// Parses the settings of all modules.
    ///
    /// # Errors
    /// If a URL is not valid, or a header cannot be sent.
    pub fn new(options: &HashMap<String, ModuleOptions>) -> Result<Modules, InvalidModule> {
        let modules = options.iter().map(|(name, options)| {
            let invalid = |message: String| InvalidModule { module: name.clone(), message };
            let module = Module::new(options).map_err(invalid)?;
            if module.base.is_none() && !module.headers.is_empty() {
                tracing::warn!(
                    module = name,
                    "the module's headers are sent to any host that its tools name; set its url to restrict them to that host"
                );
            }
            Ok((name.clone(), module))
        });
        Ok(Modules { modules: modules.collect::<Result<_, _>>()? })
    }

    /// The modules to which the settings give a base URL.
    pub fn with_base(&self) -> Vec<String> {
        let based = self.modules.iter().filter(|(_, module)| module.base.is_some());
        based.map(|(name, _)| name.clone()).collect()
    }

    /// The URL and headers for an address of a tool of the module `name`. A relative address is joined to the module's
    /// base URL: that of the settings, else that in `environ`, the environ `modules.{module}`.
    ///
    /// # Errors
    /// [`ToolError::Unusable`] if the address is not valid, or is relative and there is no base URL.
    pub fn target(&self, name: &str, address: &str, environ: Option<&Value>) -> Result<Target, ToolError> {
        let module = self.modules.get(name);
        let base = module.and_then(|module| module.base.as_ref()).map(Url::as_str);
        let url = match (Url::parse(address), base.or_else(|| environ.and_then(base_of_environ))) {
            (Err(url::ParseError::RelativeUrlWithoutBase), Some(base)) => parse(&joined(base, address)),
            (Err(url::ParseError::RelativeUrlWithoutBase), None) => Err(format!(
                "its URL is relative, and the module `{name}` has no base URL: set tools.modules.{name}.url, or the environ modules.{name}"
            )),
            _ => parse(address),
        };
        let url = url.map_err(|message| ToolError::Unusable { message })?;
        let headers = module.filter(|module| module.trusts(&url)).map(|module| module.headers.clone());
        Ok(Target { url, headers: headers.unwrap_or_default() })
    }
}

impl Module {
    fn new(options: &ModuleOptions) -> Result<Module, String> {
        let base = options.url.as_deref().map(base).transpose()?;
        let mut headers = HeaderMap::new();
        for (name, value) in &options.headers {
            let header =
                HeaderName::try_from(name).map_err(|_| format!("`{name}` is not a valid header name"))?;
            let mut value = HeaderValue::try_from(value).map_err(|_| {
                format!("the value of the header `{name}` has characters that cannot be sent")
            })?;
            value.set_sensitive(true);
            headers.append(header, value);
        }
        Ok(Module { base, headers })
    }

    fn trusts(&self, url: &Url) -> bool {
        self.base.as_ref().is_none_or(|base| base.origin() == url.origin())
    }
}

/// Parses a base URL: `http` or `https`, without user, query and fragment.
fn base(text: &str) -> Result<Url, String> {
    let url = parse(text)?;
    let plain = url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    match matches!(url.scheme(), "http" | "https") && plain {
        true => Ok(url),
        false => Err("its url must be http://… or https://…, without user, query and fragment; use headers for secrets".to_owned()),
    }
}

fn parse(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("its URL is not valid: {error}"))?;
    if url.has_host() { Ok(url) } else { Err("its URL has no host".to_owned()) }
}

/// The base URL in the environ `modules.{module}`, which is a string or an object with `url`.
pub(super) fn base_of_environ(environ: &Value) -> Option<&str> {
    environ.as_str().or_else(|| environ.get("url")?.as_str())
}

/// Joins an address to a base URL: `http://host/v1` and `/lookup` give `http://host/v1/lookup`.
fn joined(base: &str, address: &str) -> String {
    format!("{}/{}", base.trim_end_matches('/'), address.trim_start_matches('/'))
}
