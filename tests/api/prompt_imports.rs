//! What `import` says of folders of prompt files: each file, with the reason, and the line where it is wrong.

use serde_json::{Value as Json, json};

use super::commands::{good, run, text};
use support::app::write;

/// What a dry run of an import of these files says, as JSON, and the errors that it prints.
fn imported(files: &[(&str, &str)]) -> (Json, String) {
    let dir = tempfile::tempdir().unwrap();
    files.iter().for_each(|(path, text)| drop(write(dir.path(), &format!("in/{path}"), text)));
    let (_, out, err) = text(&run(dir.path(), &["import", "in", "--dry-run", "--json"]));
    (serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}")), err)
}

#[test]
fn a_variable_whose_name_is_no_identifier_is_filled_by_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(dir, "in/gh.prompt.yml", "messages: [{role: user, content: '{{user-name}} {{doc.title}}'}]");
    good(dir, &["import", "in"]);
    let out = good(dir, &["prompt", "render", "in.gh", "-v", "user-name=Ada", "-v", "doc.title=T"]);
    assert!(out.contains("Ada T"), "{out}");
}

#[test]
fn roles_that_prompts_do_not_have_are_refused_with_the_line() {
    let looped = "user:\n{% for m in h %}\nassistant:\n{{ m }}\n{% endfor %}\ntool:\nx\n";
    let (said, _) = imported(&[
        ("a.prompt.yml", "messages: [{role: banana, content: x}]"),
        ("b.prompty", looped),
        ("c.j2", "user:\nx\nfunction:\ny\n"),
        ("d.prompt.yml", "messages: [{role: Assistant, content: x}]"),
    ]);
    let refused: Vec<_> = said["refused"].as_array().unwrap().iter().map(|note| &note["file"]).collect();
    assert_eq!(refused, ["a.prompt.yml", "b.prompty", "c.j2"], "{said}");
    assert!(said["refused"][0]["reason"].as_str().unwrap().contains("`banana`"), "{said}");
    assert_eq!((&said["refused"][1]["line"], &said["refused"][2]["line"]), (&json!(6), &json!(3)), "{said}");
    assert_eq!(said["taken"][0]["became"], "assistant");
}

#[test]
fn files_of_all_formats_may_include_others_and_only_what_is_included_is_stored() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(dir, "in/a.prompty", "---\nname: a\n---\nsystem:\n{% include 'parts/rules.md' %}\nuser:\nhi\n");
    write(dir, "in/parts/rules.md", "Rules{% include 'parts/more.txt' %}");
    write(dir, "in/parts/more.txt", ", more");
    for n in 0..18 {
        write(dir, &format!("in/huge{n}.txt"), "x".repeat(1 << 20));
    }
    let out = good(dir, &["import", "in"]);
    assert!(out.contains("1 prompt stored, 0 files refused"), "{out}");
    assert!(good(dir, &["prompt", "render", "in.a"]).contains("Rules, more"));
    good(dir, &["export", "saved"]);
    let extension = std::fs::read_to_string(dir.join("saved/extensions/in.json")).unwrap();
    let extension: Json = serde_json::from_str(&extension).unwrap();
    let partials: Vec<_> = extension["contributes"]["partials"].as_object().unwrap().keys().collect();
    assert_eq!(partials, ["parts/more.txt", "parts/rules.md"]);
}

