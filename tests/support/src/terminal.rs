//! A program in a real terminal: tmux types, and reads the screen.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

/// How often the screen is looked at, and how many times.
const LOOK: Duration = Duration::from_millis(50);
const LOOKS: usize = 600;

/// A terminal in which a program runs, and then a line says how it ended.
pub struct Terminal {
    socket: String,
}

impl Terminal {
    /// Runs a program, its name and arguments in `words`, in a folder, with nothing but this environment, in a terminal of 100 columns and 50
    /// lines. `socket` is a path for tmux.
    pub fn start(socket: &Path, folder: &Path, environment: &[(&str, String)], words: &[String]) -> Terminal {
        let quoted = |word: &str| format!("'{}'", word.replace('\'', "'\\''"));
        let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        let variables: Vec<String> =
            environment.iter().map(|(name, value)| quoted(&format!("{name}={value}"))).collect();
        let script = format!(
            "env -i {} TERM=\"$TERM\" {}; echo \"ended with $?\"; sleep 1000",
            variables.join(" "),
            words.join(" ")
        );
        let terminal = Terminal { socket: socket.display().to_string() };
        let folder = folder.display().to_string();
        let session = ["-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "50", "-c"];
        terminal.tmux(&[&session[..], &[&folder, &script]].concat());
        terminal
    }

    fn tmux(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("tmux");
        command.env("LC_ALL", "C.UTF-8").args(["-u", "-S", &self.socket]).args(arguments);
        command.output().expect("tmux is missing: make setup")
    }

    /// What stands on the screen, and above it.
    pub fn screen(&self) -> String {
        let output = self.tmux(&["capture-pane", "-p", "-J", "-S", "-1000"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The same with its colours, as escape sequences.
    pub fn colours(&self) -> String {
        let output = self.tmux(&["capture-pane", "-p", "-e", "-J", "-S", "-1000"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Waits until a text stands on the screen so many times, and gives the screen.
    #[track_caller]
    pub fn shows_times(&self, text: &str, times: usize) -> String {
        for _ in 0..LOOKS {
            let screen = self.screen();
            if screen.matches(text).count() >= times {
                return screen;
            }
            std::thread::sleep(LOOK);
        }
        panic!("{text:?} is never shown {times} times: {}", self.screen());
    }

    /// Waits until a text stands on the screen, and gives the screen.
    #[track_caller]
    pub fn shows(&self, text: &str) -> String {
        self.shows_times(text, 1)
    }

    /// Types a text, and Enter.
    pub fn enter(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
        self.key("Enter");
    }

    /// Presses a key, as tmux calls it.
    pub fn key(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// Runs what waits for a terminal beside the servers of a test.
pub async fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}
