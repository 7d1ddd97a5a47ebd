//! Commands that are fed, watched and stopped while they run.

use std::sync::Mutex;

use crate::common::{invocation, patient, until};
use ai_prompt_executor::Supervision;

#[tokio::test]
async fn a_command_reads_its_input_which_stays_open() {
    let folder = tempfile::tempdir().unwrap();
    let text = "read one; read two; echo \"$one-$two\"; read three || echo end";
    let stopped = Supervision {
        input: Some(b"a\nb\n"),
        stop: Some(Box::pin(tokio::time::sleep(std::time::Duration::from_secs(1)))),
        ..Supervision::default()
    };
    let shell = invocation(folder.path(), false, &["bash", "-c", text]);
    let outcome = patient(folder.path()).run_supervised(&shell, stopped).await;
    assert_eq!((outcome.stdout.text.as_str(), outcome.stopped), ("a-b\n", true));
    let head = invocation(folder.path(), false, &["head", "-c", "1"]);
    let much = vec![b'x'; 1 << 20];
    let supervision = Supervision { input: Some(&much), ..Supervision::default() };
    let outcome = patient(folder.path()).run_supervised(&head, supervision).await;
    assert_eq!((outcome.stdout.text.as_str(), outcome.exit_code), ("x", Some(0)), "not all has to be read");
}

#[tokio::test]
async fn both_outputs_are_watched_as_clean_text() {
    let folder = tempfile::tempdir().unwrap();
    let seen = Mutex::new(String::new());
    let watcher = |piece: &str| seen.lock().unwrap().push_str(piece);
    let text = "printf '\\033[1mbold\\033[0m\\n'; sleep 0.2; echo error >&2";
    let supervision = Supervision { watcher: Some(&watcher), ..Supervision::default() };
    let shell = invocation(folder.path(), false, &["sh", "-c", text]);
    let outcome = patient(folder.path()).run_supervised(&shell, supervision).await;
    assert_eq!((outcome.stdout.text.as_str(), outcome.stderr.text.as_str()), ("bold\n", "error\n"));
    assert_eq!(seen.into_inner().unwrap(), "bold\nerror\n");
}

#[tokio::test]
async fn a_command_that_is_stopped_keeps_what_it_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("begun");
    let stop = async { until("the command has begun", || mark.exists()).await };
    let supervision = Supervision { stop: Some(Box::pin(stop)), ..Supervision::default() };
    let shell = invocation(folder.path(), false, &["sh", "-c", "echo first; touch begun; sleep 1000"]);
    let outcome = patient(folder.path()).run_supervised(&shell, supervision).await;
    assert_eq!(outcome.stdout.text, "first\n");
    assert_eq!((outcome.stopped, outcome.timed_out, outcome.exit_code), (true, false, None));
    assert_eq!(outcome.signal, Some(9));
}
