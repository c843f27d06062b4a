//! `callgate mcp wrap`: an MCP server behind the standard input and output of callgate.

use std::path::Path;

use anyhow::{Context as _, Result};
use callgate_call::{Origin, OriginFields, Principal, Surface};
use callgate_config::{ConfigError, McpServer, Process, ResolvedConfig, StartSettings};
use callgate_decide::mcp::{Launch, McpSession};
use callgate_decide::{Decider, RequestContext, login};
use callgate_mcp::{Program, ProgramError, ServerCommand, StdioSettings, environment};
use callgate_store::Store;

use rustix::process::{DumpableBehavior, set_dumpable_behavior};

use super::launch;
use crate::args;
use crate::commands::serve::logging;
use crate::exit::Exit;
use crate::reload::{self, Prepared, Reloader, Running};
use crate::render::{self, hinted};

pub(super) fn run(args: &args::WrapArgs, config: Option<&Path>) -> Result<Exit> {
    check_name(&args.server)?;
    // Otherwise the server could read our whole environment, keys and all.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).context("cannot hide the environment")?;
    let shim = Shim { server: args.server.clone() };
    let mut resolved = shim.load(config)?;
    let started = shim.start_settings(&resolved);
    let declared = resolved.mcp_servers.iter().find(|server| server.id == args.server);
    let words = command(args, declared)?;
    let program = program(args, declared, &words)?;
    logging::quiet()?;
    reload::warn_of_exposed(&resolved.policies);
    crate::records::announce_move(&resolved.audit.store);
    let audit = Store::open(&resolved.audit)?;
    let policies = resolved.policies.compiled.take();
    let decider = Decider::new(policies, audit.clone(), resolved.decide.clone());
    decider.set_mcp(reload::shared_limits(resolved.mcp.clone()));
    let (name, rest) = words.split_first().context("there is no command")?;
    let launch = Launch::command(name, rest, program.file.to_str());
    let session = conversation(&decider, &args.server, &launch);
    if let Err(denial) = session.admitted() {
        render::talk(&format!("{}\n", session.denial_text(&denial)));
        return Ok(Exit::Denied);
    }
    let watch = Reloader::watch(config, &resolved.policies, decider, shim, started)?;
    let named = declared.map(|server| server.env.as_slice()).unwrap_or_default();
    let named: Vec<String> = named.iter().chain(&args.env).cloned().collect();
    let command = ServerCommand {
        program: program.path,
        args: rest.iter().map(Into::into).collect(),
        env: environment(std::env::vars_os(), &named),
    };
    let settings = StdioSettings {
        max_message: resolved.mcp_message_limit,
        list_timeout: resolved.mcp_list_timeout,
        grace: args.grace,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(callgate_mcp::wrap(session, launch::bound(command), settings))?;
    runtime.shutdown_background();
    // A reload that has begun is recorded before the last flush.
    drop(watch);
    audit.flush().wait().context("the last records could not be written")?;
    Ok(Exit::Server(ended.code))
}

/// A shim of this server.
struct Shim {
    server: String,
}

impl Running for Shim {
    const RESTART: &'static str = "restart this MCP server, or its agent,";

    fn load(&self, config: Option<&Path>) -> Result<ResolvedConfig, ConfigError> {
        callgate_config::load(config, &[Surface::Mcp])
    }

    fn start_settings(&self, resolved: &ResolvedConfig) -> StartSettings {
        StartSettings::of(resolved, Process::Shim { server: &self.server })
    }

    /// Everything else that a shim takes over is the decider's.
    fn prepare(&self, _: &ResolvedConfig, _: &[String]) -> Result<Prepared, String> {
        Ok(Prepared { put_in_force: Box::new(|| {}), weakened: Vec::new() })
    }
}

/// Rules and records go by this name: it must be one.
fn check_name(server: &str) -> Result<()> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    match !server.is_empty() && server.len() <= 64 && server.chars().all(is_plain) {
        true => Ok(()),
        false => Err(hinted(
            format!("`{server}` is not a valid server name"),
            "use letters, digits, `-`, `_` and `.`, at most 64",
        )),
    }
}

/// The command, as it was given or as the config declares it. A declared server is only ever what
/// was declared: changing the agent's config must not change what runs under its name.
fn command(args: &args::WrapArgs, declared: Option<&McpServer>) -> Result<Vec<String>> {
    let of_config = declared.and_then(|server| {
        let command = server.command.as_ref()?;
        Some(std::iter::once(command).chain(&server.args).cloned().collect::<Vec<_>>())
    });
    match (of_config, args.command.as_slice()) {
        (Some(words), []) => Ok(words),
        (Some(words), given) if words == given => Ok(words),
        (Some(words), _) => Err(hinted(
            format!(
                "the config declares another command for `{}`: {}",
                args.server,
                words.join(" ")
            ),
            "leave the command out, or change `mcp.servers` in the config",
        )),
        (None, []) => Err(hinted(
            format!("there is no command for `{}`", args.server),
            "give it after `--`, or declare the server under `mcp.servers` in the config",
        )),
        (None, given) => Ok(given.to_vec()),
    }
}

fn program(
    args: &args::WrapArgs,
    declared: Option<&McpServer>,
    words: &[String],
) -> Result<Program> {
    let command = words.first().map_or("", String::as_str);
    let path = std::env::var_os("PATH");
    let program = Program::find(command, path.as_deref()).map_err(program_error)?;
    let pinned = args.sha256.as_ref().or_else(|| declared?.sha256.as_ref());
    if let Some(pinned) = pinned {
        program.check(pinned).map_err(program_error)?;
    }
    Ok(program)
}

fn program_error(error: ProgramError) -> anyhow::Error {
    let hint = match &error {
        ProgramError::NotFound(_) => {
            "write its full path, or check $PATH where this command starts"
        }
        ProgramError::Read { .. } => "check its permissions",
        ProgramError::Other { .. } => {
            "if it was updated on purpose, pin the new hash (`sha256` in the config, or --sha256)"
        }
    };
    hinted(error.to_string(), hint)
}

/// The caller: the agent that started us.
fn conversation(decider: &Decider, server: &str, launch: &Launch) -> McpSession {
    let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let named = SESSIONS.iter().find_map(|name| text(name));
    let origin = |session| {
        Origin::new(OriginFields {
            who: Principal::user(login::own()),
            session,
            cwd: std::env::current_dir().ok().map(|folder| folder.display().to_string()),
            home: text("HOME"),
            ..OriginFields::at(Surface::Mcp)
        })
    };
    let begin = |session| decider.mcp(server, launch, RequestContext::new(origin(session)));
    match named {
        Some(named) => begin(Some(named)),
        None => begin(parent()).named_by_door(),
    }
}

/// Where agents name their session to what they start.
const SESSIONS: [&str; 2] = ["CALLGATE_SESSION", "CLAUDE_CODE_SESSION_ID"];

/// All servers of one agent have the same parent. Its number alone may be used again.
fn parent() -> Option<String> {
    let id = rustix::process::getppid()?.as_raw_nonzero();
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // The program's name is in brackets and may contain anything; the start time is the 20th field
    // after it.
    let started = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(19));
    Some(format!("process-{id}-{}", started.unwrap_or("0")))
}
