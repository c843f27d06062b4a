//! The proxies between the two ends, each as a process of its own on a core of its own.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::{bytecopy, callgate, load, measure, nginx};

/// What can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// No proxy at all.
    Direct,
    /// A plain reverse proxy on hyper, which looks at nothing.
    Bytecopy,
    /// nginx, which looks at nothing.
    Nginx,
    /// callgate with `audit.durability: process`.
    Callgate,
    /// The same with a rule that masks secrets and personal data in what the model says.
    CallgateMasked,
    /// callgate with `audit.durability: disk`.
    CallgateDisk,
    /// callgate with `gateway.mode: off`.
    CallgateOff,
}

impl Kind {
    pub(crate) const ALL: [Self; 7] = [
        Self::Direct,
        Self::Bytecopy,
        Self::Nginx,
        Self::Callgate,
        Self::CallgateMasked,
        Self::CallgateDisk,
        Self::CallgateOff,
    ];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Bytecopy => "bytecopy",
            Self::Nginx => "nginx",
            Self::Callgate => "callgate",
            Self::CallgateMasked => "callgate-masked",
            Self::CallgateDisk => "callgate-disk",
            Self::CallgateOff => "callgate-off",
        }
    }

    /// Whether it records the calls that it lets through.
    pub(crate) fn records(self) -> bool {
        match self {
            Self::Callgate | Self::CallgateMasked | Self::CallgateDisk => true,
            Self::Direct | Self::Bytecopy | Self::Nginx | Self::CallgateOff => false,
        }
    }
}

/// How proxies are started.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    /// Where the upstream listens.
    pub(crate) upstream: SocketAddr,
    /// Rules of callgate's policy.
    pub(crate) rules: usize,
    pub(crate) callgate: PathBuf,
    pub(crate) nginx: PathBuf,
    /// The core of the proxies; `None` on a machine with one.
    pub(crate) core: Option<usize>,
    /// A program to run each proxy under, such as valgrind, with its arguments.
    pub(crate) under: Vec<String>,
}

/// A running proxy. Dropping it ends the process.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    pub(crate) kind: Kind,
    /// From the start of the process to its first answer.
    pub(crate) started_in: Duration,
    process: Option<Child>,
    /// Its configuration and its data.
    home: TempDir,
}

/// A proxy that has not answered by then never will. Long, for one that runs under valgrind.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a process may take to end when it is asked to.
const FAREWELL: Duration = Duration::from_secs(10);

/// A proxy rests when it takes less than this from one look to the next. One that never does is
/// measured as it is after this many looks.
const RESTING: Duration = Duration::from_millis(2);
const LOOKS: usize = 20;

impl Proxy {
    pub(crate) async fn start(kind: Kind, start: &Start) -> Result<Self> {
        let home = tempfile::tempdir()?;
        let begun = Instant::now();
        let (address, process) = match kind {
            Kind::Direct => (start.upstream, None),
            kind => {
                let address = free_address()?;
                let command = command(kind, start, address, home.path())?;
                (address, Some(spawn(command, start, home.path())?))
            }
        };
        let mut proxy = Self { address, kind, started_in: Duration::ZERO, process, home };
        proxy
            .first_answer(begun)
            .await
            .with_context(|| format!("{} did not start\n{}", kind.word(), proxy.log()))?;
        proxy.started_in = begun.elapsed();
        Ok(proxy)
    }

    async fn first_answer(&mut self, begun: Instant) -> Result<()> {
        loop {
            let Err(error) = load::answers(self.address, 1).await else { return Ok(()) };
            if let Some(process) = &mut self.process
                && let Some(status) = process.try_wait()?
            {
                bail!("it ended with {status}");
            }
            if begun.elapsed() > PATIENCE {
                return Err(error);
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Where its configuration and its data are.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// What it has written.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.home.path().join("log")).unwrap_or_default()
    }

    /// Its process and those it started.
    pub(crate) fn processes(&self) -> Vec<u32> {
        self.process.as_ref().map(|process| measure::tree(process.id())).unwrap_or_default()
    }

    /// CPU time of all of them until now.
    pub(crate) fn cpu(&self) -> Duration {
        self.processes().into_iter().map(measure::cpu).sum()
    }

    /// The same once they have hardly taken any more for this long: work that was left for later
    /// counts too.
    pub(crate) async fn cpu_at_rest(&self, quiet: Duration) -> Duration {
        let mut cpu = self.cpu();
        for _ in 0..LOOKS {
            tokio::time::sleep(quiet).await;
            let more = self.cpu().saturating_sub(cpu);
            cpu += more;
            if more < RESTING {
                break;
            }
        }
        cpu
    }

    /// Resident memory of all of them in bytes.
    pub(crate) fn memory(&self) -> u64 {
        self.processes().into_iter().map(measure::memory).sum()
    }

    /// Asks the process to end and waits for it. nginx's worker ends with its master.
    pub(crate) fn stop(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        if !matches!(process.try_wait(), Ok(None)) {
            return;
        }
        let _ = Command::new("sh").args(["-c", &format!("kill -TERM {}", process.id())]).status();
        let asked = Instant::now();
        while asked.elapsed() < FAREWELL {
            if !matches!(process.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = process.kill();
        let _ = process.wait();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop();
    }
}

fn command(kind: Kind, start: &Start, address: SocketAddr, home: &Path) -> Result<Command> {
    match kind {
        Kind::Direct => bail!("there is no process between"),
        Kind::Bytecopy => bytecopy::command(start, address),
        Kind::Nginx => nginx::command(start, address, home),
        Kind::Callgate | Kind::CallgateMasked | Kind::CallgateDisk | Kind::CallgateOff => {
            callgate::command(kind, start, address, home)
        }
    }
}

/// Starts a command on the proxies' core. It ends with this process, however that ends.
fn spawn(command: Command, start: &Start, home: &Path) -> Result<Child> {
    let mut words: Vec<std::ffi::OsString> = vec!["setpriv".into(), "--pdeathsig=TERM".into()];
    if let Some(core) = start.core {
        words.extend(["taskset".into(), "-c".into(), core.to_string().into()]);
    }
    words.extend(start.under.iter().map(Into::into));
    words.push(command.get_program().into());
    words.extend(command.get_args().map(Into::into));
    let (program, arguments) = words.split_first().context("a command")?;
    let log = std::fs::File::create(home.join("log"))?;
    Command::new(program)
        .args(arguments)
        .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .with_context(|| format!("cannot start {}", command.get_program().to_string_lossy()))
}

/// An address that was free a moment ago.
fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}
