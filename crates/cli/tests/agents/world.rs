//! A gateway between an agent, a scripted model and two scripted servers.

use std::fs;
use std::path::Path;
use std::process::Command;

use callgate_testkit::gateway::{Gateway, Setup};
use callgate_testkit::upstream::Upstream;
use serde_json::Value;
use tempfile::TempDir;

use crate::agent::{Agent, Surroundings, Turn};
use crate::installed::Installed;
use crate::model::{Model, Said};
use crate::process::{Ended, run};
use crate::servers::{SHIM, Started, WEB};

/// What the tests forbid: tools as a whole, a call in the model's answer, a call at the server, and
/// a command.
const POLICY: &str = "\
policy: p
rules:
  - { id: hidden, tool: [burn_notes, drop_pages], surface: mcp, verdict: deny, reason: Nothing is destroyed. }
  - { id: not-in-answers, server: '*', surface: response, when: { arg: text, equals: in-answers }, verdict: deny, reason: Not in an answer. }
  - { id: not-at-servers, server: '*', surface: mcp, when: { arg: text, equals: at-servers }, verdict: deny, reason: Not at a server. }
  - { id: no-marker, tool: '@shell', when: { arg: $, contains: forbidden }, verdict: deny, reason: No such file. }
";

pub(crate) struct World<'a> {
    pub(crate) agent: Agent,
    installed: &'a Installed,
    gateway: Gateway,
    model: Upstream,
    web: Upstream,
    shim: Started,
    home: TempDir,
    work: TempDir,
}

impl<'a> World<'a> {
    /// An agent that is ready, and a model that will say this.
    #[track_caller]
    pub(crate) fn new(agent: Agent, installed: &'a Installed, script: Vec<Vec<Said>>) -> Self {
        Self::with_settings(agent, installed, script, "")
    }

    /// The same with more settings of the gateway.
    #[track_caller]
    pub(crate) fn with_settings(
        agent: Agent,
        installed: &'a Installed,
        script: Vec<Vec<Said>>,
        settings: &str,
    ) -> Self {
        let model = Model { agent, script }.start();
        let web = WEB.serve();
        let binary = Path::new(env!("CARGO_BIN_EXE_callgate"));
        let web_url = web.url();
        let servers =
            format!("{settings}\nmcp:\n  servers:\n    web: {{ url: \"{web_url}/mcp\" }}\n");
        let gateway = Setup::new(binary, &model.url(), POLICY, &servers).start();
        let shim = Started::new(&SHIM, gateway.folder());
        let (home, work) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let world = Self { agent, installed, gateway, model, web, shim, home, work };
        world.with_surroundings(|at| agent.set_up(at));
        world
    }

    /// The same after a restart of the gateway.
    pub(crate) fn restart(self) -> Self {
        let world = Self { gateway: self.gateway.restart(), ..self };
        world.with_surroundings(|at| world.agent.set_up(at));
        world
    }

    fn with_surroundings<T>(&self, then: impl FnOnce(&Surroundings<'_>) -> T) -> T {
        let config = self.gateway.folder().join("callgate.yaml");
        let words = [
            env!("CARGO_BIN_EXE_callgate"),
            "--config",
            config.to_str().unwrap(),
            "mcp",
            "wrap",
            "--server",
            SHIM.name,
            "--",
        ];
        let words = words.iter().map(|&word| word.to_owned());
        let shim: Vec<String> = words.chain(self.shim.command.iter().cloned()).collect();
        then(&Surroundings {
            gateway: &self.gateway.url(),
            shim: &shim,
            web: &format!("{}/mcp/{}", self.gateway.url(), WEB.name),
            home: self.home.path(),
            work: self.work.path(),
        })
    }

    /// Gives the agent rules of its own: a policy, exported to a file in its home or in the folder where it
    /// works.
    #[track_caller]
    pub(crate) fn give_rules(&self, to: &str, policy: &str, place: &str) {
        let folder = match self.agent {
            Agent::ClaudeCode | Agent::OpenCode => &self.work,
            Agent::Codex | Agent::CodexPrograms | Agent::Gemini => &self.home,
        };
        let file = folder.path().join(place);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(self.home.path().join("rules.yaml"), policy).unwrap();
        let mut export = Command::new(env!("CARGO_BIN_EXE_callgate"));
        export.args(["policy", "export", "--to", to, "--policy"]);
        export.arg(self.home.path().join("rules.yaml")).arg("--output").arg(&file);
        let output = export.output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    /// Lets the agent work until it has nothing more to do. Gives what it showed.
    #[track_caller]
    pub(crate) fn run(&self, turn: Turn) -> String {
        let ended = self.with_surroundings(|at| {
            run(&mut self.agent.command(self.installed, at, turn), self.home.path())
        });
        let Ended { status, said, errors } = ended;
        assert!(status.success(), "{:?}: {status}\n{said}\n{errors}", self.agent);
        said
    }

    /// What the agent asked its model, oldest first.
    pub(crate) fn asked(&self) -> Vec<Value> {
        self.model.requests().iter().map(|request| request.json()).collect()
    }

    /// The only other question but the first.
    #[track_caller]
    pub(crate) fn second(&self) -> Value {
        let mut asked = self.asked();
        assert_eq!(asked.len(), 2, "{:?}", self.agent);
        asked.remove(1)
    }

    /// How many calls each of the servers got.
    pub(crate) fn executed(&self) -> (usize, usize) {
        let web = self.web.requests();
        let web = web.iter().filter(|request| request.json()["method"] == "tools/call").count();
        (self.shim.calls().len(), web)
    }

    /// Whether a file is in the folder where the agent works.
    pub(crate) fn has(&self, name: &str) -> bool {
        fs::exists(self.work.path().join(name)).unwrap()
    }

    /// What `callgate mcp calls` lists of this kind, oldest first.
    #[track_caller]
    pub(crate) fn records(&self, kind: &str) -> Vec<Value> {
        let ran = self.gateway.run(&["mcp", "calls", "--json", "--type", kind]);
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let text = String::from_utf8(ran.stdout).unwrap();
        let mut records: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        records.reverse();
        records
    }

    /// The same, once there are any.
    #[track_caller]
    pub(crate) fn wait_for(&self, kind: &str) -> Vec<Value> {
        assert!(self.gateway.wait_until(|_| !self.records(kind).is_empty()), "no {kind}");
        self.records(kind)
    }
}
