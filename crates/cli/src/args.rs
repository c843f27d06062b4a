//! The command line. Every flag is defined here once, with its help.

mod admin;
mod mcp;
mod records;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use callgate_call::Surface;
use callgate_decide::moment_of;
use callgate_dialect::Dialect;
use callgate_exchange::{Agent, Format};
use callgate_policy::Moment;
use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand, ValueEnum};

use crate::{exit, when};
pub(crate) use admin::{AddKeyArgs, ConfigCommand, DoctorArgs, KeysCommand, RenewKeyArgs};
pub(crate) use mcp::{
    DefinitionArgs, Detected, DetectionsArgs, LaunchArgs, MCP_CALLS, MCP_EVENTS, McpCallsArgs,
    McpCommand, McpEventsArgs, McpFilterArgs, McpServeArgs, Passed, PinsCommand, PinsListArgs,
    ServersArgs, ToolsArgs, WrapArgs,
};
pub(crate) use records::{
    AuditCommand, CallsArgs, CallsCommand, EventsArgs, MarkCallsArgs, PrincipalFilterArgs,
    RecordFilterArgs, StatsArgs, TailArgs, WideArgs,
};

const GLOBAL: &str = "Global options";

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
    /// The config file [default: $CALLGATE_CONFIG, or the user's, or the system's]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Print colours: always, never, or auto (on a terminal, unless $NO_COLOR is set) [default:
    /// auto]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "WHEN", value_enum)]
    #[arg(default_value_t = ColorWhen::Auto, hide_default_value = true, hide_possible_values = true)]
    pub(crate) color: ColorWhen,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Watch calls being allowed and blocked; needs no agent and no API key.
    ///
    /// Runs a scripted model, the gateway and a client inside this process, on loopback. Shows what
    /// the model sent, what the client received, and the records.
    Demo(DemoArgs),

    /// Run the gateway between agents or SDKs and their providers.
    ///
    /// Every tool call in a response is held until the policies have judged it and its record is
    /// written. On a terminal, each denied call is printed. Policy files are watched: a valid
    /// change takes effect at once, an invalid one is rejected and the last valid policies stay in
    /// force. SIGHUP reloads them. SIGINT and SIGTERM stop the gateway after running streams have
    /// finished.
    #[command(after_long_help = exit::help_of(exit::SERVE))]
    Serve(ServeArgs),

    /// Judge the tool calls in one response of a model, from stdin to stdout.
    ///
    /// Reads a response, either server-sent events or one JSON body, and writes the judged response
    /// as it arrives. Text passes at once and unchanged; a call passes only if it is allowed. Each
    /// decision is reported on stderr, one per line. Limits count within this one response; the
    /// hour and weekday of rules are in UTC.
    #[command(after_long_help = exit::help_of(exit::FILTER))]
    Filter(FilterArgs),

    /// Judge one call, or a file of calls.
    ///
    /// The call comes from `--tool` and `--input`, or as one JSON object from the argument CALL or
    /// from stdin. The object has the keys tool, input, server, id, surface, agent, session, cwd,
    /// home, provider, model and conversation; all but tool are optional, and they take precedence
    /// over the flags. A conversation is an object with the keys user and tool_result, each a text or
    /// a list of texts. An input that is a string is the free text of a custom tool. The JSON that a
    /// coding agent gives its hook before a call is read as that call. Limits are not counted here;
    /// `context.hour` and `context.weekday` of rules are in UTC.
    #[command(after_long_help = exit::help_of(exit::CHECK))]
    Check(CheckArgs),

    /// Check, test, explain and list policies.
    #[command(subcommand)]
    Policy(PolicyCommand),

    /// List the recorded tool calls, newest first.
    Calls(CallsArgs),

    /// List the other records, such as policy changes and sessions.
    Events(EventsArgs),

    /// Count calls by verdict, tool, rule, model and day.
    Stats(StatsArgs),

    /// Show records as they are written.
    ///
    /// Starts with the newest ones (10, or the number given with `--limit`) and continues until
    /// Ctrl-C. If nothing was recorded yet, it waits.
    Tail(TailArgs),

    /// Explain what decided a recorded call, and whether it would be the same today.
    ///
    /// Judges the call again by the policies that are in force now, at the time on record, and shows
    /// each rule about it: what matched, and what nearly did.
    Why(WhyArgs),

    /// Verify the records, or export them.
    #[command(subcommand)]
    Audit(AuditCommand),

    /// Check the config file, or print its schema.
    #[command(subcommand)]
    Config(ConfigCommand),

    /// Put MCP servers behind callgate, and inspect them.
    #[command(subcommand)]
    Mcp(McpCommand),

    /// Create, list, renew and revoke gateway keys.
    #[command(subcommand)]
    Keys(KeysCommand),

    /// Report what is running here, what is enforced, and what is not.
    ///
    /// A gateway that is not running is not a fault.
    #[command(after_long_help = exit::help_of(exit::DOCTOR))]
    Doctor(DoctorArgs),

    /// Write a short config file to start with.
    ///
    /// It builds on the rules of `builtin:starter` and adds one of your own. It goes to the user's
    /// config folder, where every command finds it, or to the file that `--config` names.
    Init(InitArgs),

    /// Print a completion script for a shell.
    ///
    /// For bash: `callgate completions bash > ~/.local/share/bash-completion/completions/callgate`.
    /// For zsh, write it to a file `_callgate` in a folder of $fpath; for fish, to
    /// ~/.config/fish/completions/callgate.fish.
    Completions {
        /// The shell to print it for.
        shell: clap_complete::Shell,
    },

    /// Print the manual page.
    Man {
        /// Write one page per command to this folder instead.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// Do not pause between the parts.
    #[arg(long)]
    pub(crate) fast: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// The address to listen on, instead of the one in the config. On any address but loopback,
    /// clients need gateway keys.
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,

    /// The format of the log on stderr.
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub(crate) log_format: LogFormat,

    /// Refuse a config or policy that other users can change, at start and on each reload. Without
    /// it callgate only warns.
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object per line.
    Json,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FilterArgs {
    /// The API that sent the response.
    #[arg(long, value_parser = dialect())]
    pub(crate) dialect: Dialect,

    #[command(flatten)]
    pub(crate) policies: PolicyFilesArgs,

    /// What replaces a denied call.
    #[arg(long, value_enum, default_value_t = FilterOnDeny::Explain)]
    pub(crate) on_deny: FilterOnDeny,

    /// The value of the response's Content-Encoding header: gzip, deflate, br or zstd. The output
    /// is always decoded.
    #[arg(long, value_name = "CODINGS")]
    pub(crate) content_encoding: Option<String>,

    /// Report decisions as JSON lines.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) context: ContextArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FilterOnDeny {
    /// A notice for the model and the user.
    Explain,
    /// Nothing, or a neutral text if the response would be empty.
    Silent,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) call: CallArgs,

    /// The call as one JSON object, or any other text as a shell command; `-` is a call on stdin.
    #[arg(value_name = "CALL", conflicts_with_all = ["tool", "record", "jsonl"])]
    pub(crate) object: Option<String>,

    /// Judge many calls, one JSON object per line [default: stdin]. Prints one JSON line for each
    /// call as soon as it is judged. Keys that are not a call's, such as labels, are ignored.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    #[arg(conflicts_with_all = ["tool", "record", "explain"])]
    pub(crate) jsonl: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) policies: PolicyFilesArgs,

    /// Print the result as one JSON line.
    #[arg(long)]
    pub(crate) json: bool,

    /// Show the whole judgement: what decided, what else matched, what could not be evaluated.
    #[arg(long)]
    pub(crate) explain: bool,
}

