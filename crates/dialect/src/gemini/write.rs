//! Writes a Gemini stream or response: the same bytes, or bytes with splices.

use callgate_json::{Reader as Json, Span, quote};
use callgate_wire::Frame;

use super::error_kind;
use super::form::{is_one_line, leave};
use super::view::{self, Call, Candidate, Part as Said, View};
use crate::ApiError;
use crate::Blame;
use crate::departure::{Fates, Leaving, Orders};
use crate::event::{Canonical, Fate, FrameForm, Lane, Piece, Reading};
use crate::json::{Edits, Member, append_to, member, members, prepend_to, remove_members};
use crate::leave::finish_body;
use crate::object::{Raw, object};
use crate::spec::Write;
use crate::stray::DocumentKind;
use crate::usage::{TurnUsage, overlay};

/// Writes the chunks of one response.
#[derive(Debug, Default)]
pub(super) struct Writer {
    /// Signatures of removed calls, each with its lane, unchanged. The next call of the turn
    /// carries it, or the provider would reject that call when it comes back.
    orphans: Vec<(Lane, String)>,
    /// How many of them are on notices that follow their calls.
    carried: usize,
    /// The id of the response, once it may continue with another answer.
    id: Option<String>,
    /// Set once it does: later answers have the id of the first, and count the tokens of all.
    later: Option<Box<TurnUsage>>,
}

impl Write for Writer {
    fn leaves_as_it_came(&self, _: &Reading, data: &str) -> bool {
        is_one_line(data) && self.later.is_none()
    }

    /// Writes one chunk.
    fn write_frame(&mut self, leaving: &Leaving<'_>, out: &mut Vec<u8>) {
        let Leaving { frame, data, reading, orders } = *leaving;
        if reading.parts.is_empty() && reading.form == FrameForm::Regular && self.later.is_none() {
            return leave(leaving, Edits::default(), out);
        }
        match self.edit(data, reading, orders, DocumentKind::Frame) {
            Some(edits) => leave(leaving, edits, out),
            None => frame.leave_out(out),
        }
    }

    fn add_text(&mut self, frame: &Frame<'_>, text: &str, out: &mut Vec<u8>) {
        let data = frame.text().unwrap_or_default();
        let is_wrapped = view::view(data).is_ok_and(|found| found.is_wrapped);
        let signature = self.orphans.get(self.carried).map(|(_, signature)| signature.clone());
        let part = text_part(text, signature);
        let content = object! { "role": "model", "parts": [Raw(&part)] };
        let chunk = object! { "candidates": [{ "content": Raw(&content), "index": 0 }] };
        self.carried += 1;
        frame.another(None, &wrapped(chunk, is_wrapped), out);
    }

    fn next_answer(&mut self, spent: &str, _end: &str) {
        self.later = Some(Box::new(TurnUsage::after(spent)));
        self.orphans.clear();
    }

    fn give_up_answer(&mut self) {
        self.later.iter_mut().for_each(|usage| usage.give_up());
    }

    /// The other parts, a signature, and the tokens.
    fn text_alone(&self, data: &str) -> Vec<(Span, String)> {
        let Ok(found) = view::view(data) else { return Vec::new() };
        let mut twice: Vec<(Span, String)> =
            found.usage.map(|span| (span, "null".to_owned())).into_iter().collect();
        let contents = found.candidates.iter().filter_map(|candidate| candidate.content.as_ref());
        let mut is_first = true;
        for part in contents.flat_map(|content| &content.parts) {
            let says = part.text.is_some_and(|text| !text.is_empty()) && !part.is_thought;
            if says && std::mem::take(&mut is_first) {
                let signature = part.signature.map(|text| (text.span(), "\"\"".to_owned()));
                twice.extend(signature);
            } else {
                twice.push((part.span, text_part("", None)));
            }
        }
        twice
    }

