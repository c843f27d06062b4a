//! What the user typed. Every flag is defined here once, with its help.

mod admin;
mod mcp;
mod records;

use std::net::SocketAddr;
use std::path::PathBuf;

use callgate_call::Surface;
use callgate_dialect::Dialect;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand, ValueEnum};

use crate::exit;
pub(crate) use admin::{AddKey, Config, Doctor, Keys, RenewKey};
pub(crate) use mcp::{
    Detected, Detections, Launch, MCP_CALLS, MCP_EVENTS, Mcp, McpCalls, McpEvents, McpFilters,
    McpServe, Passed, Pick, Pins, PinsList, Servers, Tools, Wrap,
};
pub(crate) use records::{Audit, By, Calls, CallsCommand, Events, Filters, Stats, Tail, Wide};

/// A firewall for the tool calls AI agents make.
#[derive(Debug, Parser)]
#[command(
    name = "callgate",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    after_long_help = exit::help()
)]
pub(crate) struct Args {
    /// The config file; else the one of $CALLGATE_CONFIG, the user's or the system's
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// See calls allowed and blocked, with nothing installed and no key.
    ///
    /// Runs a scripted model, the gateway and a client inside this process, on loopback, and shows
    /// what the model sent beside what the client got, and the records.
    Demo(Demo),

    /// Run the gateway: agents and SDKs point at it, it points at the providers.
    ///
    /// Every tool call in an answer is held until the policies have judged it and its record is
    /// written. Policy files are watched: a good change is in force at once, a broken one is
    /// rejected and the last good policies stay. SIGHUP loads them anew. SIGINT and SIGTERM stop
    /// the gateway once streams have finished.
    #[command(after_long_help = exit::help())]
    Serve(Serve),

    /// Judge the tool calls in a model's response: stdin to stdout.
    ///
    /// Reads a response (server-sent events or one JSON body, told apart by its bytes) and writes
    /// the judged one while it arrives. Text passes at once and byte for byte; a call leaves only
    /// with a permit. What was judged is told on stderr, one line each. Limits count within this
    /// one response; the hour and weekday of rules are UTC.
    #[command(after_long_help = exit::help())]
    Filter(Filter),

    /// Judge one call, or a file of calls.
    ///
    /// The call comes from `--tool` and `--input`, or as one JSON object: the argument CALL, else
    /// stdin. The object has the keys tool, input, server, id, surface, agent, session, cwd, home,
    /// provider and model; all but tool are optional, and what it says wins over the flags. An
    /// input that is a string is the free text of a custom tool. Limits count nothing here; the
    /// hour and weekday of rules are UTC.
    #[command(after_long_help = exit::help())]
    Check(Check),

    /// Check, explain and list policies.
    #[command(subcommand)]
    Policy(Policy),

    /// List the tool calls that were recorded, the newest first.
    Calls(Calls),

    /// List what else was recorded: policies that changed, and the like.
    Events(Events),

    /// Count calls by verdict, tool, rule, model and day.
    Stats(Stats),

    /// Show records as they come.
    ///
    /// Begins with the newest ones (10, or as many as `--limit` says) and goes on until Ctrl-C.
    Tail(Tail),

    /// Prove the records, or write them out.
    #[command(subcommand)]
    Audit(Audit),

    /// Check the config file, or print its schema.
    #[command(subcommand)]
    Config(Config),

    /// Put MCP servers behind the gate, and see what is known of them.
    #[command(subcommand)]
    Mcp(Mcp),

    /// Make, list, renew and revoke gateway keys.
    #[command(subcommand)]
    Keys(Keys),

    /// Say what runs here, what is enforced, and what is not.
    ///
    /// Ends with 1 if something does not work. A gateway that does not run is no fault.
    Doctor(Doctor),

    /// Write a short config file to start with.
    ///
    /// It builds on the rules of `builtin:starter` and adds one of your own. It goes to the user's
    /// config folder, where every command finds it, or to the file that `--config` names.
    Init(Init),

    /// Print a completion script.
    Completions {
        /// The shell to print it for.
        shell: clap_complete::Shell,
    },

    /// Print the manual page.
    Man {
        /// Write one page per command into this folder instead.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct Demo {
    /// Do not pause between the parts.
    #[arg(long)]
    pub(crate) fast: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// Listen here instead of where the config says. On any address but loopback, clients need
    /// gateway keys.
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,

    /// The form of the log on stderr.
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub(crate) log_format: LogFormat,

    /// Refuse a config or policy that other users can change, also when it changes later. Without
    /// it they are only warned about.
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object a line.
    Json,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Filter {
    /// The API the response comes from.
    #[arg(long, value_parser = dialect())]
    pub(crate) dialect: Dialect,

    #[command(flatten)]
    pub(crate) policies: PolicyFiles,

    /// What a denied call leaves behind.
    #[arg(long, value_enum, default_value_t = OnDeny::Explain)]
    pub(crate) on_deny: OnDeny,

    /// The codings of the input, as its Content-Encoding header names them: gzip, deflate, br,
    /// zstd. The output is always decoded.
    #[arg(long, value_name = "CODINGS")]
    pub(crate) content_encoding: Option<String>,

    /// Tell what was judged as JSON lines.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) context: Context,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnDeny {
    /// A notice for the model and the user, in the call's place.
    Explain,
    /// Nothing, or a neutral text where the turn would be empty.
    Silent,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) call: Call,

    /// The call as one JSON object; `-` is stdin.
    #[arg(value_name = "CALL", conflicts_with_all = ["tool", "jsonl"])]
    pub(crate) object: Option<String>,

    /// Judge many calls, one JSON object a line; `-` is stdin. Answers with one JSON line each,
    /// as soon as it is judged.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tool", "explain"])]
    pub(crate) jsonl: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) policies: PolicyFiles,

