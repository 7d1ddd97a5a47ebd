//! The address policy against SSRF: which hosts tools may be reached at, checked before and after DNS resolution.
//!
//! Tool documents come from a shared store and are not trusted. Whatever their URLs say, link-local and cloud metadata
//! addresses are blocked, unless `tools.allowed_hosts` lists the IP address itself.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use ipnet::IpNet;
use reqwest::Url;
use tokio::sync::Semaphore;
use url::Host;

use super::error::ToolError;

/// Networks that are blocked by default: link-local ones, and the metadata services of clouds, which hand out credentials.
const FORBIDDEN: [&str; 8] = [
    "169.254.0.0/16",
    "fe80::/10",
    // AWS over IPv6, GCP over IPv6, Scaleway over IPv6.
    "fd00:ec2::/32",
    "fd20:ce::254/128",
    "fd00:42::42/128",
    // Alibaba, Azure's wire server, Oracle.
    "100.100.100.200/32",
    "168.63.129.16/32",
    "192.0.0.192/32",
];

/// How many DNS look-ups run at the same time.
const LOOKUPS: usize = 32;

/// The address policy; cheap to clone.
#[derive(Debug, Clone)]
pub struct Gate {
    rules: Arc<Rules>,
}

#[derive(Debug)]
struct Rules {
    /// Bounds the look-ups: each blocks a thread until the system's resolver returns, even if its caller has left.
    lookups: Arc<Semaphore>,
    names: Vec<NamePattern>,
    networks: Vec<IpNet>,
    forbidden: Vec<IpNet>,
}

/// The port to pass when a name is resolved without knowing the port.
pub const ANY_PORT: u16 = 0;

/// `example.com`, `*.example.com`, `*`, each with `:port` or without.
#[derive(Debug)]
struct NamePattern {
    name: String,
    port: Option<u16>,
}

/// An entry of `tools.allowed_hosts` that is not a host, an address or a network.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{pattern}` in tools.allowed_hosts is not a host, a `*.domain`, an address or a network such as 10.0.0.0/8"
)]
pub struct InvalidPattern {
    pattern: String,
}

impl NamePattern {
    fn parse(text: &str) -> Option<NamePattern> {
        if let Some((address, port)) = text.strip_prefix('[').and_then(|text| text.split_once("]:")) {
            let address: Ipv6Addr = address.parse().ok()?;
            return Some(NamePattern { name: address.to_string(), port: Some(port.parse().ok()?) });
        }
        let (name, port) = match text.split_once(':') {
            Some((name, port)) => (name, Some(port.parse().ok()?)),
            None => (text, None),
        };
        let rest = name.strip_prefix("*.").unwrap_or(if name == "*" { "any" } else { name });
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let valid = !rest.is_empty() && rest.chars().all(is_name);
        valid.then(|| NamePattern { name: name.to_ascii_lowercase(), port })
    }

    fn matches(&self, host: &str, port: u16) -> bool {
        let fits = match self.name.strip_prefix('*') {
            Some(suffix) => host.ends_with(suffix) && host.len() > suffix.len(),
            None => host == self.name,
        };
        fits && (port == ANY_PORT || self.port.is_none_or(|wanted| wanted == port))
    }
}

/// Reads an address, or a network in CIDR notation.
fn network(text: &str) -> Option<IpNet> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok().or_else(|| bare.parse::<IpAddr>().ok().map(IpNet::from))
}

impl Gate {
    /// A gate that allows what matches `allowed`; if `allowed` is empty, everything outside the blocked networks.
    ///
    /// # Errors
    /// If an entry is not a host, an address or a network.
    pub fn new(allowed: &[String]) -> Result<Gate, InvalidPattern> {
        let (mut names, mut networks) = (Vec::new(), Vec::new());
        for pattern in allowed {
            match (network(pattern), NamePattern::parse(pattern)) {
                (Some(network), _) => networks.push(network),
                (None, Some(name)) => names.push(name),
                (None, None) => return Err(InvalidPattern { pattern: pattern.clone() }),
            }
        }
        let forbidden = FORBIDDEN.iter().filter_map(|text| network(text)).collect();
        Ok(Gate {
            rules: Arc::new(Rules { lookups: Arc::new(Semaphore::new(LOOKUPS)), names, networks, forbidden }),
        })
    }

