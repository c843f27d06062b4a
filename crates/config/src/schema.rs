//! The JSON Schema of the config file, made from the table of fields.

use callgate_effects::{EffectKind, Role};
use serde_json::{Map, Value, json};

use crate::fields::{ANY, ENTRY, SettingKind, SettingRow, in_section};
use crate::file::tools::kinds;

/// The JSON Schema (draft 2020-12) of `callgate.yaml`.
pub fn schema() -> Value {
    let mut properties = section("");
    for (key, of_policy) in policy_properties() {
        properties.insert(key.to_owned(), of_policy);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "callgate.yaml",
        "description": "Settings of callgate. A policy may share the file.",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
        "$defs": { "policy": policy(), "rule": rule() },
    })
}

/// The settings of a section, by key.
fn section(path: &str) -> Map<String, Value> {
    in_section(path).map(|field| (field.key().to_owned(), property(field))).collect()
}

/// A mapping with the settings of a section.
fn object(path: &str) -> Value {
    json!({ "type": "object", "additionalProperties": false, "properties": section(path) })
}

fn property(field: &SettingRow) -> Value {
    let mut schema = kind(field);
    if let Value::Object(fields) = &mut schema {
        fields.insert("description".to_owned(), field.doc.into());
        if let Some(default) = value(field.default, field.kind) {
            fields.insert("default".to_owned(), default);
        }
        if let (Some(example), false) = (value(field.example, field.kind), is_enum(field.kind)) {
            fields.insert("examples".to_owned(), json!([example]));
        }
    }
    schema
}

/// A value of the table as JSON.
fn value(written: &str, kind: SettingKind) -> Option<Value> {
    let number = |text: &str| text.parse::<i64>().ok().map(Value::from);
    match (written, kind) {
        ("", _) => None,
        (text, SettingKind::Count(..) | SettingKind::CountOrNone(..)) => {
            number(text).or(Some(text.into()))
        }
        (flag, SettingKind::Flag(_)) => flag.parse::<bool>().ok().map(Value::from),
        (
            list,
            SettingKind::Paths(_)
            | SettingKind::Policies
            | SettingKind::Globs
            | SettingKind::Texts
            | SettingKind::Variables
            | SettingKind::Each,
        ) => {
            let items = list.trim_matches(['[', ']']).split(',');
            let items = items.map(|item| item.trim().trim_matches('"'));
            Some(items.filter(|item| !item.is_empty()).collect())
        }
        (_, SettingKind::ArgumentRoles) => Some(json!({ "cmdline": "@command" })),
        (text, SettingKind::ToolKinds) => Some(text.trim_matches('"').into()),
        (text, _) => Some(text.into()),
    }
}

/// Whether the schema lists every value of this kind, so that it needs no example.
fn is_enum(kind: SettingKind) -> bool {
    matches!(kind, SettingKind::Words(..) | SettingKind::WordsOrNone(..) | SettingKind::Flag(_))
}

const SIZE: &str = "^[0-9]+ *([kKmMgGtT]?[bB]|[kKmMgGtT][iI][bB])?$";
const DURATION: &str = "^[0-9]+ *(ms|s|m|h|d)$";
const VARIABLE: &str = "^[A-Za-z_][A-Za-z0-9_]*$";
const SHA256: &str = "^(sha256:)?[0-9A-Fa-f]{2}(:?[0-9A-Fa-f]{2}){31}$";

