//! What the log of the service shows of agents.

use serde_json::json;

use super::{Script, calls, packages, relevant, started, tell};
use support::process::Service;

#[tokio::test]
async fn the_log_of_the_service_shows_what_agents_are_told_only_if_that_is_allowed() {
    let secrets = ["Reykjavik", "only know about", "a journey?", "Hello, Ada", "{\"relevant"];
    for (allowed, shows) in [("false", false), ("true", true)] {
        let script = Script::default();
        let model = script.model().await;
        let packages = packages();
        let service = Service::start(&format!(
            "[llm]\nbase_url = {:?}\nlog_content = {allowed}\n[log]\nlevel = \"trace\"\n[packages]\ndir = {packages:?}\n",
            model.base
        ))
        .await;
        let id =
            started(service.client(), "travel", json!({"variables": {"who": "Ada"}, "log": "verbose"})).await;
        script.add([relevant(false), relevant(true), calls("fly", &json!({"to": "Reykjavik"}))]);
        for text in ["Reykjavik?", "To Reykjavik"] {
            let answer = tell(service.client(), &id, json!({"text": text})).await;
            assert_eq!(answer.status, 200, "{answer:?}");
        }
        let ended = tell(service.client(), &id, json!({"text": "Reykjavik, then"})).await;
        assert_eq!(ended.body["exit_code"], 1, "{ended:?}");
        let log = service.stop();
        assert!(log.contains("a step of an agent") && log.contains("critical"), "{log}");
        assert_eq!(log.contains("off topic"), shows, "{log}");
        if !shows {
            let shown: Vec<&str> = secrets.into_iter().filter(|secret| log.contains(secret)).collect();
            assert_eq!(shown, [""; 0], "{log}");
        }
    }
}
