//! Writes the frames of APIs whose turn is a list of numbered blocks: each block leaves with the next
//! index, a removed one leaves none, and a notice is a block of its own.

use std::fmt::Debug;

use callgate_json::Span;
use callgate_wire::Frame;

use crate::blocks::{OpenBlocks, call_of, is_call, is_number};
use crate::departure::{Leaving, Orders};
use crate::event::{Block, BlockStep, Canonical, Fate, Finish, Part, Reading, Slot, What};
use crate::json::{Edits, append_to, document, elements};
use crate::leave::{finish_body, leave};
use crate::spec::Write;
use crate::usage::TurnUsage;

/// An event that is added: its name, if it has one, and its data.
pub(crate) type NamedEvent = (Option<&'static str>, String);

/// How one API writes its blocks.
pub(crate) trait BlockApi: Debug + Send {
    /// The reason of a turn that ends without calls, as JSON.
    const ORDINARY_END: &'static str;

    /// The events that end a turn which a filter stopped.
    const FILTERED_END: &'static [(Option<&'static str>, &'static str)];

    /// Whether a block begins only after the end of the call before it, and a call only after the
    /// end of every other block.
    const IN_TURNS: bool = true;

    /// Whether a call that has begun is ended when a filter stops the turn.
    const ENDS_STOPPED_CALL: bool = true;

    /// The index for a block that begins.
    fn claim(&mut self, block: &Block, is_call: bool, data: &str) -> u64;

    /// The index for a text in place of a block, or of its own.
    fn claim_text(&mut self, in_place_of: Option<(&Block, &str)>) -> u64;

    /// Blocks have left in a list.
    fn claim_listed(&mut self, _count: usize) {}

    /// A frame of a block has been left out.
    fn dropped(&mut self, _does: BlockStep) {}

    /// Whether a frame of an answer after the first one has no place in the message.
    fn is_left_out(&mut self, _frame: &Leaving<'_>, _usage: &mut TurnUsage) -> bool {
        false
    }

    /// Whether a text frame that is not of a block leaves unchanged.
    fn leaves_as_it_came(&self, _reading: &Reading) -> bool {
        true
    }

    /// Another answer begins.
    fn next_answer(&mut self) {}

    /// The events that begin a block of text, and contain the text.
    fn text_events(&self, number: u64, text: &str) -> Vec<NamedEvent>;

    /// The event that ends a block.
    fn end_event(&self, number: u64, is_call: bool) -> NamedEvent;

    /// Prepares the start of a call that leaves whole. Returns the event with its arguments, unless
    /// they are in the start.
    fn complete(
        &self,
        data: &str,
        part: &Part,
        whole: (u64, &Canonical),
        edits: &mut Edits,
    ) -> Option<NamedEvent>;

    /// Edits a frame that is not of a block. `usage` is set in an answer after the first one.
    fn edit_frame(&mut self, _: &Leaving<'_>, _usage: Option<&TurnUsage>, _: &mut Edits) {}

    /// Whether the part at this place is all that its frame is about.
    fn is_all_of_frame(&self, _place: &str) -> bool {
        false
    }

    /// The event that must come before the end of a turn that a filter stops at this frame.
    fn start_of_stopped(&self, _frame: &Frame<'_>) -> Option<NamedEvent> {
        None
    }

    /// A text as an element of a list of blocks.
    fn text_block(text: &str) -> String;

    /// Puts the arguments of a whole call into its element of a list of blocks.
    fn edit_listed(data: &str, at: Span, call: &Canonical, edits: &mut Edits);

    /// Edits a whole body.
    fn edit_body(&mut self, data: &str, reading: &Reading, fates: &[Fate], edits: &mut Edits) {
        edit_list::<Self>(data, reading, fates, edits);
        for (part, fate) in reading.parts.iter().zip(fates) {
            if let (What::Finish(Finish { announces_calls: true }), Fate::Ordinary(_)) =
                (&part.what, fate)
            {
                edits.replace(part.at, Self::ORDINARY_END);
            }
        }
    }

    /// Writes an event that is added.
    fn event(&self, frame: &Frame<'_>, (name, data): &NamedEvent, out: &mut Vec<u8>) {
        frame.another(*name, data, out);
    }
}

/// Writes the frames of one response.
#[derive(Debug, Default)]
pub(crate) struct BlockWriter<A> {
    api: A,
    open: OpenBlocks,
    /// Set once the turn continues with another answer.
    later: Option<Box<TurnUsage>>,
}

impl<A: BlockApi> BlockWriter<A> {
    pub(crate) fn new(api: A) -> Self {
        Self { api, open: OpenBlocks::default(), later: None }
    }

    /// Writes a frame of a block.
    fn write_block(&mut self, leaving: &Leaving<'_>, block: &Block, out: &mut Vec<u8>) {
        let Leaving { frame, data, reading, orders } = *leaving;
        let call = call_of(reading);
        let fate = call.and_then(|place| orders.fates.get(place));
        match fate {
            Some(Fate::Notice(text)) => {
                let number = self.api.claim_text(Some((block, data)));
                return self.write_text(frame, number, text, out);
            }
            Some(Fate::Drop) => {
                self.api.dropped(block.does);
                return frame.leave_out(out);
            }
            _ => {}
        }
        let is_call = call.is_some();
        let claim = || self.api.claim(block, is_call, data);
        let Some(number) = self.open.number(block, is_call && A::IN_TURNS, claim) else {
            return frame.leave_out(out);
        };
        let mut edits = Edits::default();
        match block.index {
            Some(index) if is_number(index.of(data), number) => {}
            Some(index) => edits.replace(index, number.to_string()),
            None => edits.insert(document(data).start + 1, format!("\"index\":{number},")),
        }
        let part = call.and_then(|place| reading.parts.get(place));
        let arguments = match (part, fate) {
            (Some(part), Some(Fate::Whole(whole))) => {
                self.api.complete(data, part, (number, whole), &mut edits)
            }
            _ => None,
        };
        leave(leaving, edits, out);
        if let Some(event) = arguments {
            self.api.event(frame, &event, out);
        }
    }

    /// Writes a text in a block of its own.
    fn write_text(&mut self, frame: &Frame<'_>, number: u64, text: &str, out: &mut Vec<u8>) {
        for event in &self.api.text_events(number, text) {
            self.api.event(frame, event, out);
        }
        self.end(frame, number, false, out);
    }

    fn end(&self, frame: &Frame<'_>, number: u64, is_call: bool, out: &mut Vec<u8>) {
        self.api.event(frame, &self.api.end_event(number, is_call), out);
    }
}

impl<A: BlockApi> Write for BlockWriter<A> {
    fn is_out(&self, slot: Slot) -> bool {
        self.open.is_out(slot)
    }

    fn open_call(&self) -> Option<Slot> {
        self.open.call()
    }

    fn leaves_as_it_came(&self, reading: &Reading, data: &str) -> bool {
        match &reading.block {
            Some(block) => self.open.has_index_of(block, data),
            None => self.later.is_none() && self.api.leaves_as_it_came(reading),
        }
    }

    fn write_frame(&mut self, leaving: &Leaving<'_>, out: &mut Vec<u8>) {
        let Leaving { frame, data, reading, orders } = *leaving;
        if let Some(usage) = &mut self.later
            && self.api.is_left_out(leaving, usage)
        {
            return frame.leave_out(out);
        }
        if let Some(block) = &reading.block {
            return self.write_block(leaving, block, out);
        }
        let mut edits = Edits::default();
        let listed = edit_list::<A>(data, reading, orders.fates, &mut edits);
        self.api.claim_listed(listed);
        self.api.edit_frame(leaving, self.later.as_deref(), &mut edits);
        for (part, fate) in leaving.fates().all() {
            let What::Finish(finish) = &part.what else { continue };
            self.close_call(frame, out);
            let Fate::Ordinary(text) = fate else { continue };
            if let Some(text) = text.as_ref().filter(|_| reading.content.is_none()) {
                self.add_text(frame, text, out);
            }
            if self.api.is_all_of_frame(part.at.of(data)) {
                return frame.leave_out(out);
            }
            if finish.announces_calls {
                edits.replace(part.at, A::ORDINARY_END);
            }
        }
        leave(leaving, edits, out);
    }

    fn whole_body(&mut self, data: &str, reading: &Reading, orders: Orders<'_>) -> Option<String> {
        let mut edits = Edits::default();
        self.api.edit_body(data, reading, orders.fates, &mut edits);
        Some(finish_body(data, orders.departure, edits))
    }

    fn add_text(&mut self, frame: &Frame<'_>, text: &str, out: &mut Vec<u8>) {
        let number = self.api.claim_text(None);
        self.write_text(frame, number, text, out);
    }

    fn next_answer(&mut self, spent: &str, _end: &str) {
        self.later = Some(Box::new(TurnUsage::after(spent)));
        self.open = OpenBlocks::default();
        self.api.next_answer();
    }

    fn give_up_answer(&mut self) {
        self.later.iter_mut().for_each(|usage| usage.give_up());
    }

    fn stop_early(&mut self, frame: &Frame<'_>, text: &str, out: &mut Vec<u8>) {
        if let Some(event) = self.api.start_of_stopped(frame) {
            self.api.event(frame, &event, out);
        }
        for (number, is_call) in self.open.end_all() {
            if !is_call || A::ENDS_STOPPED_CALL {
                self.end(frame, number, is_call, out);
            }
        }
        self.add_text(frame, text, out);
        for (name, data) in A::FILTERED_END {
            self.api.event(frame, &(*name, (*data).to_owned()), out);
        }
    }

    /// Ends the open call, for clients that run nothing without its end.
    fn close_call(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        if let Some(number) = self.open.end_call() {
            self.end(frame, number, true, out);
        }
    }

    fn has_open_block(&self) -> bool {
        A::IN_TURNS && self.open.has_others()
    }

    fn close_blocks(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        let others = if A::IN_TURNS { self.open.end_others() } else { Vec::new() };
        for number in others {
            self.end(frame, number, false, out);
        }
    }
}

/// Edits the blocks of a list. Returns how many are in it then.
fn edit_list<A: BlockApi + ?Sized>(
    data: &str,
    reading: &Reading,
    fates: &[Fate],
    edits: &mut Edits,
) -> usize {
    let Some(list) = reading.content else { return 0 };
    let blocks = elements(data, list);
    // Parts are in the order of the text.
    let judged = reading.parts.iter().zip(fates).filter(|(part, _)| is_call(part));
    let judged: Vec<(Span, &Fate)> = judged.map(|(part, fate)| (part.at, fate)).collect();
    let fate_at = |span: Span| {
        let place = judged.binary_search_by_key(&span.start, |(at, _)| at.start).ok()?;
        judged.get(place).map(|(_, fate)| *fate)
    };
    let is_gone = |place: usize| {
        blocks.get(place).is_some_and(|span| matches!(fate_at(*span), Some(Fate::Drop)))
    };
    for span in &blocks {
        match fate_at(*span) {
            Some(Fate::Notice(text)) => edits.replace(*span, A::text_block(text)),
            Some(Fate::Whole(call)) => A::edit_listed(data, *span, call, edits),
            _ => {}
        }
    }
    edits.remove(&blocks, is_gone);
    let mut remaining = (0..blocks.len()).filter(|place| !is_gone(*place)).count();
    for (part, fate) in reading.parts.iter().zip(fates) {
        if let (What::Finish(_), Fate::Ordinary(Some(text))) = (&part.what, fate) {
            append_to(edits, list, remaining > 0, &A::text_block(text));
            remaining += 1;
        }
    }
    remaining
}
