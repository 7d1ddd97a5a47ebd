//! A gRPC server for tests: its schema is compiled as it starts, and it works with messages of any type.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use prost_reflect::prost::Message;
use prost_reflect::prost::bytes::BufMut;
use prost_reflect::{DescriptorPool, DynamicMessage, MapKey, MessageDescriptor, MethodDescriptor, Value};
use reqwest::Url;
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tonic::body::Body;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::{BoxFuture, Service, http};
use tonic::metadata::KeyAndValueRef;
use tonic::server::{NamedService, UnaryService};
use tonic::transport::server::TcpIncoming;
use tonic::{Code, Request, Response, Status};

/// The schema; tests put more into the places that the comments mark.
pub const SCHEMA: &str = r#"
    syntax = "proto3";
    package test;
    import "google/protobuf/any.proto";
    import "google/protobuf/duration.proto";
    import "google/protobuf/empty.proto";
    import "google/protobuf/field_mask.proto";
    import "google/protobuf/struct.proto";
    import "google/protobuf/timestamp.proto";
    import "google/protobuf/wrappers.proto";
    import "part.proto";

    enum Mood { MOOD_UNKNOWN = 0; MOOD_GOOD = 1; MOOD_BAD = 2; }

    message Everything {
        string text = 1;
        int32 small = 2;
        int64 long_number = 3;
        uint64 huge_number = 4;
        double ratio = 5;
        float third = 6;
        bool yes = 7;
        bytes raw = 8;
        Mood mood = 9;
        repeated string words = 10;
        map<string, int32> counts = 11;
        map<int32, test.parts.Part> parts_by_number = 12;
        test.parts.Part part = 13;
        repeated test.parts.Part parts = 14;
        oneof choice { string by_name = 15; int32 by_number = 16; }
        optional string note = 17;
        google.protobuf.Timestamp at = 18;
        google.protobuf.Duration lasting = 19;
        google.protobuf.Struct structure = 20;
        google.protobuf.Value anything = 21;
        google.protobuf.ListValue list = 22;
        google.protobuf.StringValue wrapped = 23;
        google.protobuf.Int64Value wrapped_long = 24;
        google.protobuf.FieldMask mask = 25;
        google.protobuf.Any packed = 26;
        Everything deeper = 27;
        // more fields
    }

    message Outcome { int32 code = 1; string message = 2; }
    message Size { int32 bytes = 1; int32 parts = 2; }
    message Metadata { map<string, string> entries = 1; }

    service Tools {
        rpc Echo(Everything) returns (Everything);
        rpc Fail(Outcome) returns (google.protobuf.Empty);
        rpc Big(Size) returns (Everything);
        rpc Slow(google.protobuf.Empty) returns (google.protobuf.Empty);
        rpc Metadata(google.protobuf.Empty) returns (Metadata);
        rpc Hesitant(Everything) returns (Everything);
        rpc Watch(Everything) returns (stream Everything);
        rpc Gather(stream Everything) returns (Everything);
        // more methods
    }
"#;

const PART: &str = r#"
    syntax = "proto3";
    package test.parts;
    import "unit.proto";
    message Part { string name = 1; double weight = 2; test.units.Unit unit = 3; }
"#;

const UNIT: &str = r#"
    syntax = "proto3";
    package test.units;
    enum Unit { GRAM = 0; OUNCE = 1; }
"#;

/// The versions of the reflection protocol that a server has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reflection {
    V1,
    V1Alpha,
    None,
}

/// A server on a thread and a runtime of its own.
pub struct GrpcServer {
    address: SocketAddr,
    url: Url,
    set: Vec<u8>,
    counters: Arc<Counters>,
    stop: oneshot::Sender<()>,
    stopped: oneshot::Receiver<()>,
}

#[derive(Default)]
struct Counters {
    calls: watch::Sender<usize>,
    cancelled: watch::Sender<usize>,
}

impl GrpcServer {
    /// Starts a server with the usual schema on a free port.
    pub fn start(reflection: Reflection) -> GrpcServer {
        GrpcServer::start_at((Ipv4Addr::LOCALHOST, 0).into(), SCHEMA, reflection)
    }

