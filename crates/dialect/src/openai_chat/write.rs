//! Writes a Chat stream or completion: the same bytes, or bytes with splices.

use callgate_json::{Reader as Json, Span, Text, Value, decode_into, escape_into, quote};
use callgate_wire::Frame;

use super::later::{FIRST_ONLY, LaterAnswer};
use super::view::{
    Choice, ChoiceContent, Content, ENTRY, Entry, FUNCTION, View, page, view, view_of_page,
};
use crate::ApiError;
use crate::departure::{Fates, Leaving, Orders};
use crate::event::{
    ArgumentsPiece, Canonical, Fate, FrameForm, Lane, Part, Piece, Reading, Slot, What,
};
use crate::json::{
    Edits, Member, append_to, document, elements, member, members, prepend_to, remove_members,
};
use crate::leave::{finish_body, leave, stray_is_denied};
use crate::object::{Raw, object};
use crate::spec::Write;
use crate::stray::DocumentKind;
use crate::usage::usage_in;

/// The thinking, as one gateway lists it.
const DETAILS: &str = "reasoning_details";

/// Writes the chunks of one response.
#[derive(Debug, Default)]
pub(super) struct Writer {
    /// The calls that have left: lane, slot, and the index that they left with.
    left: Vec<(Lane, Slot, u32)>,
    /// The ids of removed calls.
    removed: Vec<String>,
    /// Set once the turn continues with another answer.
    later: Option<Box<LaterAnswer>>,
}

/// The result of editing a chunk.
struct EditedChunk {
    edits: Edits,
    /// Added chunks, for calls in a frame that some clients skip.
    own: Vec<String>,
    /// Nothing relevant is left in it.
    is_empty: bool,
}

impl Write for Writer {
    /// The thinking for a call may come after it. A plain search is enough to decide whether to
    /// look closer, because nothing secret depends on it.
    fn leaves_as_it_came(&self, _: &Reading, data: &str) -> bool {
        self.later.is_none() && (self.removed.is_empty() || !data.contains(DETAILS))
    }

    /// Some gateways repeat a call in the report of a failure, where it can be cut.
    fn leaves_out(&mut self, _data: &str, _reading: &Reading) -> bool {
        false
    }

    /// Writes one chunk.
    fn write_frame(&mut self, leaving: &Leaving<'_>, out: &mut Vec<u8>) {
        let Leaving { frame, data, reading, orders } = *leaving;
        if reading.parts.is_empty() && self.leaves_as_it_came(reading, data) {
            return leave(leaving, Edits::default(), out);
        }
        if self.later.is_some() && data.trim_start().is_empty() {
            // The beginning of an event that never came.
            return;
        }
        let Some(mut edited) = self.edit(data, reading, orders, DocumentKind::Frame) else {
            return;
        };
        if let Some(later) = &mut self.later {
            later.edit(data, &mut edited.edits);
            edited.own.iter_mut().for_each(|chunk| *chunk = later.as_first(chunk));
        }
        // A call that leaves in an added chunk leaves before the end of the turn, and after the
        // other content of its frame.
        let ends = leaving.ends();
        let own = |out: &mut Vec<u8>| {
            for chunk in &edited.own {
                frame.another(None, chunk, out);
            }
        };
        if ends {
            own(out);
        }
        let is_only_end = leaving.fates().end_leaves_later() && says_nothing(data);
        if !edited.is_empty && !is_only_end {
            leave(leaving, edited.edits, out);
        }
        if !ends {
            own(out);
        }
    }

    /// Writes a whole completion, or returns `None` if no part of it may leave.
    fn whole_body(&mut self, data: &str, reading: &Reading, orders: Orders<'_>) -> Option<String> {
        let departure = orders.departure;
        let edited = self.edit(data, reading, orders, DocumentKind::Body)?;
        Some(finish_body(data, departure, edited.edits))
    }

