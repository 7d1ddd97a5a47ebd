//! The embedded store when its disk is full, and when there is room again.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, Signal};
use serde_json::json;

use support::app::TestApp;
use support::process::Service;

/// A document that fills a disk soon.
fn large(n: usize) -> serde_json::Value {
    json!(format!("{n} {}", "x".repeat(100_000)))
}

/// Writes until the store refuses; returns how many writes were acknowledged.
async fn fill(app: &TestApp) -> usize {
    for n in 0..1_000 {
        let answer = app.put(&format!("/api/environs/f.n{n}"), large(n)).await;
        if answer.status != 201 {
            answer.assert_error(503, "unavailable_error", "store_unavailable");
            return n;
        }
    }
    panic!("the disk is never full");
}

async fn assert_read_only_while_it_serves(app: &TestApp, acknowledged: usize) {
    let status = app.get("/api/status").await;
    assert_eq!(status.body["store"]["state"], "read_only", "{status:?}");
    assert!(status.body["store"]["why"].is_string(), "{status:?}");
    let ready = app.get("/readyz").await;
    assert_eq!((ready.status, &ready.body["status"]), (200, &json!("degraded")), "{ready:?}");
    assert_eq!(ready.body["store"], "read_only");
    for n in 0..acknowledged {
        assert_eq!(app.get(&format!("/api/environs/f.n{n}")).await.body, large(n));
    }
    // Also when it was tried again, several times.
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    let again = app.put("/api/environs/again", large(0)).await;
    again.assert_error(503, "unavailable_error", "store_unavailable");
    assert_eq!(app.get("/api/status").await.body["store"]["state"], "read_only");
}

async fn assert_well_again(app: &TestApp, acknowledged: usize) {
    app.eventually("/readyz", |answer| answer.body["status"] == "ready").await;
    assert_eq!(app.get("/api/status").await.body["store"]["state"], "ok");
    app.put_environ("after", json!(1)).await;
    for n in 0..acknowledged {
        assert_eq!(app.get(&format!("/api/environs/f.n{n}")).await.body, large(n));
    }
}

/// A small file system of its own; `None`, and a word about it, where this machine does not permit one.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount(size: &str) -> Option<SmallDisk> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(folder.path());
        let mounted = mount.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
        if !mounted {
            println!("NOT TESTED on a small file system: mounting one is not permitted here");
            return None;
        }
        Some(SmallDisk(folder))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("--lazy").arg(self.path()).status();
        assert!(std::thread::panicking() || unmounted.unwrap().success());
    }
}

#[actix_web::test]
async fn after_a_full_disk_the_store_recovers_by_itself_and_has_lost_nothing() {
    let Some(disk) = SmallDisk::mount("4m") else { return };
    let store = format!("[store]\nurl = \"embedded:{}\"\n", disk.path().join("data").display());
    let service = Service::start(&store).await;
    let app = service.client();
    app.put_prompt("x.y", json!({"prompt": "p"})).await;
    let ballast = disk.path().join("ballast");
    std::fs::write(&ballast, vec![1; 1 << 20]).unwrap();
    let acknowledged = fill(app).await;
    assert_read_only_while_it_serves(app, acknowledged).await;
    assert_eq!(app.render("x.y", json!({})).await.rendered(), "p");
    std::fs::remove_file(&ballast).unwrap();
    assert_well_again(app, acknowledged).await;
    service.stop();

    // A start on a full disk, as far as it gets: what is stored can be read.
    let full = std::fs::write(&ballast, vec![1; 4 << 20]).unwrap_err();
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    let service = Service::start(&store).await;
    assert_eq!(service.client().render("x.y", json!({})).await.rendered(), "p");
    std::fs::remove_file(&ballast).unwrap();
    assert_well_again(service.client(), acknowledged).await;
}

#[actix_web::test]
async fn a_first_start_on_a_full_disk_leaves_nothing_that_is_in_the_way_of_the_next() {
    let Some(disk) = SmallDisk::mount("1m") else { return };
    let store = format!("[store]\nurl = \"embedded:{}\"\n", disk.path().join("data").display());
    let ballast = disk.path().join("ballast");
    std::fs::create_dir(disk.path().join("data")).unwrap();
    for left in [0, 4_096, 16_384, 20_480] {
        std::fs::write(&ballast, vec![1; (1 << 20) - left]).unwrap();
        let mut service = Service::begin_in_vain(&store);
        assert_eq!(service.ended().await.code(), Some(1), "{}", service.log());
        assert!(service.log().contains("No space left"), "{}", service.log());
        assert_eq!(std::fs::read_dir(disk.path().join("data")).unwrap().count(), 0);
        std::fs::remove_file(&ballast).unwrap();
    }
    Service::start(&store).await.client().put_environ("a", json!(1)).await;
}

#[actix_web::test]
async fn a_file_that_may_not_grow_makes_the_store_read_only_until_it_may() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    // An empty file is what a start leaves that came no further.
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("store.redb"), b"").unwrap();
    let settings = format!("[store]\nurl = \"embedded:{}\"\n", path.display());
    let service = Service::begin(&settings, |command| {
        // The shell ignores the signal for files that grow too large, and so does what it starts.
        let program = command.get_program().to_owned();
        let args: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        let dir = command.get_current_dir().unwrap().to_owned();
        let log = std::fs::OpenOptions::new().append(true).open(dir.join("log")).unwrap();
        *command = Command::new("sh");
        command.args(["-c", r#"trap "" XFSZ; exec "$0" "$@""#]).arg(program).args(args).current_dir(dir);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    })
    .await;
    let app = service.client();
    app.eventually("/readyz", |answer| answer.status == 200).await;
    let limit = |bytes: Option<u64>| {
        let limits = Rlimit { current: bytes, maximum: None };
        rustix::process::prlimit(Some(service.pid()), Resource::Fsize, limits).unwrap();
    };
    limit(Some(3 << 20));
    let acknowledged = fill(app).await;
    assert_read_only_while_it_serves(app, acknowledged).await;
    limit(None);
    assert_well_again(app, acknowledged).await;
    service.signal(Signal::TERM);
}
