//! The methods that a server has, by server reflection.

use std::time::Duration;

use http::HeaderMap;
use prost_reflect::MethodDescriptor;
use reqwest::Url;
use serde_json::Value as Json;

use super::method::MethodName;
use super::wire::Wire;
use super::{Grpc, UnaryCall, error, reflection, schema};
use crate::error::ToolError;

/// A method of a server.
#[derive(Debug)]
pub struct ListedMethod {
    /// The package of the service; empty if it has none.
    pub package: String,
    /// The name of the service, without its package.
    pub service: String,
    /// The name of the method.
    pub method: String,
    /// The JSON Schema of the request; `None` if the method streams.
    pub schema: Option<Json>,
}

/// The most services of one server.
const SERVICES: usize = 200;

/// The most methods of one server.
const METHODS: usize = 2_000;

impl Grpc {
    /// All methods of a server but those of reflection itself.
    ///
    /// # Errors
    /// As [`Grpc::call`].
    pub async fn methods(
        &self,
        url: &Url,
        headers: &HeaderMap,
        timeout: Duration,
    ) -> Result<Vec<ListedMethod>, ToolError> {
        let call =
            UnaryCall { url, method: "", descriptor_set: None, arguments: &Json::Null, headers, timeout };
        let wire = Wire::new(&self.channels, &call)?;
        let mut found = Vec::new();
        let services = reflection::services(&wire).await?;
        let too_many =
            || error::unusable(&format!("the server has more than {SERVICES} services or {METHODS} methods"));
        if services.len() > SERVICES {
            return Err(too_many());
        }
        for service in services {
            if service.starts_with("grpc.reflection.") {
                continue;
            }
            let name = MethodName::of_service(&service);
            let types = self.types_of(&name, &wire).await?;
            let service = types.get_service_by_name(&service);
            found.extend(service.iter().flat_map(|service| service.methods().map(|method| listed(&method))));
            if found.len() > METHODS {
                return Err(too_many());
            }
        }
        Ok(found)
    }
}

fn listed(method: &MethodDescriptor) -> ListedMethod {
    let service = method.parent_service();
    let streams = method.is_client_streaming() || method.is_server_streaming();
    ListedMethod {
        package: service.package_name().to_owned(),
        service: service.name().to_owned(),
        method: method.name().to_owned(),
        schema: (!streams).then(|| schema::of_message(&method.input())),
    }
}