    /// Reasoning next to the text, and the tokens.
    fn text_alone(&self, data: &str) -> Vec<(Span, String)> {
        let mut twice: Vec<Span> = member(data, document(data), "usage").into_iter().collect();
        let said_twice = |member: &Member<'_>| {
            !member.key.is("content") && !member.key.is("role") && member.value.of(data) != "null"
        };
        let all = view(data, |choice| {
            for said in choice.said() {
                let members = members(data, said.span);
                twice.extend(members.iter().filter(|it| said_twice(it)).map(|it| it.value));
            }
            Ok(())
        });
        match all {
            Ok(_) => twice.into_iter().map(|span| (span, "null".to_owned())).collect(),
            Err(_) => Vec::new(),
        }
    }

    /// Ends the choices of this chunk as the API does when its own filter stops them.
    fn stop_early(&mut self, frame: &Frame<'_>, text: &str, out: &mut Vec<u8>) {
        let data = frame.text().unwrap_or_default();
        let mut lanes = Vec::new();
        let read = view(data, |choice| {
            lanes.push(choice.lane);
            Ok(())
        });
        if read.is_err() || lanes.is_empty() {
            lanes = vec![Lane::default()];
        }
        for lane in lanes {
            let said = self.chunk(data, lane, &format!("\"content\":{}", quote(text)), "null");
            frame.another(None, &said, out);
            frame.another(None, &self.chunk(data, lane, "", "\"content_filter\""), out);
        }
        frame.another(None, "[DONE]", out);
    }

    fn add_text(&mut self, frame: &Frame<'_>, text: &str, out: &mut Vec<u8>) {
        let data = frame.text().unwrap_or_default();
        let said =
            self.chunk(data, Lane::default(), &format!("\"content\":{}", quote(text)), "null");
        frame.another(None, &said, out);
    }

    fn next_answer(&mut self, spent: &str, end: &str) {
        let later = self.later.get_or_insert_with(|| Box::new(LaterAnswer::behind(end)));
        later.begin(spent);
    }

    fn give_up_answer(&mut self) {
        self.later.iter_mut().for_each(|later| later.give_up());
    }

    /// The chunk's text without its calls and its end, to leave before them; `None` if it has no
    /// text.
    fn text_ahead(&self, data: &str) -> Option<String> {
        let mut edits = Edits::default();
        let mut speaks = false;
        let gone = RemovedMembers::CALLS;
        view(data, |choice| {
            for said in choice.said() {
                let mut texts = said.content.iter().flat_map(Content::texts);
                speaks |= texts.any(|text| !text.is_empty());
                insert_notice_and_remove(data, said, "", gone, &mut edits);
            }
            if let Some((at, _)) = choice.finish {
                edits.replace(at, "null");
            }
            Ok(())
        })
        .ok()?;
        if let Some(usage) = member(data, document(data), "usage") {
            edits.replace(usage, "null");
        }
        speaks.then(|| edits.apply(data))
    }
}

impl Writer {
    /// An added chunk of the response that `data` is a chunk of.
    fn chunk(&self, data: &str, lane: Lane, delta: &str, finish: &str) -> String {
        let chunk = chunk(data, lane, delta, finish);
        match &self.later {
            Some(later) => later.as_first(&chunk),
            None => chunk,
        }
    }

