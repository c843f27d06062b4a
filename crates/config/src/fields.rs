//! Every setting, once: its place in the file, what it takes, where its value goes, its default and
//! its meaning. The reader, the schema and the reference page are made from this table.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

use callgate_decide::{OddArguments, OnFailure, Oversize};
use callgate_dialect::Dialect;
use callgate_gate::{Malformed, Notice, OnDeny};
use callgate_proxy::{Inbound, InspectionMode};
use callgate_store::Durability;

use crate::protect::Protect;
use crate::resolve::{McpServer, ResolvedConfig};
use crate::values::SettingValues;
use crate::words::{RequestSigning, words_of};

/// One setting.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SettingRow {
    /// Its path, with dots; `*` is a name that the operator chooses, `[]` an entry of a list.
    pub(crate) path: &'static str,
    pub(crate) kind: SettingKind,
    /// The default, as one would write it; empty if it is not a fixed value.
    pub(crate) default: &'static str,
    /// Another value it takes, as one would write it.
    pub(crate) example: &'static str,
    pub(crate) doc: &'static str,
    /// When a change takes effect in running processes.
    pub(crate) applies: Applies,
}

/// When a change of a setting takes effect in running processes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Applies {
    /// When the file is reloaded, which happens automatically: for everything that begins
    /// afterwards.
    AtReload,
    /// When the processes that use it are restarted. A running process compares the value with the
    /// one it started with.
    AtRestart(Users, ComparedValue),
    /// It is a mapping; see each of its keys.
    AsItsKeysSay,
}

/// Which processes use a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Users {
    /// `callgate serve`.
    Gateway,
    /// `callgate mcp wrap`.
    Shims,
    Both,
}

/// The value of a setting, for comparison. It is never shown.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ComparedValue {
    /// The value that the row sets.
    AsSet,
    One(fn(&ResolvedConfig) -> String),
    /// That of a declared MCP server; `None` if it is not set there.
    OfServer(fn(&McpServer) -> Option<String>),
}

fn shown(value: &impl std::fmt::Debug) -> String {
    format!("{value:?}")
}

/// Puts a value in its place.
pub(crate) type Setter<T> = fn(&mut SettingValues, T);
pub(crate) type SetWord = fn(&mut SettingValues, &str);
pub(crate) type SetWordOrNone = fn(&mut SettingValues, Option<&str>);

/// A setting that is one of the words of a type, and its place among the [`SettingValues`].
macro_rules! words {
    ($type:ty, $($place:ident).+) => {
        SettingKind::Words(
            crate::words::words_of::<$type>,
            Some(|it, word| {
                if let Some(value) = crate::words::value_of::<$type>(word) {
                    it.$($place).+ = value;
                }
            }),
        )
    };
}

/// The same, or `none`.
macro_rules! words_or_none {
    ($type:ty, $($place:ident).+) => {
        SettingKind::WordsOrNone(
            crate::words::words_of::<$type>,
            |it, word| it.$($place).+ = word.and_then(crate::words::value_of::<$type>),
        )
    };
}

/// What a setting takes, and for a setting that is one value at a fixed place of the file, what sets
/// it. The others are parts of something that is read as a whole.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SettingKind {
    /// A mapping of further settings.
    Section,
    /// A mapping of names to sections; what a name looks like, as a regular expression.
    Named(&'static str),
    /// A list of sections.
    Each,
    Address(Setter<SocketAddr>),
    Store,
    /// A path of a Unix socket, or `off`.
    Socket,
    Url,
    /// A program, by name or path.
    Command,
    /// The name of an environment variable.
    Variable,
    /// A list of those.
    Variables,
    /// `true` or `false`.
    Flag(Setter<bool>),
    /// One of a few words.
    Words(fn() -> Vec<&'static str>, Option<SetWord>),
    /// One of a few words, or `none`.
    WordsOrNone(fn() -> Vec<&'static str>, SetWordOrNone),
    /// A SHA-256, in hexadecimal digits.
    Sha256,
    /// The hash of a definition, as `callgate mcp pins list` shows it.
    DefinitionHash,
    /// A pattern of names: `*` is any text, `?` one character.
    Glob,
    /// A list of those.
    Globs,
    /// A list of texts.
    Texts,
    /// A text on one line.
    Line,
    /// A text with places to fill in.
    Template,
    Size(Setter<usize>),
    /// A size, or `none`.
    SizeOrNone(Setter<Option<u64>>),
    Duration(Option<Setter<Duration>>),
    /// A duration, or `none`.
    DurationOrNone(Setter<Option<Duration>>),
    Count(NumberRange, Option<Setter<usize>>),
    /// A number within the range, or `none`.
    CountOrNone(NumberRange, Setter<Option<u64>>),
    /// A list of URL paths.
    Paths(Setter<Vec<String>>),
    /// Files, globs, built-in policies and inline ones.
    Policies,
    /// One or more kinds of tools.
    ToolKinds,
    /// A mapping of arguments to roles.
    ArgumentRoles,
    /// One or more effects, or `none`.
    Effects,
}

mod mcp;

/// The smallest and the largest number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NumberRange(i64, i64);

impl NumberRange {
    pub(crate) fn range(self) -> RangeInclusive<i64> {
        self.0..=self.1
    }
}

impl SettingRow {
    /// The path of its section; empty for the file itself.
    pub(crate) fn section(&self) -> &'static str {
        self.path.rsplit_once('.').map_or("", |(section, _)| section)
    }

    /// Its key.
    pub(crate) fn key(&self) -> &'static str {
        self.path.rsplit_once('.').map_or(self.path, |(_, key)| key)
    }
}

