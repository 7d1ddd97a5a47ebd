//! Code of other languages than shells: only names of commands and calls that are known to destroy are looked for.

use super::{Judge, guess, literals};
use crate::decision::{Level, Rule};

/// Names in code that remove whole folders.
const REMOVERS: &[&str] = &["remove_tree", "rimraf", "rm_r", "rm_rf", "rmtree"];

/// Calls in code that take a line for a shell, or code.
const TAKES_CODE: &[&str] = &[
    "Function",
    "io.popen",
    "os.execute",
    "eval",
    "exec",
    "execSync",
    "getoutput",
    "getstatusoutput",
    "instance_eval",
    "passthru",
    "popen",
    "shell_exec",
    "system",
];

/// Calls of Python that take a line for a shell, if they are told so.
const RUN_BY_PYTHON: &[&str] = &["Popen", "call", "check_call", "check_output", "run"];

/// Calls of Perl and Ruby without parentheses.
const RUN_WITHOUT_PARENTHESES: &[&str] = &["exec $", "exec @", "system $", "system @"];

/// What reads the standard input, in code.
const INPUTS: &[&str] = &[
    "/dev/stdin",
    "dofile()",
    "<>",
    "<STDIN>",
    "STDIN",
    "io.read",
    "php://stdin",
    "readFileSync(0",
    "sys.stdin",
    "URI.open",
];

/// What downloads, in code.
const DOWNLOADS: &[&str] = &[
    "LWP",
    "Net::HTTP",
    "curl",
    "fetch(",
    "file_get_contents",
    "http.get",
    "https.get",
    "open-uri",
    "requests.get",
    "urlopen",
    "urlretrieve",
    "wget",
];

/// What makes code out of other text.
const DECODERS: &[&str] = &[
    "Buffer.from",
    "atob(",
    "b64decode",
    "base64_decode",
    "codecs.decode",
    "decode64",
    "decompress",
    "fromCharCode",
    "fromhex",
    "gzinflate",
    "marshal",
    "pack(",
    "str_rot13",
    "unhexlify",
];

/// What runs text.
const RUNS: &[&str] = &[
    "Function(",
    "child_process",
    "eval",
    "exec",
    "instance_eval",
    "popen",
    "spawn",
    "subprocess",
    "system",
    "vm.run",
    "dofile",
    "do \"",
    "include",
    "loadstring",
    "load(io",
];

/// What writes files, in code.
const WRITES: &[&str] = &[
    "\">",
    "'>",
    "\"a\"",
    "\"w\"",
    "\"wb\"",
    "'a'",
    "'w'",
    "'wb'",
    "File.write",
    "appendFile",
    "file_put_contents",
    "writeFile",
    "write_text",
    "File.delete",
    "os.remove",
    "removeSync",
    "rmSync",
    "rmdir",
    "unlink",
];

impl Judge<'_> {
    /// Code of another language: only names of commands and calls that are known to destroy are looked for.
    pub(super) fn other_code(&mut self, text: &str) {
        if !self.enter(1 + text.len() / 16) {
            return;
        }
        let spelled = literals::spelled(text);
        let text = spelled.as_str();
        let words = guess::words(text);
        let has = |names: &[&str]| names.iter().any(|name| text.contains(name));
        let is_system = |word: &&str| word.starts_with('/') && crate::place::is_system(word.as_ref());
        let removes_all =
            text.contains("recursive") && text.contains("force") && has(&["rmSync", "fs.rm", ".rm("]);
        if removes_all || words.iter().any(|word| REMOVERS.iter().any(|name| word.ends_with(name))) {
            self.add(Rule::Destructive, Level::L2, "the code removes whole folders");
        }
        if has(RUNS) && has(DOWNLOADS) {
            self.add(Rule::DownloadRun, Level::L2, "the code runs what it downloads");
        }
        if has(RUNS) && has(DECODERS) {
            self.unknown_code("the code runs what it decodes");
        }
        if TAKES_CODE.iter().any(|name| literals::has_made_argument(text, name)) {
            self.unknown_code("the code runs a text that is made while it runs");
        }
        let runs_lines = text.contains("shell=True")
            && RUN_BY_PYTHON.iter().any(|name| literals::has_made_argument(text, name));
        if runs_lines || has(RUN_WITHOUT_PARENTHESES) {
            self.unknown_code("the code runs a line that is made while it runs");
        }
        for line in TAKES_CODE.iter().flat_map(|name| literals::plain_arguments(text, name)) {
            self.perhaps_code(line);
        }
        if has(RUNS) && has(INPUTS) {
            self.unknown_code("the code runs what it reads");
        }
        if has(WRITES) && words.iter().any(is_system) {
            self.add(Rule::SystemPath, Level::L2, "the code writes to a path of the system");
        }
        self.guesses(&words);
        self.depth -= 1;
    }
}