    fn edit(
        &mut self,
        data: &str,
        reading: &Reading,
        orders: Orders<'_>,
        form: DocumentKind,
    ) -> Option<EditedChunk> {
        let fates = Fates { reading, orders };
        let mut edits = Edits::default();
        if stray_is_denied(reading, orders.fates)
            && !cut_failed_generation(data, &fates, &mut edits)
        {
            return None;
        }
        if let (true, Some((usage, _))) = (fates.end_leaves_later(), usage_in(data, document(data)))
        {
            edits.replace(usage, "null");
        }
        let (mut removed, mut left, mut own) = (false, false, Vec::new());
        let mut edit = |choice: Choice<'_>| {
            let kept = self.edit_choice(data, &choice, &fates, form, &mut edits, &mut own);
            removed |= kept == ChoiceRest::Nothing;
            left |= kept == ChoiceRest::Something;
            Ok(())
        };
        let page = if form == DocumentKind::Body { page(data).ok().flatten() } else { None };
        let outside = match page {
            Some(page) => {
                for completion in page.into_iter().enumerate() {
                    view_of_page(data, completion, &mut edit).ok()?;
                }
                true
            }
            None => {
                let outside = |view: View<'_>| view.usage.is_some() || view.error.is_some();
                view(data, edit).is_ok_and(outside)
            }
        };
        Some(EditedChunk { edits, own, is_empty: removed && !left && !outside })
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one edit of one frame, and two places to write to"
    )]
    fn edit_choice(
        &mut self,
        data: &str,
        choice: &Choice<'_>,
        fates: &Fates<'_>,
        form: DocumentKind,
        edits: &mut Edits,
        own: &mut Vec<String>,
    ) -> ChoiceRest {
        let lane = choice.lane;
        match choice.finish.and_then(|(at, _)| fates.at(at)) {
            Some((part, Fate::Ordinary(_))) if announces_calls(part) => {
                edits.replace(part.at, "\"stop\"");
            }
            Some((part, Fate::Later)) => edits.replace(part.at, "null"),
            _ => {}
        }
        if let (true, Some(at)) = (fates.is_only_end(), member(data, choice.span, "logprobs")) {
            edits.replace(at, "null");
        }
        let neutral = fates.neutral(lane);
        let mut kept =
            if choice.finish.is_some() { ChoiceRest::Something } else { ChoiceRest::Untouched };
        // One client adds the pieces of the copy to the original ones.
        let copy = choice.message.as_deref().filter(|_| choice.message_is_a_copy(data));
        if let (Some(copy), DocumentKind::Frame) = (copy, form) {
            insert_notice_and_remove(data, copy, "", RemovedMembers::CALLS, edits);
        }
        for said in choice.said() {
            if copy.is_some_and(|copy| copy.key == said.key) && form == DocumentKind::Frame {
                continue;
            }
            let context = Context { data, lane, fates, form, neutral };
            kept = kept.max(self.edit_said(&context, said, edits, own));
        }
        if let (Some(text), None) = (neutral, choice.said().next()) {
            let key = if form == DocumentKind::Frame { "delta" } else { "message" };
            let said = format!("\"{key}\":{{\"content\":{}}},", quote(text));
            edits.insert(choice.span.start + 1, said);
        }
        if fates.reading.form == FrameForm::Rewrite {
            put_in_place(data, choice, form, edits);
        }
        kept
    }

    fn edit_said(
        &mut self,
        context: &Context<'_>,
        said: &ChoiceContent<'_>,
        edits: &mut Edits,
        own: &mut Vec<String>,
    ) -> ChoiceRest {
        let Context { data, lane, fates, form, neutral } = *context;
        let mut notice = String::new();
        let mut gone = vec![false; said.entries.len()];
        let alone = said.entries.len() == 1;
        for (entry, gone) in said.entries.iter().zip(&mut gone) {
            if let Some((piece, Fate::Notice(_) | Fate::Drop)) = fates.piece(entry.span)
                && piece.opens()
            {
                self.removed.extend(piece.id.clone().filter(|id| !id.is_empty()));
            }
            match fates.piece(entry.span) {
                Some((piece, Fate::Keep)) if alone && self.is_plainly_first(entry, piece, lane) => {
                    self.number(lane, piece);
                }
                Some((piece, Fate::Keep)) => self.keep(data, entry, piece, lane, form, edits),
                Some((piece, Fate::Whole(call))) => {
                    let number =
                        Some(self.number(lane, piece)).filter(|_| form == DocumentKind::Frame);
                    if fates.reading.skipped_by_some_clients {
                        *gone = true;
                        let whole = whole(data, entry, call, number);
                        own.push(chunk(data, lane, &format!("\"tool_calls\":[{whole}]"), "null"));
                    } else if let Some(span) = entry.argument_of(call) {
                        edits.replace(span, quote(&call.arguments));
                        self.keep(data, entry, piece, lane, form, edits);
                    } else {
                        edits.replace(entry.span, whole(data, entry, call, number));
                    }
                }
                Some((_, Fate::Notice(text))) => {
                    *gone = true;
                    notice.push_str(text);
                }
                _ => *gone = true,
            }
        }
        let call = said.function_call.as_deref();
        let call_gone =
            call.is_some_and(|entry| edit_legacy(context, entry, &mut notice, edits, own));
        notice.push_str(neutral.unwrap_or(""));
        let list_gone = !gone.is_empty() && gone.iter().all(|gone| *gone);
        if let (Some(list), false) = (said.tool_calls, list_gone) {
            edits.remove(&elements(data, list), |i| gone.get(i) == Some(&true));
        }
        let is_later = self.later.is_some();
        let is_whole = !fates.is_without_text() && !fates.is_only_end() && !is_later;
        if let (Some(list), true) = (said.reasoning_details, is_whole) {
            self.remove_thinking(data, list, edits);
        }
        let ends_only = fates.is_only_end();
        let gone = RemovedMembers {
            list: list_gone || ends_only,
            call: call_gone || ends_only,
            rest: fates.is_without_text() || ends_only,
            first: is_later,
        };
        let left = insert_notice_and_remove(data, said, &notice, gone, edits);
        match (list_gone || call_gone, left) {
            (_, true) => ChoiceRest::Something,
            (true, false) => ChoiceRest::Nothing,
            (false, false) => ChoiceRest::Untouched,
        }
    }

    /// Whether an entry without an index is the first call, alone and complete: clients that accept
    /// calls without an index read it as the first, and no other piece can be taken for a part of
    /// it.
    fn is_plainly_first(&self, entry: &Entry<'_>, piece: &Piece, lane: Lane) -> bool {
        let is_whole = match &piece.arguments {
            ArgumentsPiece::Fragment(raw) => {
                let (mut half, mut text) = (None, String::new());
                decode_into(raw, &mut half, &mut text) && Value::parse(&text).is_ok()
            }
            _ => false,
        };
        let is_first = self.left.iter().all(|(left, _, _)| *left != lane);
        entry.index.is_none() && entry.id.is_some() && piece.opens() && is_first && is_whole
    }

    /// Removes the provider's thinking for a removed call: it rejects that thinking without the
    /// call.
    fn remove_thinking(&self, data: &str, list: Span, edits: &mut Edits) {
        let all = elements(data, list);
        edits.remove(&all, |place| {
            let id = all.get(place).and_then(|entry| member(data, *entry, "id"));
            let id = id.and_then(|id| Json::at(data, id).string().ok());
            id.is_some_and(|id| self.removed.iter().any(|removed| id.is(removed)))
        });
    }

    /// Writes a piece with the index that its call leaves with, and with its id and name only once.
    #[expect(
        clippy::too_many_arguments,
        reason = "one edit of one frame, and two places to write to"
    )]
    fn keep(
        &mut self,
        data: &str,
        entry: &Entry<'_>,
        piece: &Piece,
        lane: Lane,
        form: DocumentKind,
        edits: &mut Edits,
    ) {
        let number = self.number(lane, piece);
        match (entry.index, form) {
            (Some((span, _)), _) if span.of(data).parse() == Ok(number) => {}
            (Some((span, _)), _) => edits.replace(span, number.to_string()),
            (None, DocumentKind::Body) => {}
            (None, DocumentKind::Frame) => {
                edits.insert(entry.span.start + 1, format!("\"index\":{number},"));
            }
        }
        if piece.opens() {
            return;
        }
        if entry.id.is_some_and(|id| !id.is_empty()) {
            remove_members(edits, data, entry.span, |member| member.key.is("id"));
        }
        for inner in ["function", "custom"] {
            if let Some(span) = member(data, entry.span, inner) {
                strip_name(data, span, piece, edits);
            }
        }
    }

    fn number(&mut self, lane: Lane, piece: &Piece) -> u32 {
        let known = |(l, slot, _): &&(Lane, Slot, u32)| *l == lane && *slot == piece.slot;
        if let Some((_, _, number)) = self.left.iter().find(known) {
            return *number;
        }
        let number = self.left.iter().filter(|(l, _, _)| *l == lane).count();
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        self.left.push((lane, piece.slot, number));
        number
    }
}