    /// Ends the candidates of this chunk as the API does when its own filter stops them.
    fn stop_early(&mut self, frame: &Frame<'_>, text: &str, out: &mut Vec<u8>) {
        let data = frame.text().unwrap_or_default();
        let found = view::view(data).unwrap_or_default();
        let mut lanes: Vec<Lane> = found.candidates.iter().map(|found| found.lane).collect();
        if lanes.is_empty() {
            lanes.push(Lane::default());
        }
        for lane in lanes {
            frame.another(None, &wrapped(blocked(text, lane), found.is_wrapped), out);
        }
    }

    /// Writes a whole response, or returns `None` if no part of it may leave.
    fn whole_body(&mut self, data: &str, reading: &Reading, orders: Orders<'_>) -> Option<String> {
        let departure = orders.departure;
        let edits = self.edit(data, reading, orders, DocumentKind::Body)?;
        Some(finish_body(data, departure, edits))
    }
}

impl Writer {
    /// The edits; `None` if nothing relevant is left, or nothing may leave.
    fn edit(
        &mut self,
        data: &str,
        reading: &Reading,
        orders: Orders<'_>,
        form: DocumentKind,
    ) -> Option<Edits> {
        let found = view::view(data).ok()?;
        let fates = Fates { reading, orders };
        let mut edits = Edits::default();
        let mut is_missed = found.fails || form == DocumentKind::Body;
        for candidate in &found.candidates {
            is_missed |= self.edit_candidate(data, candidate, &fates, &mut edits);
        }
        if fates.end_leaves_later() && self.later.is_none() {
            self.id = found.id.map(|id| id.of(data).to_owned());
        }
        if form == DocumentKind::Frame {
            self.edit_metadata(data, &found, &mut edits);
        }
        (is_missed || found.candidates.is_empty()).then_some(edits)
    }

    /// Makes a chunk of a later answer one of the same response.
    fn edit_metadata(&mut self, data: &str, found: &View<'_>, edits: &mut Edits) {
        let Some(usage) = &mut self.later else { return };
        if let Some(at) = found.usage {
            usage.note(&overlay(usage.own(), at.of(data)));
            edits.replace(at, usage.total());
        }
        if let (Some(id), Some(first)) = (found.id, &self.id) {
            edits.replace(id, first.clone());
        }
    }

    /// Edits a candidate. Returns whether something is left of it.
    fn edit_candidate(
        &mut self,
        data: &str,
        candidate: &Candidate<'_>,
        fates: &Fates<'_>,
        edits: &mut Edits,
    ) -> bool {
        let lane = candidate.lane;
        if fates.is_only_end() {
            return self.edit_end(data, candidate, fates.finish(lane), edits);
        }
        let parts = candidate.content.as_ref().map_or(&[][..], |content| &content.parts);
        let gone: Vec<bool> =
            parts.iter().map(|part| self.edit_part(data, part, lane, fates, edits)).collect();
        let left = gone.iter().filter(|gone| !**gone).count();
        let removed = gone.len() - left;
        let finish = match fates.finish(lane) {
            Some(Fate::Later) => {
                remove_finish(data, candidate, edits);
                None
            }
            finish => finish,
        };
        let neutral = finish.and_then(|fate| match fate {
            Fate::Ordinary(text) => text.as_deref(),
            _ => None,
        });
        // If nothing is left, a client may drop the turn, or repeat the request.
        let filler = match (neutral, left, removed) {
            (Some(text), _, _) => Some(text_part(text, self.adopt(lane))),
            (None, 0, 1..) if finish.is_some() => Some(text_part("", self.adopt(lane))),
            _ => None,
        };
        let spans: Vec<Span> = parts.iter().map(|part| part.span).collect();
        edits.remove(&spans, |place| gone.get(place) == Some(&true));
        if let Some(filler) = filler {
            add_part(data, candidate, left, &filler, edits);
        }
        if finish.is_some() {
            self.orphans.retain(|(orphan, _)| *orphan != lane);
        }
        let ends_later = matches!(fates.finish(lane), Some(Fate::Later));
        left > 0 || (removed == 0 && !ends_later) || finish.is_some()
    }

