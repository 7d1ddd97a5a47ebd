//! The unary methods of a gRPC server, by reflection.
//!
//! The id of a method mirrors its full name: `package.Service.Method`, the package being the module unless another is named.
//! A service without a package is a module itself.

use serde_json::json;

use super::{Discovery, Draft, LIMIT, LeftOut, finished, segment};
use crate::error::ToolError;
use crate::grpc::{self, ListedMethod};
use crate::offload::offload;
use crate::{Tools, headers_of};
use base::caller::Caller;

impl Tools {
    /// The methods of the server at `url`.
    pub(super) async fn discover_grpc(
        &self,
        caller: &Caller,
        url: &str,
        module: Option<&str>,
    ) -> Result<Discovery, ToolError> {
        let mut target = self.modules.target(module.unwrap_or_default(), &grpc::url_of(url)?, None)?;
        self.gate.check(&target.url)?;
        target.headers.extend(headers_of(caller));
        let methods = self.grpc.methods(&target.url, &target.headers, LIMIT).await?;
        let (mut drafts, mut left_out) = (Vec::new(), Vec::new());
        for ListedMethod { package, service, method, schema } in methods {
            let full = if package.is_empty() { service.clone() } else { format!("{package}.{service}") };
            let name = format!("{full}/{method}");
            let Some(parameters) = schema else {
                let reason = "it streams; only unary methods can be tools".to_owned();
                left_out.push(LeftOut { name, reason });
                continue;
            };
            let (module, subject) = match (module, package.as_str()) {
                (None, "") => (service, method),
                (None, package) => (segment(package), format!("{service}.{method}")),
                (Some(module), _) => (module.to_owned(), format!("{service}.{method}")),
            };
            let binding = json!({"url": url, "method": name});
            let notes = Vec::new();
            drafts.push(Draft {
                module,
                name,
                subject,
                description: None,
                parameters,
                kind: "grpc",
                binding,
                notes,
            });
        }
        offload(move || Ok(finished(drafts, left_out))).await
    }
}