/// The error body that replaces a completion.
pub(super) fn error_body(kind: &str, message: &str) -> String {
    object! {
        "error": {
            "message": message, "type": kind, "param": Raw("null"), "code": "firewall_blocked",
        },
    }
}

/// A refused request.
pub(crate) fn refusal(error: &ApiError<'_>) -> String {
    object! {
        "error": {
            "message": error.message, "type": error.kind, "param": Raw("null"), "code": error.code,
        },
    }
}

/// A removed call as the provider has it.
pub(super) fn original(call: &Canonical) -> String {
    if call.anonymous { function(call, "") } else { canonical(call, None, "", "") }
}

/// The completion that replaces one that a text rule stopped.
pub(super) fn blocked_body(text: &str) -> String {
    object! {
        "id": "chatcmpl-blocked", "object": "chat.completion", "created": 0, "model": "",
        "choices": [
            {
                "index": 0, "message": { "role": "assistant", "content": text },
                "finish_reason": "content_filter",
            },
        ],
    }
}

/// Whether the part is the end of a turn with calls.
fn announces_calls(part: &Part) -> bool {
    matches!(part.what, What::Finish(finish) if finish.announces_calls)
}

/// Whether nothing in a chunk's choices is of any use but their ends.
fn says_nothing(data: &str) -> bool {
    let is_nothing = |value: &str| matches!(value, "null" | "\"\"" | "[]");
    let mut says = false;
    let read = view(data, |choice| {
        let mut all = choice.said().flat_map(|said| members(data, said.span));
        says |= all.any(|member| !member.key.is("role") && !is_nothing(member.value.of(data)));
        Ok(())
    });
    read.is_ok() && !says
}

