//! The settings for GigaChat, and authorities of certificates of one's own for either protocol.

use ai_prompt_shell::app::App;
use ai_prompt_shell::settings::{Llm, Model, Protocol};
use serde_json::json;

use super::PATH;
use crate::chat::ask;
use support::app::TestApp;
use support::gigachat::GigaChat;
use support::log::{GIGACHAT_KEY, KEY};
use support::tls::Tls;
use support::upstream::{Upstream, completion, json as reply_json};

/// Why a service with these settings does not start.
async fn error_of(llm: Llm) -> String {
    let mut settings = TestApp::settings_of("[store]\nurl = \"memory:\"\n[packages]\nbuiltin = false\n");
    settings.llm = llm;
    match App::open(&settings).await {
        Ok(_) => panic!("it starts"),
        Err(error) => error.to_string(),
    }
}

#[actix_web::test]
async fn everything_that_is_wrong_is_named_at_the_start() {
    let text = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(text.path(), "no certificate").unwrap();
    let broken = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(broken.path(), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap();
    let model =
        |name: &str| Model { name: name.into(), base_url: Some("http://h/v1".into()), ..Model::default() };
    let models = vec![
        Model { ca_file: Some(text.path().to_owned()), ..model("text") },
        Model { ca_file: Some(broken.path().to_owned()), ..model("broken") },
        Model { ca_file: Some("no/such.pem".into()), base_url: Some("nothing".into()), ..model("none") },
        Model { base_url: None, protocol: Some(Protocol::OpenAi), ..model("nowhere") },
        Model { base_url: None, oauth_url: Some("https://elsewhere.test/".into()), ..model("keyless") },
    ];
    let headers = serde_json::from_value(json!({"Authorization": "Basic x"})).unwrap();
    let llm = Llm {
        protocol: Protocol::GigaChat,
        api_key: Some(GIGACHAT_KEY.into()),
        responses: Some(true),
        oauth_url: Some("ftp://h/".into()),
        scope: Some(String::new()),
        headers,
        models,
        proxy: Some("http://[".into()),
        ..Llm::default()
    };
    let error = error_of(llm).await;
    for told in [
        "llm.proxy is not the address of a proxy",
        "llm: `responses` is true",
        "llm: `oauth_url` must begin",
        "llm: `scope` must not be empty",
        "llm: `headers` must not hold",
        "name = \"text\": `ca_file`",
        "holds no certificate",
        "name = \"broken\": `ca_file`",
        "name = \"none\": `base_url` is not a URL",
        "no/such.pem cannot be read",
        "name = \"nowhere\": it needs a `base_url`",
        "name = \"keyless\": it needs `api_key`",
    ] {
        assert!(error.contains(told), "{told}: {error}");
    }
    assert!(!error.contains(GIGACHAT_KEY), "{error}");
    assert!(
        error_of(Llm { protocol: Protocol::GigaChat, ..Llm::default() }).await.contains("it needs `api_key`")
    );
}

#[actix_web::test]
async fn an_authority_is_trusted_for_its_own_upstream_only_with_either_protocol() {
    let upstream = Upstream::start(|_| reply_json(200, completion("Over TLS"))).await;
    let port = upstream.base.trim_end_matches("/v1").rsplit(':').next().unwrap().parse().unwrap();
    let tls = Tls::before(port).await;
    let gigachat = GigaChat::parrot().await;
    let base_url = Some(format!("https://127.0.0.1:{}/v1", tls.port));
    let app = TestApp::start_with(|settings| {
        let openai = Model { name: "openai".into(), base_url, api_key: Some(KEY.into()), ..Model::default() };
        let models = vec![
            Model { ca_file: Some(tls.ca_file.clone()), ..openai.clone() },
            Model {
                name: "other-authority".into(),
                ca_file: Some(gigachat.ca_file.clone()),
                ..openai.clone()
            },
            Model { name: "no-authority".into(), ..openai },
        ];
        settings.llm = Llm { models, ..gigachat.settings() };
    })
    .await;
    for (model, status) in
        [("openai", 200), ("other-authority", 502), ("no-authority", 502), ("gigachat", 200)]
    {
        let mut body = ask("q");
        body["model"] = model.into();
        let answer = app.post(PATH, body).await;
        assert_eq!(answer.status, status, "{model}: {answer:?}");
        assert_eq!(answer.body.to_string().contains("certificate"), status == 502, "{answer:?}");
    }
    assert_eq!(upstream.seen().len(), 1);
}

#[actix_web::test]
async fn gigachat_beside_another_default_upstream() {
    let upstream = Upstream::start(|_| reply_json(200, completion("OpenAI's"))).await;
    let gigachat = GigaChat::parrot().await;
    let app = TestApp::start_with(|settings| {
        let giga = gigachat.settings();
        let model = Model {
            name: "GigaChat*".into(),
            protocol: Some(giga.protocol),
            base_url: giga.base_url,
            oauth_url: giga.oauth_url,
            ca_file: giga.ca_file,
            api_key: giga.api_key,
            scope: Some("GIGACHAT_API_B2B".into()),
            ..Model::default()
        };
        settings.llm = Llm { models: vec![model], ..crate::chat::llm(&upstream.base) };
    })
    .await;
    for (model, said) in [("GigaChat-2-Max", "q"), ("gpt", "OpenAI's")] {
        let mut body = ask("q");
        body["model"] = model.into();
        assert_eq!(app.post(PATH, body).await.body["choices"][0]["message"]["content"], said);
    }
    assert_eq!(gigachat.asked()[0]["model"], "GigaChat-2-Max");
    assert_eq!(gigachat.seen()[0].body, b"scope=GIGACHAT_API_B2B");
    assert!(gigachat.seen().iter().all(|seen| !format!("{:?}", seen.headers).contains(KEY)));
}
