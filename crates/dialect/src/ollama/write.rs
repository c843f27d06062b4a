//! Writes an Ollama stream or body: the same bytes, or bytes with splices.

use callgate_json::{Kind, Value, escape_into, quote};
use callgate_wire::Frame;

use super::continued::{counts, set_counts};
use super::view::{Entry, LineContent, view};
use crate::departure::{Departure, Leaving, Orders, Rest};
use crate::event::{Canonical, Fate, Reading, What};
use crate::json::{Edits, Member, document, elements, member, members, prepend_to, remove_members};
use crate::leave::{finish_body, leave};
use crate::object::{Raw, object};
use crate::spec::Write;
use crate::usage::TurnUsage;

/// Writes the lines of one response.
#[derive(Debug, Default)]
pub(super) struct Writer {
    /// How many calls were removed: later ones move up.
    removed: u64,
    /// Set once the turn continues with another answer.
    later: Option<TurnUsage>,
}

impl Write for Writer {
    fn write_frame(&mut self, leaving: &Leaving<'_>, out: &mut Vec<u8>) {
        let Leaving { frame, data, reading, orders } = *leaving;
        let Orders { departure, fates } = orders;
        if leaving.fates().end_leaves_later() {
            return self.write_before_end(frame, data, departure, out);
        }
        let mut edits = match departure.rest == Rest::End {
            true => edit_end(data, fates),
            false => self.edit(data, reading, fates),
        };
        if let (true, Some(usage)) = (leaving.ends(), &self.later) {
            set_counts(&mut edits, data, &usage.total_with(&counts(data)));
        }
        leave(leaving, edits, out);
    }

    fn add_text(&mut self, frame: &Frame<'_>, text: &str, out: &mut Vec<u8>) {
        let data = frame.text().unwrap_or("{}");
        let line = format!(
            "{{{}\"message\":{{\"role\":\"assistant\",\"content\":{}}},\"done\":false}}",
            head(data),
            quote(text)
        );
        frame.another(None, &line, out);
    }

    fn next_answer(&mut self, spent: &str, _end: &str) {
        (self.later, self.removed) = (Some(TurnUsage::after(spent)), 0);
    }

    fn give_up_answer(&mut self) {
        self.later.iter_mut().for_each(TurnUsage::give_up);
    }

    /// Ends the response with the text: Ollama has no finish reason for a filter.
    fn stop_early(&mut self, frame: &Frame<'_>, text: &str, out: &mut Vec<u8>) {
        let data = frame.text().unwrap_or("{}");
        let head = head(data);
        let is_prompt = view(data).is_ok_and(|line| line.own.text.is_some());
        let key = if is_prompt { "response" } else { "message" };
        frame.another(None, &last_line(&head, key, text), out);
    }

    fn whole_body(&mut self, data: &str, reading: &Reading, orders: Orders<'_>) -> Option<String> {
        let Orders { departure, fates } = orders;
        let edits = self.edit(data, reading, fates);
        Some(finish_body(data, departure, edits))
    }
}

impl Writer {
    /// Writes what the last line says, without its end. Every call of the turn was denied.
    fn write_before_end(
        &mut self,
        frame: &Frame<'_>,
        data: &str,
        departure: &Departure,
        out: &mut Vec<u8>,
    ) {
        let Ok(line) = view(data) else { return };
        self.removed += line.said().map(|said| said.entries.len() as u64).sum::<u64>();
        let Some(message) = &line.message else { return };
        let says = |key: &str| {
            let all = members(data, message.span).into_iter().filter(|it| it.key.is(key));
            all.into_iter().any(|it| !["\"\"", "null"].contains(&it.value.of(data)))
        };
        if !says("content") && !says("thinking") {
            return;
        }
        let mut edits = Edits::default();
        remove_members(&mut edits, data, message.span, |it| it.key.is("tool_calls"));
        let left = ["model", "created_at", "message", "done"];
        let whole = document(data);
        remove_members(&mut edits, data, whole, |it| !left.iter().any(|key| it.key.is(key)));
        for member in members(data, whole).iter().filter(|member| member.key.is("done")) {
            edits.replace(member.value, "false");
        }
        let mut said = departure.masks.clone();
        said.retain(|(at, _)| at.start >= message.span.start && at.end <= message.span.end);
        said.into_iter().for_each(|(at, text)| edits.replace(at, text));
        frame.another(None, &edits.apply(data), out);
    }

