//! The snippets of the README, of `docs/requests.md` and of `docs/clients.md`, word for word: in a shell beside a service that was just started, with the output that is shown.
//!
//! In the output, `…` stands for any text, and for any number of lines where it is a line of its own; digits of durations may
//! differ. The ports are free ones.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use super::library::environment;

const README: &str = include_str!("../../README.md");
const REQUESTS: &str = include_str!("../../docs/requests.md");
const CLIENTS: &str = include_str!("../../docs/clients.md");

/// Blocks that are not run here, by what they contain: they build the program or need what is not there.
const NOT_RUN: [&str; 5] = ["make ", "cargo run", "OPENAI_API_KEY", "redis-cli", "fabric/"];

/// A fenced block.
struct Block {
    language: &'static str,
    text: String,
}

fn blocks(document: &'static str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in document.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(language), None) => open = Some(Block { language, text: String::new() }),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => block.text += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    blocks
}

/// The commands of a block with the output that is shown.
fn commands(block: &Block) -> Vec<(String, Option<String>)> {
    if block.language == "sh" {
        return vec![(block.text.clone(), None)];
    }
    let mut commands: Vec<(String, Option<String>)> = Vec::new();
    for line in block.text.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((format!("{command}\n"), Some(String::new()))),
            (None, Some((command, _))) if !is_whole(command) => *command += &format!("{line}\n"),
            (None, Some((_, Some(output)))) => *output += &format!("{line}\n"),
            (None, _) => panic!("output without a command: {line}"),
        }
    }
    commands
}

/// Whether a command needs no further line.
fn is_whole(command: &str) -> bool {
    let mut bash = Command::new("bash");
    let mut bash = bash.arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    bash.stdin.take().unwrap().write_all(command.as_bytes()).unwrap();
    let ends_open = command.trim_end().ends_with(['\\', '|']);
    let read = bash.wait_with_output().unwrap();
    // It only warns of a here-document without an end.
    read.status.success() && read.stderr.is_empty() && !ends_open
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A shell beside the service, in a folder of its own.
struct Shell {
    folder: tempfile::TempDir,
    service: Child,
    shell: Child,
    input: ChildStdin,
    answers: BufReader<ChildStdout>,
    ports: [(&'static str, String); 3],
    commands: usize,
}

impl Shell {
    fn start() -> Shell {
        let folder = tempfile::tempdir().unwrap();
        let folders = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/folders/.");
        let copied = Command::new("cp").arg("-r").arg(folders).arg(folder.path()).status().unwrap();
        assert!(copied.success());
        let (port, tracker) = (free_port(), free_port());
        let programs = program().parent().unwrap().to_owned();
        let installed = installed();
        let path = std::env::var("PATH").unwrap();
        let [python, frameworks] =
            ["openai", "frameworks"].map(|venv| installed.join("venv").join(venv).join("bin"));
        let path =
            [&programs, &python, &frameworks].map(|path| path.display().to_string()).join(":") + ":" + &path;
        let command = |name: &str| {
            let mut command = Command::new(name);
            command.current_dir(folder.path()).env("PATH", &path).env("HOME", folder.path());
            command.env("APS__SERVER__LISTEN", format!("127.0.0.1:{port}"));
            command
        };
        let mut service =
            command("ai-prompt-shell").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut greeting = String::new();
        BufReader::new(service.stdout.take().unwrap()).read_line(&mut greeting).unwrap();
        assert!(greeting.starts_with("ai-prompt-shell listens on "), "{greeting}");
        let mut shell = command("bash").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, answers) = (shell.stdin.take().unwrap(), BufReader::new(shell.stdout.take().unwrap()));
        let ports = [
            ("127.0.0.1:8080", format!("127.0.0.1:{port}")),
            ("127.0.0.1:9000", format!("127.0.0.1:{tracker}")),
            ("http.server 9000", format!("http.server {tracker}")),
        ];
        Shell { folder, service, shell, input, answers, ports, commands: 0 }
    }

    fn with_ports(&self, text: &str) -> String {
        self.ports.iter().fold(text.to_owned(), |text, (shown, real)| text.replace(shown, real))
    }

    /// Runs a command, which must succeed, and gives what it prints on its standard output.
    fn run(&mut self, command: &str) -> String {
        // Files of its own, as programs in the background go on writing into theirs.
        self.commands += 1;
        let file = |name: &str| self.folder.path().join(format!("{name}{}", self.commands));
        let (script, out, err) = (file("command"), file("out"), file("err"));
        std::fs::write(&script, self.with_ports(command)).unwrap();
        let [script, out_shown, err_shown] = [&script, &out, &err].map(|path| path.display().to_string());
        writeln!(self.input, "source {script} > {out_shown} 2> {err_shown} < /dev/null; echo done $?")
            .unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        let said = std::fs::read_to_string(&err).unwrap();
        assert_eq!(answer, "done 0\n", "{command}{said}");
        if command.contains("http.server") {
            self.until_the_tracker_listens();
        }
        std::fs::read_to_string(out).unwrap()
    }

    /// Waits for the server in the background; a reader types so slowly that it listens by the next command.
    fn until_the_tracker_listens(&self) {
        let (_, address) = &self.ports[1];
        let listens = (0..200).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            TcpStream::connect(address).is_ok()
        });
        assert!(listens, "{address}");
    }

    /// Runs commands with their output, which must be the one that is shown; gives how many they were.
    fn run_as_shown(&mut self, block: &Block) -> usize {
        let commands = commands(block);
        for (command, shown) in &commands {
            let real = self.run(command);
            if let Some(shown) = shown {
                let shown = self.with_ports(shown);
                assert!(fits(&shown, &real), "{command}shown:\n{shown}\nreal:\n{real}");
            }
        }
        commands.len()
    }

    /// Runs a program by a command that reads it from its standard input, and gives what it prints.
    fn run_program(&mut self, program: &Block, command: &str) -> String {
        std::fs::write(self.folder.path().join("snippet"), self.with_ports(&program.text)).unwrap();
        self.run(&format!("{command} < snippet"))
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // What runs in the background ends with the shell.
        let _gone = writeln!(self.input, "kill $(jobs -p) 2> /dev/null; exit");
        let _ended = self.shell.wait();
        let _killed = self.service.kill();
        let _ended = self.service.wait();
    }
}