    /// Edits a candidate whose parts have left: only its end is left.
    fn edit_end(
        &mut self,
        data: &str,
        candidate: &Candidate<'_>,
        finish: Option<&Fate>,
        edits: &mut Edits,
    ) -> bool {
        let text = match finish {
            Some(Fate::Ordinary(Some(text))) => text.as_str(),
            _ => "",
        };
        let filler = text_part(text, self.adopt(candidate.lane));
        match candidate.content.as_ref().and_then(|content| content.list) {
            Some(list) => edits.replace(list, format!("[{filler}]")),
            None => add_part(data, candidate, 0, &filler, edits),
        }
        self.orphans.retain(|(orphan, _)| *orphan != candidate.lane);
        true
    }

    /// Edits a part. Returns whether it is removed as a whole.
    fn edit_part(
        &mut self,
        data: &str,
        part: &Said<'_>,
        lane: Lane,
        fates: &Fates<'_>,
        edits: &mut Edits,
    ) -> bool {
        let Some(call) = &part.call else { return false };
        let (piece, fate) = match fates.piece(call.span) {
            Some((piece, fate)) => (Some(piece), Some(fate)),
            None => (None, None),
        };
        let notice = match fate {
            Some(Fate::Keep) => {
                self.keep(part, call, lane, piece, edits);
                return false;
            }
            Some(Fate::Whole(whole)) => {
                edit_call(data, call, whole, edits);
                self.keep(part, call, lane, piece, edits);
                return false;
            }
            Some(Fate::Notice(text)) => Some(text.as_str()),
            _ => None,
        };
        if part.has_more {
            // It is also a text or anything else: only the call is removed.
            remove_members(edits, data, part.span, |member| member.key.span() == call.key);
            if let Some(text) = notice {
                edits.insert(part.span.end, format!(",{}", text_part(text, None)));
            }
            return false;
        }
        let signature = part.signature.map(|text| text.span().of(data).to_owned());
        if let Some(signature) = &signature {
            self.orphans.push((lane, signature.clone()));
        }
        match notice {
            Some(text) => {
                edits.replace(part.span, text_part(text, signature));
                false
            }
            None => true,
        }
    }

    /// Writes a call under the name that all clients read, with the signature that an earlier one
    /// left.
    fn keep(
        &mut self,
        part: &Said<'_>,
        call: &Call<'_>,
        lane: Lane,
        piece: Option<&Piece>,
        edits: &mut Edits,
    ) {
        if call.is_snake {
            edits.replace(call.key, "\"functionCall\"");
        }
        if part.signature.is_none()
            && piece.is_some_and(|piece| piece.opens())
            && let Some(signature) = self.adopt(lane)
        {
            edits.insert(part.span.end - 1, format!(",\"thoughtSignature\":{signature}"));
        }
    }

    /// The first signature that a call of the lane left.
    fn adopt(&mut self, lane: Lane) -> Option<String> {
        let place = self.orphans.iter().position(|(orphan, _)| *orphan == lane)?;
        Some(self.orphans.remove(place).1)
    }
}

/// The response that replaces one that a text rule stopped.
pub(super) fn blocked(text: &str, lane: Lane) -> String {
    object! {
        "candidates": [
            {
                "content": { "role": "model", "parts": [Raw(&text_part(text, None))] },
                "finishReason": "SAFETY", "index": lane.0,
            },
        ],
    }
}

/// The error body that replaces a response.
pub(super) fn error_body(blame: Blame, message: &str) -> String {
    let (code, status) = error_kind(blame);
    object! {
        "error": {
            "code": code, "message": message, "status": status, "details": [
                {
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": "firewall_blocked", "domain": "callgate",
                },
            ],
        },
    }
}

/// A refused request.
pub(super) fn refusal(error: &ApiError<'_>) -> String {
    let word = match error.status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        408 | 504 => "DEADLINE_EXCEEDED",
        500 => "INTERNAL",
        502 => "UNAVAILABLE",
        _ => "INVALID_ARGUMENT",
    };
    let (code, message) = (error.status, quote(error.message));
    object! { "error": { "code": code, "message": Raw(&message), "status": word } }
}