/// What is left of a choice in a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ChoiceRest {
    /// Nothing was removed, and there was nothing else in it.
    Untouched,
    /// Calls were removed, and nothing else was in it.
    Nothing,
    /// Something.
    Something,
}

/// The place of an edit and its decision.
#[derive(Clone, Copy)]
struct Context<'a> {
    data: &'a str,
    lane: Lane,
    fates: &'a Fates<'a>,
    form: DocumentKind,
    /// The text that keeps the turn from being empty.
    neutral: Option<&'a str>,
}

/// The removed members of a `delta` or `message`.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each of them is removed or not, by itself")]
struct RemovedMembers {
    list: bool,
    call: bool,
    /// Everything that is not a call.
    rest: bool,
    /// What only the first answer of a turn may have.
    first: bool,
}

impl RemovedMembers {
    /// The calls, and nothing else.
    const CALLS: Self = Self { list: true, call: true, rest: false, first: false };

    fn takes(self, key: &Text<'_>) -> bool {
        if self.first && FIRST_ONLY.iter().any(|first| key.is(first)) {
            return true;
        }
        if key.is("tool_calls") {
            self.list
        } else if key.is("function_call") {
            self.call
        } else {
            self.rest
        }
    }
}

/// Edits a legacy `function_call`. Returns whether it is removed.
fn edit_legacy(
    context: &Context<'_>,
    entry: &Entry<'_>,
    notice: &mut String,
    edits: &mut Edits,
    own: &mut Vec<String>,
) -> bool {
    let Context { data, lane, fates, .. } = *context;
    match fates.piece(entry.span) {
        Some((piece, Fate::Keep)) => {
            strip_name(data, entry.span, piece, edits);
            false
        }
        Some((_, Fate::Whole(call))) => {
            let whole = function(call, &unknown(data, entry.span, &FUNCTION));
            if fates.reading.skipped_by_some_clients {
                own.push(chunk(data, lane, &format!("\"function_call\":{whole}"), "null"));
            } else {
                edits.replace(entry.span, whole);
            }
            fates.reading.skipped_by_some_clients
        }
        Some((_, Fate::Notice(text))) => {
            notice.push_str(text);
            true
        }
        _ => true,
    }
}

/// Inserts the notice into the content and removes the calls. Returns whether anything is left.
fn insert_notice_and_remove(
    data: &str,
    said: &ChoiceContent<'_>,
    notice: &str,
    gone: RemovedMembers,
    edits: &mut Edits,
) -> bool {
    let left = remove_members(edits, data, said.span, |member| gone.takes(&member.key));
    if notice.is_empty() {
        return left > 0;
    }
    match said.content.as_ref().filter(|_| !gone.rest) {
        Some(Content::Text(text)) => {
            let mut inside = String::new();
            escape_into(notice, &mut inside);
            edits.insert(text.span().end - 1, inside);
        }
        Some(Content::Null(span)) => edits.replace(*span, quote(notice)),
        Some(Content::Parts(span, _)) => {
            let block = object! { "type": "text", "text": notice };
            append_to(edits, *span, !elements(data, *span).is_empty(), &block);
        }
        Some(Content::Other(span)) => edits.replace(*span, quote(notice)),
        None => {
            let content = format!("\"content\":{}", quote(notice));
            prepend_to(edits, said.span, left > 0, &content);
        }
    }
    true
}

