//! Turns a record into its stored form: redacted, bounded, as JSON.

use std::borrow::Cow;

use callgate_scan::{redact, redact_json};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::chain::hex;
use crate::record::{
    FindingFact, InputExtent, MatchedRule, McpFacts, OriginFact, PolicyFacts, PolicyFile, Record,
    RecordKind, RecordedCaller, RecordedChange, RecordedPrincipal, RecordedTool, RecordedVerdict,
    RuleId, Subagent, TextRuleMatch,
};

use crate::session::{SessionKey, session_key};
use crate::stored::InputProof;

/// A record that is ready to be stored. It is sealed where the record is created, so that the
/// writer has little to do and no secret waits in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// When it happened, in microseconds since 1970.
    pub time: i64,
    /// The key by which another record finds this one: the request of a turn, or the record that it
    /// completes. Most records have none, so that the index over it costs them nothing.
    pub joins: Option<String>,
    /// The session it belongs to.
    pub session: Option<SessionKey>,
    /// The record as JSON.
    pub body: String,
}

/// The stored body of a record. The record comes first and its id first in it: the reader looks for
/// ids at that offset.
#[derive(Debug, Serialize, Deserialize)]
pub struct RecordBody<R> {
    /// The record.
    pub record: R,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// The hash and size of its input before redaction.
    pub input: Option<InputProof>,
}

/// Where the id begins in a body, counted from 1 as in SQL.
pub const ID_AT: usize = r#"{"record":{"id":""#.len() + 1;

impl Sealed {
    /// Redacts, bounds and encodes a record.
    pub fn new(mut record: Record) -> Self {
        let input = seal_record(&mut record);
        let joins = joins(&record);
        let session = match record.kind {
            RecordKind::SessionStarted | RecordKind::SessionEnded => None,
            _ => session_key(&record.who),
        };
        let time = record.time.as_microsecond();
        Self { time, joins, session, body: encode(&RecordBody { record, input }) }
    }

    /// Whether it has a body. A record without one must be refused, and so the call that waits for
    /// it: an empty record would tell nothing.
    pub fn is_encoded(&self) -> bool {
        !self.body.is_empty()
    }
}

/// The record as JSON. Most records fit into the first buffer, which then need not grow. Empty if
/// JSON cannot express it, which [`Sealed::is_encoded`] says.
fn encode(body: &RecordBody<Record>) -> String {
    let input =
        body.record.tool.as_ref().and_then(|tool| tool.input.as_ref()).map_or(0, String::len);
    let mut bytes = Vec::with_capacity(1024 + input + input / 8);
    // It is plain data with text keys, so JSON can express it.
    match serde_json::to_writer(&mut bytes, body) {
        Ok(()) => String::from_utf8(bytes).unwrap_or_default(),
        Err(_) => String::new(),
    }
}

/// The key by which the calls of a request find their turn.
pub fn turn_of(request: &str) -> String {
    format!("turn:{request}")
}

/// The key by which a record finds the record that completes it.
pub fn completes(id: &str) -> String {
    format!("completes:{id}")
}

fn joins(record: &Record) -> Option<String> {
    if let Some(id) = &record.completes {
        return Some(completes(&id.to_string()));
    }
    match (record.kind, &record.request) {
        (RecordKind::Turn, Some(request)) => Some(turn_of(request)),
        _ => None,
    }
}

