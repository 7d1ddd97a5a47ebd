//! The tokens of GigaChat: one for all, renewed before it ends, replaced when it is refused, and never told.

use std::time::Duration;

use ai_prompt_shell::llm::Request;
use ai_prompt_shell::settings::Model;
use base::caller::Caller;
use futures_util::future::join_all;
use serde_json::json;
use template::value::parse_json;

use super::typed::services;
use super::{PATH, parrot, start};
use crate::chat::{MOMENT, ask, ask_for_stream, read_stream};
use support::app::TestApp;
use support::gigachat::{GigaChat, Reply};
use support::log::{GIGACHAT_KEY, GIGACHAT_SECRET, TOKEN, shows_private};
use support::process::Service;

/// The texts of the answers to so many chats at once.
async fn ask_at_once(app: &TestApp, count: usize) {
    let answers = join_all((0..count).map(|_| app.post(PATH, ask("q")))).await;
    assert!(answers.iter().all(|answer| answer.status == 200), "{answers:?}");
}

#[actix_web::test]
async fn one_token_is_asked_for_by_all_who_wait() {
    let (app, gigachat) = parrot().await;
    gigachat.set_pause(MOMENT);
    ask_at_once(&app, 20).await;
    ask_at_once(&app, 20).await;
    assert_eq!((gigachat.tokens(), gigachat.asked().len()), (1, 40));
    assert_eq!(gigachat.refused(), Vec::<String>::new());
}

#[actix_web::test]
async fn a_client_that_leaves_does_not_end_the_request_for_a_token() {
    let (app, gigachat) = parrot().await;
    gigachat.set_pause(3 * MOMENT);
    let leaving = tokio::spawn(app.request("POST", PATH).json(&ask("q")).send());
    gigachat.arrived(1).await;
    leaving.abort();
    assert!(leaving.await.is_err());
    ask_at_once(&app, 2).await;
    assert_eq!(gigachat.tokens(), 1);
}

#[actix_web::test]
async fn whoever_waits_asks_anew_when_the_runtime_that_asked_for_a_token_stops() {
    let gigachat = GigaChat::parrot().await;
    let app = services(gigachat.settings()).await;
    let asking = || {
        let app = app.clone();
        async move {
            let payload = parse_json(ask("q").to_string().as_bytes()).unwrap();
            let answered = app.llm.answer(&Caller::new("r-1", None, None), Request::Chat(&payload)).await;
            answered.unwrap().completion.choices[0].text.clone()
        }
    };
    gigachat.set_pause(Duration::from_secs(60));
    let other = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    drop(other.spawn(asking()));
    gigachat.arrived(1).await;
    gigachat.set_pause(Duration::ZERO);
    let waiting = tokio::spawn(asking());
    other.shutdown_background();
    assert_eq!(waiting.await.unwrap(), "q");
    assert_eq!(gigachat.tokens(), 2);
}

#[actix_web::test]
async fn a_token_in_its_last_minute_is_used_while_the_next_one_is_asked_for() {
    let (app, gigachat) = parrot().await;
    gigachat.set_life(Duration::from_secs(50));
    ask_at_once(&app, 1).await;
    assert_eq!(gigachat.tokens(), 1);
    gigachat.set_life(Duration::from_secs(1_800));
    ask_at_once(&app, 1).await;
    app.settled(async || gigachat.tokens() == 2).await;
    // The one that was used last may have been replaced on its way.
    ask_at_once(&app, 3).await;
    assert_eq!(gigachat.tokens(), 2);
}

#[actix_web::test]
async fn tokens_that_live_for_less_than_a_minute_are_not_asked_for_with_each_request() {
    let (app, gigachat) = parrot().await;
    gigachat.set_life(Duration::from_secs(50));
    for _ in 0..6 {
        ask_at_once(&app, 1).await;
    }
    app.settled(async || gigachat.tokens() == 2).await;
    for _ in 0..6 {
        ask_at_once(&app, 1).await;
    }
    assert_eq!(gigachat.tokens(), 2);
}

#[actix_web::test]
async fn a_token_that_is_refused_is_replaced_once_for_all() {
    let (app, gigachat) = parrot().await;
    ask_at_once(&app, 1).await;
    gigachat.expire();
    gigachat.set_pause(MOMENT);
    ask_at_once(&app, 20).await;
    assert_eq!((gigachat.tokens(), gigachat.asked().len()), (2, 21));
    gigachat.expire();
    let (stream, is_orderly) = read_stream(&app, PATH, &ask_for_stream("q")).await;
    assert!(is_orderly && stream.contains("[DONE]"), "{stream}");
    gigachat.expire();
    let models = app.get("/v1/models").await;
    assert!(models.body.to_string().contains("GigaChat-2"), "{models:?}");
    assert_eq!(gigachat.tokens(), 4);
}