/// Every setting, in the order in which they are documented.
pub(crate) fn all() -> impl Iterator<Item = &'static SettingRow> {
    FIELDS.iter().chain(mcp::FIELDS)
}

/// The fields of a section.
pub(crate) fn in_section(section: &str) -> impl Iterator<Item = &'static SettingRow> {
    all().filter(move |field| field.section() == section)
}

/// A name of the operator's own, in a path.
pub(crate) const ANY: &str = "*";

/// An entry of a list, in a path.
pub(crate) const ENTRY: &str = "[]";

/// The form of a provider's name, which is part of paths.
const PROVIDER_NAME: &str = "^[a-z0-9_-]+$";

/// What a tool's name looks like.
const TOOL_NAME: &str = "^\\S(.*\\S)?$";

const CALLS: NumberRange = NumberRange(1, 100_000);
const ROUNDS: NumberRange = NumberRange(1, 20);
const CONNECTIONS: NumberRange = NumberRange(1, 1_000_000);
const WORKERS: NumberRange = NumberRange(1, 1_024);
const RECORDS: NumberRange = NumberRange(1, 1_000_000_000_000);

const FIELDS: &[SettingRow] = &[
    SettingRow {
        path: "listen",
        kind: SettingKind::Address(|it, value| it.proxy.listen = value),
        default: "127.0.0.1:8484",
        example: "0.0.0.0:9000",
        doc: "Where the gateway listens. Any address other than loopback requires gateway keys (`callgate keys add`).",
        applies: Applies::AtRestart(
            Users::Gateway,
            ComparedValue::One(|it| shown(&it.proxy.listen)),
        ),
    },
    SettingRow {
        path: "store",
        kind: SettingKind::Store,
        default: "",
        example: "sqlite:records/callgate.db",
        doc: "Where records are kept: `sqlite:PATH`, or `memory`, which loses them when the process ends. Without it: `callgate/callgate.db` in `$XDG_STATE_HOME` or `~/.local/state`.",
        applies: Applies::AtRestart(Users::Both, ComparedValue::One(|it| shown(&it.audit.store))),
    },
    SettingRow {
        path: "providers",
        kind: SettingKind::Named(PROVIDER_NAME),
        default: "",
        example: "",
        doc: "The APIs behind the gateway, by name: `a-z`, `0-9`, `_` and `-`. Those below are built in; settings here change them.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "providers.*.base_url",
        kind: SettingKind::Url,
        default: "",
        example: "https://llm.example.com/v1",
        doc: "The same URL that the official SDK takes as its base URL.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "providers.*.dialect",
        kind: SettingKind::Words(words_of::<Dialect>, None),
        default: "",
        example: "openai-chat",
        doc: "The format the API uses. It covers every path of that API, including those with another format: `openai-chat` and `openai-responses` are one API, `gemini` and `gemini-interactions`, and `bedrock-converse` and `bedrock-invoke`.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "providers.*.api_key_env",
        kind: SettingKind::Variable,
        default: "",
        example: "PATH",
        doc: "The environment variable with the provider's key. Clients then send a gateway key instead. Do not put the key itself in this file.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "providers.*.sign",
        kind: SettingKind::Words(words_of::<RequestSigning>, None),
        default: "",
        example: "aws",
        doc: "`aws`: requests are signed for Amazon with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, for the region in the host of `base_url`, or else AWS_REGION. Only in the dialects of Bedrock, over https (or to this machine), and instead of `api_key_env`. The variables are read when the gateway starts; credential files are not read.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "policies",
        kind: SettingKind::Policies,
        default: "",
        example: "[builtin:starter]",
        doc: "The policies: files, globs, [built-in policies](policy.md#built-in-policies) such as `builtin:starter`, or policies as mappings. `{ use: builtin:starter, disable: [...], except: [...] }` relaxes a built-in policy. With an empty list, only callgate itself is protected. Without it: the policy in this file, or else `builtin:starter`.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "protect",
        kind: words!(Protect, protect),
        default: "on",
        example: "off",
        doc: "[Self-protection](policy.md#self-protection): agents cannot change callgate's files or stop it, whatever the policies say. `off` also makes `policies: []` judge nothing.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "tools",
        kind: SettingKind::Named(TOOL_NAME),
        default: "",
        example: "",
        doc: "[Tools](#tools) that callgate does not know, or does not know completely, by their own name: those of your agents, and those of the servers under `mcp.servers`.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "tools.*.kind",
        kind: SettingKind::ToolKinds,
        default: "",
        example: "\"@shell\"",
        doc: "The kind of the tool, or a list of kinds. Rules on that kind then cover it, and its arguments show the effects of that kind.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "tools.*.args",
        kind: SettingKind::ArgumentRoles,
        default: "",
        example: "{ cmdline: \"@command\" }",
        doc: "Which argument carries what: a [role](policy.md#argument-roles) for each. For a role that the kind needs and that is missing here, the usual argument names apply.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "tools.*.effects",
        kind: SettingKind::Effects,
        default: "",
        example: "none",
        doc: "What the tool can do in addition to what its kind says. With `none` and no kind, it can do nothing: rules on effects never apply to it, and its calls are streamed as they arrive.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "on_deny",
        kind: words!(OnDeny, proxy.on_deny),
        default: "continue",
        example: "explain",
        doc: "What happens after a denial. `continue` asks the model for another way if no other call is left in the turn, and behaves like `explain` where that is not possible. `explain` replaces the call with a notice for the model and the user. `silent` removes it without a trace.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "continue",
        kind: SettingKind::Section,
        default: "",
        example: "",
        doc: "The limits of a turn with `on_deny: continue`. When one is reached, the turn ends as with `explain`.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "continue.rounds",
        kind: SettingKind::Count(ROUNDS, Some(|it, value| it.proxy.continuing.rounds = value)),
        default: "3",
        example: "1",
        doc: "How often the provider is asked again in one turn.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "continue.tokens",
        kind: SettingKind::Count(
            RECORDS,
            Some(|it, value| it.proxy.continuing.tokens = value as u64),
        ),
        default: "1000000",
        example: "50000",
        doc: "The provider is not asked again once the answers of a turn have used this many tokens, input and output.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "continue.time",
        kind: SettingKind::Duration(Some(|it, value| it.proxy.continuing.time = value)),
        default: "10m",
        example: "2m",
        doc: "The provider is not asked again once a turn has taken this long.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "continue.notice",
        kind: words!(Notice, proxy.continuing.notice),
        default: "line",
        example: "none",
        doc: "How a denied call is shown in a continued turn: as one line, or not at all.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "denial",
        kind: SettingKind::Section,
        default: "",
        example: "",
        doc: "The wording of denials.",
        applies: Applies::AsItsKeysSay,
    },
    SettingRow {
        path: "denial.text",
        kind: SettingKind::Template,
        default: "",
        example: "Blocked by our policy {policy}.",
        doc: "The text that replaces a denied call, for the model and the user, in responses and at MCP servers. It may contain `{tool}`, `{rule}`, `{policy}`, `{reason}`, `{hint}`, `{matched}`, `{blocks}`, `{scope}`, `{retry}`, `{contact}`, `{link}` and `{record}`; a line whose placeholders are all empty is left out. The last line always names the record. At most 4000 characters.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "denial.content",
        kind: SettingKind::Template,
        default: "",
        example: "Stopped by our content policy.",
        doc: "The text that replaces content blocked by a text rule. It may contain `{contact}` and `{link}`. At most 1000 characters.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "denial.contact",
        kind: SettingKind::Line,
        default: "",
        example: "security@example.com",
        doc: "Whom to contact about a denial. The text of a denial includes it.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "denial.link",
        kind: SettingKind::Line,
        default: "",
        example: "https://wiki.example.com/agents",
        doc: "Where to read more about denials. The text of a denial includes it.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "inbound",
        kind: words!(Inbound, proxy.inbound),
        default: "reject",
        example: "strip",
        doc: "What to do with a request that offers a tool denied by a rule on the surface `inbound`: refuse it before it reaches the provider, or forward it without the tool.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "malformed",
        kind: words!(Malformed, proxy.malformed),
        default: "withhold",
        example: "pass",
        doc: "What to do with parts of a response that cannot be read.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "oversize",
        kind: words!(Oversize, decide.oversize),
        default: "judge",
        example: "deny",
        doc: "What to do with a call whose arguments are larger than `limits.arguments`: judge it with all arguments unknown, allow it unless its name is denied, or deny it.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "arguments",
        kind: words!(OddArguments, decide.arguments),
        default: "judge",
        example: "deny",
        doc: "What to do with a call whose arguments are not one JSON object: judge it with all arguments unknown, or deny it.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "limits",
        kind: SettingKind::Section,
        default: "",
        example: "",
        doc: "The limits on sizes and numbers.",
        applies: Applies::AsItsKeysSay,
    },
    SettingRow {
        path: "limits.arguments",
        kind: SettingKind::Size(|it, value| {
            it.proxy.limits.arguments = value;
            it.decide.max_arguments = value;
        }),
        default: "1MiB",
        example: "64KB",
        doc: "The largest arguments of one call.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "limits.frame",
        kind: SettingKind::Size(|it, value| it.proxy.limits.frame = value),
        default: "16MiB",
        example: "1MiB",
        doc: "The largest event of a stream.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "limits.body",
        kind: SettingKind::Size(|it, value| it.proxy.limits.body = value),
        default: "32MiB",
        example: "8MiB",
        doc: "The largest response that is not streamed.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "limits.held",
        kind: SettingKind::Size(|it, value| it.proxy.limits.held = value),
        default: "64MiB",
        example: "16MiB",
        doc: "The most bytes of one response that are held back at any time.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "limits.calls",
        kind: SettingKind::Count(CALLS, Some(|it, value| it.proxy.limits.calls = value)),
        default: "256",
        example: "12",
        doc: "The most calls in one response.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "limits.request",
        kind: SettingKind::Size(|it, value| it.proxy.request_body = value),
        default: "32MiB",
        example: "4MiB",
        doc: "The largest request that is read in order to restore removed calls in it.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "limits.connections",
        kind: SettingKind::Count(CONNECTIONS, Some(|it, value| it.proxy.max_connections = value)),
        default: "10000",
        example: "100",
        doc: "The most client connections at a time; further ones wait to be accepted.",
        applies: Applies::AtRestart(Users::Gateway, ComparedValue::AsSet),
    },
    SettingRow {
        path: "gateway",
        kind: SettingKind::Section,
        default: "",
        example: "",
        doc: "How `callgate serve` runs.",
        applies: Applies::AsItsKeysSay,
    },
    SettingRow {
        path: "gateway.mode",
        kind: words!(InspectionMode, proxy.mode),
        default: "full",
        example: "off",
        doc: "How much of a response is inspected. `calls-only` judges calls and ignores text; `off` copies responses and records them as unjudged.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "gateway.passthrough",
        kind: SettingKind::Paths(|it, value| it.proxy.passthrough = value),
        default: "[]",
        example: "[/v1/embeddings]",
        doc: "Paths that are forwarded although callgate does not know them.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "gateway.workers",
        kind: SettingKind::Count(WORKERS, Some(|it, value| it.proxy.workers = value)),
        default: "",
        example: "3",
        doc: "The number of worker threads. Without it: one per processor, at most 4.",
        applies: Applies::AtRestart(Users::Gateway, ComparedValue::AsSet),
    },
    SettingRow {
        path: "gateway.connect_timeout",
        kind: SettingKind::Duration(Some(|it, value| it.proxy.timeouts.connect = value)),
        default: "10s",
        example: "2s",
        doc: "How long connecting to a provider may take.",
        applies: Applies::AtRestart(Users::Gateway, ComparedValue::AsSet),
    },
    SettingRow {
        path: "gateway.head_timeout",
        kind: SettingKind::Duration(Some(|it, value| it.proxy.timeouts.head = value)),
        default: "10m",
        example: "90s",
        doc: "How long a provider may take from the end of the request to the head of its response.",
        applies: Applies::AtRestart(Users::Gateway, ComparedValue::AsSet),
    },
    SettingRow {
        path: "gateway.idle_timeout",
        kind: SettingKind::Duration(Some(|it, value| it.proxy.timeouts.idle = value)),
        default: "10m",
        example: "90s",
        doc: "The longest pause between two bytes of a response.",
        applies: Applies::AtRestart(Users::Gateway, ComparedValue::AsSet),
    },
    SettingRow {
        path: "gateway.client_head_timeout",
        kind: SettingKind::Duration(Some(|it, value| it.proxy.timeouts.client_head = value)),
        default: "30s",
        example: "5s",
        doc: "How long a client may take to send the head of a request.",
        applies: Applies::AtRestart(Users::Gateway, ComparedValue::AsSet),
    },
    SettingRow {
        path: "gateway.client_body_timeout",
        kind: SettingKind::Duration(Some(|it, value| it.proxy.timeouts.client_body = value)),
        default: "1m",
        example: "5s",
        doc: "The longest pause between two bytes of a client's request body, also for MCP servers on the network.",
        applies: Applies::AtRestart(Users::Gateway, ComparedValue::AsSet),
    },
    SettingRow {
        path: "gateway.client_body_total_timeout",
        kind: SettingKind::Duration(Some(|it, value| it.proxy.timeouts.client_body_total = value)),
        default: "10m",
        example: "5m",
        doc: "How long a client may take to send a whole request body. Every 16 KiB received adds one second.",
        applies: Applies::AtRestart(Users::Gateway, ComparedValue::AsSet),
    },
    SettingRow {
        path: "gateway.shutdown_timeout",
        kind: SettingKind::Duration(Some(|it, value| it.proxy.timeouts.shutdown = value)),
        default: "30s",
        example: "5s",
        doc: "How long streams may take to finish after the gateway is asked to stop.",
        applies: Applies::AtRestart(Users::Gateway, ComparedValue::AsSet),
    },
    SettingRow {
        path: "api",
        kind: SettingKind::Section,
        default: "",
        example: "",
        doc: "The API of `callgate serve` for other programs of the same user.",
        applies: Applies::AsItsKeysSay,
    },
    SettingRow {
        path: "api.listen",
        kind: SettingKind::Socket,
        default: "",
        example: "run/api.sock",
        doc: "The Unix socket of the [API](api.md), or `off`. Without it: `callgate/api.sock` in `$XDG_RUNTIME_DIR` or `/run/user/UID`, or else `api.sock` next to the store. Other users must not be able to write to its folder.",
        applies: Applies::AtRestart(Users::Gateway, ComparedValue::One(|it| shown(&it.api))),
    },
    SettingRow {
        path: "audit",
        kind: SettingKind::Section,
        default: "",
        example: "",
        doc: "How records are kept.",
        applies: Applies::AsItsKeysSay,
    },
    SettingRow {
        path: "audit.durability",
        kind: words!(Durability, audit.durability),
        default: "disk",
        example: "process",
        doc: "What a record must survive before its call is released: a power cut (`disk`), or the end of the process (`process`).",
        applies: Applies::AtRestart(Users::Both, ComparedValue::AsSet),
    },
    SettingRow {
        path: "audit.on_failure",
        kind: words!(OnFailure, decide.on_failure),
        default: "deny",
        example: "allow",
        doc: "What to do with a call whose record cannot be written.",
        applies: Applies::AtReload,
    },
    SettingRow {
        path: "audit.session_idle",
        kind: SettingKind::Duration(Some(|it, value| it.audit.session_idle = value)),
        default: "30m",
        example: "2h",
        doc: "A session ends after this long without a record.",
        applies: Applies::AtRestart(Users::Both, ComparedValue::AsSet),
    },
    SettingRow {
        path: "audit.retention",
        kind: SettingKind::Section,
        default: "",
        example: "",
        doc: "When old records are deleted. Each limit may be `none`.",
        applies: Applies::AsItsKeysSay,
    },
    SettingRow {
        path: "audit.retention.age",
        kind: SettingKind::DurationOrNone(|it, value| it.audit.retention.age = value),
        default: "90d",
        example: "7d",
        doc: "The age after which a record is deleted.",
        applies: Applies::AtRestart(Users::Both, ComparedValue::AsSet),
    },
    SettingRow {
        path: "audit.retention.records",
        kind: SettingKind::CountOrNone(RECORDS, |it, value| it.audit.retention.records = value),
        default: "none",
        example: "1000000",
        doc: "The most records that are kept.",
        applies: Applies::AtRestart(Users::Both, ComparedValue::AsSet),
    },
    SettingRow {
        path: "audit.retention.size",
        kind: SettingKind::SizeOrNone(|it, value| it.audit.retention.bytes = value),
        default: "2GiB",
        example: "100MB",
        doc: "The size above which the oldest records are deleted.",
        applies: Applies::AtRestart(Users::Both, ComparedValue::AsSet),
    },
];
