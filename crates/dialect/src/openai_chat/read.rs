//! Reads chunks of a Chat stream, and whole completions.

use callgate_json::{Reader as Json, Span, Value};

use super::view::{
    Choice, ChoiceContent, Choices, Content, Entry, Failure, Function, View, page, view,
    view_of_page,
};
use crate::event::{
    After, ArgumentsPiece, CallKind, Carrier, FollowedBy, FrameForm, Host, Lane, Order, Part,
    Piece, PieceRole, Reading, Slot, Unreadable, What,
};
use crate::json::{decode, document, expect_object, inside, is_done, may_hold_a_call};
use crate::spec::Read;
use crate::stray::{self, DocumentKind, SkippedMembers};
use crate::tally::{Tally, counts_within};

/// Calls that the provider has run, and a call that it rejected, are read separately. LiteLLM lists
/// the tools of MCP servers that it has queried.
const SKIPPED_MEMBERS: SkippedMembers = &[
    ("providerspecificfields", &["mcplisttools"]),
    ("delta", &["executedtools"]),
    ("message", &["executedtools"]),
    ("error", &["failedgeneration"]),
];

/// A stored completion repeats the tools of its request.
const SKIPPED_IN_BODIES: SkippedMembers = &[
    ("providerspecificfields", &["mcplisttools"]),
    ("delta", &["executedtools"]),
    ("message", &["executedtools"]),
    ("error", &["failedgeneration"]),
    ("", &["tools", "toolchoice", "functions", "metadata"]),
    ("data", &["tools", "toolchoice", "functions", "metadata"]),
];

/// Reads the chunks of one response.
#[derive(Debug)]
pub(super) struct Reader {
    calls: Vec<Call>,
    next: Slot,
    max_calls: usize,
    /// Whether a chunk of the API was read.
    has_read_any: bool,
}

/// A call that has begun.
#[derive(Debug)]
struct Call {
    slot: Slot,
    lane: Lane,
    /// The index of its pieces; `None` for a legacy `function_call`.
    index: Option<i64>,
    id: String,
    legacy: bool,
}

impl Reader {
    /// A reader at the start of a response. It refuses more than `max_calls` calls.
    pub(super) fn new(max_calls: usize) -> Self {
        Self { calls: Vec::new(), next: Slot::default(), max_calls, has_read_any: false }
    }
}

impl Read for Reader {
    fn has_read_any(&self) -> bool {
        self.has_read_any
    }

    /// Reads one chunk.
    fn read(&mut self, event: Option<&[u8]>, data: &str) -> Result<Reading, Unreadable> {
        let start = data.trim_start();
        if is_done(start) {
            self.has_read_any = true;
            return Ok(Reading::done());
        }
        if start.is_empty() {
            return Ok(Reading::default());
        }
        expect_object(start, Unreadable::Nothing)?;
        let mut reading = Reading::default();
        let found =
            view(data, |choice| self.choice(&choice, data, DocumentKind::Frame, &mut reading))?;
        let is_chunk = found.choices != Choices::Missing || found.error.is_some() || found.is_error;
        // The first event shows whether the stream is of this API. Later unknown events pass, but a
        // call in them may be the beginning of one whose rest is unknown.
        let may_pass = is_chunk || (self.has_read_any && !stray::holds_call(data)?);
        if !may_pass {
            return Err(Unreadable::Foreign);
        }
        self.has_read_any |= is_chunk;
        self.outside(&found, data, &mut reading)?;
        // Chunks have no names; some clients skip a chunk with one.
        reading.skipped_by_some_clients |= event.is_some();
        Ok(reading)
    }

    /// Reads a whole completion, an error, or a page of stored completions.
    fn read_body(&mut self, data: &str) -> Result<Reading, Unreadable> {
        expect_object(data, Unreadable::Ambiguous("not a completion"))?;
        let mut reading = Reading::default();
        match page(data)? {
            Some(page) => self.page(&page, data, &mut reading)?,
            None => {
                let found = view(data, |choice| {
                    self.choice(&choice, data, DocumentKind::Body, &mut reading)
                })?;
                let is_ours = found.choices == Choices::Listed;
                if !is_ours && found.error.is_none() && !found.is_error {
                    return Err(Unreadable::Foreign);
                }
                self.outside(&found, data, &mut reading)?;
            }
        }
        self.has_read_any = true;
        reading.order = Order::Stream;
        reading.skipped_by_some_clients = false;
        Ok(reading)
    }