/// A call given as flags, and its context.
#[derive(Debug, clap::Args)]
pub(crate) struct CallArgs {
    /// The name of the tool.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,

    /// The arguments as JSON [default: {}]
    #[arg(long, value_name = "JSON", requires = "tool")]
    pub(crate) input: Option<String>,

    /// A recorded call, as it was made and at its time: its number, its id, or the beginning of its
    /// id.
    #[arg(long, value_name = "RECORD", conflicts_with = "tool")]
    pub(crate) record: Option<String>,

    /// The MCP server the tool belongs to.
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,

    /// Where the call is seen [default: in a response and, for the tool of a server, at that server]
    #[arg(long, value_parser = surface())]
    pub(crate) surface: Option<Surface>,

    /// The user's home folder [default: $HOME]
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<String>,

    /// Judge by the text of the call alone: do not follow links on this machine, and do not read
    /// scripts that the call runs.
    #[arg(long)]
    pub(crate) no_disk: bool,

    /// The conversation before the call: the body of a request to a model, in any API that callgate
    /// knows.
    #[arg(long, value_name = "FILE")]
    pub(crate) conversation: Option<PathBuf>,

    /// Judge the call as if it were made at this time, such as `2026-03-29T02:30:00+02:00`
    /// [default: now]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) at: Option<Moment>,

