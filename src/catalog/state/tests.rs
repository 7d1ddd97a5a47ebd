//! A property test: single changes lead to the same catalog as merging everything.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::catalog::{CheckResult, PromptScope};

/// A substitute for the template engines: a text is a list of names. Prompts with these names must exist and not contain
/// `bad`; `f:` names a function.
fn check() -> Check {
    Arc::new(|prompt, documents| {
        let scope = PromptScope::new(documents.clone(), prompt);
        let text = |prompt: &base::model::Prompt| prompt.texts()[0].text.to_string();
        let mut problems = Vec::new();
        for name in text(prompt).split_whitespace() {
            let good = match name.strip_prefix("f:") {
                Some(function) => scope.has_function(function),
                None if name == "bad" => false,
                None => {
                    let found = scope.prompt(name).and_then(|entry| entry.prompt.clone());
                    found.is_some_and(|found| !text(&found).contains("bad"))
                }
            };
            if !good {
                problems.push(ProblemDetail::new(format!("no {name}")));
            }
        }
        CheckResult { problems, lookups: scope.take_lookups() }
    })
}

/// A change of one document.
#[derive(Debug, Clone)]
struct Change {
    kind: DocumentKind,
    layer: Layer,
    key: String,
    /// `None` if the document is removed.
    text: Option<String>,
}

fn any_text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec!["a", "b", "c", "x.a", "x.b", "x:y.a", "f:m_t", "bad"]);
    prop::collection::vec(word, 0..3).prop_map(|words| words.join(" "))
}

fn any_change() -> impl Strategy<Value = Change> {
    let layer = prop::sample::select(vec![Layer::Builtin, Layer::Package, Layer::Store, Layer::Store]);
    let prompt =
        (prop::sample::select(vec!["a", "x:a", "x:b", "x:c", "x:y:a", "x:y:b", "y:c"]), any_text(), 0..8_u8)
            .prop_map(|(key, text, how)| {
                let document = match how {
                    0 => None,
                    1 => Some("no json".to_owned()),
                    _ => Some(json!({"userPrompt": format!(" {text}")}).to_string()),
                };
                (DocumentKind::Prompt, format!("shenma:templates:{key}"), document)
            });
    let extension = (prop::sample::select(vec!["x", "y"]), any_text(), 0..6_u8).prop_map(|(name, text, how)| {
        let contributed = json!([{"name": "a", "userPrompt": format!(" {text}")}, {"name": "c", "userPrompt": " a"}]);
        let wants = if how == 1 { json!([{"name": "gone", "version": "*", "failStrategy": "abort"}]) } else { json!([]) };
        let document = json!({"name": name, "version": "1.0.0", "contributes": {"prompts": contributed, "dependences": wants}});
        (DocumentKind::Extension, format!("shenma:extensions:{name}"), (how > 0).then(|| document.to_string()))
    });
    let tool = any::<bool>().prop_map(|there| {
        let document = json!({"module": "m", "name": "t", "type": "restful", "url": "http://h/"});
        (DocumentKind::Tool, "shenma:tools:m:t".to_owned(), there.then(|| document.to_string()))
    });
    let change = prop_oneof![6 => prompt, 1 => extension, 1 => tool];
    (layer, change).prop_map(|(layer, (kind, key, text))| Change { kind, layer, key, text })
}

fn apply(state: &mut CatalogState, Change { kind, layer, key, text }: &Change) {
    match text {
        None => {
            state.remove(*kind, *layer, key);
        }
        Some(text) => {
            let bytes = Ok(text.as_bytes().into());
            state.put(*kind, *layer, RawDocument::stored(key.clone(), bytes));
        }
    }
}

/// Everything that requests can see.
fn seen(snapshot: &Snapshot) -> impl PartialEq + std::fmt::Debug {
    let documents = &snapshot.documents;
    let prompts: Vec<_> = documents
        .prompts
        .values()
        .map(|entry| {
            let text = entry.prompt.as_ref().map(|prompt| prompt.texts()[0].text.to_string());
            let extension = entry.extension.as_ref().map(|extension| extension.unavailable.clone());
            (entry.id.clone(), entry.origin, text, extension, entry.problems.clone())
        })
        .collect();
    let problems: Vec<_> = snapshot.problems.iter().map(|listed| listed.problem.clone()).collect();
    let functions: BTreeSet<String> = documents.functions.keys().cloned().collect();
    (prompts, problems, functions, documents.extensions.len(), documents.plain.of(DocumentKind::Tool).len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn changes_one_by_one_give_what_merging_everything_gives(
        steps in prop::collection::vec(prop::collection::vec(any_change(), 1..4), 1..12),
        enforce in any::<bool>(),
    ) {
        let mut by_changes = CatalogState::new("shenma:", enforce, check());
        let mut by_merging = CatalogState::new("shenma:", enforce, check());
        for changes in steps {
            for change in &changes {
                apply(&mut by_changes, change);
                apply(&mut by_merging, change);
            }
            by_merging.pending.documents |= !by_merging.pending.prompts.is_empty();
            let (one, other) = (by_changes.snapshot(), by_merging.snapshot());
            prop_assert_eq!(seen(&one), seen(&other), "after {:?}", changes);
        }
    }
}