/// Redacts and bounds every text of a record. Like all functions below, it names each field, so that
/// a new one must be considered. Names are short. A name that a client or a model claims may be
/// anything, even a secret.
fn seal_record(record: &mut Record) -> Option<InputProof> {
    let Record {
        id: _,
        time: _,
        kind: _,
        surface: _,
        who,
        subagent,
        cwd,
        home,
        request,
        provider,
        dialect,
        model,
        tool,
        verdict,
        origins,
        guardrail,
        mcp,
        policies,
        change,
        timing: _,
        tokens: _,
        stop_reason,
        calls: _,
        detail,
        completes: _,
    } = record;
    seal_principal(who);
    if let Some(Subagent { id, kind }) = subagent {
        seal_word(id);
        kind.iter_mut().for_each(seal_word);
    }
    model.iter_mut().for_each(seal_word);
    for name in [cwd, home, request, provider, dialect, stop_reason].into_iter().flatten() {
        clip(name, MAX_WORD);
    }
    if let Some(verdict) = verdict {
        seal_verdict(verdict);
    }
    origins.truncate(MAX_HITS);
    for OriginFact { arg, only_tool_result: _ } in origins {
        clip(arg, MAX_WORD);
    }
    if let Some(TextRuleMatch { action, kind, direction }) = guardrail {
        [action, kind, direction].into_iter().for_each(|word| clip(word, MAX_WORD));
    }
    if let Some(mcp) = mcp {
        seal_mcp(mcp);
    }
    if let Some(policies) = policies {
        seal_policies(policies);
    }
    if let Some(change) = change {
        seal_change(change);
    }
    detail.iter_mut().for_each(seal_text);
    tool.as_mut().and_then(seal_tool)
}

fn seal_principal(who: &mut RecordedPrincipal) {
    let RecordedPrincipal { org, team, user, agent, agent_proven: _, session, key } = who;
    [agent, session].into_iter().flatten().for_each(seal_word);
    for name in [org, team, user, key].into_iter().flatten() {
        clip(name, MAX_WORD);
    }
}

fn seal_tool(tool: &mut RecordedTool) -> Option<InputProof> {
    let RecordedTool { name, server, call_id, rpc_id, caller, input, extent, definition_hash } =
        tool;
    seal_word(name);
    [server, rpc_id].into_iter().flatten().for_each(seal_word);
    clip(call_id, MAX_WORD);
    if let Some(RecordedCaller { kind, id }) = caller {
        seal_word(kind);
        id.iter_mut().for_each(seal_word);
    }
    definition_hash.iter_mut().for_each(|hash| clip(hash, MAX_WORD));
    seal_input(input, *extent)
}

fn seal_input(stored: &mut Option<String>, extent: InputExtent) -> Option<InputProof> {
    let input = stored.take()?;
    let mut proof = match extent {
        InputExtent::Whole => InputProof {
            hash: Some(hex(&Sha256::digest(&input))),
            bytes: Some(input.len() as u64),
            truncated: input.len() > MAX_SCANNED,
        },
        // A hash of the beginning would prove nothing.
        InputExtent::Beginning => InputProof { hash: None, bytes: None, truncated: true },
    };
    if input.len() <= MAX_SCANNED {
        let mut kept = match redact_json(&input) {
            Cow::Borrowed(_) => input,
            Cow::Owned(redacted) => redacted,
        };
        // Only now: a secret that is cut in half is no longer recognised.
        if kept.len() > RecordedTool::MAX_INPUT {
            proof.truncated = true;
            clip(&mut kept, RecordedTool::MAX_INPUT);
            kept.push_str("…[cut]");
        }
        *stored = Some(kept);
    }
    Some(proof)
}

fn seal_verdict(verdict: &mut RecordedVerdict) {
    let RecordedVerdict {
        action: _,
        code: _,
        policy_digest,
        policy,
        rule,
        reason,
        hint,
        uncovered: _,
        matched,
        shadows,
        audits,
        sanitized,
        replaced,
    } = verdict;
    for word in [policy_digest, policy, rule].into_iter().flatten() {
        clip(word, MAX_WORD);
    }
    [reason, hint].into_iter().flatten().for_each(seal_text);
    matched.truncate(MAX_HITS);
    for RuleId { policy, rule } in matched {
        clip(policy, MAX_WORD);
        clip(rule, MAX_WORD);
    }
    for hits in [shadows, audits, sanitized] {
        hits.truncate(MAX_HITS);
        hits.iter_mut().for_each(seal_hit);
    }
    replaced.truncate(MAX_NAMES);
    replaced.iter_mut().for_each(|kind| clip(kind, MAX_WORD));
}