fn kind(field: &SettingRow) -> Value {
    let size = || {
        json!({ "anyOf": [
            { "type": "integer", "minimum": 1 },
            { "type": "string", "pattern": SIZE },
        ] })
    };
    let or_none = |other: Value| json!({ "anyOf": [{ "const": "none" }, other] });
    let count = |range: std::ops::RangeInclusive<i64>| json!({ "type": "integer", "minimum": range.start(), "maximum": range.end() });
    match field.kind {
        SettingKind::Section => object(field.path),
        SettingKind::Named(name) => json!({
            "type": "object",
            "propertyNames": { "pattern": name },
            "additionalProperties": object(&format!("{}.{ANY}", field.path)),
        }),
        SettingKind::Each => json!({
            "type": "array",
            "items": object(&format!("{}.{ENTRY}", field.path)),
        }),
        SettingKind::Address(_) => json!({ "type": "string" }),
        SettingKind::Store => json!({ "type": "string", "pattern": "^(memory|sqlite:.+)$" }),
        SettingKind::Url => json!({ "type": "string", "format": "uri", "pattern": "^https?://" }),
        SettingKind::Command
        | SettingKind::Glob
        | SettingKind::Line
        | SettingKind::Template
        | SettingKind::Socket => {
            json!({ "type": "string", "minLength": 1 })
        }
        SettingKind::Variable => json!({ "type": "string", "pattern": VARIABLE }),
        SettingKind::Variables => {
            json!({ "type": "array", "items": { "type": "string", "pattern": VARIABLE } })
        }
        SettingKind::Flag(_) => json!({ "type": "boolean" }),
        SettingKind::Words(words, _) => json!({ "enum": words() }),
        SettingKind::WordsOrNone(words, _) => or_none(json!({ "enum": words() })),
        SettingKind::Sha256 => json!({ "type": "string", "pattern": SHA256 }),
        SettingKind::DefinitionHash => {
            json!({ "type": "string", "pattern": "^v[0-9]+:[0-9a-f]{64}$" })
        }
        SettingKind::Globs | SettingKind::Texts => {
            json!({ "type": "array", "items": { "type": "string" } })
        }
        SettingKind::Size(_) => size(),
        SettingKind::SizeOrNone(_) => or_none(size()),
        SettingKind::Duration(_) => json!({ "type": "string", "pattern": DURATION }),
        SettingKind::DurationOrNone(_) => or_none(json!({ "type": "string", "pattern": DURATION })),
        SettingKind::Count(counts, _) => count(counts.range()),
        SettingKind::CountOrNone(counts, _) => or_none(count(counts.range())),
        SettingKind::Paths(_) => {
            json!({ "type": "array", "items": { "type": "string", "pattern": "^/" } })
        }
        SettingKind::ToolKinds => one_or_more(kinds().iter().map(ToString::to_string).collect()),
        SettingKind::ArgumentRoles => json!({
            "type": "object",
            "additionalProperties": { "enum": Role::ALL.map(|role| role.to_string()) },
        }),
        SettingKind::Effects => {
            let words = EffectKind::WORDS.map(|(word, _)| word.to_owned());
            one_or_more([vec!["none".to_owned()], words.to_vec()].concat())
        }
        SettingKind::Policies => json!({
            "type": "array",
            "items": { "anyOf": [{ "type": "string" }, { "$ref": "#/$defs/policy" }] },
        }),
    }
}

fn one_or_more(words: Vec<String>) -> Value {
    let one = json!({ "enum": words });
    json!({ "anyOf": [one.clone(), { "type": "array", "minItems": 1, "items": one }] })
}

/// The keys of a policy, as far as a schema helps: `callgate policy check` knows the rest.
fn policy_properties() -> [(&'static str, Value); 7] {
    let verdict = || json!({ "enum": ["allow", "audit", "deny"] });
    [
        ("policy", json!({ "type": "string", "description": "The policy's name." })),
        ("for", whom()),
        ("mode", json!({ "enum": ["enforce", "shadow"] })),
        ("default", verdict()),
        ("defaults", json!({ "type": "object", "additionalProperties": verdict() })),
        ("rules", json!({ "type": "array", "items": { "$ref": "#/$defs/rule" } })),
        ("text", json!({ "type": "array", "items": { "type": "object" } })),
    ]
}

/// The callers that a policy applies to.
fn whom() -> Value {
    json!({
        "type": "object",
        "description": "The callers it applies to, as globs; all callers if left out.",
        "propertyNames": { "enum": ["org", "team", "user", "key", "agent"] },
        "additionalProperties": {
            "type": ["string", "array"],
            "items": { "type": "string" },
        },
    })
}

fn policy() -> Value {
    let properties: Map<String, Value> =
        policy_properties().into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    json!({
        "type": "object",
        "required": ["policy"],
        "additionalProperties": false,
        "properties": properties,
    })
}

fn rule() -> Value {
    json!({
        "type": "object",
        "required": ["id", "verdict"],
        "description": "A rule; docs/reference/policy.md has every key.",
        "properties": {
            "id": { "type": "string" },
            "verdict": { "enum": [
                "allow", "audit", "deny", "sanitize", "ask", "pending_approval", "review", "sample"
            ] },
            "reason": { "type": "string" },
            "hint": { "type": "string" },
            "blocks": { "type": "string" },
            "priority": { "type": "integer" },
            "mode": { "enum": ["enforce", "shadow"] },
        },
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use callgate_policy::POLICY_KEYS;

    use super::*;
    use crate::fields;

    fn keys(schema: &Value, path: &str, found: &mut BTreeSet<String>) {
        let join = |key: &str| if path.is_empty() { key.into() } else { format!("{path}.{key}") };
        for (key, value) in schema["properties"].as_object().into_iter().flatten() {
            found.insert(join(key));
            keys(value, &join(key), found);
        }
        if schema["additionalProperties"].is_object() {
            keys(&schema["additionalProperties"], &join(ANY), found);
        }
        if schema["items"]["properties"].is_object() && !path.is_empty() {
            keys(&schema["items"], &join(ENTRY), found);
        }
    }

    #[test]
    fn every_key_is_in_the_schema_and_the_other_way_round() {
        let mut found = BTreeSet::new();
        keys(&schema(), "", &mut found);
        let known = fields::all().map(|field| field.path).chain(POLICY_KEYS.iter().copied());
        let known: BTreeSet<String> = known.map(str::to_owned).collect();
        assert_eq!(found, known);
    }
}