    /// Checks a URL before its host is resolved. A host name that may lie in an allowed network passes;
    /// [`Gate::resolve`] then checks its addresses.
    ///
    /// # Errors
    /// [`ToolError::Forbidden`] for a scheme other than `http` and `https`, and for hosts that are not allowed.
    pub fn check(&self, url: &Url) -> Result<(), ToolError> {
        if !matches!(url.scheme(), "http" | "https") {
            let message = format!("`{}` is neither http nor https", url.scheme());
            return Err(ToolError::Forbidden { message });
        }
        let port = url.port_or_known_default().unwrap_or_default();
        match url.host() {
            None => Err(ToolError::Unusable { message: "its URL has no host".into() }),
            Some(Host::Ipv4(address)) => self.check_address(address.into(), port),
            Some(Host::Ipv6(address)) => self.check_address(address.into(), port),
            Some(Host::Domain(name)) => match self.is_named(name, port) || self.may_be_in_network(name) {
                true => Ok(()),
                false => Err(not_listed(name)),
            },
        }
    }

    fn check_address(&self, address: IpAddr, port: u16) -> Result<(), ToolError> {
        match self.lets_through(address, self.is_named(&address.to_string(), port)) {
            true => Ok(()),
            false if self.is_forbidden(address) => Err(forbidden(&address.to_string())),
            false => Err(not_listed(&address.to_string())),
        }
    }

    /// Whether a name that matches no pattern may still resolve to an address in an allowed network.
    fn may_be_in_network(&self, name: &str) -> bool {
        !self.rules.networks.is_empty() && !self.is_named(name, ANY_PORT)
    }