    fn skipped_members(&self, form: DocumentKind) -> Option<SkippedMembers> {
        Some(match form {
            DocumentKind::Frame => SKIPPED_MEMBERS,
            DocumentKind::Body => SKIPPED_IN_BODIES,
        })
    }

    fn stray_slot(&mut self) -> Result<Slot, Unreadable> {
        Ok(self.next.take())
    }

    /// The text of each choice, and its parts if it is a list.
    fn texts(&self, data: &str) -> Vec<Span> {
        let mut texts = Vec::new();
        let mut collect = |choice: Choice<'_>| {
            for said in choice.said() {
                texts.extend(said.content.iter().flat_map(Content::texts).map(inside));
                texts.extend(said.refusal.map(|text| inside(&text)));
            }
            Ok(())
        };
        match page(data) {
            Ok(Some(page)) => {
                for completion in page.into_iter().enumerate() {
                    view_of_page(data, completion, &mut collect).ok();
                }
            }
            _ => drop(view(data, collect)),
        }
        texts
    }
}

impl Reader {
    /// Reads a page of stored completions. Its tokens are of other responses.
    fn page(&mut self, page: &[Span], data: &str, reading: &mut Reading) -> Result<(), Unreadable> {
        for completion in page.iter().copied().enumerate() {
            let found = view_of_page(data, completion, |choice| {
                self.choice(&choice, data, DocumentKind::Body, reading)
            })?;
            if found.choices != Choices::Listed {
                return Err(Unreadable::Foreign);
            }
            self.outside(&found, data, reading)?;
        }
        reading.tally = None;
        Ok(())
    }

    /// Reads everything outside of the choices.
    fn outside(
        &mut self,
        found: &View<'_>,
        data: &str,
        reading: &mut Reading,
    ) -> Result<(), Unreadable> {
        reading.model = reading.model.or(found.model.map(|text| inside(&text)));
        // Some clients only look at the first choice.
        reading.skipped_by_some_clients |= found.skipped_by_some_clients || found.count > 1;
        if let Some(failure) = &found.error {
            self.failure(failure, data, reading)?;
        }
        let several = found.count > 1 && !reading.parts.is_empty();
        if found.count == 0 || found.error.is_some() || several {
            reading.order = Order::Stream;
        }
        let mut tally = Tally::default();
        tally.stopped(found.finish);
        if let Some(usage) = found.usage {
            let keys = ["prompt_tokens", "completion_tokens", "prompt_cache_hit_tokens"];
            let within = [
                ("prompt_tokens_details", "cached_tokens"),
                ("completion_tokens_details", "reasoning_tokens"),
            ];
            let ([input, output, hit], [cached, reasoning]) =
                counts_within(data, usage, keys, within);
            (tally.input, tally.output, tally.reasoning) = (input, output, reasoning);
            // DeepSeek has a separate field, in addition to the usual one.
            tally.cached = cached.or(hit);
        }
        reading.tally = tally.boxed();
        Ok(())
    }

    fn choice(
        &mut self,
        choice: &Choice<'_>,
        data: &str,
        form: DocumentKind,
        reading: &mut Reading,
    ) -> Result<(), Unreadable> {
        let lane = choice.lane;
        let parts_before = reading.parts.len();
        reading.skipped_by_some_clients |= choice.skipped_by_some_clients;
        if choice.bad_index && choice.said().any(ChoiceContent::has_calls) {
            return Err(Unreadable::Ambiguous("calls in a choice with an index that is too large"));
        }
        let mirrored = choice.message_is_a_copy(data);
        let message = choice.message.as_deref().filter(|_| !mirrored);
        let in_place = match form {
            DocumentKind::Frame => message.is_none_or(|message| !message.has_calls()),
            DocumentKind::Body => choice.delta.as_ref().is_none_or(|delta| !delta.has_calls()),
        };
        if !in_place {
            // Some clients read the other of the two as well. If it contains anything, it cannot be
            // merged.
            let right = match form {
                DocumentKind::Frame => choice.delta.as_ref(),
                DocumentKind::Body => choice.message.as_deref(),
            };
            if right.is_some_and(|said| said.span.end - said.span.start > 2) {
                return Err(Unreadable::Ambiguous("calls in both `delta` and `message`"));
            }
            reading.form = FrameForm::Rewrite;
        }
        choice.said().for_each(|said| said.takes(reading));
        for said in choice.delta.iter().chain(message) {
            self.said(said, lane, data, form, reading)?;
        }
        if let Some((at, reason)) = choice.finish {
            // Some servers end a turn with calls like any other.
            let reasons = ["tool_calls", "function_call", "stop"];
            let announces_calls = reasons.iter().any(|announces| reason.is(announces));
            reading.finish(lane, at, announces_calls);
        } else if form == DocumentKind::Body {
            reading.finish(lane, Span::default(), false);
        }
        // Text may overtake a held call; everything else keeps its position in the choice.
        let mut added = reading.parts.iter().skip(parts_before);
        if added.any(|part| !matches!(part.what, What::Text)) {
            reading.order = Order::Lane(lane);
        }
        Ok(())
    }