    #[command(flatten)]
    pub(crate) context: ContextArgs,
}

/// A time as `calls --since` reads it.
fn moment(text: &str) -> Result<Moment, String> {
    when::parse(text).map(moment_of)
}

const CONTEXT: &str = "Context";

/// The context of a call, which rules may test.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct ContextArgs {
    /// The agent that makes the calls.
    #[arg(long, help_heading = CONTEXT, value_name = "NAME")]
    pub(crate) agent: Option<String>,

    /// The agent's session.
    #[arg(long, help_heading = CONTEXT, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// The agent's working directory.
    #[arg(long, help_heading = CONTEXT, value_name = "DIR")]
    pub(crate) cwd: Option<String>,

    /// The organisation of the user; unknown if left out.
    #[arg(long, help_heading = CONTEXT, value_name = "NAME")]
    pub(crate) org: Option<String>,

    /// The team of the user; unknown if left out.
    #[arg(long, help_heading = CONTEXT, value_name = "NAME")]
    pub(crate) team: Option<String>,

    /// The user who runs the agent.
    #[arg(long, help_heading = CONTEXT, value_name = "NAME")]
    pub(crate) user: Option<String>,

    /// The gateway key that the agent sends. With a key, an organisation, team or user that is left
    /// out counts as not set instead of unknown.
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
pub(crate) struct PolicyFilesArgs {
    /// A policy file, or `builtin:starter`; can be repeated, the strictest verdict wins
    ///
    /// Without it, the policies of the config apply: the file given with `--config`, or in
    /// $CALLGATE_CONFIG, or callgate.yaml in ($XDG_CONFIG_HOME or ~/.config)/callgate or in
    /// /etc/callgate. Without a config, builtin:starter applies.
    #[arg(long = "policy", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Find every problem in policy files.
    ///
    /// Shows each problem and warning with its position in the file. There is a warning about a rule
    /// that is never reached, that no call can match, that a wider rule makes superfluous, or that
    /// another spelling of a command or a sibling of its tool gets around; the call that does is shown.
    #[command(after_long_help = exit::help_of(exit::CHECK_POLICIES))]
    Check(PolicyCheckArgs),

    /// Explain why a call gets its verdict, rule by rule.
    ///
    /// Draws what the call would do under the text it was read from, then shows each condition with its
    /// result (yes, no or unknown), the values it saw, and what the rule did. Limits are not counted.
    ///
    /// Exits with 0 whatever the verdict is; use `callgate check` in scripts. Without `--tool` or
    /// `--record` the call is read from stdin as one JSON object, as in `callgate check`: a call, or
    /// what a coding agent gives its hook.
    Explain {
        /// Policy files, or `builtin:starter` [default: those that `callgate check` uses]; `-` is the
        /// call on stdin
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,

        #[command(flatten)]
        call: Box<CallArgs>,

        /// Show the conditions of rules that do not apply to this call, too.
        #[arg(long)]
        all: bool,

        /// Print the result as one JSON line, with every rule.
        #[arg(long)]
        json: bool,
    },

    /// List the detectors of secrets and personal data.
    ///
    /// A rule names a detector, or a group to use all of its detectors.
    Detectors {
        #[command(flatten)]
        wide: WideArgs,

        /// Print one JSON object per detector.
        #[arg(long)]
        json: bool,
    },

