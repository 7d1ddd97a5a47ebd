//! The gRPC reflection protocol, which asks a server for its types: v1, and v1alpha for servers that have no v1.

use std::collections::{BTreeMap, BTreeSet};

use http::uri::PathAndQuery;
use prost_reflect::DescriptorPool;
use prost_reflect::prost::Message;
use prost_reflect::prost::bytes::Bytes;
use prost_reflect::prost_types::FileDescriptorProto;
use tonic::{Code, Status};
// v1alpha has the same messages.
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest as Question;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse as Answer;
use tonic_reflection::pb::v1::{ServerReflectionRequest, ServerReflectionResponse};

use super::error::{self, unusable};
use super::method::no_service;
use super::types::{DESCRIPTOR_BYTES, DescriptorFiles};
use super::wire::Wire;
use crate::error::ToolError;

const PATHS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/// The most descriptor files that a service may need.
const FILES: usize = 512;

/// Fetches the descriptor files of a service, with all that they import.
pub(super) async fn files(wire: &Wire<'_>, service: &str) -> Result<DescriptorFiles, ToolError> {
    for path in PATHS {
        let mut server = Server { wire, path: PathAndQuery::from_static(path), received: 0 };
        match server.files(service).await {
            Ok(files) => return Ok(DescriptorFiles { files, bytes: server.received }),
            Err(ReflectionError::NoReflection) => {}
            Err(ReflectionError::NotFound) => return Err(no_service(service, &server.services().await)),
            Err(ReflectionError::Other(error)) => return Err(error),
        }
    }
    Err(unusable("the server has no reflection; add a `descriptorSet` to the tool's document"))
}

/// The names of a server's services.
pub(super) async fn services(wire: &Wire<'_>) -> Result<Vec<String>, ToolError> {
    for path in PATHS {
        let mut server = Server { wire, path: PathAndQuery::from_static(path), received: 0 };
        match server.ask(vec![Question::ListServices(String::new())]).await {
            Ok(answers) => return Ok(listed(answers)),
            Err(ReflectionError::NoReflection) => {}
            Err(ReflectionError::NotFound) => return Ok(Vec::new()),
            Err(ReflectionError::Other(error)) => return Err(error),
        }
    }
    Err(unusable("the server has no reflection, which alone says what methods it has"))
}

fn listed(answers: Vec<Answer>) -> Vec<String> {
    let lists = answers.into_iter().filter_map(|answer| match answer {
        Answer::ListServicesResponse(list) => Some(list.service),
        _ => None,
    });
    lists.flatten().map(|service| service.name).collect()
}

/// A server, asked in one version of the protocol.
struct Server<'a> {
    wire: &'a Wire<'a>,
    path: PathAndQuery,
    /// How many bytes of answers it has sent so far.
    received: usize,
}

enum ReflectionError {
    NoReflection,
    NotFound,
    Other(ToolError),
}

impl Server<'_> {
    /// Fetches the files of a service: first its own, then in each round those that the last ones import.
    async fn files(&mut self, service: &str) -> Result<Vec<FileDescriptorProto>, ReflectionError> {
        let known = DescriptorPool::global();
        let mut files = BTreeMap::new();
        let mut asked = BTreeSet::new();
        let mut questions = vec![Question::FileContainingSymbol(service.to_owned())];
        while !questions.is_empty() {
            let answers = self.ask(questions).await.map_err(|error| match error {
                ReflectionError::NotFound if !asked.is_empty() => broken("an imported file is missing"),
                error => error,
            })?;
            for file in answers.into_iter().flat_map(described) {
                let file = FileDescriptorProto::decode(file).map_err(|error| broken(&error.to_string()))?;
                files.insert(file.name().to_owned(), file);
            }
            let missing = imports(&files).filter(|name| known.get_file_by_name(name).is_none());
            let missing: BTreeSet<String> = missing.map(str::to_owned).collect();
            if !missing.is_disjoint(&asked) || files.len() + missing.len() > FILES {
                return Err(broken("an imported file is missing, or there are too many files"));
            }
            questions = missing.iter().cloned().map(Question::FileByFilename).collect();
            asked.extend(missing);
        }
        Ok(files.into_values().collect())
    }

    /// The names of the server's services; empty if it does not list them.
    async fn services(&mut self) -> Vec<String> {
        let answers = self.ask(vec![Question::ListServices(String::new())]).await.unwrap_or_default();
        listed(answers)
    }

    async fn ask(&mut self, questions: Vec<Question>) -> Result<Vec<Answer>, ReflectionError> {
        let encode = |question| {
            let request = ServerReflectionRequest { host: String::new(), message_request: Some(question) };
            Bytes::from(request.encode_to_vec())
        };
        let requests = questions.into_iter().map(encode).collect();
        let room = DESCRIPTOR_BYTES.saturating_sub(self.received);
        let answers = self.wire.exchange(self.path.clone(), requests, room).await;
        let answers = answers.map_err(|status| self.error_of(&status))?;
        self.received += answers.iter().map(Bytes::len).sum::<usize>();
        let answers: Result<_, _> = answers.into_iter().map(read).collect();
        answers.map_err(|status| self.error_of(&status))
    }

    fn error_of(&self, status: &Status) -> ReflectionError {
        match status.code() {
            Code::Unimplemented => ReflectionError::NoReflection,
            Code::NotFound => ReflectionError::NotFound,
            _ => match self.wire.explain(status) {
                ToolError::Answer { message } => broken(&message),
                error => ReflectionError::Other(error),
            },
        }
    }
}

/// The imports of the files that are not among the files.
fn imports(files: &BTreeMap<String, FileDescriptorProto>) -> impl Iterator<Item = &str> {
    let all = files.values().flat_map(|file| &file.dependency).map(String::as_str);
    all.filter(|name| !files.contains_key(*name))
}

fn read(answer: Bytes) -> Result<Answer, Status> {
    let unreadable = |why: String| error::status(ToolError::Answer { message: why });
    let decoded = ServerReflectionResponse::decode(answer).map_err(|error| unreadable(error.to_string()))?;
    match decoded.message_response {
        Some(Answer::ErrorResponse(error)) => Err(Status::new(error.error_code.into(), error.error_message)),
        Some(answer) => Ok(answer),
        None => Err(unreadable("it is empty".into())),
    }
}

/// The encoded descriptor files in an answer.
fn described(answer: Answer) -> Vec<Bytes> {
    match answer {
        Answer::FileDescriptorResponse(files) => {
            files.file_descriptor_proto.into_iter().map(Bytes::from).collect()
        }
        _ => Vec::new(),
    }
}

fn broken(why: &str) -> ReflectionError {
    ReflectionError::Other(unusable(&format!("the server's reflection does not work: {why}")))
}
