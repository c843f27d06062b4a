//! A record as read back.

use callgate_call::Arguments;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::chain::hex;
use crate::record::{CallOutcome, Record};

/// A record as stored, with its joined data.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRecord {
    /// Its sequence number: 1, 2, 3 and so on, without gaps.
    pub seq: u64,
    /// The record, redacted. Tokens and the stop reason come from its turn; the input of a call
    /// that was denied by name comes from the record that completes it.
    pub record: Record,
    /// The hash and size of the input before redaction.
    pub input: Option<InputProof>,
    /// The hash of this record and all before it, in hexadecimal.
    pub hash: String,
    /// The hash of the record before it.
    pub prev_hash: String,
}

/// The hash and size of an input before it was redacted and truncated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputProof {
    /// SHA-256 of the whole input before redaction, in hexadecimal; `None` if only its beginning was
    /// at hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// Its size in bytes, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Whether the stored input is not complete.
    #[serde(default, rename = "cut", skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// Why the stored input is not what the call came with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputLoss {
    /// It was not recorded.
    Missing,
    /// A secret in it was redacted.
    Redacted,
    /// It was too long.
    Truncated,
}

impl StoredRecord {
    /// The input as the call came with it, which its hash proves.
    pub fn original_input(&self) -> Result<&str, InputLoss> {
        let input = self.record.tool.as_ref().and_then(|tool| tool.input.as_deref());
        match (input, &self.input) {
            (_, Some(proof)) if proof.truncated => Err(InputLoss::Truncated),
            (None, _) => Err(InputLoss::Missing),
            (Some(input), Some(proof)) if proof.hash != Some(hex(&Sha256::digest(input))) => {
                Err(InputLoss::Redacted)
            }
            (Some(input), _) => Ok(input),
        }
    }

    /// The record as JSON for scripts: the envelope, and in `payload` the few keys that most
    /// scripts need.
    pub fn to_json(&self) -> Value {
        let record = &self.record;
        let mut all = Map::new();
        let mut put = |key: &str, value: Value| {
            if !value.is_null() {
                all.insert(key.to_owned(), value);
            }
        };
        put("id", json!(record.id.to_string()));
        put("seq", json!(self.seq));
        put("time", json!(record.time.to_string()));
        put("type", json!(record.kind.as_str()));
        put("surface", json!(record.surface.map(|surface| surface.as_str())));
        put("principal", object(&record.who));
        put("subagent", record.subagent.as_ref().map_or(Value::Null, object));
        put("cwd", json!(record.cwd));
        put("home", json!(record.home));
        put("request_id", json!(record.request));
        put("provider", json!(record.provider));
        put("dialect", json!(record.dialect));
        put("model", json!(record.model));
        put("tool", self.tool());
        put("verdict", record.verdict.as_ref().map_or(Value::Null, object));
        if !record.origins.is_empty() {
            put("origins", json!(record.origins));
        }
        put("guardrail", record.guardrail.as_ref().map_or(Value::Null, object));
        put("mcp", record.mcp.as_ref().map_or(Value::Null, object));
        put("policies", record.policies.as_ref().map_or(Value::Null, object));
        put("change", record.change.as_ref().map_or(Value::Null, object));
        put("timing", object(&record.timing));
        put("tokens", object(&record.tokens));
        put("stop_reason", json!(record.stop_reason));
        put("calls", json!(record.calls));
        put("detail", json!(record.detail));
        put("hash", json!(self.hash));
        put("prev_hash", json!(self.prev_hash));
        put("payload", self.payload());
        Value::Object(all)
    }

    /// Parses the output of [`to_json`](Self::to_json). An input that is JSON comes back as the
    /// same JSON, but perhaps formatted differently.
    pub fn from_json(mut json: Value) -> Result<Self, serde_json::Error> {
        let seq = json.get("seq").and_then(Value::as_u64).unwrap_or_default();
        let text = |key: &str| json.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (hash, prev_hash) = (text("hash"), text("prev_hash"));
        let input = json.get("tool").and_then(proof);
        if let Value::Object(all) = &mut json {
            // These two have other names in a record.
            for (shown, own) in [("principal", "who"), ("request_id", "request")] {
                all.remove(shown).map(|value| all.insert(own.to_owned(), value));
            }
            if let Some(input) = all.get_mut("tool").and_then(|tool| tool.get_mut("input"))
                && !input.is_string()
            {
                *input = Value::String(input.to_string());
            }
        }
        let record = serde_json::from_value(json)?;
        Ok(Self { seq, record, input, hash, prev_hash })
    }

