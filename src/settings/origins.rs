//! Web origins as browsers send them (RFC 6454, section 6.1): `server.origins` is compared with them letter by letter.

use std::net::Ipv6Addr;

/// The origins that no browser would send, each with what is wrong.
pub(super) fn invalid(origins: &[String]) -> impl Iterator<Item = String> {
    let unusual = origins.iter().filter(|origin| *origin != "*" && !is_origin(origin));
    unusual.map(|origin| {
        format!(
            "`server.origins`: {origin:?} is not an origin as browsers send it; write scheme://host or scheme://host:port in lower case, without a path and without the scheme's own port, such as https://app.test"
        )
    })
}

fn is_origin(text: &str) -> bool {
    // What pages send that have no address of their own.
    if matches!(text, "null" | "file://") {
        return true;
    }
    let Some((scheme, authority)) = text.split_once("://") else { return false };
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let own_port = match scheme {
        "http" => "80",
        "https" => "443",
        _ => "",
    };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_lowercase())
        && scheme.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || b"+-.".contains(&c));
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_host = match bare {
        Some(address) => address.parse::<Ipv6Addr>().is_ok_and(|parsed| parsed.to_string() == address),
        None => {
            !host.is_empty()
                && host.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || b"-._".contains(&c))
        }
    };
    is_scheme
        && is_host
        && port.is_none_or(|port| {
            port != own_port && port.parse::<u16>().is_ok_and(|parsed| parsed.to_string() == port)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_what_browsers_send() {
        for origin in [
            "https://app.test",
            "http://localhost:3000",
            "http://127.0.0.1:8080",
            "http://[::1]:5173",
            "https://xn--mller-kva.test",
            "chrome-extension://abcdefgh",
            "capacitor://localhost",
            "null",
        ] {
            assert!(is_origin(origin), "{origin}");
        }
        for other in [
            "",
            "app.test",
            "https://app.test/",
            "https://APP.test",
            "https://app.test:443",
            "http://app.test:80",
            "https://*.app.test",
            "http://a b",
            "https://ü.test",
            "https://",
            "https://app.test:port",
            "https://app.test:+8443",
            "https://app.test:08443",
            "http://[::AB]",
        ] {
            assert!(!is_origin(other), "{other}");
        }
        assert_eq!(invalid(&["*".into(), "https://app.test".into(), "app.test".into()]).count(), 1);
    }
}