    /// Starts a server with a schema of its own at an address.
    pub fn start_at(address: SocketAddr, schema: &str, reflection: Reflection) -> GrpcServer {
        let set = compile(schema);
        let counters = Arc::<Counters>::default();
        let (stop, stopping) = oneshot::channel();
        let (done, stopped) = oneshot::channel();
        let (tell, bound) = std::sync::mpsc::channel();
        let tools = Tools { types: DescriptorPool::decode(&*set).unwrap(), counters: counters.clone() };
        let files = set.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::bind(address).await.unwrap();
                tell.send(listener.local_addr().unwrap()).unwrap();
                serve(listener, tools, &files, reflection, stopping).await;
            });
            drop(runtime);
            let _ = done.send(());
        });
        let address = bound.recv().unwrap();
        let url = format!("http://{address}").parse().unwrap();
        GrpcServer { address, url, set, counters, stop, stopped }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The encoded descriptors of the schema and of all that it imports.
    pub fn descriptor_set(&self) -> &[u8] {
        &self.set
    }

    /// How many calls have begun; those of reflection do not count.
    pub fn calls(&self) -> usize {
        *self.counters.calls.borrow()
    }

    /// How many calls were cancelled by the client.
    pub fn cancelled(&self) -> usize {
        *self.counters.cancelled.borrow()
    }

    /// Waits until so many calls have begun.
    pub async fn until_calls(&self, count: usize) {
        until(&self.counters.calls, count).await;
    }

    /// Waits until so many calls were cancelled.
    pub async fn until_cancelled(&self, count: usize) {
        until(&self.counters.cancelled, count).await;
    }

    /// Ends what is under way, and gives the port back.
    pub async fn stop(self) {
        let _ = self.stop.send(());
        let _ = self.stopped.await;
    }
}

async fn until(counter: &watch::Sender<usize>, count: usize) {
    let mut counter = counter.subscribe();
    let reached = tokio::time::timeout(Duration::from_secs(10), counter.wait_for(|found| *found >= count));
    let outcome = reached.await;
    outcome.expect("the server waits in vain").unwrap();
}

/// An encoded `FileDescriptorSet` with all imports.
fn compile(schema: &str) -> Vec<u8> {
    struct Sources(String);
    impl protox::file::FileResolver for Sources {
        fn open_file(&self, name: &str) -> Result<protox::file::File, protox::Error> {
            match name {
                "tools.proto" => protox::file::File::from_source(name, &self.0),
                "part.proto" => protox::file::File::from_source(name, PART),
                "unit.proto" => protox::file::File::from_source(name, UNIT),
                _ => protox::file::GoogleFileResolver::new().open_file(name),
            }
        }
    }
    let mut compiler = protox::Compiler::with_file_resolver(Sources(schema.to_owned()));
    compiler.include_imports(true).open_file("tools.proto").unwrap();
    compiler.encode_file_descriptor_set()
}

async fn serve(
    listener: TcpListener,
    tools: Tools,
    files: &[u8],
    reflection: Reflection,
    stopping: oneshot::Receiver<()>,
) {
    let describe = || {
        let builder = tonic_reflection::server::Builder::configure();
        builder.register_encoded_file_descriptor_set(files)
    };
    let v1 = (reflection == Reflection::V1).then(|| describe().build_v1().unwrap());
    let v1alpha = (reflection == Reflection::V1Alpha).then(|| describe().build_v1alpha().unwrap());
    let server = tonic::transport::Server::builder().add_service(tools);
    let server = server.add_optional_service(v1).add_optional_service(v1alpha);
    let (end, ended) = oneshot::channel();
    let stopping = async move {
        let _ = stopping.await;
        let _ = end.send(());
    };
    let serving = server.serve_with_incoming_shutdown(TcpIncoming::from(listener), stopping);
    // Calls that never end must not keep it alive.
    let limit = async {
        let _ = ended.await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    };
    tokio::select! {
        outcome = serving => outcome.unwrap(),
        () = limit => {}
    }
}

/// The service `test.Tools`.
#[derive(Clone)]
struct Tools {
    types: DescriptorPool,
    counters: Arc<Counters>,
}

impl NamedService for Tools {
    const NAME: &'static str = "test.Tools";
}

