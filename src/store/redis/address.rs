//! Parses the address of a Redis store: the options that are allowed, and a description without secrets.

use ::redis::{Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo, TlsCertificates, parse_redis_url};

use crate::store::StoreError;

/// A client that has not connected yet, and its address without user name and password.
pub(super) async fn client(url: &str) -> Result<(Client, String), StoreError> {
    let parsed = parse_redis_url(url).ok_or_else(|| invalid("it is no valid URL"))?;
    let mut ca_file = None;
    for (name, value) in parsed.query_pairs() {
        match name.as_ref() {
            "ca" => ca_file = Some(value.into_owned()),
            other => return Err(invalid(format!("it has the unknown option {other}; there is only ca"))),
        }
    }
    let info = parsed.into_connection_info().map_err(|error| invalid(error.to_string()))?;
    let description = describe(&info);
    let client = match ca_file {
        Some(file) => client_with_ca(info, &file).await?,
        None => Client::open(info).map_err(|error| invalid(error.to_string()))?,
    };
    Ok((client, description))
}

async fn client_with_ca(info: ConnectionInfo, ca_file: &str) -> Result<Client, StoreError> {
    if !matches!(info.addr(), ConnectionAddr::TcpTls { .. }) {
        return Err(invalid("the option ca needs rediss://"));
    }
    let pem = tokio::fs::read(ca_file).await.map_err(|error| invalid(format!("{ca_file}: {error}")))?;
    let certificates = TlsCertificates { client_tls: None, root_cert: Some(pem) };
    Client::build_with_tls(info, certificates).map_err(|error| invalid(format!("{ca_file}: {error}")))
}

fn describe(info: &ConnectionInfo) -> String {
    let (scheme, host, port) = match info.addr() {
        ConnectionAddr::Tcp(host, port) => ("redis", host.as_str(), *port),
        ConnectionAddr::TcpTls { host, port, .. } => ("rediss", host.as_str(), *port),
        _ => ("redis", "?", 0),
    };
    let db = info.redis_settings().db();
    if host.contains(':') {
        format!("{scheme}://[{host}]:{port}/{db}")
    } else {
        format!("{scheme}://{host}:{port}/{db}")
    }
}

fn invalid(message: impl Into<String>) -> StoreError {
    StoreError::BadUrl { message: message.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_description_names_neither_user_nor_password() {
        for (url, shown) in [
            ("redis://u:p%40ss@example.org", "redis://example.org:6379/0"),
            ("rediss://:secret@example.org:7000/3", "rediss://example.org:7000/3"),
            ("redis://[::1]:7000/1", "redis://[::1]:7000/1"),
        ] {
            assert_eq!(client(url).await.unwrap().1, shown);
        }
    }

    #[tokio::test]
    async fn an_address_that_cannot_be_used_says_why_without_its_password() {
        for url in [
            "redis://:secret@host:port",
            "redis://:secret@host/x",
            "redis://:secret@host?a=b",
            "redis://:secret@host?ca=x",
            "rediss://:secret@host?ca=/there/is/no/such/file",
        ] {
            let error = client(url).await.map(|(_, shown)| shown).expect_err(url);
            assert!(matches!(error, StoreError::BadUrl { .. }), "{error}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