    fn said(
        &mut self,
        said: &ChoiceContent<'_>,
        lane: Lane,
        data: &str,
        form: DocumentKind,
        reading: &mut Reading,
    ) -> Result<(), Unreadable> {
        let texts = said.content.iter().flat_map(Content::texts);
        for text in texts.filter(|text| !text.is_empty()) {
            if reading.text.is_some() {
                reading.add_text(lane, Some(*text));
            } else {
                (reading.text, reading.text_lane) = (Some(inside(text)), lane);
            }
        }
        if let Some(Content::Other(span)) = &said.content {
            reading.parts.push(Part { lane, at: *span, what: What::Text });
        }
        for entry in &said.entries {
            let mut piece = self.listed(entry, lane, data)?;
            piece.followed_by = follows_piece(form);
            reading.add_call(lane, entry.span, piece);
        }
        if let Some(entry) = &said.function_call {
            let mut piece = self.legacy(entry, lane, data)?;
            piece.followed_by = follows_piece(form);
            reading.add_call(lane, entry.span, piece);
        }
        if let Some(span) = said.executed {
            self.executed(span, lane, data, reading)?;
        }
        Ok(())
    }

    fn listed(&mut self, entry: &Entry<'_>, lane: Lane, data: &str) -> Result<Piece, Unreadable> {
        let function = entry.function.as_ref().or(entry.custom.as_ref());
        let name = decode(function.and_then(|function| function.name))?;
        let id = decode(entry.id)?;
        let (slot, role) = self.resolve(entry, id.as_deref(), name.as_deref(), lane)?;
        let mut piece = Piece { slot, role, name, id, ..Piece::default() };
        if entry.function.is_some() && entry.custom.is_some() {
            piece.refuse = Some("it is a function and a custom tool at once");
        }
        fill(&mut piece, function, entry.custom.is_some(), data);
        piece.original = piece.opens().then(|| entry.span.of(data).to_owned());
        Ok(piece)
    }

    fn legacy(&mut self, entry: &Entry<'_>, lane: Lane, data: &str) -> Result<Piece, Unreadable> {
        let known = self.calls.iter().find(|call| call.legacy && call.lane == lane);
        let (slot, role) = match known {
            Some(call) => (call.slot, PieceRole::More),
            None => (self.begin(lane, None, None, true)?, PieceRole::Open(CallKind::Anonymous)),
        };
        let name = decode(entry.function.as_ref().and_then(|function| function.name))?;
        let mut piece = Piece { slot, role, name, ..Piece::default() };
        fill(&mut piece, entry.function.as_ref(), false, data);
        piece.original = piece.opens().then(|| entry.span.of(data).to_owned());
        Ok(piece)
    }

    /// The call that a piece belongs to, and what the piece is to it.
    ///
    /// By its index; but a different id with a name on a known index is another call (some
    /// providers number every parallel call 0). Without an index: by its id; a new id or a name
    /// begins a call; anything else belongs to the last one.
    fn resolve(
        &mut self,
        entry: &Entry<'_>,
        id: Option<&str>,
        name: Option<&str>,
        lane: Lane,
    ) -> Result<(Slot, PieceRole), Unreadable> {
        let id = id.filter(|id| !id.is_empty());
        let name = name.filter(|name| !name.is_empty());
        let index = entry.index.and_then(|(_, index)| index);
        let mut calls =
            self.calls.iter_mut().rev().filter(|call| call.lane == lane && !call.legacy);
        let known = match index {
            Some(index) if index >= 0 => calls.find(|call| call.index == Some(index)),
            Some(_) => calls.next(),
            None => match id {
                Some(id) => calls.find(|call| call.id == id),
                None if name.is_some() => None,
                None => calls.next(),
            },
        };
        if let Some(call) = known {
            let same = id.is_none_or(|id| call.id.is_empty() || call.id == id);
            if same || name.is_none() {
                if let Some(id) = id
                    && call.id.is_empty()
                {
                    id.clone_into(&mut call.id);
                }
                return Ok((call.slot, PieceRole::More));
            }
        }
        Ok((self.begin(lane, index, id, false)?, PieceRole::Open(CallKind::Identified)))
    }

