//! The condition `origin`: whether a value of the call came into the conversation only with the
//! result of a tool.

use std::cell::Cell;

use callgate_call::{EmbeddedJson, FoundOrigin, ValueOrigins, ValuePlace};
use callgate_json::{Value, quote};

use super::{Evidence, KeyDoc, LeafCondition, Scene};
use crate::explain::TestExplanation;
use crate::judgement::Matched;
use crate::path::{ArgumentPath, PathItem};
use crate::tri::Tri;
use callgate_document::Problems;
use callgate_document::{Mapping, text, word};

/// An argument whose values are looked for in the conversation.
#[derive(Debug, Clone)]
pub(crate) struct OriginCondition {
    path: ArgumentPath,
    written: String,
}

/// The values of one argument that are looked for. What has more is a list that nobody writes by
/// hand; it is unknown.
const MAX_VALUES: usize = 32;

impl LeafCondition for OriginCondition {
    const HEADS: &'static [&'static str] = &["origin"];

    const KEYS: &'static [KeyDoc] = &[KeyDoc {
        keys: &["origin"],
        meaning: "`{ arg: recipient, only: tool_result }`: the value [came into the \
                  conversation](#origin) in the result of a tool, and is nowhere in text of the \
                  user or the system; not in a rule that allows",
    }];

    fn compile(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let node = fields.get("origin")?;
        let inner = Mapping::of(node, "`origin`", problems)?;
        inner.check(&["arg", "only"], &[], problems);
        for (key, hint) in [("arg", "arg: recipient"), ("only", "only: tool_result")] {
            if inner.get(key).is_none() {
                problems
                    .add(node.span, format!("`origin` needs `{key}`"))
                    .hint(format!("write `{hint}`"));
            }
        }
        let only = text(inner.get("only")?, "`only`", problems);
        let only = only.and_then(|it| word(&it, "origin", &[("tool_result", ())], &[], problems));
        let written = text(inner.get("arg")?, "`arg`", problems)?;
        let path = super::argument::compile_path(&written, problems)?;
        if path.is_all() || matches!(path, ArgumentPath::Context(_)) {
            problems.add(written.span, format!("`{}` is not an argument", written.value)).hint(
                "name the argument, like `recipient` or `items[*].to`, or a role like `@url`",
            );
            return None;
        }
        only.map(|_| Self { path, written: written.value })
    }

    fn evidence(&self) -> Evidence {
        Evidence::Conversation
    }

    fn holds(&self, scene: &Scene<'_>) -> Tri {
        let left = Cell::new(MAX_VALUES);
        self.any(scene, &|text| match left.get().checked_sub(1) {
            Some(fewer) => {
                left.set(fewer);
                self.came_from_tool(text, &scene.call.origin.values)
            }
            None => Tri::Unknown,
        })
    }

    /// The value, redacted like every matched argument.
    fn matched(&self, scene: &Scene<'_>) -> Option<Matched> {
        let found = self.values(scene).into_iter();
        let values = &scene.call.origin.values;
        let mut found = found.filter(|it| self.came_from_tool(it, values) == Tri::True);
        found.next().map(|value| Matched::new(&self.written, &value))
    }

    fn why_unknown(&self, scene: &Scene<'_>) -> Option<String> {
        if self.holds(scene) != Tri::Unknown {
            return None;
        }
        Some(match &scene.call.origin.values {
            _ if scene.call.arguments.value().is_err() => "the arguments cannot be read".to_owned(),
            ValueOrigins::Unknown => "the conversation is not known here".to_owned(),
            ValueOrigins::Conversation(conversation) => match conversation.passages() {
                Err(why) => why.to_string(),
                Ok(_) => format!("`{}` is read differently by different programs", self.written),
            },
            ValueOrigins::Found(_) => "it is unknown for the call of the model, too".to_owned(),
        })
    }

    fn explain(&self, scene: &Scene<'_>) -> TestExplanation {
        let place = |value: &String| match &scene.call.origin.values {
            ValueOrigins::Conversation(conversation) => {
                conversation.passages().ok().map(|passages| passages.place_of(value).as_str())
            }
            _ => None,
        };
        let show = |value: String| match place(&value) {
            Some(place) => quote(&format!("{} ({place})", crate::denial::cut(&value, 60))),
            None => quote(crate::denial::cut(&value, 60).as_str()),
        };
        let values: Vec<String> = self.values(scene).into_iter().map(show).collect();
        let operand = quote("tool_result");
        TestExplanation::new(&self.written, "came only from", operand, values.into_iter())
    }

    fn canonical(&self) -> String {
        format!("origin {:?}", self.path)
    }
}