    /// List the rules, and the defaults of the policies.
    ///
    /// With `--for`, `--team`, `--org`, `--key` or `--agent`, says in words what applies to that
    /// caller: what is blocked, restricted or asked about, and which MCP servers are open. What is
    /// not said about the caller counts as unknown, except with a key.
    List {
        /// Policy files, or `builtin:starter` [default: those that `callgate check` uses]
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,

        #[command(flatten)]
        caller: CallerArgs,

        #[command(flatten)]
        wide: WideArgs,

        /// Print one JSON object per rule.
        #[arg(long)]
        json: bool,
    },

    /// Test policies: judge the calls of test files and compare the verdicts.
    ///
    /// A test file is YAML with a list `tests`. Each test has a call (`command`, or `tool` and `input`),
    /// the `verdict` that it must get (or `stop` for any that keeps the call from running) and, if it
    /// matters, the `rule` that must decide. Calls are judged by their text alone, without this machine's
    /// files, user or clock, so a test has the same result everywhere. Examples inside the rules are
    /// checked too.
    #[command(after_long_help = exit::help_of(exit::TEST))]
    Test(PolicyTestArgs),

    /// Judge recorded calls again, to see what a policy would change.
    ///
    /// Each recorded call is judged at its own time by the given policies, and compared with what was
    /// decided then. Calls whose arguments are not on record as they were are counted apart. Limits are
    /// not counted.
    Replay(Box<PolicyOnRecordsArgs>),

    /// Compare two policies: their rules, and their verdicts on recorded calls.
    Diff(Box<PolicyDiffArgs>),

    /// Show how many recorded calls no rule decides, by tool.
    Coverage(Box<PolicyOnRecordsArgs>),

    /// Suggest rules that allow what was seen, or exceptions for denials that were wrong.
    ///
    /// Prints a policy with the tightest readable rules that allow the recorded calls that passed,
    /// with examples from real calls. With `--exceptions`, prints the narrowest exceptions for the
    /// denials that are marked wrong (`callgate calls mark`). Everything suggested was tried on all
    /// recorded calls first: nothing is suggested that would also allow a call that was denied and is
    /// not marked wrong. Nothing is changed.
    Suggest(Box<PolicySuggestArgs>),

    /// Turn the rules of another system into a policy.
    ///
    /// Prints the policy, or the section `mcp:` of a config. What is not the same afterwards is listed on
    /// stderr, with its place in the file. It is never weaker: what cannot be expressed covers more if it
    /// denies or asks, and is left out if it allows.
    #[command(after_long_help = exit::help_of(exit::EXCHANGE))]
    Import(PolicyImportArgs),