#[test]
fn other_json_files_do_not_make_a_folder_an_export() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(dir, "in/prompts/a.md", "hi {{ x }}");
    write(dir, "in/prompts/a.test.json", r#"[{"name": "t", "variables": {"x": "1"}, "expect": "hi 1"}]"#);
    write(dir, "in/tools/config.json", r#"{"a": 1}"#);
    write(dir, "in/tools/deep/config.json", r#"{"name": "x"}"#);
    let out = good(dir, &["import", "in"]);
    assert!(out.contains("in.a ") && out.contains("1 prompt stored, 0 files refused"), "{out}");
    write(dir, "repo/.github/prompts/a.prompt.yml", "messages: [{role: user, content: x}]");
    let (code, _, err) = text(&run(dir, &["import", "repo"]));
    assert_eq!((code, err.contains("import repo/.github/prompts")), (2, true), "{err}");
}

#[test]
fn every_file_that_is_looked_at_is_named_on_a_line_of_its_own() {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(dir, "in/pat/system.md", "You help.");
    write(dir, "in/pat/user.md", "Text:");
    write(dir, "in/System.md", "a text");
    write(
        dir,
        "in/f/flow.dag.yaml",
        "nodes: [{name: n, type: llm, source: {path: t.jinja2}}, {name: m, type: llm, source: {path: gone.jinja2}}, {name: k, type: llm, source: {path: lost.jinja2}}]",
    );
    write(dir, "in/f/t.jinja2", "hi");
    write(dir, "in/new\nrefused: line.j2", "{% if %}");
    write(dir, "out/x.j2", "out");
    for n in 0..9 {
        write(dir, &format!("in/notes/{n}.txt"), "a note");
    }
    for (link, target) in [("circle", "."), ("outside", "../out"), ("nowhere.j2", "gone.j2")] {
        std::os::unix::fs::symlink(target, dir.join("in").join(link)).unwrap();
    }
    std::fs::write(dir.join("in").join(std::ffi::OsStr::from_bytes(b"bad\xff.j2")), "x").unwrap();
    let (_, json, _) = text(&run(dir, &["import", "in", "--dry-run", "--json"]));
    for file in [
        "pat/user.md",
        "f/flow.dag.yaml",
        "System.md",
        "circle",
        "outside",
        "nowhere.j2",
        "bad\u{fffd}.j2",
        "notes/8.txt",
    ] {
        assert!(json.contains(&format!("\"{file}\"")), "{file}: {json}");
    }
    let (code, out, err) = text(&run(dir, &["import", "in", "--dry-run"]));
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("2 prompts would be stored, 2 files refused"), "{out}{err}");
    assert!(
        out.contains("5 more") && !out.contains("notes/8.txt") && out.contains("with pat/user.md"),
        "{out}"
    );
    assert_eq!(
        err.lines().filter(|line| line.starts_with("refused: new\\nrefused: line.j2")).count(),
        1,
        "{err}"
    );
}

#[test]
fn errors_are_told_with_the_lines_of_files_and_in_words_of_people() {
    let bomb = (1..9).fold("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned(), |text, n| {
        format!("{text}a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 10].join(","))
    });
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for (path, text) in [
        ("jinja.prompty", "---\nname: x\n---\nsystem:\nhi\n\nuser:\n{% if %}\n"),
        ("bad.prompty", "---\nname: x\n  bad: [\n---\nuser:\nhi"),
        ("bomb.prompt.yml", &bomb),
        ("two.prompt.yml", "messages: []\n---\nmessages: []\n"),
        ("empty.prompty", "---\nname: x\n---\n"),
        ("must.prompty", "---\ntemplate: mustache\n---\nuser:\n{{#l}}x{{/l}}\n"),
    ] {
        write(dir, &format!("in/{path}"), text);
    }
    write(dir, "texts/section.md", "{{#if x}}a{{/if}}");
    let (_, _, err) = text(&run(dir, &["import", "in", "--dry-run"]));
    for (file, reason) in [
        ("jinja.prompty:8 (in.jinja)", "Expected an expression, got 'end of statement block'"),
        ("bad.prompty:", "not valid YAML"),
        ("bomb.prompt.yml:", "its aliases (`*name`) unfold to too much"),
        ("two.prompt.yml", "several documents (parted by `---`)"),
        ("empty.prompty", "no text after its front matter"),
        ("must.prompty", "(`{{#l}}`)"),
    ] {
        let line = err.lines().find(|line| line.starts_with(&format!("refused: {file}")));
        assert!(line.is_some_and(|line| line.contains(reason) && !line.contains("at line")), "{file}: {err}");
    }
    let (_, _, err) = text(&run(dir, &["import", "texts", "--dry-run"]));
    assert!(err.contains("`{% if x %}…{% endif %}`") && err.contains("`\"syntax\": \"text\"`"), "{err}");
    let (said, _) = imported(&[("list.prompty", "---\n- a\n---\nuser:\nhi\n")]);
    assert!(said["taken"][0]["left_out"].to_string().contains("front matter"), "{said}");
}
