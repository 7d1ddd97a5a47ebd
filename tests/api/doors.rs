//! How clients come in: from web pages of other origins, with packed bodies, over HTTP/2 and Unix sockets, with other base URLs.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use ai_prompt_shell::settings::Listen;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value as Json, json};

use support::app::{Answer, TestApp};

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

async fn send_packed(app: &TestApp, encoding: &str, body: Vec<u8>) -> Answer {
    let request = app.request("POST", "/api/render").header("content-type", "application/json");
    app.send(request.header("content-encoding", encoding).body(body)).await
}

#[actix_web::test]
async fn pages_of_the_origins_in_the_settings_may_call_and_others_may_not() {
    let app =
        TestApp::start_with(|settings| settings.server.origins = vec!["https://good.test".into()]).await;
    let preflight = async |origin: &str| {
        let request = app.request("OPTIONS", "/v1/chat/completions").header("origin", origin);
        let request = request.header("access-control-request-method", "POST");
        request
            .header("access-control-request-headers", "content-type,x-prompt-variables")
            .send()
            .await
            .unwrap()
    };
    let good = preflight("https://good.test").await;
    assert!(good.status().is_success());
    assert_eq!(good.headers()["access-control-allow-origin"], "https://good.test");
    let text = |name: &str| good.headers()[name].to_str().unwrap().to_lowercase();
    assert!(text("access-control-allow-methods").contains("post"));
    assert!(text("access-control-allow-headers").contains("x-prompt-variables"));
    let bad = preflight("https://bad.test").await;
    assert!(!bad.headers().contains_key("access-control-allow-origin"));

    for (path, body, status) in [
        ("/api/render", json!({"template": "x"}), 200),
        // An error, too, can be read.
        ("/api/render", json!({"template": "{{ x }}"}), 400),
        ("/v1/chat/completions", json!({"messages": [], "stream": true}), 200),
    ] {
        let request = app.request("POST", path).header("origin", "https://good.test").json(&body);
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), status, "{path}");
        assert_eq!(answer.headers()["access-control-allow-origin"], "https://good.test");
        let exposed = answer.headers()["access-control-expose-headers"].to_str().unwrap();
        assert!(exposed.contains("x-prompt-id") && exposed.contains("x-prompt-warnings"), "{exposed}");
    }
    let refused = app
        .request("POST", "/api/render")
        .header("origin", "https://bad.test")
        .json(&json!({"template": "x"}));
    let refused = app.send(refused).await;
    refused.assert_error(403, "permission_error", "forbidden");
    assert!(!refused.headers.contains_key("access-control-allow-origin"));
}

#[actix_web::test]
async fn without_origins_in_the_settings_no_page_gets_permission() {
    let app = TestApp::start().await;
    let preflight = app.request("OPTIONS", "/api/render").header("origin", "https://a.test");
    let answer = preflight.header("access-control-request-method", "POST").send().await.unwrap();
    assert!(!answer.headers().contains_key("access-control-allow-origin"));
}

#[actix_web::test]
async fn a_body_may_be_packed_with_gzip() {
    let app = TestApp::start_with(|settings| settings.server.body_limit_bytes = 100_000).await;
    let body = json!({"template": "{{ x }}", "variables": {"x": "a".repeat(50_000)}}).to_string();
    for encoding in ["gzip", "x-gzip", "GZIP"] {
        let answer = send_packed(&app, encoding, packed(body.as_bytes())).await;
        assert_eq!(answer.rendered(), &"a".repeat(50_000));
    }
    assert_eq!(send_packed(&app, "identity", body.into_bytes()).await.status, 200);
}

