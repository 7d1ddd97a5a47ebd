//! Tool servers that other people wrote, unmodified: their tools are imported, and called from both dialects.

#![cfg(test)]

mod server;

use std::process::Command;

use serde_json::{Value as Json, json};
use server::{Server, node_program, python, servers};
use support::app::{Answer, TestApp};
use support::process::Service;

/// The limits are those of the settings' defaults; machines under load get more time for a call.
const TIMES: &str = "[tools]\ntimeout_ms = 20_000\n[render]\ntimeout_ms = 30_000\n";

async fn app() -> TestApp {
    TestApp::start_with(|settings| {
        let file = TestApp::settings_of(TIMES);
        (settings.tools, settings.render) = (file.tools, file.render);
    })
    .await
}

/// Imports all tools of a source, twice; gives what the first run printed.
async fn import(app: &TestApp, source: &[&str]) -> String {
    let first = tool_import(app, source).await.unwrap();
    let (_, counts) = first.trim_end().rsplit_once('\n').unwrap_or_default();
    assert!(counts.ends_with("0 updated, 0 unchanged, 0 refused"), "{first}");
    let second = tool_import(app, source).await.unwrap();
    assert!(second.contains(" 0 created, 0 updated, "), "{second}");
    first
}

/// What `tool import … --all` prints, or its error.
async fn tool_import(app: &TestApp, source: &[&str]) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ai-prompt-shell"));
    command.args(["--server", &app.base, "tool", "import"]).args(source).arg("--all");
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

/// Asserts the text of a render without a warning.
#[track_caller]
fn assert_text(answer: &Answer, expected: &str) {
    assert_eq!(answer.body["warnings"], Json::Null, "{answer:?}");
    assert_eq!(answer.rendered(), expected);
}

/// Renders templates of both dialects, which must give these texts.
async fn assert_rendered(app: &TestApp, cases: &[(&str, &str, &str)]) {
    for (syntax, template, expected) in cases {
        assert_text(&app.preview(syntax, template, json!({})).await, expected);
    }
}