impl Service<http::Request<Body>> for Tools {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<http::Response<Body>, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let service = self.types.get_service_by_name(Self::NAME).unwrap();
        let name = request.uri().path().rsplit('/').next().unwrap_or_default();
        let method = service.methods().find(|method| method.name() == name);
        let counters = self.counters.clone();
        Box::pin(async move {
            let Some(method) = method else {
                return Ok(Status::unimplemented("there is no such method").into_http());
            };
            let codec = Dynamic(method.input());
            Ok(tonic::server::Grpc::new(codec).unary(Handler { method, counters }, request).await)
        })
    }
}

/// One call.
struct Handler {
    method: MethodDescriptor,
    counters: Arc<Counters>,
}

/// Counts the call as cancelled when it is dropped before its end.
struct CallGuard(Option<Arc<Counters>>);

impl Drop for CallGuard {
    fn drop(&mut self) {
        if let Some(counters) = &self.0 {
            counters.cancelled.send_modify(|count| *count += 1);
        }
    }
}

impl UnaryService<DynamicMessage> for Handler {
    type Response = DynamicMessage;
    type Future = BoxFuture<Response<DynamicMessage>, Status>;

    fn call(&mut self, request: Request<DynamicMessage>) -> Self::Future {
        let (method, counters) = (self.method.clone(), self.counters.clone());
        Box::pin(async move {
            let mut running = CallGuard(Some(counters.clone()));
            counters.calls.send_modify(|count| *count += 1);
            if method.name() == "Slow" {
                std::future::pending::<()>().await;
            }
            let answer = answer(&method, request, *counters.calls.borrow());
            running.0 = None;
            answer.map(Response::new)
        })
    }
}

fn answer(
    method: &MethodDescriptor,
    request: Request<DynamicMessage>,
    calls: usize,
) -> Result<DynamicMessage, Status> {
    let number = |name: &str| request.get_ref().get_field_by_name(name).unwrap().as_i32().unwrap();
    let mut answer = DynamicMessage::new(method.output());
    match method.name() {
        "Fail" => {
            let message = request.get_ref().get_field_by_name("message").unwrap();
            return Err(Status::new(Code::from_i32(number("code")), message.as_str().unwrap()));
        }
        "Big" => {
            let part =
                DynamicMessage::new(method.parent_pool().get_message_by_name("test.parts.Part").unwrap());
            let parts = vec![Value::Message(part); usize::try_from(number("parts")).unwrap()];
            let text = "x".repeat(usize::try_from(number("bytes")).unwrap());
            answer.set_field_by_name("text", Value::String(text));
            answer.set_field_by_name("parts", Value::List(parts));
        }
        "Metadata" => {
            let entries = request.metadata().iter().filter_map(|entry| match entry {
                KeyAndValueRef::Ascii(name, value) => {
                    let value = value.to_str().unwrap().to_owned();
                    Some((MapKey::String(name.to_string()), Value::String(value)))
                }
                KeyAndValueRef::Binary(..) => None,
            });
            answer.set_field_by_name("entries", Value::Map(entries.collect()));
        }
        "Hesitant" if calls == 1 => return Err(Status::unimplemented("not yet")),
        _ => return Ok(request.into_inner()),
    }
    Ok(answer)
}

/// The codec of messages whose type is known only now.
struct Dynamic(MessageDescriptor);

impl Codec for Dynamic {
    type Encode = DynamicMessage;
    type Decode = DynamicMessage;
    type Encoder = Dynamic;
    type Decoder = Dynamic;

    fn encoder(&mut self) -> Dynamic {
        Dynamic(self.0.clone())
    }

    fn decoder(&mut self) -> Dynamic {
        Dynamic(self.0.clone())
    }
}

impl Encoder for Dynamic {
    type Item = DynamicMessage;
    type Error = Status;

    fn encode(&mut self, message: DynamicMessage, out: &mut EncodeBuf<'_>) -> Result<(), Status> {
        out.put(&*message.encode_to_vec());
        Ok(())
    }
}

impl Decoder for Dynamic {
    type Item = DynamicMessage;
    type Error = Status;

    fn decode(&mut self, encoded: &mut DecodeBuf<'_>) -> Result<Option<DynamicMessage>, Status> {
        let message = DynamicMessage::decode(self.0.clone(), encoded);
        message.map(Some).map_err(|error| Status::internal(error.to_string()))
    }
}