    /// Answer as one JSON line.
    #[arg(long)]
    pub(crate) json: bool,

    /// Tell the whole judgement: what decided, what else matched, what could not be evaluated.
    #[arg(long)]
    pub(crate) explain: bool,
}

/// A call given as flags, and what is known about its surroundings.
#[derive(Debug, clap::Args)]
pub(crate) struct Call {
    /// The tool's name.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,

    /// The arguments, as JSON; `{}` if left out.
    #[arg(long, value_name = "JSON", requires = "tool")]
    pub(crate) input: Option<String>,

    /// The MCP server the tool belongs to.
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,

    /// Where the call shows up.
    #[arg(long, default_value = "hook", value_parser = surface())]
    pub(crate) surface: Surface,

    /// The user's home folder; $HOME if left out.
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<String>,

    #[command(flatten)]
    pub(crate) context: Context,
}

const CONTEXT: &str = "Context";

/// What rules may ask about the surroundings of a call.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Context {
    /// The agent that makes the calls.
    #[arg(long, help_heading = CONTEXT, value_name = "NAME")]
    pub(crate) agent: Option<String>,

    /// The agent's session.
    #[arg(long, help_heading = CONTEXT, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// The agent's working folder.
    #[arg(long, help_heading = CONTEXT, value_name = "DIR")]
    pub(crate) cwd: Option<String>,

    /// The organisation of whoever runs the agent; not known if left out.
    #[arg(long, help_heading = CONTEXT, value_name = "NAME")]
    pub(crate) org: Option<String>,

    /// The team of whoever runs the agent; not known if left out.
    #[arg(long, help_heading = CONTEXT, value_name = "NAME")]
    pub(crate) team: Option<String>,

    /// Whoever runs the agent.
    #[arg(long, help_heading = CONTEXT, value_name = "NAME")]
    pub(crate) user: Option<String>,

    /// The gateway key that the agent shows. With one, what is left out of `--org`, `--team` and
    /// `--user` is not unknown: the key has none.
    #[arg(long, help_heading = CONTEXT, value_name = "NAME")]
    pub(crate) key: Option<String>,

    /// The provider of the model.
    #[arg(long, help_heading = CONTEXT, value_name = "NAME")]
    pub(crate) provider: Option<String>,

    /// The model.
    #[arg(long, help_heading = CONTEXT, value_name = "NAME")]
    pub(crate) model: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PolicyFiles {
    /// A policy file, or `builtin:starter`; may be given several times, the strictest verdict wins
    ///
    /// Without it: the policies of the config. That is the file of `--config`, else the one that
    /// $CALLGATE_CONFIG names, else callgate.yaml in the user's config folder ($XDG_CONFIG_HOME or
    /// ~/.config)/callgate or in /etc/callgate; without any, builtin:starter.
    #[arg(long = "policy", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Policy {
    /// Find every problem in policy files.
    ///
    /// Shows each problem and warning with its place in the text. Warnings do not fail.
    Check {
        /// Policy files, read together; without any, those of the config.
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,

        /// Print the findings as one JSON object.
        #[arg(long)]
        json: bool,
    },

    /// Say why a call gets its verdict, rule by rule.
    ///
    /// Tells each condition with its answer (yes, no or unknown) and the values it saw, and what
    /// came of the rule. Limits are not counted.
    ///
    /// Ends with 0 whatever the verdict is; `callgate check` is the command for scripts.
    /// Without `--tool` the call is read from stdin as one JSON object, as `callgate check` does.
    Explain {
        /// Policy files, or `builtin:starter`; without any, those that `callgate check` would use.
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,

        #[command(flatten)]
        call: Box<Call>,

        /// Tell the conditions of rules that are not about this call, too.
        #[arg(long)]
        all: bool,

        /// Answer as one JSON line, with every rule.
        #[arg(long)]
        json: bool,
    },

    /// List what can be detected: secrets, personal data.
    ///
    /// A rule names a detector, or all of a group with the group's word.
    Detectors {
        #[command(flatten)]
        wide: Wide,

        /// Print one JSON object per detector.
        #[arg(long)]
        json: bool,
    },

    /// List the rules, and the defaults of the policies.
    List {
        /// Policy files, or `builtin:starter`; without any, those that `callgate check` would use.
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,

        #[command(flatten)]
        wide: Wide,

        /// Print one JSON object per rule.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct Init {
    /// Write ./callgate.yaml instead.
    #[arg(long)]
    pub(crate) project: bool,

    /// Copy the rules of `builtin:starter` into the file, to change or remove some of them. New
    /// versions of callgate do not update a copy.
    #[arg(long)]
    pub(crate) copy_starter: bool,

    /// Overwrite the file if it is there.
    #[arg(long)]
    pub(crate) force: bool,
}

fn dialect() -> impl TypedValueParser<Value = Dialect> {
    PossibleValuesParser::new(Dialect::ALL.map(Dialect::as_str))
        .try_map(|word| Dialect::from_word(&word).ok_or("no such dialect"))
}

fn surface() -> impl TypedValueParser<Value = Surface> {
    PossibleValuesParser::new(Surface::ALL.map(Surface::as_str))
        .try_map(|word| Surface::from_word(&word).ok_or("no such surface"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_flags_fit_together() {
        super::Args::command().debug_assert();
    }
}