#[actix_web::test]
async fn what_a_packed_body_unpacks_to_is_bounded_and_other_encodings_are_refused() {
    let app = TestApp::start_with(|settings| settings.server.body_limit_bytes = 100_000).await;
    let bomb = packed(&vec![b' '; 50 << 20]);
    assert!(bomb.len() > 100_000);
    send_packed(&app, "gzip", bomb).await.assert_error(413, "invalid_request_error", "body_too_large");
    let bomb = packed(&vec![b' '; 10 << 20]);
    assert!(bomb.len() < 100_000);
    send_packed(&app, "gzip", bomb).await.assert_error(413, "invalid_request_error", "body_too_large");
    // Members that are empty.
    let hollow = packed(b"").repeat(10_001);
    let app_of_more = TestApp::start().await;
    let answer = send_packed(&app_of_more, "gzip", hollow).await;
    answer.assert_error(400, "invalid_request_error", "invalid_json");
    assert!(answer.error().2.contains("too many members"), "{answer:?}");
    let body = packed(br#"{"template": "x"}"#);
    let parts = [packed(br#"{"template": "#), packed(b""), packed(br#""x"}"#)].concat();
    assert_eq!(send_packed(&app, "gzip", parts).await.rendered(), "x");
    for broken in [&b"{}"[..], &body[..body.len() - 4], b""] {
        let answer = send_packed(&app, "gzip", broken.to_vec()).await;
        answer.assert_error(400, "invalid_request_error", "invalid_json");
    }
    for encoding in ["br", "deflate", "zstd", "gzip, gzip"] {
        let answer = send_packed(&app, encoding, body.clone()).await;
        answer.assert_error(415, "invalid_request_error", "unsupported_media_type");
        assert_eq!(answer.headers["accept-encoding"], "gzip");
    }
}

#[actix_web::test]
async fn long_answers_are_packed_for_clients_that_accept_it_and_streams_never() {
    let app = TestApp::start().await;
    let long = json!({"template": "{{ x }}", "variables": {"x": "a".repeat(50_000)}});
    // A client that leaves answers as they come.
    let client = base::outbound::plain_client().no_gzip().no_deflate().build().unwrap();
    let ask = async |path: &str, body: &Json, accepted: &str| {
        let request = client.post(format!("{}{path}", app.base)).header("accept-encoding", accepted);
        request.json(body).send().await.unwrap()
    };
    let answer = ask("/api/render", &long, "deflate, gzip, br").await;
    assert_eq!(answer.headers()["content-encoding"], "gzip");
    let bytes = answer.bytes().await.unwrap();
    let mut text = String::new();
    GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    let json: Json = serde_json::from_str(&text).unwrap();
    assert!(bytes.len() < 1_000 && json["rendered_prompt"] == "a".repeat(50_000));
    for (path, body, accepted) in [
        ("/api/render", &long, "gzip;q=0"),
        ("/api/render", &long, "br"),
        ("/api/render", &json!({"template": "short"}), "gzip"),
        (
            "/v1/chat/completions",
            &json!({"messages": [{"role": "user", "content": "a ".repeat(50_000)}], "stream": true}),
            "gzip",
        ),
    ] {
        let answer = ask(path, body, accepted).await;
        assert!(
            answer.status() == 200 && !answer.headers().contains_key("content-encoding"),
            "{path} {accepted}"
        );
        let varies = answer.headers().get("vary").is_some_and(|vary| vary == "accept-encoding");
        assert_eq!(varies, path == "/api/render" && body == &long, "{path} {accepted}");
    }
}

#[actix_web::test]
async fn the_paths_of_openai_work_without_their_version() {
    let app = TestApp::start().await;
    let messages = json!([{"role": "user", "content": "q"}]);
    for (path, body) in
        [("/chat/completions", json!({"messages": messages})), ("/responses", json!({"input": "q"}))]
    {
        let versioned = format!("/v1{path}");
        let answers = [app.post(path, body.clone()).await.body, app.post(&versioned, body).await.body];
        // The ids of a response's items are never the same.
        let [one, other] = answers.map(|mut answer| {
            answer.pointer_mut("/output/0/id").map(Json::take);
            answer
        });
        assert_eq!(one, other);
    }
    assert_eq!(app.get("/models").await.body, app.get("/v1/models").await.body);
    assert_eq!(app.get("/models/echo").await.body["id"], "echo");
}

#[actix_web::test]
async fn the_older_completions_api_answers_texts() {
    let app = TestApp::start().await;
    app.put_prompt("p.q", json!({"userPrompt": "About {{ topic }}.", "input": "topic"})).await;
    for (body, text) in [
        (json!({"prompt": "say this"}), "say this"),
        (json!({"model": "prompt:p.q?topic=rain", "prompt": ""}), "About rain."),
        (json!({"model": "prompt:p.q", "prompt": "rain", "max_tokens": 3}), "About rain."),
        (json!({"model": "prompt:p.q", "variables": {"topic": "rain"}, "prompt": null}), "About rain."),
    ] {
        let answer = app.post("/v1/completions", body.clone()).await;
        assert_eq!(
            (&answer.body["object"], &answer.body["choices"][0]["text"]),
            (&json!("text_completion"), &json!(text)),
            "{body}"
        );
        let mut body = body;
        body["stream"] = true.into();
        let stream =
            app.request("POST", "/completions").json(&body).send().await.unwrap().text().await.unwrap();
        let mut told = String::new();
        for data in stream.split_terminator("\n\n").filter_map(|event| event.strip_prefix("data: {")) {
            let chunk: Json = serde_json::from_str(&format!("{{{data}")).unwrap();
            told += chunk["choices"][0]["text"].as_str().unwrap_or_default();
        }
        assert!(stream.ends_with("data: [DONE]\n\n") && told == text, "{stream}");
    }
    let two = app.post("/v1/completions", json!({"prompt": ["a", "b"]})).await;
    two.assert_error(400, "invalid_request_error", "invalid_request");
}

/// Runs curl, and gives the version of HTTP, the status, and the body.
fn curl(arguments: &[&str]) -> String {
    let output = Command::new("curl")
        .args(["-s", "-w", "\n%{http_version} %{http_code}"])
        .args(arguments)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[actix_web::test]
async fn http_2_works_without_tls_and_its_host_is_checked() {
    let app = TestApp::start().await;
    let base = app.base.clone();
    tokio::task::spawn_blocking(move || {
        let chat = ["-H", "content-type: application/json", "-d", r#"{"messages":[],"stream":true}"#];
        let path = format!("{base}/v1/chat/completions");
        let stream = curl(&[&["--http2-prior-knowledge", &path][..], &chat].concat());
        assert!(stream.ends_with("data: [DONE]\n\n\n2 200"), "{stream}");
        let rebound = curl(&["--http2-prior-knowledge", &format!("{base}/healthz"), "-H", "host: evil.test"]);
        assert!(rebound.ends_with("2 403"), "{rebound}");
    })
    .await
    .unwrap();
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ai-prompt-shell"));
    command
        .current_dir(folder)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn told(output: &Output) -> (Option<i32>, String) {
    (
        output.status.code(),
        String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned(),
    )
}

#[test]
fn a_service_on_a_unix_socket_serves_clients_and_commands_and_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("aps.sock");
    // A socket that a service left behind is replaced.
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    let listen = format!("unix:{}", socket.display());
    let mut service = command(dir.path(), &["--listen", &listen]).stderr(Stdio::null()).spawn().unwrap();
    let mut greeting = String::new();
    let mut out = std::io::BufReader::new(service.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut out, &mut greeting).unwrap();
    assert!(greeting.contains(&format!("listens on {listen}")), "{greeting}");
    let path = socket.to_str().unwrap();
    assert!(curl(&["--unix-socket", path, "http://localhost/healthz"]).ends_with("1.1 200"));
    let list = command(dir.path(), &["--listen", &listen, "prompt", "list"]).output().unwrap();
    assert!(list.status.success() && told(&list).1.contains(&format!("talking to {listen}")), "{list:?}");
    let list = command(dir.path(), &["--server", &listen, "prompt", "list"]).output().unwrap();
    assert!(list.status.success(), "{list:?}");
    let (code, said) =
        told(&command(dir.path(), &["--store", "memory:", "--listen", &listen]).output().unwrap());
    assert!(code == Some(1) && said.contains("another service listens there"), "{said}");

    rustix::process::kill_process(rustix::process::Pid::from_child(&service), rustix::process::Signal::TERM)
        .unwrap();
    service.wait().unwrap();
    assert!(!socket.exists());
    // A file that is no socket is never removed.
    std::fs::write(&socket, "precious").unwrap();
    let (code, said) = told(&command(dir.path(), &["--listen", &listen]).output().unwrap());
    assert!(code == Some(1) && said.contains("is no socket"), "{said}");
    assert_eq!(std::fs::read(&socket).unwrap(), b"precious");
}

#[actix_web::test]
async fn a_host_name_may_be_listened_on() {
    let app = TestApp::start_with(|settings| {
        settings.server.listen = Listen::Port { host: "localhost".into(), port: 0 };
    })
    .await;
    assert_eq!(app.get("/healthz").await.status, 200);
    let dir = tempfile::tempdir().unwrap();
    let (code, said) = told(&command(dir.path(), &["--listen", "8080"]).output().unwrap());
    assert!(code != Some(0) && said.contains("HOST:PORT") && said.contains("unix:PATH"), "{said}");
}
