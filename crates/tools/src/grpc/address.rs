//! The ways to write the address of a gRPC server.

use super::error::unusable;
use crate::error::ToolError;

/// The schemes that an address may have, and what they stand for.
const SCHEMES: [(&str, &str); 4] =
    [("http", "http"), ("https", "https"), ("grpc", "http"), ("grpcs", "https")];

/// The forms of an address, in words.
pub(super) const FORMS: &str =
    "host:port, grpc://host:port or http://host:port, or with TLS grpcs://host:port or https://host:port";

/// The address as a URL with the scheme `http` or `https`; one that begins with `/` continues its module's base URL, and stays.
///
/// # Errors
/// [`ToolError::Unusable`] for any other scheme.
pub fn url_of(address: &str) -> Result<String, ToolError> {
    if address.starts_with('/') {
        return Ok(address.to_owned());
    }
    let Some((scheme, rest)) = address.split_once("://") else {
        return Ok(format!("http://{address}"));
    };
    match SCHEMES.iter().find(|(written, _)| scheme.eq_ignore_ascii_case(written)) {
        Some((_, meant)) => Ok(format!("{meant}://{rest}")),
        None => Err(unusable(&format!("its `grpc.url` has the scheme `{scheme}`; it must be {FORMS}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_of_http_or_grpc_or_none() {
        for (written, meant) in [
            ("localhost:50051", "http://localhost:50051"),
            ("127.0.0.1:50051", "http://127.0.0.1:50051"),
            ("[::1]:50051", "http://[::1]:50051"),
            ("grpc://host:1", "http://host:1"),
            ("GRPC://host:1", "http://host:1"),
            ("grpcs://host:1", "https://host:1"),
            ("http://host:1", "http://host:1"),
            ("https://host", "https://host"),
            ("/", "/"),
        ] {
            assert_eq!(url_of(written).as_deref(), Ok(meant), "{written}");
        }
        for written in ["dns:///host:1", "ftp://host", "://host:1"] {
            let error = url_of(written).unwrap_err().to_string();
            assert!(error.contains("grpcs://host:port"), "{error}");
        }
    }
}