/// A removed call as the provider has it: the part it came in, with nothing else in it.
pub(super) fn original(part: Option<&str>, call: &Canonical) -> String {
    let (mut whole, mut signature) = (canonical(call), None);
    let part = part.unwrap_or_default();
    if let Ok(said) = view::part(&mut Json::new(part), part) {
        signature = said.signature.map(|text| text.span().of(part));
        let came = said.call.map(|call| call.span.of(part)).unwrap_or_default();
        if let Ok(piece) = view::call(&mut Json::new(came), came) {
            let mut edits = Edits::default();
            edit_call(came, &piece, call, &mut edits);
            whole = edits.apply(came);
        }
    }
    let signature = signature.map(|raw| format!(",\"thoughtSignature\":{raw}"));
    format!("{{\"functionCall\":{whole}{}}}", signature.unwrap_or_default())
}

fn canonical(call: &Canonical) -> String {
    let id = match call.id.as_str() {
        "" => String::new(),
        id => format!(",\"id\":{}", quote(id)),
    };
    format!("{{\"name\":{},\"args\":{}{id}}}", quote(&call.name), arguments(call))
}

/// A chunk in its envelope, if it has one.
fn wrapped(chunk: String, is_wrapped: bool) -> String {
    if is_wrapped {
        object! { "response": Raw(&chunk) }
    } else {
        chunk
    }
}

/// Removes the end of a turn that leaves later.
fn remove_finish(data: &str, candidate: &Candidate<'_>, edits: &mut Edits) {
    let ends = ["finishReason", "finish_reason", "finishMessage", "finish_message"];
    remove_members(edits, data, candidate.span, |member| ends.contains(&member.key.raw()));
}

/// A text part, with a signature that must not be lost.
pub(super) fn text_part(text: &str, signature: Option<String>) -> String {
    let signature = signature.map(|raw| format!(",\"thoughtSignature\":{raw}"));
    format!("{{\"text\":{}{}}}", quote(text), signature.unwrap_or_default())
}

/// The arguments; invalid JSON cannot be used as arguments.
fn arguments(call: &Canonical) -> &str {
    match call.arguments.trim() {
        "" => "{}",
        text => text,
    }
}

/// Completes the first piece of a call: adds the arguments, removes the announcement of more
/// pieces.
fn edit_call(data: &str, call: &Call<'_>, whole: &Canonical, edits: &mut Edits) {
    let words = ["partialArgs", "partial_args", "willContinue", "will_continue"];
    let is_piece = |member: &Member<'_>| words.iter().any(|word| member.key.is(word));
    let left = remove_members(edits, data, call.span, is_piece);
    match member(data, call.span, "args") {
        Some(args) if args.of(data) == whole.arguments.trim() => {}
        Some(args) => edits.replace(args, arguments(whole)),
        None => {
            let args = format!("\"args\":{}", arguments(whole));
            prepend_to(edits, call.span, left > 0, &args);
        }
    }
}

/// Adds a part to a candidate that has this many left.
fn add_part(data: &str, candidate: &Candidate<'_>, left: usize, part: &str, edits: &mut Edits) {
    let Some(content) = &candidate.content else {
        let content = object! { "role": "model", "parts": [Raw(part)] };
        return match candidate.no_content {
            Some(null) => edits.replace(null, content),
            None => add_member(data, candidate.span, "content", &content, edits),
        };
    };
    match (content.list, content.no_list) {
        (Some(list), _) => append_to(edits, list, left > 0, part),
        (None, Some(null)) => edits.replace(null, format!("[{part}]")),
        (None, None) => add_member(data, content.span, "parts", &format!("[{part}]"), edits),
    }
}

fn add_member(data: &str, object: Span, key: &str, value: &str, edits: &mut Edits) {
    let has_others = !members(data, object).is_empty();
    prepend_to(edits, object, has_others, &format!("\"{key}\":{value}"));
}
