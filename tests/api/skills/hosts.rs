//! `skill run --host`: a real sshd on this machine, reached by the real ssh.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::desk::{Desk, lines};
use support::app::write;

/// The program, which is in no `PATH` of users.
const SSHD: &str = "/usr/sbin/sshd";

/// An sshd that lets this user in by a key, into a folder and a home of its own.
struct Sshd {
    child: Child,
}

impl Sshd {
    /// Starts one for a desk, whose `ssh` reaches it as `there`. Sessions begin in `there`, and `far` is the home.
    fn start(desk: &Desk) -> Sshd {
        for folder in ["there", "far", "ssh"] {
            std::fs::create_dir(desk.path(folder)).unwrap();
        }
        for key in ["host", "user"] {
            keygen(&desk.path(&format!("ssh/{key}")));
        }
        std::fs::copy(desk.path("ssh/user.pub"), desk.path("ssh/authorized")).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (root, user) = (desk.path(""), user());
        let root = root.display();
        let here = format!("export HOME={root}far; cd {root}there && exec sh -c \"$SSH_ORIGINAL_COMMAND\"");
        desk.write(
            "ssh/sshd_config",
            format!(
                "ListenAddress 127.0.0.1:{port}\nHostKey {root}ssh/host\nAuthorizedKeysFile {root}ssh/authorized\nPidFile none\n\
                 StrictModes no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n\
                 ForceCommand {here}\n"
            ),
        );
        let host_key = std::fs::read_to_string(desk.path("ssh/host.pub")).unwrap();
        desk.write("ssh/known_hosts", format!("[127.0.0.1]:{port} {host_key}"));
        desk.write(
            "ssh/config",
            format!(
                "Host there\n HostName 127.0.0.1\n Port {port}\n User {user}\n IdentityFile {root}ssh/user\n IdentitiesOnly yes\n \
                 UserKnownHostsFile {root}ssh/known_hosts\n StrictHostKeyChecking yes\n"
            ),
        );
        // ssh takes the home of the user from the system, and not from HOME.
        let wrapper =
            desk.write("bin/ssh", format!("#!/bin/sh\nexec /usr/bin/ssh -F '{root}ssh/config' \"$@\"\n"));
        std::fs::set_permissions(wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
        if user == "root" {
            std::fs::create_dir_all("/run/sshd").unwrap();
        }
        let child = Command::new(SSHD)
            .args(["-D", "-e", "-f"])
            .arg(desk.path("ssh/sshd_config"))
            .stdin(Stdio::null())
            .stderr(std::fs::File::create(desk.path("ssh/log")).unwrap())
            .spawn()
            .expect("sshd is missing: make setup");
        for _ in 0..500 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Sshd { child }
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        self.child.wait().unwrap();
    }
}

fn keygen(file: &Path) {
    let output =
        Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(file).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

fn user() -> String {
    let output = Command::new("id").arg("-un").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

const ARGUMENTS: [&str; 4] = ["skill", "run", "x", "--host=there"];

async fn run(desk: &Desk, more: &[&str]) -> super::desk::Ended {
    desk.run(&[&ARGUMENTS[..], more].concat()).await
}

#[actix_web::test]
async fn commands_run_there_as_they_are_and_knowledge_is_read_there() {
    let desk = Desk::new(&[
        "[CMD] pwd; printf '%s|' 'a  b' \"it's\" '$x' \"${SKILL_DIR-none}\"; echo error >&2; exit 3",
        "[CMD] ls",
        "[DONE] Ready.",
    ])
    .await;
    let _sshd = Sshd::start(&desk);
    desk.skill("x", "allowed-tools: Bash(pwd:*), Bash\n", "Do it.");
    desk.write("work/.kosmos-panel/ai_system_promt.md", "Of this machine.");
    desk.write("far/.config/kosmos-panel/ai_system_promt.md", "Of the home there.");
    let log = desk.path("log").display().to_string();
    let (code, out, err) = run(&desk, &["--yes", "safe", "--log", &log]).await;
    assert_eq!(code, 0, "{out}{err}{}", std::fs::read_to_string(desk.path("ssh/log")).unwrap());
    assert!(out.contains("commands run on there"), "{out}");
    let there = desk.path("there").canonicalize().unwrap();
    let told = desk.told();
    assert!(told[1].contains(&format!("{}\na  b|it's|$x|none|", there.display())), "{told:?}");
    assert!(told[1].contains("error\n") && told[1].contains("[Exit code: 3]"), "{told:?}");
    assert!(desk.system().contains("--- System Context ---\nOf the home there.\n"), "{}", desk.system());
    assert!(desk.system().contains("--- Target OS: Linux ---"), "{}", desk.system());
    let entries = lines(&desk.path("log"));
    assert_eq!(entries[1]["host"], "there");
    assert_eq!(
        (&entries[1]["level"], &entries[1]["decision"]),
        (&"L1".into(), &"allowed".into()),
        "nothing is L0 there"
    );
    desk.write("there/.kosmos-panel/ai_system_promt.md", "Of the folder there.");
    run(&desk, &[]).await;
    let second = desk.upstream.seen().last().unwrap().json()["messages"][0].to_string();
    assert!(second.contains("Of the folder there.") && !second.contains("Of the home"), "{second}");
}

#[actix_web::test]
async fn what_only_reads_is_asked_about_there_and_what_is_refused_never_runs() {
    let desk = Desk::new(&["[CMD] ls", "[CMD] rm -rf kept", "[DONE]"]).await;
    let _sshd = Sshd::start(&desk);
    desk.skill("x", "description: d\n", "Do it.");
    desk.write("there/kept/file", "");
    let (code, out, err) = run(&desk, &["--yes", "safe"]).await;
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("(elsewhere)"), "{out}");
    assert_eq!(
        desk.told()[1..],
        ["User skipped the command.\n\n[Step 2 of 100]", "User skipped the command.\n\n[Step 3 of 100]"]
    );
    assert!(desk.path("there/kept/file").exists());
}

#[actix_web::test]
async fn a_skill_that_is_not_here_is_found_there_with_its_files() {
    let desk = Desk::new(&["[CMD] cat \"$SKILL_DIR/name\"", "[DONE]"]).await;
    let _sshd = Sshd::start(&desk);
    let skill = "---\nname: x\ndescription: d\nallowed-tools: Bash\n---\nFrom there.\n";
    write(&desk.path("far"), ".config/kosmos-panel/skills/x/skill.md", skill);
    desk.write("far/.config/kosmos-panel/skills/x/name", "beside it");
    let (code, out, err) = run(&desk, &["--yes", "safe"]).await;
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("from there:/"), "{out}");
    assert_eq!(desk.told()[1], "Command output:\nbeside it\n\n[Step 2 of 100]");
    assert!(desk.system().ends_with("From there."), "{}", desk.system());
    desk.write("there/SKILL.md", "outside");
    for hostile in ["..", "a/b", "$(touch created)", "';touch created;'", "absent"] {
        let (code, _, err) = desk.run(&["skill", "run", hostile, "--host=there"]).await;
        assert_eq!(code, 2, "{hostile}: {err}");
    }
    assert!(!desk.path("there/created").exists() && !desk.path("work/created").exists());
}

#[actix_web::test]
async fn a_command_there_dies_at_its_time_limit() {
    let desk = Desk::new(&["[CMD] echo $$ > number; echo begun; sleep 1000", "[DONE]"]).await;
    let _sshd = Sshd::start(&desk);
    desk.skill("x", "allowed-tools: Bash\n", "Do it.");
    let (code, out, err) = run(&desk, &["--yes", "safe", "--timeout", "3"]).await;
    assert_eq!(code, 0, "{out}{err}");
    let told = &desk.told()[1];
    assert!(told.contains("begun\n[The command was killed after 3 s, its time limit.]"), "{told}");
    let number = std::fs::read_to_string(desk.path("there/number")).unwrap();
    let process = Path::new("/proc").join(number.trim()).join("exe");
    for _ in 0..500 {
        if !process.exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("process {number} lives on");
}

#[actix_web::test]
async fn a_host_that_cannot_be_reached_is_an_error() {
    let desk = Desk::new(&["[DONE]"]).await;
    let sshd = Sshd::start(&desk);
    desk.skill("x", "description: d\n", "Do it.");
    drop(sshd);
    let (code, _, err) = run(&desk, &[]).await;
    assert!(code == 1 && err.contains("there cannot be reached by ssh:"), "{err}");
    assert!(desk.upstream.seen().is_empty());
}
