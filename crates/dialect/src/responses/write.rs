//! Writes a Responses stream: the same bytes, renumbered, or replaced.

use callgate_json::{Reader as Json, Span, quote};
use callgate_wire::Frame;

use super::item::{with_arguments, with_call_id};
use super::later::{LaterAnswer, items_in};
use super::message::{Message, ResponseMetadata, Sequence, event, id_for};
use super::texts;
use crate::departure::{Leaving, Orders};
use crate::event::{BlockStep, Canonical, Carrier, Fate, Part, Piece, Reading, Slot, What};
use crate::json::{Edits, append_to, document, elements, member};
use crate::leave::{finish_body, leave};
use crate::spec::Write;

/// Writes the frames of one response.
#[derive(Debug, Default)]
pub(super) struct Writer {
    /// The positions of items that were left out: later ones move up.
    dropped: Vec<i64>,
    /// The positions before which a message was inserted that replaced no item: later ones move
    /// down.
    inserted: Vec<i64>,
    /// The highest position of an item that came.
    highest: Option<i64>,
    /// The ids of the messages that replaced calls.
    messages: Vec<(Slot, String)>,
    /// The messages that have begun to leave: the index and the id of each, as JSON.
    open: Vec<(i64, String)>,
    /// The metadata of the response, once it has begun to leave.
    about: Option<ResponseMetadata>,
    /// The messages that were added: each with the position before which it was inserted.
    added: Vec<(i64, String)>,
    /// How many messages were added to the turn.
    count: usize,
    /// Set once the turn goes on with another answer.
    later: Option<Box<LaterAnswer>>,
}

impl Write for Writer {
    /// Whether a text frame can leave unchanged.
    fn leaves_as_it_came(&self, reading: &Reading, data: &str) -> bool {
        let Some(block) = reading.block else { return self.later.is_none() };
        let in_place = match (block.index, block.place) {
            (Some(at), Some(place)) => at.of(data).parse() == Ok(place),
            _ => true,
        };
        let unmoved = self.dropped.is_empty() && self.inserted.is_empty() && self.later.is_none();
        block.does == BlockStep::Add && in_place && unmoved
    }

    /// Writes one frame.
    fn write_frame(&mut self, leaving: &Leaving<'_>, out: &mut Vec<u8>) {
        let Leaving { data, reading, .. } = *leaving;
        if self.later.is_some() && is_left_out(data, reading) {
            return;
        }
        let mut edits = Edits::default();
        if let Some(later) = &self.later {
            later.edit_number(data, &mut edits);
        }
        let start = out.len();
        match reading.block.is_some() {
            true => self.write_block(leaving, edits, out),
            false => self.write_whole(leaving, edits, out),
        }
        if let (Some(later), true) = (&mut self.later, out.len() > start) {
            later.wrote();
        }
    }

    fn add_text(&mut self, frame: &Frame<'_>, text: &str, out: &mut Vec<u8>) {
        let data = frame.text().unwrap_or_default();
        self.count += 1;
        let id = format!("msg_callgate_{}", self.count);
        let message = Message { id: &id, text };
        let mut sequence = match &self.later {
            Some(later) => later.sequence(),
            None => Sequence::at(data),
        };
        message.write_numbered(&mut sequence, frame, self.next_index(), out);
        let place = self.highest.map_or(0, |highest| highest.saturating_add(1));
        self.inserted.push(place);
        self.added.push((place, message.item()));
        if let Some(later) = &mut self.later {
            later.count(&sequence);
            later.add_own(message.item());
        }
    }

    /// Later answers begin with their first item: what came before has left.
    fn next_answer(&mut self, spent: &str, end: &str) {
        let (items, notices) = (self.left_of(end), self.notices_ahead().len());
        let later = self.later.get_or_insert_with(|| Box::new(LaterAnswer::behind(end)));
        later.add_before(items, notices);
        later.begin(spent);
        (self.dropped, self.inserted, self.added) = Default::default();
        (self.highest, self.messages, self.open) = (None, Vec::new(), Vec::new());
    }

    fn shown_answers(&self) -> Vec<String> {
        let notices = self.notices_ahead();
        self.later.as_ref().map(|later| later.shown(&notices)).unwrap_or_default()
    }

    fn give_up_answer(&mut self) {
        self.later.iter_mut().for_each(|later| later.give_up());
    }

    fn close_blocks(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        self.later.iter_mut().for_each(|later| later.close(frame, out));
    }