fn seal_hit(hit: &mut MatchedRule) {
    let MatchedRule { policy, rule, reason } = hit;
    clip(policy, MAX_WORD);
    rule.iter_mut().for_each(|rule| clip(rule, MAX_WORD));
    seal_text(reason);
}

/// The server chose the paths and the matched texts; a URL may contain a token.
fn seal_mcp(mcp: &mut McpFacts) {
    let McpFacts { server_type, address, pin, joined: _, place, earlier, findings } = mcp;
    address.iter_mut().for_each(seal_word);
    for name in [server_type, pin, place].into_iter().flatten() {
        clip(name, MAX_WORD);
    }
    earlier.truncate(MAX_HITS);
    findings.truncate(MAX_HITS);
    for FindingFact { class, severity, path, detail } in findings {
        seal_word(path);
        seal_word(detail);
        clip(class, MAX_WORD);
        clip(severity, MAX_WORD);
    }
}

/// The operator chose these names, and there may be many.
fn seal_policies(policies: &mut PolicyFacts) {
    let PolicyFacts { digest, before, files, added, removed, changed, weakened } = policies;
    [digest, before].into_iter().flatten().for_each(|digest| clip(digest, MAX_WORD));
    files.truncate(MAX_HITS);
    for PolicyFile { path, owner, modified: _ } in files {
        clip(path, MAX_WORD);
        owner.iter_mut().for_each(|owner| clip(owner, MAX_WORD));
    }
    for list in [added, removed, changed, weakened] {
        let more = list.len().saturating_sub(MAX_NAMES);
        list.truncate(MAX_NAMES);
        list.iter_mut().for_each(|name| clip(name, MAX_WORD));
        if more > 0 {
            list.push(format!("and {more} more"));
        }
    }
}

/// Key names come from the operator, tool names from a server. callgate itself writes the few
/// fields.
fn seal_change(change: &mut RecordedChange) {
    let RecordedChange { what: _, name, action, before, after } = change;
    seal_word(name);
    clip(action, MAX_WORD);
    for fields in [before, after] {
        fields.values_mut().for_each(seal_word);
    }
}

/// Redacts and truncates a name that callgate did not choose.
pub fn seal_name(text: &str) -> String {
    let mut kept = head(text, MAX_PROSE).to_owned();
    seal_word(&mut kept);
    kept
}

/// Like [`seal_name`], in place: most names stay as they are.
fn seal_word(name: &mut String) {
    seal(name, MAX_PROSE, MAX_WORD);
}

/// Redacts and truncates a text for people.
fn seal_text(text: &mut String) {
    seal(text, 4 * MAX_PROSE, MAX_PROSE);
}

/// Redacts the first `scanned` bytes and keeps at most `max` of them. A secret that is cut in half is
/// no longer recognised, so more is scanned than is kept.
fn seal(text: &mut String, scanned: usize, max: usize) {
    clip(text, scanned);
    if let Cow::Owned(redacted) = redact(text) {
        *text = redacted;
    }
    clip(text, max);
}

fn clip(text: &mut String, max: usize) {
    text.truncate(text.floor_char_boundary(max));
}

fn head(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or(text)
}

