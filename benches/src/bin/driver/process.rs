//! Servers under measurement: started on a free port, watched through `/proc`, gone when dropped.

use std::ffi::OsStr;
use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tempfile::TempDir;

use crate::{Outcome, client};

/// How long a server may take until it is ready.
const START_LIMIT: Duration = Duration::from_secs(120);

/// A running server.
pub struct Server {
    /// `http://127.0.0.1:PORT`.
    pub base: String,
    /// From its start to its first good answer to a readiness check.
    pub ready_after: Duration,
    child: Child,
    folder: TempDir,
}

impl Server {
    /// Runs the release binary with default settings but for the address, the store and the packages. Without a store
    /// it keeps an embedded one in a temporary folder. `flags` go on the command line.
    pub async fn service(store: Option<&str>, packages: Option<&Path>, flags: &[&str]) -> Outcome<Server> {
        let (address, folder) = (free_address()?, tempfile::tempdir()?);
        let embedded = format!("embedded:{}", folder.path().join("data").display());
        let mut command = Command::new(executable("ai-prompt-shell")?);
        command.arg("serve").args(["--listen", &address]).args(["--store", store.unwrap_or(&embedded)]);
        command.args(flags).arg("--packages").arg(packages.unwrap_or(&folder.path().join("none")));
        Server::start(command, &address, "/readyz", folder).await
    }

    /// Runs the bare handler over a folder with the workload.
    pub async fn bare(workload: &Path) -> Outcome<Server> {
        Server::yardstick("bare", &[workload.as_os_str()]).await
    }

    /// Runs the bare proxy over a folder with the workload, in front of an upstream that it asks with `client`.
    pub async fn proxy(workload: &Path, upstream: &str, client: &str) -> Outcome<Server> {
        Server::yardstick("proxy", &[workload.as_os_str(), upstream.as_ref(), client.as_ref()]).await
    }

    async fn yardstick(name: &str, arguments: &[&OsStr]) -> Outcome<Server> {
        let (address, folder) = (free_address()?, tempfile::tempdir()?);
        let mut command = Command::new(executable(name)?);
        command.arg(&address).args(arguments);
        Server::start(command, &address, "/", folder).await
    }

    async fn start(mut command: Command, address: &str, check: &str, folder: TempDir) -> Outcome<Server> {
        let log = folder.path().join("log");
        let output = File::create(&log)?;
        command.current_dir(folder.path()).stdin(Stdio::null());
        let started = Instant::now();
        let child = command.stdout(output.try_clone()?).stderr(output).spawn()?;
        let base = format!("http://{address}");
        let mut server = Server { base, ready_after: Duration::ZERO, child, folder };
        let url = server.url(check);
        // The bare programs know no readiness check: any answer of them will do.
        while !client::answers(&url, check == "/readyz").await {
            let ended = server.child.try_wait()?;
            if ended.is_some() || started.elapsed() > START_LIMIT {
                return Err(format!("the server did not start: {}", std::fs::read_to_string(&log)?).into());
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        server.ready_after = started.elapsed();
        Ok(server)
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// How many bytes the server has logged.
    pub fn logged(&self) -> Outcome<u64> {
        Ok(self.folder.path().join("log").metadata()?.len())
    }

    /// A line of `/proc/PID/status` in KiB: `VmRSS` (now), `VmHWM` (at most so far).
    pub fn memory_kib(&self, line: &str) -> Outcome<u64> {
        let status = std::fs::read_to_string(self.proc("status"))?;
        let value = status.lines().find_map(|l| l.strip_prefix(line)?.strip_prefix(':'));
        let number = value.and_then(|value| value.split_whitespace().next());
        Ok(number.ok_or_else(|| format!("no {line} in /proc"))?.parse()?)
    }

    /// The processor time that the server has used so far.
    pub fn cpu_time(&self) -> Outcome<Duration> {
        let stat = std::fs::read_to_string(self.proc("stat"))?;
        // The second field, the name in parentheses, may hold anything; utime and stime are the 14th and the 15th.
        let fields = stat.rsplit_once(')').ok_or("no name in /proc/PID/stat")?.1;
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
        let ticks = ticks.sum::<Result<u64, _>>()?;
        Ok(Duration::from_millis(ticks * 1000 / ticks_per_second()?))
    }

    /// Stops the process in its tracks, so that it takes no processor time while another server is measured.
    pub fn pause(&self) -> Outcome {
        self.signal("-STOP")
    }

    /// Lets a paused process go on.
    pub fn resume(&self) -> Outcome {
        self.signal("-CONT")
    }

    fn signal(&self, signal: &str) -> Outcome {
        let status = Command::new("kill").args([signal, &self.child.id().to_string()]).status()?;
        if status.success() { Ok(()) } else { Err(format!("kill {signal} failed").into()) }
    }

    fn proc(&self, file: &str) -> PathBuf {
        Path::new("/proc").join(self.child.id().to_string()).join(file)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        stop(&mut self.child);
    }
}

/// Raises the limit of open files of this process, and so of the servers, which inherit it.
pub fn raise_file_limit(files: u64) -> Outcome {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= files) {
        return Ok(());
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(files), maximum })
        .map_err(|error| format!("this needs {files} open files (ulimit -Hn): {error}").into())
}

/// Ends a process and waits for its end; one that is gone already is fine.
pub fn stop(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// An address of the loopback interface that nobody listens on at this moment.
pub fn free_address() -> Outcome<String> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string())
}

/// A program that cargo put beside this one.
fn executable(name: &str) -> Outcome<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name(name))
}

fn ticks_per_second() -> Outcome<u64> {
    let output = Command::new("getconf").arg("CLK_TCK").output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}