/// What `scripts/setup-libraries` has installed.
fn installed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/clients")
}

/// The Python that has what a program imports.
fn python_for(program: &str) -> String {
    format!("{}/venv/{}/bin/python", installed().display(), environment(program))
}

fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_ai-prompt-shell"))
}

/// The text with every number of a duration as 0.
fn without_durations(text: &str) -> String {
    let mut parts = text.split("\"duration_us\":");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out += "\"duration_us\":0";
        out += part.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    out
}

/// Whether an output is the one that is shown.
fn fits(shown: &str, real: &str) -> bool {
    let (shown, real) = (without_durations(shown), without_durations(real));
    let mut rest = real.trim_end();
    let pieces: Vec<&str> = shown.trim_end().split('…').collect();
    for (at, piece) in pieces.iter().enumerate() {
        let piece = if pieces.len() > 1 { piece.trim_matches('\n') } else { piece };
        let found = if at == 0 { rest.starts_with(piece).then_some(0) } else { rest.find(piece) };
        let Some(found) = found else { return false };
        rest = &rest[found + piece.len()..];
    }
    rest.is_empty() || shown.trim_end().ends_with('…')
}

#[test]
fn the_shell_s_snippets_print_what_is_shown() {
    let mut shell = Shell::start();
    let mut run = 0;
    for block in blocks(README).iter().filter(|block| ["sh", "console"].contains(&block.language)) {
        if !NOT_RUN.iter().any(|mark| block.text.contains(mark)) {
            run += shell.run_as_shown(block);
        }
    }
    assert!(run > 15, "{run} commands were found");
}

#[test]
fn the_snippets_about_requests_print_what_is_shown() {
    let mut shell = Shell::start();
    let names = blocks(README).into_iter().find(|block| block.text.starts_with("B=")).unwrap();
    let mut run = shell.run_as_shown(&names);
    for block in blocks(REQUESTS).iter().filter(|block| block.language == "console") {
        run += shell.run_as_shown(block);
    }
    assert!(run >= 6, "{run} commands were found");
}

#[test]
fn the_python_snippets_run() {
    let mut shell = Shell::start();
    let snippets: Vec<Block> =
        blocks(README).into_iter().filter(|block| block.language == "python").collect();
    assert!(!snippets.is_empty());
    for snippet in snippets {
        let said = shell.run_program(&snippet, "python");
        assert!(said.contains("Guten Tag"), "{said}");
    }
}

/// A program of `docs/clients.md` prints what the block `text` behind it shows; without one, the rendered prompt.
#[test]
fn the_snippets_for_clients_print_what_is_shown_or_the_rendered_prompt() {
    let mut shell = Shell::start();
    // Modules are looked for in the current folder.
    let node = format!("env -C {} node --input-type=module", installed().display());
    let (mut rendered, mut shown) = (0, 0);
    let mut blocks = blocks(CLIENTS).into_iter().peekable();
    while let Some(block) = blocks.next() {
        let command = match block.language {
            "python" => python_for(&block.text),
            "js" => node.clone(),
            _ => {
                shell.run_as_shown(&block);
                continue;
            }
        };
        let said = shell.run_program(&block, &command);
        match blocks.next_if(|next| next.language == "text") {
            Some(output) => {
                shown += 1;
                assert_eq!(said, output.text, "{}", block.text);
            }
            None => {
                rendered += 1;
                assert_eq!(said, "Translate into French: Guten Tag\n", "{}", block.text);
            }
        }
    }
    assert!(rendered >= 7 && shown >= 3, "{rendered} and {shown} programs were found");
}

#[test]
fn the_rust_snippet_is_the_one_that_is_tested_with_the_engine() {
    let tested = include_str!("../../crates/template/README.md");
    let lines = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    let snippets: Vec<Block> = blocks(README).into_iter().filter(|block| block.language == "rust").collect();
    assert!(!snippets.is_empty());
    for snippet in snippets {
        assert!(lines(tested).join("\n").contains(&lines(&snippet.text).join("\n")), "{}", snippet.text);
    }
}