impl OriginCondition {
    /// What it came to, for the record and for the execution of the call; `None` if the call has no
    /// such argument.
    pub(crate) fn found(&self, scene: &Scene<'_>) -> Option<FoundOrigin> {
        let has_value = self.any(scene, &|_| Tri::True) != Tri::False;
        has_value.then(|| FoundOrigin {
            condition: self.written.clone(),
            holds: match self.holds(scene) {
                Tri::True => Some(true),
                Tri::False => Some(false),
                Tri::Unknown => None,
            },
        })
    }

    fn came_from_tool(&self, text: &str, values: &ValueOrigins) -> Tri {
        match values {
            ValueOrigins::Unknown => Tri::Unknown,
            ValueOrigins::Conversation(conversation) => match conversation.passages() {
                Err(_) => Tri::Unknown,
                Ok(passages) => (passages.place_of(text) == ValuePlace::OnlyToolResult).into(),
            },
            ValueOrigins::Found(found) => {
                let found = found.iter().find(|it| it.condition == self.written);
                found.and_then(|it| it.holds).map_or(Tri::Unknown, Tri::from)
            }
        }
    }

    /// Whether `holds` is true for any text in the argument. An argument without text has none.
    fn any(&self, scene: &Scene<'_>, holds: &dyn Fn(&str) -> Tri) -> Tri {
        let input = &scene.call.arguments;
        let Ok(root) = input.value() else { return Tri::Unknown };
        let of_value = |value: &Value| {
            let embedded = match scene.embedded_json(input, value) {
                Some(EmbeddedJson::Value(inner)) => of_texts(inner, holds),
                Some(EmbeddedJson::Unclear) => Tri::Unknown,
                None => Tri::False,
            };
            of_texts(value, holds).or(embedded)
        };
        match self.path {
            ArgumentPath::Context(_) => Tri::False,
            ArgumentPath::Role(role) if !scene.effects.may_carry(role) => Tri::False,
            ArgumentPath::Role(role) => {
                let values = scene.effects.carriers(role).iter().filter_map(|it| it.value(root));
                Tri::any(values.map(of_value))
            }
            ArgumentPath::Argument(_) => self.path.any(root, &mut |item| match item {
                PathItem::Value(value) => of_value(value),
                PathItem::Key(_) => Tri::False,
                PathItem::WrongType => Tri::Unknown,
            }),
        }
    }

    /// Every text in the argument, up to the bound.
    fn values(&self, scene: &Scene<'_>) -> Vec<String> {
        let found = std::cell::RefCell::new(Vec::new());
        self.any(scene, &|text| {
            let mut found = found.borrow_mut();
            if found.len() < MAX_VALUES {
                found.push(text.to_owned());
            }
            Tri::False
        });
        found.into_inner()
    }
}

/// Whether `holds` is true for any text or number in a value. Recursion is bounded: the JSON reader
/// limits the depth.
fn of_texts(value: &Value, holds: &dyn Fn(&str) -> Tri) -> Tri {
    match value {
        Value::String(text) if text.trim().is_empty() => Tri::False,
        Value::String(text) | Value::Number(text) => holds(text),
        Value::Array(items) => Tri::any(items.iter().map(|item| of_texts(item, holds))),
        Value::Object(members) => {
            Tri::any(members.iter().map(|(_, member)| of_texts(member, holds)))
        }
        Value::Null | Value::Bool(_) => Tri::False,
    }
}
