//! Consistency: documents that change under load never fail a render or show two worlds in one answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use redis::Commands;
use serde_json::{Value as Json, json};

use support::app::TestApp;
use support::redis::RedisServer;

fn environ(version: u64) -> String {
    json!({"version": version, "items": vec![version; 20], "text": version.to_string()}).to_string()
}

fn prompt(version: u64) -> String {
    json!({"messages": [
        {"role": "system", "content": format!("P{version} {{{{.state.version}}}}")},
        {"role": "user", "content": format!("P{version} {{{{range .state.items}}}}{{{{.}}}},{{{{end}}}}{{{{.state.text}}}}")}
    ]})
    .to_string()
}

/// Both messages must come from one version of the prompt, and from the version of the environ written with it.
fn assert_whole(messages: &Json) {
    let text = |at: usize| messages[at]["content"].as_str().unwrap();
    let (system, user) = (text(0).split_once(' ').unwrap(), text(1).split_once(' ').unwrap());
    let version = system.1;
    assert_eq!((system.0, user.0), (format!("P{version}").as_str(), system.0), "{messages}");
    assert_eq!(user.1, format!("{}{version}", format!("{version},").repeat(20)), "{messages}");
}

#[actix_web::test]
async fn documents_rewritten_under_load_are_seen_whole_by_every_render() {
    let server = RedisServer::start();
    let mut redis = server.connection();
    let _: () = redis.set("shenma:environs:state", environ(0)).unwrap();
    let _: () = redis.set("shenma:templates:x:y", prompt(0)).unwrap();
    let url = server.url();
    let app = TestApp::start_with(|settings| settings.store.url = url).await;
    let stop = Arc::new(AtomicBool::new(false));
    let writer = std::thread::spawn({
        let stop = stop.clone();
        move || {
            for version in 1.. {
                if stop.load(Ordering::Relaxed) {
                    return version;
                }
                let documents =
                    [("shenma:environs:state", environ(version)), ("shenma:templates:x:y", prompt(version))];
                let _: () = redis.mset(&documents).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(200));
            }
            0
        }
    });
    let renders = AtomicU64::new(0);
    let mut seen = std::collections::BTreeSet::new();
    while seen.len() < 3 && renders.load(Ordering::Relaxed) < 100_000 {
        let answers = futures_util::future::join_all((0..16).map(|_| app.render("x.y", json!({})))).await;
        for answer in answers {
            assert_whole(answer.rendered());
            seen.insert(answer.rendered()[0]["content"].to_string());
            renders.fetch_add(1, Ordering::Relaxed);
        }
    }
    stop.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    assert!(seen.len() >= 3, "the renders saw the changes: {seen:?}");
}