    /// The tokens of a text that leaves in pieces would be repeated with each of them.
    fn text_alone(&self, data: &str) -> Vec<(Span, String)> {
        texts::words(data).into_iter().map(|words| (words, "[]".to_owned())).collect()
    }

    /// Ends the response as the API does when its own filter stops it. A call that has begun is not
    /// ended, so that no client runs it.
    fn stop_early(&mut self, frame: &Frame<'_>, text: &str, out: &mut Vec<u8>) {
        let data = frame.text().unwrap_or_default();
        let mut sequence = Sequence::from(data);
        let begun = self.about.is_some();
        let about = self.about.take().unwrap_or_else(|| ResponseMetadata::of(data));
        if !begun {
            let response = about.response("in_progress", "null", "");
            event(frame, "response.created", &sequence.next(), &response, out);
        }
        for (index, id) in std::mem::take(&mut self.open) {
            let item = format!(
                "\"output_index\":{index},\"item\":{{\"id\":{id},\"type\":\"message\",\
                 \"status\":\"incomplete\",\"content\":[],\"role\":\"assistant\"}}"
            );
            event(frame, "response.output_item.done", &sequence.next(), &item, out);
        }
        let message = Message { id: "msg_callgate", text };
        message.write_numbered(&mut sequence, frame, self.next_index(), out);
        let reason = "{\"reason\":\"content_filter\"}";
        let response = about.response("incomplete", reason, &message.item());
        event(frame, "response.incomplete", &sequence.next(), &response, out);
    }

    /// Writes a whole response.
    fn whole_body(&mut self, data: &str, reading: &Reading, orders: Orders<'_>) -> Option<String> {
        let Orders { departure, fates } = orders;
        let mut edits = Edits::default();
        self.edit_output(data, reading, fates, &mut edits);
        Some(finish_body(data, departure, edits))
    }
}

impl Writer {
    /// Writes an event of one item.
    fn write_block(&mut self, leaving: &Leaving<'_>, mut edits: Edits, out: &mut Vec<u8>) {
        let Leaving { frame, data, reading, orders } = *leaving;
        let Some(block) = reading.block else { return };
        let place = block.place;
        // Another item is there now, which has moved up.
        if place.is_some_and(|place| self.dropped.contains(&place)) {
            return;
        }
        let listed = |(part, fate)| listed(part).map(|piece| (part, piece, fate));
        let call = leaving.fates().all().find_map(listed);
        if block.does != BlockStep::Close {
            self.highest = self.highest.max(place);
        }
        let index = place.map(|place| self.shifted(place));
        // Clients differ in whether `"0"` is 0.
        if let (Some(at), Some(index)) = (block.index, index)
            && at.of(data) != index.to_string()
        {
            edits.replace(at, index.to_string());
        }
        match call {
            Some((part, piece, Fate::Notice(text))) => {
                // Later copies repeat it in the events that have left.
                if piece.opens() {
                    let id = self.message_id(piece.slot, data, part.at);
                    let index = index.unwrap_or_else(|| self.next_index());
                    Message { id: &id, text }.write(frame, data, index, out);
                    if block.does != BlockStep::Open && self.about.is_some() {
                        // The item was never added, but the message that replaces it was.
                        self.inserted.extend(place);
                    }
                }
                return;
            }
            Some((_, _, Fate::Drop)) => {
                if block.does == BlockStep::Open {
                    self.dropped.extend(place);
                }
                return;
            }
            Some((part, piece, Fate::Whole(canonical))) => {
                let item = part.at.of(data);
                let opens = piece.opens() && block.does == BlockStep::Open;
                let whole =
                    with_call_id(&with_arguments(item, &canonical.arguments), &canonical.id);
                match events_of(item).filter(|_| opens) {
                    None => edits.replace(part.at, whole),
                    Some(_) => edits.replace(part.at, with_arguments(&whole, "")),
                }
                leave(leaving, edits, out);
                if let (true, Some(events)) = (opens, events_of(item)) {
                    let index = index.filter(|_| block.index.is_some());
                    say_arguments(frame, data, index, item, events, canonical, out);
                }
                return;
            }
            Some(_) => {}
            None => self.follow(data, block.does, index),
        }
        if let (Some(later), Some(index)) = (&mut self.later, index) {
            later.follow(&orders.departure.masked(data), block.does, index);
        }
        leave(leaving, edits, out);
    }

