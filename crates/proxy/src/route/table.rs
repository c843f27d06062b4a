//! The paths of each API, and what becomes of their answers. What is not here is not forwarded.

use callgate_dialect::Dialect;
use http::Method;

/// What is done with the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// It goes through the gate. Removed calls are restored in the request.
    Inspect,
    /// It carries no calls and passes; removed calls are restored in the request.
    PassRestored,
    /// It carries no calls and passes.
    Pass,
    /// The operator let it pass unread.
    Opened,
    /// It may carry calls in a shape that callgate does not read.
    Refuse(&'static str),
}

/// The name of the provider that an API belongs to.
pub(crate) fn usual_name(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Anthropic => "anthropic",
        _ => "openai",
    }
}

/// The API of a path without a provider's prefix. Some paths belong to two; none of those carries calls.
pub(crate) fn dialect_of(path: &str, versioned: bool) -> Option<Dialect> {
    let anthropic = row(&ANTHROPIC, path).is_some();
    let chat = row(&CHAT, path).is_some();
    match (anthropic, chat) {
        (true, true) if versioned => Some(Dialect::Anthropic),
        (_, true) => Some(Dialect::OpenAiChat),
        (true, false) => Some(Dialect::Anthropic),
        (false, false) => None,
    }
}

/// What becomes of the answer to a request; `None` for a path that is not known. Paths are those below a
/// root that has the version: `/v1/…`.
pub(crate) fn treatment(dialect: Dialect, method: &Method, path: &str) -> Option<Treatment> {
    let row = match dialect {
        Dialect::Anthropic => row(&ANTHROPIC, path),
        _ => row(&CHAT, path),
    }?;
    let known = row.methods.is_empty() || row.methods.contains(&method.as_str());
    Some(if known { row.treatment } else { row.otherwise })
}

/// Whether callgate reads the answers of this path, whatever the method and however it is spelled: it
/// is never opened.
pub(crate) fn is_inspected(dialect: Dialect, path: &str) -> bool {
    let path = path.trim_end_matches('/').to_ascii_lowercase();
    let row = match dialect {
        Dialect::Anthropic => row(&ANTHROPIC, &path),
        _ => row(&CHAT, &path),
    };
    row.is_some_and(|row| [row.treatment, row.otherwise].contains(&Treatment::Inspect))
}

/// One line of a table.
struct Row {
    /// `*` stands for one segment, `**` at the end for any number, none included.
    pattern: &'static str,
    /// The methods it is about; every method if none.
    methods: &'static [&'static str],
    treatment: Treatment,
    /// What becomes of other methods.
    otherwise: Treatment,
}

const fn any(pattern: &'static str, treatment: Treatment) -> Row {
    Row { pattern, methods: &[], treatment, otherwise: treatment }
}

const fn posted(pattern: &'static str, treatment: Treatment) -> Row {
    Row { pattern, methods: &["POST"], treatment, otherwise: Treatment::Refuse(OTHER_METHOD) }
}

/// Read or deleted, never asked anything: some servers run models by a POST to such paths.
const fn looked_up(pattern: &'static str) -> Row {
    let otherwise = Treatment::Refuse(OTHER_METHOD);
    Row { pattern, methods: &["GET", "HEAD", "DELETE"], treatment: Treatment::Pass, otherwise }
}

const OTHER_METHOD: &str = "this method is not known of this path";
const BATCH_RESULTS: &str =
    "the results of a batch may hold tool calls, and callgate does not read them";
const ANOTHER_API: &str = "it belongs to an API that callgate does not read yet";

/// The first row that fits decides.
const ANTHROPIC: [Row; 13] = [
    posted("/v1/messages", Treatment::Inspect),
    posted("/v1/messages/count_tokens", Treatment::PassRestored),
    // The state of a batch names an address for its results that leads around callgate.
    any("/v1/messages/batches/**", Treatment::Refuse(BATCH_RESULTS)),
    any("/v1/sessions/**", Treatment::Refuse(ANOTHER_API)),
    any("/v1/environments/**", Treatment::Refuse(ANOTHER_API)),
    any("/v1/agents/**", Treatment::Refuse(ANOTHER_API)),
    looked_up("/v1/models"),
    looked_up("/v1/models/*"),
    any("/v1/files", Treatment::Pass),
    any("/v1/files/*", Treatment::Pass),
    any("/v1/skills/**", Treatment::Pass),
    any("/v1/organizations/**", Treatment::Pass),
    any("/v1/oauth/**", Treatment::Pass),
];

const CHAT: [Row; 27] = [
    any("/v1/chat/completions", Treatment::Inspect),
    Row {
        pattern: "/v1/chat/completions/*",
        methods: &["DELETE"],
        treatment: Treatment::Pass,
        otherwise: Treatment::Inspect,
    },
    any(
        "/v1/chat/completions/*/messages",
        Treatment::Refuse(
            "stored messages may hold tool calls, and callgate does not read them yet",
        ),
    ),
    any("/v1/responses/input_tokens", Treatment::Pass),
    any(
        "/v1/responses/**",
        Treatment::Refuse("callgate does not read the Responses API yet; use Chat Completions"),
    ),
    any("/v1/conversations/**", Treatment::Refuse(ANOTHER_API)),
    any("/v1/threads/**", Treatment::Refuse(ANOTHER_API)),
    any("/v1/assistants/**", Treatment::Refuse(ANOTHER_API)),
    any("/v1/agents/**", Treatment::Refuse(ANOTHER_API)),
    any("/v1/realtime/**", Treatment::Refuse(ANOTHER_API)),
    any("/v1/live/**", Treatment::Refuse(ANOTHER_API)),
    looked_up("/v1/models"),
    looked_up("/v1/models/**"),
    posted("/v1/embeddings", Treatment::Pass),
    any(
        "/v1/files/*/content",
        Treatment::Refuse(
            "a downloaded file may be the result of a batch with tool calls, and callgate does not read it yet",
        ),
    ),
    any("/v1/files", Treatment::Pass),
    any("/v1/files/*", Treatment::Pass),
    any("/v1/uploads", Treatment::Pass),
    any("/v1/uploads/**", Treatment::Pass),
    any("/v1/batches", Treatment::Pass),
    any("/v1/batches/**", Treatment::Pass),
    any("/v1/audio/**", Treatment::Pass),
    any("/v1/images/**", Treatment::Pass),
    posted("/v1/moderations", Treatment::Pass),
    any("/v1/vector_stores", Treatment::Pass),
    any("/v1/vector_stores/**", Treatment::Pass),
    looked_up("/v1/organization/**"),
];

fn row<const N: usize>(table: &'static [Row; N], path: &str) -> Option<&'static Row> {
    table.iter().find(|row| fits(row.pattern, path))
}

fn fits(pattern: &str, path: &str) -> bool {
    // Most patterns fall away by how they begin.
    let literal = pattern.split_once("/*").map_or(pattern, |(literal, _)| literal);
    if literal.len() == pattern.len() || !path.starts_with(literal) {
        return pattern == path;
    }
    let mut segments = path.split('/');
    for wanted in pattern.split('/') {
        if wanted == "**" {
            return true;
        }
        match segments.next() {
            Some(segment) if wanted == "*" && !segment.is_empty() => {}
            Some(segment) if wanted == segment => {}
            _ => return false,
        }
    }
    segments.next().is_none()
}