    fn tool(&self) -> Value {
        let Some(tool) = &self.record.tool else { return Value::Null };
        let mut value = object(tool);
        if let Value::Object(fields) = &mut value {
            if let Some(input) = &tool.input {
                fields.insert("input".to_owned(), input_value(input));
            }
            if let Some(proof) = &self.input {
                let hash = proof.hash.as_ref().map(|hash| ("input_hash", json!(hash)));
                let bytes = proof.bytes.map(|bytes| ("input_bytes", json!(bytes)));
                let known = hash.into_iter().chain(bytes);
                fields.extend(known.map(|(key, value)| (key.to_owned(), value)));
                fields.insert("input_cut".to_owned(), json!(proof.truncated));
            }
        }
        value
    }

    fn payload(&self) -> Value {
        let record = &self.record;
        let (tool, verdict) = (record.tool.as_ref(), record.verdict.as_ref());
        json!({
            "tool_name": tool.map(|tool| &tool.name),
            "tool_id": tool.map(|tool| &tool.call_id),
            "tool_input": tool.and_then(|tool| tool.input.as_deref()).map(input_value),
            "model": record.model,
            "provider": record.provider,
            "tokens_input": record.tokens.input,
            "tokens_output": record.tokens.output,
            "blocked": verdict.map(|verdict| verdict.action == CallOutcome::Deny),
            "reason": verdict.and_then(|verdict| verdict.reason.as_ref()),
            "event_category": record.kind.category(),
        })
    }
}

/// The hash and size next to an input.
fn proof(tool: &Value) -> Option<InputProof> {
    Some(InputProof {
        hash: tool.get("input_hash").and_then(Value::as_str).map(str::to_owned),
        bytes: tool.get("input_bytes").and_then(Value::as_u64),
        truncated: tool.get("input_cut")?.as_bool()?,
    })
}

/// A part of a record as JSON; null if it is empty.
fn object(part: &impl Serialize) -> Value {
    match serde_json::to_value(part) {
        Ok(Value::Object(fields)) if fields.is_empty() => Value::Null,
        Ok(value) => value,
        Err(_) => Value::Null,
    }
}

/// An input as a JSON value if that means the same; as text if it is not JSON, or is ambiguous (a
/// duplicate key).
fn input_value(input: &str) -> Value {
    let clear = Arguments::json(input).value().is_ok();
    let value = if clear { serde_json::from_str(input).ok() } else { None };
    value.unwrap_or_else(|| Value::String(input.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{MatchedRule, RecordKind, RecordedTool, RecordedVerdict};

    fn stored(input: &str) -> StoredRecord {
        let mut record = Record::new(RecordKind::ToolCall);
        record.who.user = Some("ada".to_owned());
        record.who.agent_proven = true;
        record.request = Some("r1".to_owned());
        record.surface = Some(callgate_call::Surface::Mcp);
        let (name, server) = ("delete".to_owned(), Some("notes".to_owned()));
        let input = Some(input.to_owned());
        record.tool = Some(RecordedTool { name, server, input, ..RecordedTool::default() });
        let hit = MatchedRule { policy: "p".to_owned(), rule: None, reason: "why".to_owned() };
        record.verdict =
            Some(RecordedVerdict { audits: vec![hit], ..RecordedVerdict::new(CallOutcome::Deny) });
        record.timing.judged_us = Some(7);
        let proof = InputProof { hash: Some("ab".to_owned()), bytes: Some(9), truncated: true };
        let (hash, prev_hash) = ("cd".to_owned(), "ef".to_owned());
        StoredRecord { seq: 5, record, input: Some(proof), hash, prev_hash }
    }

    #[test]
    fn to_json_can_be_read_back() {
        for input in ["{\"a\":[1,null]}", "free text", "\"quoted\"", "{\"a\":1,\"a\":2}", "[1]", ""]
        {
            let stored = stored(input);
            let json = stored.to_json();
            let read = StoredRecord::from_json(json.clone()).unwrap();
            assert_eq!(read, stored, "{input}");
            assert_eq!(read.to_json(), json, "{input}");
        }
        let spaced = StoredRecord::from_json(stored("{ \"a\" : 1 }").to_json()).unwrap();
        assert_eq!(spaced.record.tool.unwrap().input.as_deref(), Some("{\"a\":1}"));
    }
}