    /// Notes which messages are open.
    fn follow(&mut self, data: &str, does: BlockStep, index: Option<i64>) {
        let Some(index) = index.filter(|_| does != BlockStep::Add) else { return };
        self.open.retain(|(open, _)| *open != index);
        let item = member(data, document(data), "item").filter(|_| does == BlockStep::Open);
        let Some(item) = item else { return };
        let is_message =
            member(data, item, "type").map(|span| span.of(data)) == Some("\"message\"");
        if let (true, Some(id)) = (is_message, member(data, item, "id")) {
            self.open.push((index, id.of(data).to_owned()));
        }
    }

    /// Writes an event that contains the current response, or anything else.
    fn write_whole(&mut self, leaving: &Leaving<'_>, mut edits: Edits, out: &mut Vec<u8>) {
        let Leaving { frame, data, reading, orders } = *leaving;
        if reading.content.is_some() {
            self.about = Some(ResponseMetadata::of(data));
        }
        let ends = leaving.ends();
        // The items of earlier answers come first.
        if let (Some(later), true) = (&self.later, ends) {
            let has_items = !self.left_of(data).is_empty();
            later.edit_end(data, reading.content, has_items, &mut edits);
        }
        let said = match self.later.as_ref().is_some_and(|later| later.is_given_up()) {
            true => Vec::new(),
            false => self.edit_output(data, reading, orders.fates, &mut edits),
        };
        // Some clients read the items when they are done, and not the whole response.
        for (index, id, text) in said.iter().filter(|_| ends) {
            Message { id, text }.write(frame, data, *index, out);
        }
        leave(leaving, edits, out);
    }

    /// Edits the items of a list. Returns the messages that come for the first time, with their
    /// indices.
    fn edit_output(
        &mut self,
        data: &str,
        reading: &Reading,
        fates: &[Fate],
        edits: &mut Edits,
    ) -> Vec<(i64, String, String)> {
        let mut said = Vec::new();
        let items = reading.content.map(|content| elements(data, content)).unwrap_or_default();
        let mut gone = vec![false; items.len()];
        // Parts are in the order of the text.
        for (part, fate) in reading.parts.iter().zip(fates) {
            let Some(piece) = listed(part) else { continue };
            let Ok(place) = items.binary_search_by_key(&part.at.start, |item| item.start) else {
                continue;
            };
            let at = i64::try_from(place).unwrap_or(i64::MAX);
            match fate {
                Fate::Drop => {
                    if piece.opens() && Some(at) > self.highest {
                        self.dropped.push(at);
                    }
                    if let Some(gone) = gone.get_mut(place) {
                        *gone = true;
                    }
                }
                // Its notice was added elsewhere.
                Fate::Notice(_) if !piece.opens() && !self.replaced(piece.slot) => {
                    if let Some(gone) = gone.get_mut(place) {
                        *gone = true;
                    }
                }
                Fate::Notice(text) => {
                    let id = self.message_id(piece.slot, data, part.at);
                    edits.replace(part.at, Message { id: &id, text }.item());
                    if piece.opens() {
                        said.push((self.shifted(at), id, text.clone()));
                    }
                }
                Fate::Whole(canonical) => {
                    let item = with_arguments(part.at.of(data), &canonical.arguments);
                    edits.replace(part.at, with_call_id(&item, &canonical.id));
                }
                Fate::Keep | Fate::Ordinary(_) | Fate::Later => {}
            }
        }
        edits.remove(&items, |place| gone.get(place) == Some(&true));
        self.edit_added(reading, &items, &gone, edits);
        let last = i64::try_from(items.len()).ok().and_then(|length| length.checked_sub(1));
        let last = last.filter(|last| *last >= 0);
        for fate in fates {
            let Fate::Ordinary(Some(text)) = fate else { continue };
            let id = "msg_callgate".to_owned();
            if let Some(content) = reading.content {
                let is_empty = gone.iter().all(|gone| *gone) && self.added.is_empty();
                append_to(edits, content, !is_empty, &Message { id: &id, text }.item());
            }
            said.push((self.next_index(), id, text.clone()));
            let behind = self.highest.max(last).map_or(0, |highest| highest.saturating_add(1));
            self.inserted.push(behind);
        }
        self.highest = self.highest.max(last);
        said
    }

    /// Inserts the messages that were added into the list of items.
    fn edit_added(&self, reading: &Reading, items: &[Span], gone: &[bool], edits: &mut Edits) {
        let Some(content) = reading.content else { return };
        let mut is_empty = gone.iter().all(|gone| *gone);
        for (place, message) in &self.added {
            let next = usize::try_from(*place).ok().and_then(|place| items.get(place));
            match next {
                Some(next) => edits.insert(next.start, format!("{message},")),
                None => {
                    append_to(edits, content, !is_empty, message);
                    is_empty = false;
                }
            }
        }
    }

