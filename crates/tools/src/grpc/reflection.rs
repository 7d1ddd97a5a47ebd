//! Asking a server for its types, by the reflection protocol: version 1, and v1alpha of servers that have no other.

use std::collections::{BTreeMap, BTreeSet};

use http::uri::PathAndQuery;
use prost_reflect::DescriptorPool;
use prost_reflect::prost::Message;
use prost_reflect::prost::bytes::Bytes;
use prost_reflect::prost_types::FileDescriptorProto;
use tonic::{Code, Status};
// The messages of v1alpha are the same.
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest as Question;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse as Answer;
use tonic_reflection::pb::v1::{ServerReflectionRequest, ServerReflectionResponse};

use super::failure::{self, unusable};
use super::method::no_service;
use super::types::{DESCRIPTOR_BYTES, Files};
use super::wire::Wire;
use crate::error::ToolError;

const PATHS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/// The most files that a service may need.
const FILES: usize = 512;

/// The files that describe a service, with all that they import.
pub(super) async fn files(wire: &Wire<'_>, service: &str) -> Result<Files, ToolError> {
    for path in PATHS {
        let mut server = Server { wire, path: PathAndQuery::from_static(path), told: 0 };
        match server.files(service).await {
            Ok(files) => return Ok(Files { files, bytes: server.told }),
            Err(Refusal::NoReflection) => {}
            Err(Refusal::NotFound) => return Err(no_service(service, &server.services().await)),
            Err(Refusal::Other(error)) => return Err(error),
        }
    }
    Err(unusable("the server does not tell its types (reflection); its document needs a descriptorSet"))
}

/// A server that is asked in one version of the protocol.
struct Server<'a> {
    wire: &'a Wire<'a>,
    path: PathAndQuery,
    /// How many bytes it has told so far.
    told: usize,
}

/// Why a server does not tell what it is asked.
enum Refusal {
    NoReflection,
    NotFound,
    Other(ToolError),
}

impl Server<'_> {
    /// The files that describe a service; in each round, those that the known ones import are asked for.
    async fn files(&mut self, service: &str) -> Result<Vec<FileDescriptorProto>, Refusal> {
        let known = DescriptorPool::global();
        let mut files = BTreeMap::new();
        let mut asked = BTreeSet::new();
        let mut questions = vec![Question::FileContainingSymbol(service.to_owned())];
        while !questions.is_empty() {
            let answers = self.ask(questions).await.map_err(|refusal| match refusal {
                Refusal::NotFound if !asked.is_empty() => broken("a file that others import is missing"),
                refusal => refusal,
            })?;
            for file in answers.into_iter().flat_map(described) {
                let file = FileDescriptorProto::decode(file).map_err(|error| broken(&error.to_string()))?;
                files.insert(file.name().to_owned(), file);
            }
            let missing = imports(&files).filter(|name| known.get_file_by_name(name).is_none());
            let missing: BTreeSet<String> = missing.map(str::to_owned).collect();
            if !missing.is_disjoint(&asked) || files.len() + missing.len() > FILES {
                return Err(broken("a file that others import is missing, or there are too many"));
            }
            questions = missing.iter().cloned().map(Question::FileByFilename).collect();
            asked.extend(missing);
        }
        Ok(files.into_values().collect())
    }

    /// The services that the server has, as far as it says so.
    async fn services(&mut self) -> Vec<String> {
        let answers = self.ask(vec![Question::ListServices(String::new())]).await.unwrap_or_default();
        let lists = answers.into_iter().filter_map(|answer| match answer {
            Answer::ListServicesResponse(list) => Some(list.service),
            _ => None,
        });
        lists.flatten().map(|service| service.name).collect()
    }

    async fn ask(&mut self, questions: Vec<Question>) -> Result<Vec<Answer>, Refusal> {
        let encode = |question| {
            let request = ServerReflectionRequest { host: String::new(), message_request: Some(question) };
            Bytes::from(request.encode_to_vec())
        };
        let requests = questions.into_iter().map(encode).collect();
        let room = DESCRIPTOR_BYTES.saturating_sub(self.told);
        let answers = self.wire.exchange(self.path.clone(), requests, room).await;
        let answers = answers.map_err(|status| self.refusal(&status))?;
        self.told += answers.iter().map(Bytes::len).sum::<usize>();
        let answers: Result<_, _> = answers.into_iter().map(read).collect();
        answers.map_err(|status| self.refusal(&status))
    }

    fn refusal(&self, status: &Status) -> Refusal {
        match status.code() {
            Code::Unimplemented => Refusal::NoReflection,
            Code::NotFound => Refusal::NotFound,
            _ => match self.wire.explain(status) {
                ToolError::Answer { message } => broken(&message),
                error => Refusal::Other(error),
            },
        }
    }
}

/// What the files import that is not among them.
fn imports(files: &BTreeMap<String, FileDescriptorProto>) -> impl Iterator<Item = &str> {
    let all = files.values().flat_map(|file| &file.dependency).map(String::as_str);
    all.filter(|name| !files.contains_key(*name))
}

fn read(answer: Bytes) -> Result<Answer, Status> {
    let unreadable = |why: String| failure::status(ToolError::Answer { message: why });
    let decoded = ServerReflectionResponse::decode(answer).map_err(|error| unreadable(error.to_string()))?;
    match decoded.message_response {
        Some(Answer::ErrorResponse(error)) => Err(Status::new(error.error_code.into(), error.error_message)),
        Some(answer) => Ok(answer),
        None => Err(unreadable("there is nothing in it".into())),
    }
}

/// The encoded files of an answer.
fn described(answer: Answer) -> Vec<Bytes> {
    match answer {
        Answer::FileDescriptorResponse(files) => {
            files.file_descriptor_proto.into_iter().map(Bytes::from).collect()
        }
        _ => Vec::new(),
    }
}

fn broken(why: &str) -> Refusal {
    Refusal::Other(unusable(&format!("the server does not tell its types as it should: {why}")))
}