/// The longest name that is stored.
const MAX_WORD: usize = 1024;
/// The longest reason or detail: a few pages.
const MAX_PROSE: usize = 16 * 1024;
/// The most names of changed rules.
const MAX_NAMES: usize = 256;
/// The most matching rules besides the one that decided. More would add nothing new.
const MAX_HITS: usize = 64;
/// The largest input that is scanned for secrets: as large as the gate lets arguments be by
/// default. Of a larger input only its hash and its size are stored.
const MAX_SCANNED: usize = 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{CallOutcome, RecordId};

    fn call(input: &str) -> Record {
        let tool = RecordedTool {
            name: "Bash".into(),
            input: Some(input.into()),
            ..RecordedTool::default()
        };
        Record { tool: Some(tool), ..Record::new(RecordKind::ToolCall) }
    }

    fn read(sealed: &Sealed) -> RecordBody<Record> {
        serde_json::from_str(&sealed.body).unwrap()
    }

    #[test]
    fn the_id_is_where_readers_look() {
        let record = call("{}");
        let id = record.id.to_string();
        let sealed = Sealed::new(record);
        assert_eq!(&sealed.body[ID_AT - 1..ID_AT - 1 + 36], id);
    }

    #[test]
    fn a_large_input_is_truncated_and_a_huge_one_is_left_out() {
        let large = "é".repeat(RecordedTool::MAX_INPUT);
        let body = read(&Sealed::new(call(&large)));
        let kept = body.record.tool.unwrap().input.unwrap();
        assert!(kept.ends_with("é…[cut]") && kept.len() <= RecordedTool::MAX_INPUT + 10);
        let proof = body.input.unwrap();
        assert!(proof.truncated);
        assert_eq!(proof.bytes, Some(large.len() as u64));
        assert_eq!(proof.hash, Some(hex(&Sha256::digest(&large))));

        let body = read(&Sealed::new(call(&"x".repeat(MAX_SCANNED + 1))));
        assert_eq!(body.record.tool.unwrap().input, None);
        assert!(body.input.unwrap().truncated);
    }

    #[test]
    fn the_beginning_of_an_input_is_not_taken_for_all_of_it() {
        let mut record = call(r#"{"command":"rm"#);
        record.tool.as_mut().unwrap().extent = InputExtent::Beginning;
        let body = read(&Sealed::new(record));
        assert_eq!(body.record.tool.unwrap().input.as_deref(), Some(r#"{"command":"rm"#));
        assert_eq!(body.input, Some(InputProof { hash: None, bytes: None, truncated: true }));
    }

    #[test]
    fn every_text_is_bounded() {
        let long = || "x".repeat(1 << 20);
        let mut record = call(&long());
        record.detail = Some(long());
        record.model = Some(long());
        record.who.session = Some(long());
        record.request = Some(long());
        record.subagent = Some(Subagent { id: long(), kind: Some(long()) });
        record.origins = vec![OriginFact { arg: long(), only_tool_result: None }; 100];
        let mut verdict = RecordedVerdict::new(CallOutcome::Deny);
        verdict.reason = Some(long());
        verdict.policy_digest = Some(long());
        verdict.replaced = vec![long(); 10];
        verdict.shadows =
            vec![MatchedRule { policy: long(), rule: Some(long()), reason: "r".into() }; 100];
        record.verdict = Some(verdict);
        if let Some(tool) = &mut record.tool {
            tool.name = long();
            tool.call_id = long();
        }
        assert!(Sealed::new(record).body.len() < 400_000);
    }

    #[test]
    fn texts_of_a_server_are_bounded_and_redacted() {
        let key = ["AKI", "AIOSFODNN7ABCDEFG"].concat();
        let finding = FindingFact {
            class: "directive".into(),
            severity: "high".into(),
            path: "x".repeat(1 << 20),
            detail: format!("read {key}"),
        };
        let mut record = Record::new(RecordKind::McpToolSeen);
        record.mcp = Some(McpFacts {
            address: Some(format!("https://example.org/?key={key}")),
            findings: vec![finding; 1000],
            earlier: vec![RecordId::new(); 1000],
            ..McpFacts::default()
        });
        let sealed = Sealed::new(record);
        assert!(sealed.body.len() < 200_000 && !sealed.body.contains(&key));
        let mcp = read(&sealed).record.mcp.unwrap();
        assert_eq!(mcp.findings.len(), MAX_HITS);
        assert!(mcp.findings[0].detail.contains("REDACTED"));
    }

    #[test]
    fn a_turn_and_a_completion_can_be_found() {
        let mut turn = Record::new(RecordKind::Turn);
        turn.request = Some("r1".into());
        assert_eq!(Sealed::new(turn).joins.as_deref(), Some("turn:r1"));
        let mut part = call("{}");
        let id = RecordId::new();
        part.completes = Some(id);
        assert_eq!(Sealed::new(part).joins, Some(format!("completes:{id}")));
        assert_eq!(Sealed::new(call("{}")).joins, None);
    }
}