    /// The messages in front of the first item of a later answer: they are about the calls of the
    /// answer before it.
    fn notices_ahead(&self) -> Vec<String> {
        let is_ahead = |(place, _): &&(i64, String)| self.later.is_some() && *place == 0;
        self.added.iter().filter(is_ahead).map(|(_, message)| message.clone()).collect()
    }

    /// The items of the response in an event, without those that were left out, and with the
    /// messages that were added.
    fn left_of(&self, data: &str) -> Vec<String> {
        let mut left = Vec::new();
        let mut added = self.added.iter().peekable();
        for (place, item) in items_in(data).iter().enumerate() {
            let place = i64::try_from(place).unwrap_or(i64::MAX);
            while let Some((_, message)) = added.next_if(|(before, _)| *before <= place) {
                left.push(message.clone());
            }
            if !self.dropped.contains(&place) {
                left.push(item.of(data).to_owned());
            }
        }
        left.extend(added.map(|(_, message)| message.clone()));
        left
    }

    /// Whether a message has left in place of a call.
    fn replaced(&self, slot: Slot) -> bool {
        self.messages.iter().any(|(known, _)| *known == slot)
    }

    /// The id of the message that replaces a call: the same in every copy, although some providers
    /// give an item another id in each event.
    fn message_id(&mut self, slot: Slot, data: &str, item: Span) -> String {
        if let Some((_, id)) = self.messages.iter().find(|(known, _)| *known == slot) {
            return id.clone();
        }
        let id = member(data, item, "id").and_then(|span| Json::at(data, span).string().ok());
        let id = id_for(id.as_ref().map(|id| id.raw()), slot);
        self.messages.push((slot, id.clone()));
        id
    }

    /// The index with which the item at this position leaves.
    fn shifted(&self, place: i64) -> i64 {
        let count = |list: &[i64], is_before: &dyn Fn(i64) -> bool| {
            let before = list.iter().filter(|at| is_before(**at)).count();
            i64::try_from(before).unwrap_or(i64::MAX)
        };
        let gone = count(&self.dropped, &|at| at < place);
        let ours = count(&self.inserted, &|at| at <= place);
        let base = self.later.as_ref().map_or(0, |later| later.base());
        place.saturating_sub(gone).saturating_add(ours).saturating_add(base)
    }

    fn next_index(&self) -> i64 {
        self.shifted(self.highest.map_or(0, |highest| highest.saturating_add(1)))
    }
}

/// Whether an event of a later answer has no place in the response: it has begun.
fn is_left_out(data: &str, reading: &Reading) -> bool {
    let ends = reading.parts.iter().any(|part| matches!(part.what, What::Finish(_)));
    data.trim_start().is_empty() || (reading.content.is_some() && reading.block.is_none() && !ends)
}

/// The piece of a call in a regular place.
fn listed(part: &Part) -> Option<&Piece> {
    match &part.what {
        What::Piece(piece) if piece.carrier == Carrier::Listed => Some(piece),
        _ => None,
    }
}

/// The events that contain the arguments of such an item, and the member names there.
fn events_of(item: &str) -> Option<[&'static str; 3]> {
    let kind = member(item, document(item), "type")?;
    let kind = Json::at(item, kind).string().ok()?;
    if kind.is("function_call") {
        let (delta, done) =
            ("response.function_call_arguments.delta", "response.function_call_arguments.done");
        Some([delta, done, "arguments"])
    } else if kind.is("custom_tool_call") {
        let (delta, done) =
            ("response.custom_tool_call_input.delta", "response.custom_tool_call_input.done");
        Some([delta, done, "input"])
    } else {
        None
    }
}

/// Writes all of the arguments after the item that was added.
#[expect(clippy::too_many_arguments, reason = "one event and where to write it")]
fn say_arguments(
    frame: &Frame<'_>,
    data: &str,
    index: Option<i64>,
    item: &str,
    [delta, done, key]: [&'static str; 3],
    canonical: &Canonical,
    out: &mut Vec<u8>,
) {
    let id = member(item, document(item), "id").map_or("\"\"", |span| span.of(item));
    let index = index.map(|index| format!(",\"output_index\":{index}")).unwrap_or_default();
    let (sequence, text) = (Sequence::at(data).next(), quote(&canonical.arguments));
    let of_item = format!("\"item_id\":{id}{index}");
    event(frame, delta, &sequence, &format!("{of_item},\"delta\":{text}"), out);
    event(frame, done, &sequence, &format!("{of_item},\"{key}\":{text}"), out);
}
