//! Finds the method that a tool's document names among the types of a service.

use http::uri::PathAndQuery;
use prost_reflect::{DescriptorPool, MethodDescriptor, ServiceDescriptor};

use super::error::unusable;
use crate::error::ToolError;
use base::outbound::excerpt;

/// The full name of a method: `package.Service/Method`.
pub(super) struct MethodName<'a> {
    pub(super) service: &'a str,
    method: &'a str,
}

impl<'a> MethodName<'a> {
    /// Parses `package.Service/Method`, `/package.Service/Method` (the path of requests) or `package.Service.Method` (the name in
    /// protobuf).
    pub(super) fn parse(text: &'a str) -> Result<MethodName<'a>, ToolError> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
        let is_name = |name: &str| !name.is_empty() && name.chars().all(is_part);
        let parts = match text.contains('/') {
            true => text.strip_prefix('/').unwrap_or(text).split_once('/'),
            false => text.rsplit_once('.'),
        };
        match parts.filter(|(service, method)| is_name(service) && is_name(method)) {
            Some((service, method)) => Ok(MethodName { service, method }),
            None => Err(unusable(&format!(
                "`{}` is not of the form package.Service/Method, /package.Service/Method or package.Service.Method",
                excerpt(text)
            ))),
        }
    }

    /// The name of a service, without a method.
    pub(super) fn of_service(service: &'a str) -> MethodName<'a> {
        MethodName { service, method: "" }
    }

    /// The path of requests.
    pub(super) fn path(&self) -> Result<PathAndQuery, ToolError> {
        let path = format!("/{}/{}", self.service, self.method).parse();
        path.map_err(|error| unusable(&format!("the name of the method is not valid in a path: {error}")))
    }

    /// Finds the method in `types`; it must be unary.
    pub(super) fn find(&self, types: &DescriptorPool) -> Result<MethodDescriptor, ToolError> {
        let MethodName { service: name, method } = self;
        let Some(service) = types.get_service_by_name(name) else {
            let services = types.services().map(|service| service.full_name().to_owned());
            return Err(no_service(name, &services.collect::<Vec<_>>()));
        };
        let Some(found) = service.methods().find(|found| found.name() == *method) else {
            return Err(no_method(&service, method));
        };
        if found.is_client_streaming() || found.is_server_streaming() {
            return Err(unusable(&format!("{name}/{method} streams; only unary methods can be tools")));
        }
        Ok(found)
    }
}

/// The error for a service that the server does not have; `services` are those that it has.
pub(super) fn no_service(name: &str, services: &[String]) -> ToolError {
    unusable(&format!("there is no service {name}; there are: {}", services.join(", ")))
}

fn no_method(service: &ServiceDescriptor, method: &str) -> ToolError {
    let methods: Vec<_> = service.methods().map(|method| method.name().to_owned()).collect();
    let name = service.full_name();
    unusable(&format!("there is no method {method} in {name}; there are: {}", methods.join(", ")))
}