    /// Write the rules of a policy as rules of an agent, as a second line of defence.
    ///
    /// Only rules that deny or ask are written, as far as the agent has such rules. What is not covered is
    /// listed on stderr, with its place in the policy.
    #[command(after_long_help = exit::help_of(exit::EXCHANGE))]
    Export(PolicyExportArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct PolicyImportArgs {
    /// The file; `-` is stdin.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// The format [default: what the content looks like]
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pub(crate) from: Option<Format>,

    #[command(flatten)]
    pub(crate) output: ExchangeOutputArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PolicyExportArgs {
    /// The agent.
    #[arg(long, value_name = "AGENT", value_parser = agent())]
    pub(crate) to: Agent,

    #[command(flatten)]
    pub(crate) policies: PolicyFilesArgs,

    #[command(flatten)]
    pub(crate) output: ExchangeOutputArgs,
}

/// Where the result of an import or export goes.
#[derive(Debug, clap::Args)]
pub(crate) struct ExchangeOutputArgs {
    /// Write the result to this file, which must not exist yet [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Print the differences as one JSON object, with the result in it unless `--output` names a file.
    #[arg(long)]
    pub(crate) json: bool,

    /// Fail if there is any difference.
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WhyArgs {
    /// The record: its number, its id, or the beginning of its id.
    #[arg(value_name = "RECORD")]
    pub(crate) id: String,

    #[command(flatten)]
    pub(crate) policies: PolicyFilesArgs,

    /// Print the record, and the explanation of today's verdict, as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PolicyCheckArgs {
    /// Policy files, checked together [default: the policies of the config]
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Fail if there are warnings.
    #[arg(long)]
    pub(crate) strict: bool,

    /// Print the findings as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

const CALLER: &str = "Caller";

/// A caller that policies may be for.
#[derive(Debug, clap::Args)]
pub(crate) struct CallerArgs {
    /// What applies to this user.
    #[arg(
        long = "for",
        help_heading = CALLER,
        value_name = "USER",
        value_parser = NonEmptyStringValueParser::new()
    )]
    pub(crate) user: Option<String>,

    /// What applies to this team.
    #[arg(long, help_heading = CALLER, value_name = "NAME")]
    pub(crate) team: Option<String>,

    /// What applies to this organisation.
    #[arg(long, help_heading = CALLER, value_name = "NAME")]
    pub(crate) org: Option<String>,

    /// What applies to this gateway key.
    #[arg(long, help_heading = CALLER, value_name = "NAME")]
    pub(crate) key: Option<String>,

    /// What applies to this agent.
    #[arg(long, help_heading = CALLER, value_name = "NAME")]
    pub(crate) agent: Option<String>,
}

impl CallerArgs {
    /// What is said about the caller.
    pub(crate) fn fields(&self) -> BTreeMap<&'static str, String> {
        let fields = [
            ("user", &self.user),
            ("team", &self.team),
            ("org", &self.org),
            ("key", &self.key),
            ("agent", &self.agent),
        ];
        fields.into_iter().filter_map(|(key, value)| Some((key, value.clone()?))).collect()
    }

    pub(crate) fn is_given(&self) -> bool {
        !self.fields().is_empty()
    }
}

/// Policies, and the recorded calls to judge by them.
#[derive(Debug, clap::Args)]
pub(crate) struct PolicyOnRecordsArgs {
    #[command(flatten)]
    pub(crate) policies: PolicyFilesArgs,

    #[command(flatten)]
    pub(crate) filters: RecordFilterArgs,

    /// Print the result as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PolicyDiffArgs {
    /// A policy file, or a built-in policy.
    #[arg(value_name = "BEFORE")]
    pub(crate) before: PathBuf,

    /// The policy to compare with it.
    #[arg(value_name = "AFTER")]
    pub(crate) after: PathBuf,

    #[command(flatten)]
    pub(crate) filters: RecordFilterArgs,

    /// Print the result as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PolicySuggestArgs {
    /// Suggest exceptions for the denials that are marked wrong.
    #[arg(long)]
    pub(crate) exceptions: bool,

    #[command(flatten)]
    pub(crate) policies: PolicyFilesArgs,

    #[command(flatten)]
    pub(crate) filters: RecordFilterArgs,

    /// Print the result as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PolicyTestArgs {
    /// Test files. Without one, only the examples inside the rules are checked.
    #[arg(value_name = "FILE")]
    pub(crate) tests: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) policies: PolicyFilesArgs,

    /// Write a report in JUnit's format to this file, for build servers.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,

    /// Print one JSON object per test.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// Write ./callgate.yaml instead.
    #[arg(long)]
    pub(crate) project: bool,

    /// Copy the rules of `builtin:starter` into the file, to change or remove some of them. New
    /// versions of callgate do not update a copy.
    #[arg(long)]
    pub(crate) copy_starter: bool,

    /// Overwrite the file if it exists.
    #[arg(long)]
    pub(crate) force: bool,
}

fn dialect() -> impl TypedValueParser<Value = Dialect> {
    PossibleValuesParser::new(Dialect::ALL.map(Dialect::as_str))
        .try_map(|word| Dialect::from_word(&word).ok_or("no such dialect"))
}

fn format() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::as_str))
        .try_map(|word| Format::from_word(&word).ok_or("no such format"))
}

fn agent() -> impl TypedValueParser<Value = Agent> {
    PossibleValuesParser::new(Agent::ALL.map(Agent::as_str))
        .try_map(|word| Agent::from_word(&word).ok_or("no such agent"))
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
