//! gRPC tools against a real server.

use std::time::Duration;

use http::HeaderMap;
use prost_reflect::prost::Message;
use prost_reflect::prost_types::FileDescriptorSet;
use reqwest::Url;
use serde_json::{Value as Json, json};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tools::grpc::{Grpc, UnaryCall};
use tools::{Gate, ToolError};

use super::grpc_server::{GrpcServer, Reflection, SCHEMA};

const ANSWER_BYTES: usize = 64 * 1024;

fn grpc() -> Grpc {
    Grpc::new(Gate::new(&[]).unwrap(), ANSWER_BYTES)
}

/// One call with an object of arguments, and nothing else that is special.
async fn call(grpc: &Grpc, url: &Url, method: &str, arguments: Json) -> Result<Json, ToolError> {
    call_with(grpc, url, method, None, arguments).await
}

async fn call_with(
    grpc: &Grpc,
    url: &Url,
    method: &str,
    descriptor_set: Option<&[u8]>,
    arguments: Json,
) -> Result<Json, ToolError> {
    let (headers, timeout) = (&HeaderMap::new(), Duration::from_secs(20));
    let call = UnaryCall { url, method, descriptor_set, arguments: &arguments, headers, timeout };
    grpc.call(call).await
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

#[tokio::test]
async fn types_come_from_reflection_of_either_version_or_from_a_descriptor_set() {
    for reflection in [Reflection::V1, Reflection::V1Alpha] {
        let (grpc, server) = (grpc(), GrpcServer::start(reflection));
        for round in 1..=3 {
            let arguments = json!({"text": "hello", "part": {"name": "nut", "unit": "OUNCE"}});
            let answer = call(&grpc, server.url(), "test.Tools/Echo", arguments).await.unwrap();
            assert_eq!(answer["part"], json!({"name": "nut", "unit": "OUNCE", "weight": 0.0}));
            assert_eq!(server.calls(), round);
        }
    }
    let (grpc, server) = (grpc(), GrpcServer::start(Reflection::None));
    let (url, set) = (server.url(), server.descriptor_set());
    for _ in 0..3 {
        let answer = call_with(&grpc, url, "test.Tools/Echo", Some(set), json!({"text": "hello"})).await;
        assert_eq!(answer.unwrap()["text"], "hello");
    }
    let error = call(&grpc, url, "test.Tools/Echo", json!({})).await.unwrap_err().to_string();
    assert!(error.contains("descriptorSet"), "{error}");
}

#[tokio::test]
async fn a_descriptor_set_may_lack_the_well_known_types() {
    let (grpc, server) = (grpc(), GrpcServer::start(Reflection::None));
    let mut set = FileDescriptorSet::decode(server.descriptor_set()).unwrap();
    set.file.retain(|file| !file.name().starts_with("google/"));
    let (set, arguments) = (set.encode_to_vec(), json!({"at": "2020-01-02T03:04:05Z"}));
    let answer = call_with(&grpc, server.url(), "test.Tools/Echo", Some(&set), arguments).await.unwrap();
    assert_eq!(answer["at"], "2020-01-02T03:04:05Z");
}

#[tokio::test]
async fn json_and_protobuf_are_mapped_canonically() {
    let (grpc, server) = (grpc(), GrpcServer::start(Reflection::V1));
    for (name, sent, received) in [
        ("text", json!("grüße"), json!("grüße")),
        ("small", json!(-7), json!(-7)),
        ("small", json!("12"), json!(12)),
        ("longNumber", json!("-9223372036854775808"), json!("-9223372036854775808")),
        ("longNumber", json!(9007199254740993_i64), json!("9007199254740993")),
        ("hugeNumber", json!("18446744073709551615"), json!("18446744073709551615")),
        ("ratio", json!(0.1), json!(0.1)),
        ("ratio", json!("-Infinity"), json!("-Infinity")),
        ("third", json!(0.1), json!(0.1)),
        ("third", json!("NaN"), json!("NaN")),
        ("yes", json!(true), json!(true)),
        ("raw", json!("AAH/"), json!("AAH/")),
        ("raw", json!("-_8="), json!("+/8=")),
        ("mood", json!("MOOD_BAD"), json!("MOOD_BAD")),
        ("mood", json!(1), json!("MOOD_GOOD")),
        ("mood", json!(77), json!(77)),
        ("words", json!(["a", "b"]), json!(["a", "b"])),
        ("counts", json!({"z": 1, "a": 2}), json!({"a": 2, "z": 1})),
        (
            "partsByNumber",
            json!({"5": {"weight": 2}}),
            json!({"5": {"name": "", "unit": "GRAM", "weight": 2.0}}),
        ),
        ("part", json!({}), json!({"name": "", "unit": "GRAM", "weight": 0.0})),
        ("parts", json!([{"name": "a"}]), json!([{"name": "a", "unit": "GRAM", "weight": 0.0}])),
        ("byName", json!("n"), json!("n")),
        ("byNumber", json!(0), json!(0)),
        ("note", json!(""), json!("")),
        ("at", json!("2020-01-02T03:04:05.678+01:00"), json!("2020-01-02T02:04:05.678Z")),
        ("lasting", json!("1.5s"), json!("1.500s")),
        ("structure", json!({"a": [1, null, {"b": "c"}]}), json!({"a": [1.0, null, {"b": "c"}]})),
        ("anything", json!(null), json!(null)),
        ("anything", json!([true, "x"]), json!([true, "x"])),
        ("list", json!([1, "a"]), json!([1.0, "a"])),
        ("wrapped", json!("w"), json!("w")),
        ("wrappedLong", json!("7"), json!("7")),
        ("mask", json!("text,longNumber"), json!("text,longNumber")),
        (
            "packed",
            json!({"@type": "type.googleapis.com/test.parts.Part", "name": "p"}),
            json!({"@type": "type.googleapis.com/test.parts.Part", "name": "p", "unit": "GRAM", "weight": 0.0}),
        ),
        (
            "packed",
            json!({"@type": "type.googleapis.com/google.protobuf.Duration", "value": "2s"}),
            json!({"@type": "type.googleapis.com/google.protobuf.Duration", "value": "2s"}),
        ),
    ] {
        let answer = call(&grpc, server.url(), "test.Tools/Echo", json!({name: sent.clone()})).await;
        let answer = answer.unwrap_or_else(|error| panic!("{name}: {sent}: {error}"));
        assert_eq!(answer[name], received, "{name}: {sent}");
    }
    let original = json!({"long_number": 5, "by_name": "x", "parts_by_number": {}});
    let answer = call(&grpc, server.url(), "test.Tools/Echo", original).await.unwrap();
    assert_eq!((&answer["longNumber"], &answer["byName"]), (&json!("5"), &json!("x")));
}

#[tokio::test]
async fn answers_have_the_fields_with_default_values_in_a_fixed_order() {
    let (grpc, server) = (grpc(), GrpcServer::start(Reflection::V1));
    let answer = call(&grpc, server.url(), "test.Tools/Echo", json!({})).await.unwrap();
    // What can be told apart from its default value is absent: messages, `oneof` and `optional` fields.
    let expected = json!({
        "counts": {}, "hugeNumber": "0", "longNumber": "0", "mood": "MOOD_UNKNOWN", "parts": [],
        "partsByNumber": {}, "ratio": 0.0, "raw": "", "small": 0, "text": "", "third": 0.0, "words": [],
        "yes": false
    });
    assert_eq!(answer.to_string(), expected.to_string());
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_told_by_name_and_without_their_values() {
    let (grpc, server) = (grpc(), GrpcServer::start(Reflection::V1));
    let deep = (0..200).fold(json!({}), |inner, _| json!({"deeper": inner}));
    let lists = (0..60).fold(json!(1), |inner, _| json!([inner]));
    for (arguments, wanted) in [
        (json!({"txet": 1}), "txet"),
        (json!({"part": {"nmae": 1}}), "`part`: unrecognized field name 'nmae'"),
        (json!({"parts": [{}, {"name": {"key": "secret"}}]}), "`parts[1].name`: expected a string"),
        (json!({"small": "secret"}), "`small`"),
        (json!({"small": 3_000_000_000_u64}), "`small`"),
        (json!({"longNumber": "secret, expected secret"}), "`longNumber`"),
        (json!({"yes": "secret"}), "`yes`: expected"),
        (json!({"raw": "secret!"}), "`raw`"),
        (json!({"mood": "secret"}), "`mood`"),
        (json!({"mood": "x, expected secret"}), "`mood`"),
        (json!({"at": "secret"}), "`at`"),
        (json!({"lasting": "secret"}), "`lasting`"),
        (json!({"byName": "secret", "byNumber": 1}), "choice"),
        (json!({"packed": {"@type": "type.googleapis.com/none.Such"}}), "none.Such"),
        (
            json!({"packed": {"@type": "type.googleapis.com/google.protobuf.Duration", "value": 7}}),
            "`packed.value`",
        ),
        (json!({"partsByNumber": {"x": {}}}), "`partsByNumber`"),
        (json!({"anything": lists}), "`anything`"),
        (deep, "deeper than 100"),
        (json!(["secret"]), "expected"),
    ] {
        let error = call(&grpc, server.url(), "test.Tools/Echo", arguments.clone()).await.unwrap_err();
        assert!(matches!(error, ToolError::Arguments { .. }), "{arguments}: {error}");
        let error = error.to_string();
        assert!(error.contains(wanted) && !error.contains("secret"), "{arguments}: {error}");
    }
    assert_eq!(server.calls(), 0);
}

#[tokio::test]
async fn a_method_may_be_written_as_a_path_or_as_a_full_name() {
    let (grpc, server) = (grpc(), GrpcServer::start(Reflection::V1));
    for method in ["test.Tools/Echo", "/test.Tools/Echo", "test.Tools.Echo"] {
        for set in [None, Some(server.descriptor_set())] {
            let answer = call_with(&grpc, server.url(), method, set, json!({"text": method})).await;
            assert_eq!(answer.unwrap()["text"], method);
        }
    }
}

#[tokio::test]
async fn methods_that_are_not_there_or_stream_cannot_be_called() {
    let (grpc, server) = (grpc(), GrpcServer::start(Reflection::V1));
    for (method, wanted) in [
        ("test.Tools/Ehco", "Echo, Fail, Big"),
        ("test.Toools/Echo", "test.Tools"),
        ("test.Everything/Echo", "test.Tools"),
        ("test.Tools/Watch", "streams"),
        ("test.Tools/Gather", "streams"),
        ("Echo", "package.Service/Method"),
        (".Echo", "package.Service/Method"),
        ("//test.Tools/Echo", "package.Service/Method"),
        ("/test.Tools.Echo", "package.Service/Method"),
        ("test.Tools.Ehco", "Echo, Fail, Big"),
        ("test.Tools/Echo/x", "package.Service/Method"),
        ("/Echo", "package.Service/Method"),
        ("test Tools/Echo", "package.Service/Method"),
    ] {
        for set in [None, Some(server.descriptor_set())] {
            let error = call_with(&grpc, server.url(), method, set, json!({})).await.unwrap_err();
            assert!(matches!(error, ToolError::Unusable { .. }), "{method}: {error}");
            assert!(error.to_string().contains(wanted), "{method}: {error}");
        }
    }
    assert_eq!(server.calls(), 0);
}

#[tokio::test]
async fn descriptor_sets_that_cannot_be_used_do_no_harm() {
    let (grpc, server) = (grpc(), GrpcServer::start(Reflection::None));
    let set = FileDescriptorSet::decode(server.descriptor_set()).unwrap();
    let mut incomplete = set.clone();
    incomplete.file.retain(|file| file.name() != "unit.proto");
    let mut keyless = set.clone();
    let entry =
        &mut keyless.file.iter_mut().find(|file| file.name() == "tools.proto").unwrap().message_type[0];
    entry.nested_type.iter_mut().for_each(|entry| entry.field.clear());
    for set in
        [b"nonsense".to_vec(), vec![0; 2 * 1024 * 1024], incomplete.encode_to_vec(), keyless.encode_to_vec()]
    {
        let arguments = json!({"counts": {"a": 1}});
        let outcome = call_with(&grpc, server.url(), "test.Tools/Echo", Some(&set), arguments).await;
        assert!(matches!(outcome, Err(ToolError::Unusable { .. })), "{outcome:?}");
    }
}

#[tokio::test]
async fn a_status_is_told_by_its_name_and_its_message() {
    let (grpc, server) = (grpc(), GrpcServer::start(Reflection::V1));
    for (code, name) in [
        (1, "CANCELLED"),
        (4, "DEADLINE_EXCEEDED"),
        (5, "NOT_FOUND"),
        (11, "OUT_OF_RANGE"),
        (12, "UNIMPLEMENTED"),
    ]
    .into_iter()
    .chain([(13, "INTERNAL"), (14, "UNAVAILABLE"), (16, "UNAUTHENTICATED")])
    {
        let arguments = json!({"code": code, "message": "no such thing"});
        let error = call(&grpc, server.url(), "test.Tools/Fail", arguments).await.unwrap_err();
        let expected = ToolError::Failed { status: name.into(), message: "no such thing".into() };
        assert_eq!(error, expected);
    }
    let arguments = json!({"code": 3, "message": "y".repeat(5000)});
    let error = call(&grpc, server.url(), "test.Tools/Fail", arguments).await.unwrap_err();
    let ToolError::Failed { status, message } = error else { panic!("{error}") };
    assert_eq!((status.as_str(), message.len()), ("INVALID_ARGUMENT", 5000));
}

#[tokio::test]
async fn answers_are_bounded_as_messages_and_as_json() {
    let (grpc, server) = (grpc(), GrpcServer::start(Reflection::V1));
    let big = |size: Json| call(&grpc, server.url(), "test.Tools/Big", size);
    let answer = big(json!({"bytes": 60_000})).await.unwrap();
    assert_eq!(answer["text"].as_str().unwrap().len(), 60_000);
    let answer = big(json!({"parts": 1_000})).await.unwrap();
    assert_eq!(answer["parts"].as_array().unwrap().len(), 1_000);
    // The second has few bytes, but many fields with default values.
    for size in [json!({"bytes": 70_000}), json!({"parts": 10_000})] {
        let error = big(size.clone()).await.unwrap_err();
        assert!(matches!(error, ToolError::Answer { .. }), "{size}: {error}");
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_at_the_server() {
    let (grpc, server) = (grpc(), GrpcServer::start(Reflection::V1));
    for round in 1..=3 {
        tokio::select! {
            outcome = call(&grpc, server.url(), "test.Tools/Slow", json!({})) => panic!("{outcome:?}"),
            () = server.until_calls(round) => {}
        }
        server.until_cancelled(round).await;
        assert_eq!(server.cancelled(), round);
    }
}

#[tokio::test]
async fn the_server_is_told_the_time_limit_which_ends_the_call() {
    let (grpc, server) = (grpc(), GrpcServer::start(Reflection::V1));
    let (url, method, arguments, headers) = (server.url(), "test.Tools/Slow", &json!({}), &HeaderMap::new());
    call(&grpc, url, "test.Tools/Echo", json!({})).await.unwrap();
    let timeout = Duration::from_millis(50);
    let call = UnaryCall { url, method, descriptor_set: None, arguments, headers, timeout };
    let error = grpc.call(call).await.unwrap_err();
    let by_server = matches!(error, ToolError::Failed { .. });
    assert!(by_server || error == ToolError::Timeout { milliseconds: 50 }, "{error}");
    // However long a time is, it can be told.
    let (method, timeout) = ("test.Tools/Metadata", Duration::MAX);
    let call = UnaryCall { url, method, descriptor_set: None, arguments, headers, timeout };
    assert!(grpc.call(call).await.unwrap()["entries"]["grpc-timeout"].is_string());
}

#[tokio::test]
async fn metadata_arrives() {
    let (grpc, server) = (grpc(), GrpcServer::start(Reflection::V1));
    let mut headers = HeaderMap::new();
    headers.insert("authorization", "Bearer abc".parse().unwrap());
    headers.insert("x-request-id", "r-1".parse().unwrap());
    let (url, method, arguments) = (server.url(), "test.Tools/Metadata", &json!({}));
    let timeout = Duration::from_secs(20);
    let call = UnaryCall { url, method, descriptor_set: None, arguments, headers: &headers, timeout };
    let answer = grpc.call(call).await.unwrap();
    let entries = &answer["entries"];
    assert_eq!((&entries["authorization"], &entries["x-request-id"]), (&json!("Bearer abc"), &json!("r-1")));
    let agent = entries["user-agent"].as_str().unwrap();
    assert!(agent.starts_with(concat!("ai-prompt-shell/", env!("CARGO_PKG_VERSION"))), "{agent}");
}

#[tokio::test]
async fn only_open_addresses_are_connected_to() {
    let server = GrpcServer::start(Reflection::V1);
    let port = server.address().port();
    let grpc = Grpc::new(Gate::new(&["10.0.0.0/8".into()]).unwrap(), ANSWER_BYTES);
    for host in ["127.0.0.1", "localhost"] {
        let url = format!("http://{host}:{port}").parse().unwrap();
        let outcome = call(&grpc, &url, "test.Tools/Echo", json!({})).await;
        assert!(matches!(outcome, Err(ToolError::Forbidden { .. })), "{host}: {outcome:?}");
    }
    assert_eq!(server.calls(), 0);
}

#[tokio::test]
async fn a_url_has_nothing_but_scheme_host_and_port() {
    let grpc = grpc();
    for url in
        ["http://127.0.0.1:1/x", "http://127.0.0.1:1/?x", "http://a:secret@127.0.0.1:1", "http://127.0.0.1#x"]
    {
        let error = call(&grpc, &url.parse().unwrap(), "test.Tools/Echo", json!({})).await.unwrap_err();
        assert!(matches!(error, ToolError::Unusable { .. }), "{url}: {error}");
        assert!(!error.to_string().contains("secret"));
    }
}

#[tokio::test]
async fn a_server_without_tls_or_without_grpc_cannot_be_reached() {
    let (grpc, server) = (grpc(), GrpcServer::start(Reflection::V1));
    let url = format!("https://{}", server.address()).parse().unwrap();
    let outcome = call(&grpc, &url, "test.Tools/Echo", json!({})).await;
    assert!(matches!(outcome, Err(ToolError::Unreachable { .. })), "{outcome:?}");

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let hanging_up = async {
        for _ in 0..10 {
            drop(listener.accept().await.unwrap());
        }
    };
    tokio::select! {
        outcome = call(&grpc, &url, "test.Tools/Echo", json!({})) => {
            assert!(matches!(outcome, Err(ToolError::Unreachable { .. })), "{outcome:?}");
        }
        () = hanging_up => panic!("there is no end to the attempts to connect"),
    }
}

#[tokio::test]
async fn a_server_that_comes_back_is_reached_again() {
    let (grpc, server) = (grpc(), GrpcServer::start(Reflection::V1));
    let (url, address) = (server.url().clone(), server.address());
    call(&grpc, &url, "test.Tools/Echo", json!({})).await.unwrap();
    server.stop().await;
    for _ in 0..3 {
        let outcome = call(&grpc, &url, "test.Tools/Echo", json!({})).await;
        assert!(matches!(outcome, Err(ToolError::Unreachable { .. })), "{outcome:?}");
    }
    let server = GrpcServer::start_at(address, SCHEMA, Reflection::V1);
    call(&grpc, &url, "test.Tools/Echo", json!({})).await.unwrap();
    assert_eq!(server.calls(), 1);
}

#[tokio::test]
async fn a_call_that_loses_its_connection_ends() {
    let (grpc, server) = (grpc(), GrpcServer::start(Reflection::V1));
    let url = server.url().clone();
    let stopping = async {
        server.until_calls(1).await;
        server.stop().await;
    };
    let (outcome, ()) = tokio::join!(call(&grpc, &url, "test.Tools/Slow", json!({})), stopping);
    assert!(matches!(outcome, Err(ToolError::Unreachable { .. })), "{outcome:?}");
}

#[tokio::test]
async fn types_are_asked_for_again_when_the_known_ones_seem_old() {
    let newer = SCHEMA
        .replace("// more fields", "string extra = 40;")
        .replace("// more methods", "rpc Added(Everything) returns (Everything);");
    for (method, arguments) in [
        // Told by the server; this one says so at its first call.
        ("test.Tools/Hesitant", json!({})),
        ("test.Tools/Added", json!({"text": "x"})),
        ("test.Tools/Echo", json!({"extra": "x"})),
    ] {
        let (grpc, server) = (grpc(), GrpcServer::start(Reflection::V1));
        let (url, address) = (server.url().clone(), server.address());
        let answer = call(&grpc, &url, "test.Tools/Echo", json!({})).await.unwrap();
        assert_eq!(answer.get("extra"), None);
        server.stop().await;
        let server = GrpcServer::start_at(address, &newer, Reflection::V1);
        let answer = call(&grpc, &url, method, arguments).await.unwrap();
        assert!(answer["extra"].is_string(), "{method}: {answer}");
        drop(server);
    }
}

#[tokio::test]
async fn a_method_that_stays_unimplemented_is_called_twice_at_most() {
    let (grpc, server) = (grpc(), GrpcServer::start(Reflection::V1));
    let fail = || call(&grpc, server.url(), "test.Tools/Fail", json!({"code": 12}));
    assert!(matches!(fail().await, Err(ToolError::Failed { .. })));
    assert_eq!(server.calls(), 1);
    assert!(matches!(fail().await, Err(ToolError::Failed { .. })));
    assert_eq!(server.calls(), 3);
}

#[test]
fn runtimes_neither_need_nor_disturb_each_other() {
    let (grpc, server) = (grpc(), GrpcServer::start(Reflection::V1));
    let echo = |runtime: &Runtime| {
        let answer = runtime.block_on(call(&grpc, server.url(), "test.Tools/Echo", json!({"text": "x"})));
        assert_eq!(answer.unwrap()["text"], "x");
    };
    let (first, second) = (runtime(), runtime());
    echo(&first);
    // The first one stands still from here on, and then it is gone.
    echo(&second);
    drop(first);
    echo(&second);
    echo(&runtime());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..20).for_each(|_| echo(&runtime())));
        }
    });
}