    fn begin(
        &mut self,
        lane: Lane,
        index: Option<i64>,
        id: Option<&str>,
        legacy: bool,
    ) -> Result<Slot, Unreadable> {
        if self.calls.len() >= self.max_calls {
            return Err(Unreadable::TooManyCalls);
        }
        let slot = self.next.take();
        let id = id.unwrap_or_default().to_owned();
        self.calls.push(Call { slot, lane, index, id, legacy });
        Ok(slot)
    }

    /// Tools that the provider has run itself: they are reported, not held.
    fn executed(
        &mut self,
        list: Span,
        lane: Lane,
        data: &str,
        reading: &mut Reading,
    ) -> Result<(), Unreadable> {
        for tool in crate::json::elements(data, list) {
            let text = |key| {
                let span = crate::json::member(data, tool, key)?;
                let text = Json::at(data, span).string().ok()?;
                text.decode().ok().map(|text| text.into_owned())
            };
            let Some(name) = text("name").or_else(|| text("type")) else { continue };
            let piece = Piece {
                slot: self.next.take(),
                role: PieceRole::Open(CallKind::Identified),
                followed_by: FollowedBy::Nothing,
                name: Some(name),
                arguments: text("arguments").map_or(ArgumentsPiece::None, ArgumentsPiece::Whole),
                host: Host::Provider,
                ..Piece::default()
            };
            reading.add_call(lane, tool, piece);
        }
        Ok(())
    }

    fn stray_piece(&mut self, name: Option<String>, arguments: String) -> Piece {
        Piece {
            slot: self.next.take(),
            role: PieceRole::Open(CallKind::Identified),
            followed_by: FollowedBy::Nothing,
            name,
            arguments: ArgumentsPiece::Whole(arguments),
            carrier: Carrier::Stray,
            ..Piece::default()
        }
    }

    /// Reads an error, which ends unfinished calls. The text of a rejected call in it is judged
    /// like a call: some clients take it for one.
    fn failure(
        &mut self,
        failure: &Failure,
        data: &str,
        reading: &mut Reading,
    ) -> Result<(), Unreadable> {
        reading.after = After::Failure;
        let Some(at) = failure.failed_generation else { return Ok(()) };
        let text = match Json::at(data, at).string() {
            Ok(text) => text.decode()?.into_owned(),
            Err(_) => at.of(data).to_owned(),
        };
        if !may_hold_a_call(&text) {
            return Ok(());
        }
        // Text that cannot be read as a call has no name, and is refused.
        let call = Value::parse(&text).ok();
        let name = call.as_ref().and_then(|call| call.get("name")).and_then(Value::as_str);
        let mut piece = self.stray_piece(name.map(str::to_owned), text.clone());
        let arguments = ["arguments", "parameters"]
            .into_iter()
            .find_map(|key| crate::json::member(&text, document(&text), key));
        if let Some(span) = arguments {
            piece.arguments = ArgumentsPiece::Whole(span.of(&text).to_owned());
        }
        reading.parts.push(Part { lane: Lane::default(), at, what: What::Piece(piece) });
        Ok(())
    }
}

/// What follows a piece of a call.
fn follows_piece(form: DocumentKind) -> FollowedBy {
    match form {
        DocumentKind::Frame => FollowedBy::More,
        DocumentKind::Body => FollowedBy::Nothing,
    }
}

/// Sets the arguments: a piece of text, or, from some servers, the object itself.
fn fill(piece: &mut Piece, function: Option<&Function<'_>>, custom: bool, data: &str) {
    let Some(value) = function.and_then(|function| function.arguments) else { return };
    piece.arguments = match ArgumentsPiece::of_value(value, data) {
        ArgumentsPiece::Fragment(text) if custom => ArgumentsPiece::Free(text),
        arguments => arguments,
    };
}

#[cfg(test)]
mod tests;
