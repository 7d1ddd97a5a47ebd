//! The table of routes: documented, and the same for every method.

use std::collections::BTreeMap;

use ai_prompt_shell::http::routes;

use support::app::TestApp;

#[test]
fn the_documentation_names_every_route() {
    let page = include_str!("../../docs/api.md");
    let missing: Vec<String> = routes()
        .into_iter()
        .map(|route| route.path.replace(":.+", ""))
        .filter(|path| {
            let of_any_kind = ["extensions", "prompts", "environs", "tools", "skills"]
                .iter()
                .any(|kind| page.contains(&path.replacen(kind, "{kind}s", 1)));
            !page.contains(path.as_str()) && !of_any_kind
        })
        .collect();
    assert_eq!(missing, Vec::<String>::new());
}

#[actix_web::test]
async fn a_method_that_a_path_does_not_take_is_405_with_those_that_it_takes() {
    let app = TestApp::start().await;
    let mut methods: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for route in routes() {
        let path = route
            .path
            .replace("{id:.+}", "x")
            .replace("{id}", "x")
            .replace("{name}", "x")
            .replace("{path:.+}", "x");
        methods.entry(path).or_default().push(route.method);
    }
    for (path, methods) in methods {
        let answer = app.send(app.request("PATCH", &path)).await;
        answer.assert_error(405, "invalid_request_error", "method_not_allowed");
        let allowed = answer.headers["allow"].to_str().unwrap().replace("GET, HEAD", "GET");
        assert_eq!(allowed, methods.join(", "), "{path}");
    }
}
