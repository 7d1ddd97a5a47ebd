//! What upstreams share: HTTP clients that trust the same authorities, and tokens of the same key and scope.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::options::UpstreamOptions;
use super::protocol::{Protocol, RequestKey, TokenSource};
use super::transport::{self, Clients};

/// By what a source of tokens is found again: what is asked for, whether the settings say it or leave it out.
#[derive(PartialEq, Eq, Hash)]
struct TokenKey {
    request: RequestKey,
    ca_file: Option<PathBuf>,
}

/// What was made for the upstreams so far.
#[derive(Default)]
pub struct Shared {
    proxy: Option<String>,
    clients: HashMap<Option<PathBuf>, Arc<Clients>>,
    sources: HashMap<TokenKey, Arc<TokenSource>>,
}

impl Shared {
    /// Nothing yet; clients will use this proxy.
    pub fn new(proxy: Option<&str>) -> Shared {
        Shared { proxy: proxy.map(str::to_owned), ..Shared::default() }
    }

    /// The clients that trust the authorities in this file, too.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn clients(&mut self, ca_file: Option<&Path>) -> Result<Arc<Clients>, String> {
        let key = ca_file.map(Path::to_owned);
        if let Some(known) = self.clients.get(&key) {
            return Ok(known.clone());
        }
        let authorities = ca_file.map_or(Ok(Vec::new()), transport::authorities)?;
        let clients = Arc::new(Clients::new(self.proxy.as_deref(), authorities));
        self.clients.insert(key, clients.clone());
        Ok(clients)
    }

    /// The source of the tokens of an upstream, if its protocol has some.
    ///
    /// # Errors
    /// Everything that is wrong with the options for it.
    pub fn tokens(&mut self, options: &UpstreamOptions) -> Result<Option<Arc<TokenSource>>, Vec<String>> {
        let UpstreamOptions { protocol, oauth_url, scope, api_key, ca_file, .. } = options;
        let [url, key, scope] = [oauth_url, api_key, scope].map(|text| text.as_deref());
        let Some(request) = Protocol::token_request(*protocol, url, key, scope)? else { return Ok(None) };
        let key = TokenKey { request: request.key(), ca_file: ca_file.clone() };
        Ok(Some(self.sources.entry(key).or_insert_with(|| TokenSource::new(request)).clone()))
    }
}
