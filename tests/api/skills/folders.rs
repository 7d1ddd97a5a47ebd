//! Skills in folders: in packages, with files beside them, and on this machine.

use std::collections::BTreeSet;

use serde_json::json;

use crate::commands::{good, run, text};
use support::app::{TestApp, write};

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}\n---\n\nDo {name}.\n")
}

async fn file(app: &TestApp, path: &str) -> (u16, String, Vec<u8>) {
    let response = app.request("GET", path).send().await.unwrap();
    let media_type = response.headers()["content-type"].to_str().unwrap().to_owned();
    (response.status().as_u16(), media_type, response.bytes().await.unwrap().to_vec())
}

#[actix_web::test]
async fn skills_of_packages_serve_with_the_files_beside_them_and_follow_changes() {
    let app = TestApp::start().await;
    app.write_package_file("team/package.json", r#"{"name": "ops", "extensionType": "skills"}"#);
    app.write_package_file("team/skills/deploy/SKILL.md", skill("deploy"));
    app.write_package_file("team/skills/deploy/scripts/run.sh", "echo 1");
    app.write_package_file("team/skills/deploy/.hidden", "secret");
    app.write_package_file("team/skills/deep/er/Skill.md", skill("er"));
    app.write_package_file("team/skills/My Notes/skill.md", skill("notes"));
    let ids = json!(["ops.My-Notes", "ops.deep.er", "ops.deploy"]);
    app.eventually("/api/skills", |answer| answer.body == ids).await;
    let shown = app.get("/api/skills/deploy").await.body;
    assert_eq!(shown["files"], json!(["scripts/run.sh"]));
    assert!(shown["source"].as_str().unwrap().ends_with("/team/skills/deploy/SKILL.md"), "{shown}");
    assert_eq!(shown["problems"], json!([]));
    let notes = app.get("/api/skills/ops.My-Notes").await.body["problems"].to_string();
    assert!(notes.contains("the folder `My Notes`"), "{notes}");
    app.write_package_file("team/skills/deploy/assets/logo.png", [0x89, b'P']);
    let grown = json!(["assets/logo.png", "scripts/run.sh"]);
    app.eventually("/api/skills/deploy", |answer| answer.body["files"] == grown).await;
    app.delete("/api/skills/ops.deploy").await.assert_error(409, "conflict_error", "read_only");
    app.put("/api/skills/ops.deploy", json!({"content": skill("deploy")})).await;
    let stored = app.get("/api/skills/deploy").await.body;
    assert_eq!((&stored["source"], &stored["files"]), (&json!("store"), &json!([])));
}

#[actix_web::test]
async fn files_are_served_as_what_they_are_and_nothing_else_is() {
    let app = TestApp::start().await;
    let secret = app.write_package_file("secret.txt", "secret");
    app.write_package_file("p/package.json", r#"{"name": "p", "contributes": {}}"#);
    app.write_package_file("p/skills/a/SKILL.md", skill("a"));
    app.write_package_file("p/skills/a/references/guide one.md", "# Guide");
    app.write_package_file("p/skills/a/page.html", "<script>");
    app.write_package_file("p/skills/a/.env", "secret");
    app.write_package_file("p/shared.sh", "shared");
    let folder = app.packages.path().join("p/skills/a");
    std::os::unix::fs::symlink(&secret, folder.join("out.txt")).unwrap();
    std::os::unix::fs::symlink("../../shared.sh", folder.join("in.sh")).unwrap();
    std::os::unix::fs::symlink("/etc", folder.join("etc")).unwrap();
    std::fs::File::create(folder.join("large.bin")).unwrap().set_len((16 << 20) + 1).unwrap();
    app.eventually("/api/skills/a", |answer| answer.body["files"].to_string().contains("large.bin")).await;
    let get = async |path: &str| file(&app, &format!("/api/skills/a/files/{path}")).await;
    let (status, media_type, contents) = get("references/guide%20one.md").await;
    assert_eq!(
        (status, media_type.as_str(), &contents[..]),
        (200, "text/markdown; charset=utf-8", &b"# Guide"[..])
    );
    let page = app.request("GET", "/api/skills/p.a/files/page.html").send().await.unwrap();
    assert_eq!(page.headers()["x-content-type-options"], "nosniff");
    assert_eq!(page.headers()["content-type"], "application/octet-stream");
    assert_eq!(get("in.sh").await.2, b"shared");
    for path in [
        "out.txt",
        "etc/passwd",
        ".env",
        "SKILL.md",
        "none",
        "..%2F..%2Fshared.sh",
        "%2e%2e/a/page.html",
        "%2Fetc%2Fpasswd",
        "references",
        "page.html/",
    ] {
        let answer = app.get(&format!("/api/skills/a/files/{path}")).await;
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
    }
    app.get("/api/skills/a/files/none").await.assert_error(404, "not_found_error", "file_not_found");
    app.get("/api/skills/b/files/x").await.assert_error(404, "not_found_error", "skill_not_found");
    let large = app.get("/api/skills/a/files/large.bin").await;
    large.assert_error(503, "unavailable_error", "file_unreadable");
}

#[actix_web::test]
async fn a_folder_of_skills_alone_is_a_package_and_so_is_one_of_node_js() {
    let app = TestApp::start().await;
    app.write_package_file("mine/skills/a/SKILL.md", skill("a"));
    app.write_package_file("mine/README.md", "About");
    app.write_package_file("node/package.json", r#"{"name": "@x/y", "engines": {"node": ">=20"}}"#);
    app.write_package_file("node/skills/b/SKILL.md", skill("b"));
    app.write_package_file("node/skills/b/page.j2", "{{ not a prompt }}");
    app.eventually("/api/skills", |answer| answer.body == json!(["mine.a", "node.b"])).await;
    assert_eq!(app.get("/api/prompts").await.body, json!([]));
    assert_eq!(app.get("/api/extensions").await.body, json!(["mine", "node"]));
    assert_eq!(app.get("/api/status").await.body["problems"], json!([]));
    assert_eq!(app.get("/api/extensions/node?raw=any").await.body["contributes"]["partials"], json!({}));
}

#[actix_web::test]
async fn folders_that_can_have_no_id_and_texts_that_cannot_be_read_are_problems() {
    let app = TestApp::start().await;
    app.write_package_file("p/package.json", r#"{"name": "p", "contributes": {}}"#);
    app.write_package_file("p/skills/SKILL.md", skill("top"));
    app.write_package_file("p/skills/日本/SKILL.md", skill("x"));
    app.write_package_file("p/skills/bytes/SKILL.md", b"\xff\xfe");
    app.write_package_file("p/skills/good/SKILL.md", skill("good"));
    app.eventually("/api/skills", |answer| answer.body == json!(["p.good"])).await;
    let problems = app.get("/api/status").await.body["problems"].to_string();
    for part in ["a folder of its own", "no id can be made of `日本`", "no text in UTF-8"] {
        assert!(problems.contains(part), "{part}: {problems}");
    }
}

#[actix_web::test]
async fn only_what_is_read_counts_against_the_bound_on_files() {
    let app = TestApp::start().await;
    app.write_package_file("p/package.json", r#"{"name": "p", "contributes": {}}"#);
    for at in 0..2_100 {
        app.write_package_file(&format!("p/skills/a/assets/{at:04}.txt"), "x");
    }
    app.write_package_file("p/skills/a/SKILL.md", skill("a"));
    let answer = app.eventually("/api/skills/a", |answer| answer.status == 200).await;
    assert_eq!(answer.body["files"].as_array().unwrap().len(), 1_000);
    assert_eq!(app.get("/api/status").await.body["problems"], json!([]));
}

#[actix_web::test]
async fn packages_inside_the_binary_have_skills_and_serve_their_files() {
    let app = TestApp::start_with(|settings| settings.packages.builtin = true).await;
    let shown = app.get("/api/skills/conventional-commit").await.body;
    assert_eq!(shown["id"], "commit-writer.conventional-commit");
    assert_eq!(shown["source"], "(built-in)/commit-writer/skills/conventional-commit/SKILL.md");
    assert_eq!((&shown["files"], &shown["problems"]), (&json!(["references/types.md"]), &json!([])));
    let (status, media_type, contents) =
        file(&app, "/api/skills/conventional-commit/files/references/types.md").await;
    assert_eq!((status, media_type.as_str()), (200, "text/markdown; charset=utf-8"));
    assert!(contents.starts_with(b"# Types of commits"));
}

#[test]
fn the_shipped_skills_are_valid() {
    let extensions = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("extensions");
    assert!(good(&extensions, &["skill", "check", "."]).ends_with(", all valid\n"));
}

#[test]
fn folders_are_checked_by_the_rules_of_agentskills_with_the_place_of_each_fault() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(dir, "skills/good/SKILL.md", skill("good"));
    assert_eq!(good(dir, &["skill", "check", "skills"]), "1 skill, all valid\n");
    assert_eq!(good(&dir.join("skills/good"), &["skill", "check", "."]), "1 skill, all valid\n");
    write(dir, "skills/bad/skill.md", "---\nname: Other\nversion: 1\n---\n");
    write(dir, "skills/none/SKILL.md", "Text");
    write(dir, "skills/cased/Skill.md", skill("cased"));
    let (code, out, _) = text(&run(dir, &["skill", "check", "skills"]));
    let lines: BTreeSet<&str> = out.lines().collect();
    let expected = [
        "skills/bad/skill.md:1: `description` is missing in the front matter",
        "skills/bad/skill.md:2: the name `Other` must be in lower case",
        "skills/bad/skill.md:2: the name is `Other`, and the folder `bad`: they must be the same",
        "skills/bad/skill.md:3: `version` is not among the members that front matter may have: `name`, `description`, \
         `license`, `allowed-tools`, `metadata`, `compatibility`",
        "skills/cased: there is no SKILL.md here (a file skill.md will do; no other spelling does)",
        "skills/none/SKILL.md:1: must begin with front matter: a line `---`",
        "4 skills, 3 invalid",
    ];
    assert_eq!((code, lines), (1, BTreeSet::from(expected)));
    let (code, _, err) = text(&run(dir, &["skill", "check", "nowhere"]));
    assert_eq!((code, err.contains("is not a folder")), (2, true), "{err}");
}

#[test]
fn a_new_skill_is_valid_and_replaces_none() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    good(dir, &["skill", "new", "tidy-up", "--dir", "skills"]);
    good(dir, &["skill", "check", "skills/tidy-up"]);
    let (code, _, err) = text(&run(dir, &["skill", "new", "tidy-up", "--dir", "skills"]));
    assert_eq!((code, err.contains("exists already")), (2, true), "{err}");
    let (code, _, err) = text(&run(dir, &["skill", "new", "Tidy_Up"]));
    assert_eq!((code, err.contains("lower-case letters, digits and single hyphens")), (2, true), "{err}");
    assert!(!dir.join("Tidy_Up").exists());
}