    fn edit(&mut self, data: &str, reading: &Reading, fates: &[Fate]) -> Edits {
        let mut edits = Edits::default();
        if fates.iter().all(|fate| matches!(fate, Fate::Keep)) && self.removed == 0 {
            return edits;
        }
        let Ok(line) = view(data) else { return edits };
        let mut neutral = None;
        for (part, fate) in reading.parts.iter().zip(fates) {
            if let (What::Finish(finish), Fate::Ordinary(text)) = (&part.what, fate) {
                neutral = text.as_deref();
                if finish.announces_calls && part.at.of(data) != "\"stop\"" {
                    edits.replace(part.at, "\"stop\"");
                }
            }
        }
        let at = |entry: &Entry<'_>| {
            reading.parts.iter().zip(fates).find(|(part, _)| part.at == entry.span)
        };
        // The text that keeps the turn from being empty goes where the turn has its text.
        let has_message = line.message.is_some();
        for said in line.said() {
            let is_own = said.span == line.own.span;
            let mut notice = String::new();
            let mut gone = vec![false; said.entries.len()];
            for (entry, gone) in said.entries.iter().zip(&mut gone) {
                match at(entry).map(|(_, fate)| fate) {
                    Some(Fate::Keep) => self.move_up(data, entry, &mut edits),
                    Some(Fate::Whole(call)) => {
                        self.move_up(data, entry, &mut edits);
                        set_arguments(entry, call, &mut edits);
                    }
                    fate => {
                        if let Some(Fate::Notice(text)) = fate {
                            notice.push_str(text);
                        }
                        *gone = true;
                        self.removed += 1;
                    }
                }
            }
            if is_own != has_message {
                notice.push_str(neutral.unwrap_or(""));
            }
            let key = if is_own { "response" } else { "content" };
            insert_notice_and_remove(data, said, &gone, key, &notice, &mut edits);
        }
        edits
    }

    /// Renumbers the calls of versions that number them, without gaps.
    fn move_up(&self, data: &str, entry: &Entry<'_>, edits: &mut Edits) {
        let Some(at) = entry.index.filter(|_| self.removed > 0) else { return };
        if let Some(number) = at.of(data).parse::<u64>().ok().filter(|n| *n >= self.removed) {
            edits.replace(at, (number - self.removed).to_string());
        }
    }
}

/// The first members of a line like this one.
fn head(data: &str) -> String {
    let mut head = String::new();
    for member in members(data, document(data)) {
        if member.key.is("model") || member.key.is("created_at") {
            head.push_str(member.span.of(data));
            head.push(',');
        }
    }
    head
}

/// Empties a last line whose message has left.
fn edit_end(data: &str, fates: &[Fate]) -> Edits {
    let mut edits = Edits::default();
    let neutral = fates.iter().find_map(|fate| match fate {
        Fate::Ordinary(text) => text.as_deref(),
        _ => None,
    });
    let text = quote(neutral.unwrap_or_default());
    let Some(message) = member(data, document(data), "message") else { return edits };
    edits.replace(message, object! { "role": "assistant", "content": Raw(&text) });
    if let Some(reason) = member(data, document(data), "done_reason") {
        edits.replace(reason, "\"stop\"");
    }
    edits
}

/// A line with `text` that ends the response; `head` are its first members.
pub(super) fn last_line(head: &str, key: &str, text: &str) -> String {
    let said = match key {
        "message" => object! { "role": "assistant", "content": text },
        _ => quote(text),
    };
    format!("{{{head}\"{key}\":{said},\"done\":true,\"done_reason\":\"stop\"}}")
}

/// A removed call as in a message.
pub(super) fn original(call: &Canonical) -> String {
    let id = match call.id.as_str() {
        "" => String::new(),
        id => format!("\"id\":{},", quote(id)),
    };
    let (name, arguments) = (quote(&call.name), object(&call.arguments));
    format!("{{{id}\"function\":{{\"name\":{name},\"arguments\":{arguments}}}}}")
}

/// The arguments as an object. Anything but one strict object could add members, or is rejected by
/// the server.
fn object(arguments: &str) -> &str {
    match Value::parse(arguments) {
        Ok(Value::Object(_)) => arguments,
        _ => "{}",
    }
}

/// Replaces the arguments of a call.
fn set_arguments(entry: &Entry<'_>, call: &Canonical, edits: &mut Edits) {
    match (entry.arguments, entry.function) {
        (Some((at, Kind::String)), _) => edits.replace(at, quote(&call.arguments)),
        (Some((at, _)), _) => edits.replace(at, object(&call.arguments)),
        (None, Some(function)) => {
            // It has a name, or it would not have been allowed.
            let arguments = object(&call.arguments);
            edits.insert(function.start + 1, format!("\"arguments\":{arguments},"));
        }
        (None, None) => {}
    }
}

/// Inserts the notice into the text and removes the calls; the list is removed when it is empty.
fn insert_notice_and_remove(
    data: &str,
    said: &LineContent<'_>,
    gone: &[bool],
    key: &str,
    notice: &str,
    edits: &mut Edits,
) {
    let all_gone = !gone.is_empty() && gone.iter().all(|gone| *gone);
    let is_gone = |member: &Member<'_>| all_gone && member.key.is("tool_calls");
    let left = remove_members(edits, data, said.span, is_gone);
    if let (false, Some(list)) = (all_gone, said.calls) {
        edits.remove(&elements(data, list), |place| gone.get(place) == Some(&true));
    }
    if notice.is_empty() {
        return;
    }
    match said.text {
        Some((at, Some(_))) => {
            let mut inside = String::new();
            escape_into(notice, &mut inside);
            edits.insert(at.end - 1, inside);
        }
        Some((at, None)) => edits.replace(at, quote(notice)),
        None => prepend_to(edits, said.span, left > 0, &format!("\"{key}\":{}", quote(notice))),
    }
}