/// Clients look for calls in the `delta` of a chunk and in the `message` of a completion; some read
/// the other as well. Moves content in the wrong one to where all clients look.
fn put_in_place(data: &str, choice: &Choice<'_>, form: DocumentKind, edits: &mut Edits) {
    let (wrong, right, key) = match form {
        DocumentKind::Frame => (choice.message.as_deref(), choice.delta.as_ref(), "\"delta\""),
        DocumentKind::Body => (choice.delta.as_ref(), choice.message.as_deref(), "\"message\""),
    };
    let Some(wrong) = wrong else { return };
    if let Some(right) = right {
        // The reader has made sure that it is empty. Two equal keys would be ambiguous.
        remove_members(edits, data, choice.span, |member| member.key.span() == right.key);
    }
    edits.replace(wrong.key, key);
}

/// Removes the text of a denied call from an error. Returns whether it was there.
fn cut_failed_generation(data: &str, fates: &Fates<'_>, edits: &mut Edits) -> bool {
    let Some(span) = member(data, document(data), "error")
        .and_then(|error| member(data, error, "failed_generation"))
    else {
        return false;
    };
    match fates.at(span) {
        Some((_, Fate::Drop | Fate::Notice(_))) => {
            edits.replace(span, "\"\"");
            true
        }
        _ => false,
    }
}

/// An added chunk of the response that `data` is a chunk of.
fn chunk(data: &str, lane: Lane, delta: &str, finish: &str) -> String {
    let mut head = String::new();
    for (key, is_text) in [("id", true), ("created", false), ("model", true)] {
        let value = member(data, document(data), key).map(|span| span.of(data)).unwrap_or("");
        let fits = if is_text { value.starts_with('"') } else { value.parse::<f64>().is_ok() };
        if fits {
            head.push_str(&format!("\"{key}\":{value},"));
        }
    }
    format!(
        "{{{head}\"object\":\"chat.completion.chunk\",\"choices\":[{{\"index\":{lane},\
         \"delta\":{{{delta}}},\"finish_reason\":{finish}}}]}}"
    )
}

fn strip_name(data: &str, object: Span, piece: &Piece, edits: &mut Edits) {
    if !piece.opens() && piece.name.as_ref().is_some_and(|name| !name.is_empty()) {
        remove_members(edits, data, object, |member| member.key.is("name"));
    }
}

/// The call as one entry, with the other members of its first piece.
fn whole(data: &str, entry: &Entry<'_>, call: &Canonical, index: Option<u32>) -> String {
    let key = if call.free_text { "custom" } else { "function" };
    let inside = member(data, entry.span, key);
    let inner = inside.map(|span| unknown(data, span, &FUNCTION)).unwrap_or_default();
    canonical(call, index, &inner, &unknown(data, entry.span, &ENTRY))
}

/// The unknown members of an object, each after a comma. A signature that the provider needs back
/// may be one of them.
fn unknown(data: &str, object: Span, known: &[&str]) -> String {
    let is_unknown = |member: &Member<'_>| !known.iter().any(|key| member.key.is(key));
    members(data, object)
        .iter()
        .filter(|member| is_unknown(member))
        .map(|member| format!(",{}", member.span.of(data)))
        .collect()
}

fn canonical(call: &Canonical, index: Option<u32>, inner: &str, rest: &str) -> String {
    let index = index.map(|index| format!("\"index\":{index},")).unwrap_or_default();
    let id = match call.id.as_str() {
        "" => String::new(),
        id => format!("\"id\":{},", quote(id)),
    };
    match call.free_text {
        true => format!(
            "{{{index}{id}\"type\":\"custom\",\
             \"custom\":{{\"name\":{},\"input\":{}{inner}}}{rest}}}",
            quote(&call.name),
            quote(&call.arguments)
        ),
        false => format!(
            "{{{index}{id}\"type\":\"function\",\"function\":{}{rest}}}",
            function(call, inner)
        ),
    }
}

fn function(call: &Canonical, rest: &str) -> String {
    format!("{{\"name\":{},\"arguments\":{}{rest}}}", quote(&call.name), quote(&call.arguments))
}