#[actix_web::test]
async fn a_second_refusal_is_passed_on() {
    let (app, gigachat) = start(|_| Reply::Refusal(401, "not for you: {token}".to_owned())).await;
    let answer = app.post(PATH, ask("q")).await;
    assert_eq!((answer.status, gigachat.tokens(), gigachat.asked().len()), (401, 2, 2), "{answer:?}");
    assert_eq!(answer.body["error"]["message"], "not for you: Bearer …");
}

#[actix_web::test]
async fn an_authorization_key_that_is_refused_is_told_with_the_servers_words_and_no_secret() {
    let (app, gigachat) = parrot().await;
    gigachat.give_tokens(false);
    let answer = app.post(PATH, ask("q")).await;
    answer.assert_error(502, "upstream_error", "llm_unavailable");
    let told = answer.body.to_string();
    assert!(
        told.contains("no access token") && told.contains("credentials doesn't match db data: Basic …"),
        "{told}"
    );
    assert!(!told.contains(GIGACHAT_KEY), "{told}");
    // What is refused once is not asked for three times.
    assert_eq!(gigachat.seen().len(), 1);
    gigachat.give_tokens(true);
    ask_at_once(&app, 1).await;
}

#[actix_web::test]
async fn a_server_of_tokens_that_is_busy_says_when_it_may_be_asked_again() {
    let (app, gigachat) = parrot().await;
    gigachat.be_busy(77);
    let answer = app.post(PATH, ask("q")).await;
    answer.assert_error(429, "rate_limit_error", "llm_rate_limited");
    assert_eq!(answer.headers["retry-after"], "77", "{answer:?}");
    // There is no time to wait for that.
    assert_eq!(gigachat.seen().len(), 1);
}

#[actix_web::test]
async fn models_of_one_key_share_a_token_and_another_scope_has_its_own() {
    let gigachat = GigaChat::parrot().await;
    let app = TestApp::start_with(|settings| {
        let scope = |name: &str, scope: Option<&str>| Model {
            name: name.into(),
            scope: scope.map(str::to_owned),
            upstream_model: Some("GigaChat-2".into()),
            ..Model::default()
        };
        let models = vec![
            scope("plain", None),
            scope("said", Some("GIGACHAT_API_PERS")),
            scope("work", Some("GIGACHAT_API_CORP")),
            scope("work-too", Some("GIGACHAT_API_CORP")),
        ];
        settings.llm = ai_prompt_shell::settings::Llm { models, ..gigachat.settings() };
    })
    .await;
    let scopes = || gigachat.seen().iter().filter(|seen| seen.path.ends_with("oauth")).count();
    for (model, expected) in [("m", 1), ("plain", 1), ("said", 1), ("work", 2)] {
        let mut body = ask("q");
        body["model"] = model.into();
        assert_eq!(app.post(PATH, body).await.status, 200);
        assert_eq!(scopes(), expected, "{model}");
    }
    let bodies: Vec<Vec<u8>> = gigachat
        .seen()
        .into_iter()
        .filter(|seen| seen.path.ends_with("oauth"))
        .map(|seen| seen.body)
        .collect();
    assert_eq!(bodies, [b"scope=GIGACHAT_API_PERS", b"scope=GIGACHAT_API_CORP"]);
}

#[actix_web::test]
async fn the_log_holds_neither_key_nor_token_nor_content_even_at_trace() {
    let gigachat = GigaChat::start(|body| match body["model"].as_str() {
        Some("refused") => Reply::Refusal(422, "no: {token}".to_owned()),
        Some("failing") => Reply::Refusal(500, "no: {token}".to_owned()),
        _ => Reply::Call("f".to_owned(), json!({"private": "private"})),
    })
    .await;
    let service = Service::start(&format!("{}[log]\nlevel = \"trace\"\n", gigachat.toml())).await;
    let app = service.client();
    let mut told = String::new();
    for (model, status) in [("m", 200), ("refused", 422), ("failing", 502)] {
        let mut body = ask("private");
        body["model"] = model.into();
        let answer = app.post(PATH, body).await;
        assert_eq!(answer.status, status, "{answer:?}");
        told.push_str(&answer.body.to_string());
    }
    let (stream, _) = read_stream(app, PATH, &ask_for_stream("private")).await;
    gigachat.expire();
    gigachat.give_tokens(false);
    told.push_str(&app.post(PATH, ask("private")).await.body.to_string());
    assert!(
        ![TOKEN, GIGACHAT_KEY, GIGACHAT_SECRET]
            .iter()
            .any(|secret| told.contains(secret) || stream.contains(secret)),
        "{told}"
    );
    let log = service.stop();
    assert!(log.contains("an upstream's token was not given"), "{log}");
    let line = log.lines().find(|line| shows_private(line) || line.contains("private"));
    assert_eq!(line, None);
}
