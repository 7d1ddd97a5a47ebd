//! Lines for a shell: what a session of commands proposes, where a shell runs it.

use super::{Judge, MOST_BYTES};
use crate::command::Command;
use crate::decision::{Decision, Level, Rule};
use crate::line::Line;
use crate::policy::Policy;

impl Policy {
    /// The level of a line that `sh -c` is to run, with every reason for it. Nothing is started.
    ///
    /// A line of plain commands has the highest level of these. Any other one is at least L1: a shell decides what it runs.
    pub fn classify_line(&self, line: &Line) -> Decision {
        if line.text().len() > MOST_BYTES {
            let message = format!("{} bytes are more than can be judged", line.text().len());
            return Decision::of(vec![Rule::TooLong.at(Level::L2, message)]);
        }
        let mut judge = Judge::new(self, self.cwd.clone());
        judge.line(line);
        let mut reasons = judge.found;
        for words in line.commands().unwrap_or_default() {
            if let Some((program, args)) = words.split_first() {
                let command = Command::new(program, args.iter().map(String::as_str));
                reasons.extend(self.classify(&command).reasons);
            }
        }
        Decision::of(reasons)
    }
}

impl Judge<'_> {
    fn line(&mut self, line: &Line) {
        let text = line.text();
        if text.trim().is_empty() || text.contains('\0') {
            let message = "the line is empty, or there is a NUL byte in it";
            return self.add(Rule::InvalidProgram, Level::L2, message);
        }
        self.shell_code(text);
        if line.commands().is_none() {
            self.add(
                Rule::Interpreter,
                Level::L1,
                "the line is code for a shell, which decides what it runs",
            );
        }
        if let Some(host) = &self.policy.host {
            let message = format!("it runs on {host}, whose files and programs are not known here");
            self.add(Rule::Elsewhere, Level::L1, message);
        }
        self.letters(&Command::new(text, []));
        self.broken();
    }
}
