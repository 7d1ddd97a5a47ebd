//! What the settings know of modules: where their tools are, and the headers that go there.

use std::collections::HashMap;

use http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::Url;

use super::error::ToolError;
use template::value::Value;

/// One module as the settings describe it; values of headers are secrets.
#[derive(Debug, Clone, Default)]
pub struct ModuleOptions {
    /// The base URL of its tools.
    pub url: Option<String>,
    /// Headers of every request to its tools.
    pub headers: Vec<(String, String)>,
}

/// A module that cannot be used as the settings describe it.
#[derive(Debug, thiserror::Error)]
#[error("tools.modules.{module}: {message}")]
pub struct InvalidModule {
    module: String,
    message: String,
}

/// The modules that the settings know.
#[derive(Debug, Default)]
pub(super) struct Modules {
    modules: HashMap<String, Module>,
}

#[derive(Debug)]
struct Module {
    base: Option<Url>,
    headers: HeaderMap,
}

/// Where a request goes.
#[derive(Debug)]
pub(super) struct Target {
    /// The address, without arguments.
    pub url: Url,
    /// The headers that the settings want it to have.
    pub headers: HeaderMap,
}

impl Modules {
    /// Reads the settings.
    ///
    /// # Errors
    /// For an URL that is none, and for headers that cannot be sent.
    pub fn new(options: &HashMap<String, ModuleOptions>) -> Result<Modules, InvalidModule> {
        let modules = options.iter().map(|(name, options)| {
            let fault = |message: String| InvalidModule { module: name.clone(), message };
            let module = Module::new(options).map_err(fault)?;
            if module.base.is_none() && !module.headers.is_empty() {
                tracing::warn!(
                    module = name,
                    "its headers go to whatever address its tools name; set its url to send them there alone"
                );
            }
            Ok((name.clone(), module))
        });
        Ok(Modules { modules: modules.collect::<Result<_, _>>()? })
    }

    /// Where an address of a tool leads, and the headers that go there. A relative one is joined to the module's base URL:
    /// that of the settings, else the environ `modules.{module}`, which `environ` is.
    ///
    /// The headers of a module that has a URL go to the host of that URL only.
    ///
    /// # Errors
    /// [`ToolError::Unusable`] if the address is none, or is relative and there is no base.
    pub fn target(&self, name: &str, address: &str, environ: Option<&Value>) -> Result<Target, ToolError> {
        let module = self.modules.get(name);
        let base = module.and_then(|module| module.base.as_ref()).map(Url::as_str);
        let url = match (Url::parse(address), base.or_else(|| environ.and_then(base_of_environ))) {
            (Err(url::ParseError::RelativeUrlWithoutBase), Some(base)) => parse(&joined(base, address)),
            (Err(url::ParseError::RelativeUrlWithoutBase), None) => Err(format!(
                "its URL is relative, and nothing says where the module `{name}` is: set tools.modules.{name}, or the environ modules.{name}"
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
                HeaderName::try_from(name).map_err(|_| format!("`{name}` is no name of a header"))?;
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

/// A URL that others can continue.
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
    let url = Url::parse(text).map_err(|error| format!("its URL is none: {error}"))?;
    if url.has_host() { Ok(url) } else { Err("its URL has no host".to_owned()) }
}

/// The environ `modules.{module}`: a string, or an object with `url`.
pub(super) fn base_of_environ(environ: &Value) -> Option<&str> {
    environ.as_str().or_else(|| environ.get("url")?.as_str())
}

/// The address below the base: `http://host/v1` and `/lookup` make `http://host/v1/lookup`.
fn joined(base: &str, address: &str) -> String {
    format!("{}/{}", base.trim_end_matches('/'), address.trim_start_matches('/'))
}