/// The reason of the only warning of a render that a failed call left empty.
async fn warning(app: &TestApp, template: &str) -> String {
    let answer = app.preview("jinja", template, json!({})).await;
    assert_eq!(answer.rendered(), "", "{answer:?}");
    let [warning] = &answer.body["warnings"].as_array().unwrap()[..] else { panic!("{answer:?}") };
    warning["reason"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_everything_server_over_streamable_http() {
    let (app, server) = (app().await, Server::node("server-everything", &["streamableHttp"]).await);
    let url = format!("http://{}/mcp", server.address);
    import(&app, &["mcp", &url, "--module", "all"]).await;
    everything(&app).await;
}

/// Every kind of result, by the server's own demonstrations.
async fn everything(app: &TestApp) {
    let links = "{% for part in all_get_resource_links(2) %}{{ part.uri | default(part) }};{% endfor %}";
    let link_texts = "Here are 2 resource links to resources available in this server:;\
                      demo://resource/dynamic/blob/1;demo://resource/dynamic/text/2;";
    let image = "{% set parts = all_get_tiny_image() %}{{ parts | length }} {{ parts[1].mimeType }} {{ parts[1].data[:8] }}";
    let blob = "{% set parts = all_get_resource_reference('Blob') %}{{ parts[1].mimeType }} {{ parts[1].blob | length > 9 }}";
    let text = "{{ 'Resource 2: This is a plaintext resource' in all_get_resource_reference('Text', 2) }}";
    assert_rendered(
        app,
        &[
            ("jinja", "{{ all_get_sum(2, b=3) }}", "The sum of 2 and 3 is 5."),
            ("go", "{{all_get_sum 2 3}} {{all_echo \"ü\"}}", "The sum of 2 and 3 is 5. Echo: ü"),
            ("jinja", "{{ all_get_structured_content('Chicago').humidity + 1 }}", "83"),
            (
                "go",
                "{{with all_get_structured_content \"Chicago\"}}{{.conditions}}{{end}}",
                "Light rain / drizzle",
            ),
            ("jinja", links, link_texts),
            ("go", "{{(index (all_get_resource_links 2) 1).name}}", "Blob Resource 1"),
            ("jinja", image, "3 image/png iVBORw0K"),
            ("jinja", blob, "text/plain True"),
            ("jinja", text, "True"),
        ],
    )
    .await;
    let reason = warning(app, "{{ all_get_structured_content('Rome') }}").await;
    assert!(reason.contains("/location"), "{reason}");
}

#[tokio::test]
async fn the_older_transport_of_the_everything_server_is_refused_by_its_name() {
    let (app, server) = (app().await, Server::node("server-everything", &["sse"]).await);
    let refused = tool_import(&app, &["mcp", &format!("http://{}/sse", server.address)]).await.unwrap_err();
    assert!(refused.contains("older HTTP+SSE transport (2024-11-05)"), "{refused}");
}

/// A start of `node` takes longer than a call (400 ms) and a render (500 ms) may.
#[tokio::test]
async fn the_first_renders_after_a_cold_start_have_what_servers_of_the_settings_give() {
    let folder = tempfile::tempdir().unwrap();
    let documents = folder.path().canonicalize().unwrap();
    let file = documents.join("notes.txt");
    std::fs::write(&file, "one\ntwo\n").unwrap();
    let store = format!("[store]\nurl = \"embedded:{}\"\n", folder.path().join("store").display());
    let server = |package: &str, argument: &str| {
        format!("command = \"node\"\nargs = [{:?}, {argument:?}]\n", node_program(package))
    };
    let settings = format!(
        "{store}[tools.servers.files]\n{}[tools.servers.all]\n{}",
        server("server-filesystem", &documents.display().to_string()),
        server("server-everything", "stdio")
    );
    let service = Service::start(&settings).await;
    for name in ["files", "all"] {
        import(service.client(), &["mcp", name]).await;
    }
    drop(service);
    let service = Service::start(&settings).await;
    let app = service.client();
    let file = file.display();
    let jinja = format!("{{{{ files_read_text_file('{file}', head=1).content }}}}, {{{{ all_echo('a') }}}}");
    let go = format!("{{{{(files_read_text_file \"{file}\").content}}}}{{{{all_echo \"b\"}}}}");
    let (one, other) =
        tokio::join!(app.preview("jinja", &jinja, json!({})), app.preview("go", &go, json!({})));
    assert_text(&one, "one, Echo: a");
    assert_text(&other, "one\ntwo\nEcho: b");
    let reason = warning(app, "{{ files_read_text_file('/etc/passwd') }}").await;
    assert!(reason.contains("outside allowed directories"), "{reason}");
}

#[tokio::test]
async fn servers_of_the_python_sdk_of_mcp() {
    let (app, server) = (app().await, Server::python("notes_mcp.py", &["streamable-http"]).await);
    import(&app, &["mcp", &format!("http://{}/mcp", server.address)]).await;
    assert_rendered(
        &app,
        &[
            ("jinja", "{{ notes_titles() | join('+') }} {{ notes_count() + 1 }}", "first+second 3"),
            ("jinja", "{{ notes_note('a').stars }}{{ notes_note('a', 5).stars }}", "35"),
            ("go", "{{range notes_titles \"f\"}}<{{.}}>{{end}}{{(notes_note \"b\").title}}", "<first>b"),
        ],
    )
    .await;
    let reason = warning(&app, "{{ notes_broken() }}").await;
    assert!(reason.contains("broken"), "{reason}");
    let older = Server::python("notes_mcp.py", &["sse"]).await;
    let refused = tool_import(&app, &["mcp", &format!("http://{}/sse", older.address)]).await.unwrap_err();
    assert!(refused.contains("older HTTP+SSE transport (2024-11-05)"), "{refused}");
}

#[tokio::test]
async fn a_server_of_the_python_sdk_as_a_child_process_without_parameters_in_the_document() {
    let program = servers().join("notes_mcp.py");
    let settings =
        format!("{TIMES}[tools.servers.notes]\ncommand = {:?}\nargs = [{program:?}, \"stdio\"]\n", python());
    let service = Service::start(&settings).await;
    for name in ["titles", "note"] {
        let document = json!({"type": "mcp", "mcp": {"server": "notes", "tool": name}});
        service.client().put_tool(&format!("n.{name}"), document).await;
    }
    let cases = [
        ("jinja", "{{ n_titles('s')[0] }} {{ n_note('a').stars }}", "second 3"),
        ("go", "{{index (n_titles) 0}} {{(n_note \"a\" 4).stars}}", "first 4"),
    ];
    assert_rendered(service.client(), &cases).await;
}

#[tokio::test]
async fn the_openapi_document_of_a_fastapi_service() {
    let (app, server) = (app().await, Server::python("pet_store.py", &[]).await);
    let said = import(&app, &["openapi", &format!("http://{}/openapi.json", server.address)]).await;
    assert!(said.contains("4 tools: 4 created"), "{said}");
    let add = "{{ pet_store_add_pet('Rex', kind='dog', owner={'name': 'Bo'}).owner.name }}";
    assert_rendered(
        &app,
        &[
            ("jinja", "{{ pet_store_get_pet(1).tags | join(' ') }}", "shy old"),
            ("jinja", "{{ pet_store_get_pet(1, accept_language='de').language }}", "de"),
            ("jinja", "{{ pet_store_list_pets(['shy', 'old']) | length }}{{ pet_store_list_pets(['new']) | length }}", "10"),
            ("jinja", add, "Bo"),
            ("jinja", "{{ pet_store_login('ü & ü', remember=true) }}", "ü & ü True"),
            ("go", "{{(pet_store_get_pet 1).owner.name}} {{pet_store_list_pets (list \"shy\")}}", "Ann [Mia]"),
            ("go", "{{(pet_store_add_pet (dict \"name\" \"Kim\")).kind}}", "cat"),
        ],
    )
    .await;
    assert!(warning(&app, "{{ pet_store_get_pet(99) }}").await.contains("404"));
    let reason = warning(&app, "{{ pet_store_add_pet('Rex', kind='cow') }}").await;
    assert!(reason.contains("/kind"), "{reason}");
}

#[tokio::test]
async fn a_grpcio_server_with_reflection() {
    let (app, server) = (app().await, Server::python("weather_grpc.py", &[]).await);
    let address = &server.address;
    let said = import(&app, &["grpc", address]).await;
    assert!(said.contains("not taken: weather.v1.Forecaster/Watch: it streams"), "{said}");
    let forecast = "weather_v1_Forecaster_GetForecast";
    assert_rendered(
        &app,
        &[
            ("jinja", &format!("{{{{ {forecast}({{'city': 'Rome'}}, 2, 'FAHRENHEIT') | tojson }}}}"),
             r#"{"city": "Rome", "days": [{"degrees": 20.5, "stamp": "9007199254740992"}, {"degrees": 21.5, "stamp": "9007199254740993"}], "unit": "FAHRENHEIT"}"#),
            ("go", &format!("{{{{range ({forecast} (dict \"city\" \"Rome\") 2).days}}}}{{{{.degrees}}}} {{{{end}}}}"), "20.5 21.5 "),
        ],
    )
    .await;
    // Addresses and methods in the other forms that people write.
    for (url, method) in [
        (format!("grpc://{address}"), "/weather.v1.Forecaster/GetForecast"),
        (format!("http://{address}"), "weather.v1.Forecaster.GetForecast"),
    ] {
        app.put_tool("w.next", json!({"type": "grpc", "grpc": {"url": url, "method": method}})).await;
        assert_rendered(&app, &[("jinja", "{{ w_next(place={'city': 'Oslo'}).city }}", "Oslo")]).await;
    }
    let reason = warning(&app, &format!("{{{{ {forecast}() }}}}")).await;
    assert!(reason.contains("a forecast needs a city"), "{reason}");
}