    /// Resolves a host to those of its addresses that are allowed: at least one. With [`ANY_PORT`], the URL must have
    /// passed [`Gate::check`] before.
    ///
    /// # Errors
    /// [`ToolError::Unreachable`] if the name has no address; [`ToolError::Forbidden`] if none of them is allowed.
    pub async fn resolve(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, ToolError> {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let unknown = |why: String| ToolError::Unreachable { message: format!("the host `{host}` {why}") };
        let found = self.look_up(bare, port).await;
        let found = found.map_err(|error| unknown(format!("cannot be resolved: {error}")))?;
        let named = self.is_named(&bare.to_ascii_lowercase(), port);
        let open: Vec<_> =
            found.iter().copied().filter(|found| self.lets_through(found.ip(), named)).collect();
        match (open.is_empty(), found.first()) {
            (false, _) => Ok(open),
            (true, None) => Err(unknown("has no address".into())),
            (true, Some(_)) if !named && !found.iter().any(|found| self.is_forbidden(found.ip())) => {
                Err(not_listed(host))
            }
            (true, Some(found)) => Err(forbidden(&format!("{host} ({})", found.ip()))),
        }
    }

    async fn look_up(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let permit = self.rules.lookups.clone().acquire_owned().await.map_err(io::Error::other)?;
        let host = host.to_owned();
        let lookup = tokio::task::spawn_blocking(move || {
            let found = (host.as_str(), port).to_socket_addrs().map(Iterator::collect);
            drop(permit);
            found
        });
        lookup.await.map_err(io::Error::other)?
    }

    fn is_named(&self, host: &str, port: u16) -> bool {
        let Rules { names, networks, .. } = &*self.rules;
        (names.is_empty() && networks.is_empty()) || names.iter().any(|name| name.matches(host, port))
    }

    fn lets_through(&self, address: IpAddr, named: bool) -> bool {
        let listed = with_embedded(address)
            .any(|address| self.rules.networks.iter().any(|net| net.contains(&address)));
        listed || (named && !self.is_forbidden(address))
    }

    fn is_forbidden(&self, address: IpAddr) -> bool {
        with_embedded(address).any(|address| self.rules.forbidden.iter().any(|net| net.contains(&address)))
    }
}

fn not_listed(host: &str) -> ToolError {
    ToolError::Forbidden { message: format!("`{host}` is not in tools.allowed_hosts") }
}

fn forbidden(host: &str) -> ToolError {
    let message = format!(
        "{host} is link-local or serves cloud metadata; to allow it, list the address itself in tools.allowed_hosts, \
         without a port"
    );
    ToolError::Forbidden { message }
}

/// The address, and the IPv4 address that an IPv6 address may embed: IPv4-mapped, IPv4-compatible, 6to4, NAT64.
fn with_embedded(address: IpAddr) -> impl Iterator<Item = IpAddr> {
    let embedded_v4 = match address {
        IpAddr::V4(_) => None,
        IpAddr::V6(address) => embedded(address),
    };
    std::iter::once(address).chain(embedded_v4.map(IpAddr::V4))
}

fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, .., y, z] = address.segments();
    let pair = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match (a, b) {
        (0x2002, _) => Some(pair(b, c)),
        (0x64, 0xff9b) => Some(pair(y, z)),
        _ => address.to_ipv4(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(allowed: &[&str]) -> Gate {
        Gate::new(&allowed.iter().map(|pattern| (*pattern).to_owned()).collect::<Vec<_>>()).unwrap()
    }

    fn opens(gate: &Gate, url: &str) -> bool {
        gate.check(&Url::parse(url).unwrap()).is_ok()
    }

    #[test]
    fn by_default_everything_but_link_local_and_metadata_addresses_is_open() {
        let gate = gate(&[]);
        for url in ["http://127.0.0.1:1/x", "https://example.com", "http://10.1.2.3", "http://[::1]/"] {
            assert!(opens(&gate, url), "{url}");
        }
        for url in [
            "http://169.254.169.254/latest",
            "http://2852039166/",
            "http://0xa9.0xfe.1.1/",
            "http://[fe80::1]/",
            "http://[::ffff:169.254.169.254]/",
            "http://[::169.254.169.254]/",
            "http://[2002:a9fe:a9fe::1]/",
            "http://[64:ff9b::a9fe:a9fe]/",
            "http://[fd00:ec2::254]/",
            "http://[fd00:ec2::23]/",
            "http://[fd20:ce::254]/",
            "http://100.100.100.200/",
            "ftp://example.com/",
            "file:///etc/passwd",
        ] {
            assert!(!opens(&gate, url), "{url}");
        }
    }

    #[test]
    fn a_list_opens_only_what_it_names_and_addresses_by_number() {
        let list = gate(&[
            "api.example.com",
            "*.tools.local:8443",
            "10.0.0.0/8",
            "169.254.7.7",
            "::1",
            "[fd01::1]:8443",
        ]);
        for url in [
            "https://api.example.com/a",
            "https://API.example.com/a",
            "https://a.b.tools.local:8443/",
            "http://10.9.9.9/",
            "http://169.254.7.7/",
            "https://[fd01::1]:8443/",
            "http://[::1]:80/",
        ] {
            assert!(opens(&list, url), "{url}");
        }
        for url in ["http://127.0.0.1/", "http://169.254.169.254/", "http://11.0.0.1/", "http://[::2]/"] {
            assert!(!opens(&list, url), "{url}");
        }
        let names = gate(&["api.example.com", "*.tools.local:8443"]);
        for url in [
            "https://example.com/",
            "https://xapi.example.com/",
            "https://tools.local:8443/",
            "https://a.tools.local/",
        ] {
            assert!(!opens(&names, url), "{url}");
        }
        assert!(opens(&gate(&["*"]), "http://127.0.0.1/") && !opens(&gate(&["*"]), "http://169.254.1.1/"));
        for pattern in ["", "a b", "http://x", "*.", "a:b", "10.0.0.0/99"] {
            assert!(Gate::new(&[pattern.to_owned()]).is_err(), "{pattern}");
        }
    }

    #[tokio::test]
    async fn names_are_judged_by_what_they_resolve_to() {
        assert!(gate(&[]).resolve("localhost", 80).await.is_ok());
        assert!(gate(&["127.0.0.0/8", "::1"]).resolve("localhost", 80).await.is_ok());
        let other = gate(&["10.0.0.0/8"]).resolve("localhost", 80).await;
        assert!(matches!(other, Err(ToolError::Forbidden { .. })), "{other:?}");
        for gate in [gate(&[]), gate(&["169.254.1.1:80"])] {
            let local = gate.resolve("169.254.1.1", 80).await;
            assert!(matches!(local, Err(ToolError::Forbidden { .. })), "{local:?}");
        }
    }
}
