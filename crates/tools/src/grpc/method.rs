//! Finding the method that a tool's document names.

use http::uri::PathAndQuery;
use prost_reflect::{DescriptorPool, MethodDescriptor, ServiceDescriptor};

use super::failure::unusable;
use crate::error::ToolError;
use base::outbound::quoted;

/// The full name of a method.
pub(super) struct MethodName<'a> {
    pub(super) service: &'a str,
    method: &'a str,
}

impl<'a> MethodName<'a> {
    /// Takes `package.Service/Method` apart.
    pub(super) fn parse(text: &'a str) -> Result<MethodName<'a>, ToolError> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
        let is_name = |name: &str| !name.is_empty() && name.chars().all(is_part);
        match text.split_once('/').filter(|(service, method)| is_name(service) && is_name(method)) {
            Some((service, method)) => Ok(MethodName { service, method }),
            None => Err(unusable(&format!("`{}` is not of the form package.Service/Method", quoted(text)))),
        }
    }

    /// Where requests go.
    pub(super) fn path(&self) -> Result<PathAndQuery, ToolError> {
        let path = format!("/{}/{}", self.service, self.method).parse();
        path.map_err(|error| unusable(&format!("the name of the method makes no path: {error}")))
    }

    /// The method among these types, which must be unary.
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

/// There is no such service; these are the ones that are known to be there.
pub(super) fn no_service(name: &str, services: &[String]) -> ToolError {
    unusable(&format!("there is no service {name}; there are: {}", services.join(", ")))
}

fn no_method(service: &ServiceDescriptor, method: &str) -> ToolError {
    let methods: Vec<_> = service.methods().map(|method| method.name().to_owned()).collect();
    let name = service.full_name();
    unusable(&format!("there is no method {method} in {name}; there are: {}", methods.join(", ")))
}
