//! Reads events of an interaction, and whole ones.

use callgate_json::{Kind, Span, Text};

use super::event::{Delta, Event, Interaction, body, event};
use crate::event::{
    ArgumentsPiece, BlockStep, CallSlots, FollowedBy, Host, Lane, Piece, PieceRole, Reading, Slot,
    Unreadable,
};
use crate::json::{decode, expect_object, inside, is_done};
use crate::spec::Read;
use crate::stray::{DocumentKind, SkippedMembers};
use crate::tally::{Tally, counts};

/// The one lane of an interaction.
const LANE: Lane = Lane(0);

/// Members in which an interaction repeats the request.
const ECHOES: [&str; 4] = ["tools", "input", "generationconfig", "responseformat"];

/// Reads the events of one response.
#[derive(Debug)]
pub(super) struct Reader {
    /// The steps that have started and not stopped.
    open: Vec<OpenStep>,
    /// The calls so far, by their ids.
    calls: Vec<(String, Slot)>,
    /// The slots of the steps.
    slots: CallSlots,
    /// Whether an event of the API was read.
    has_read_any: bool,
}

#[derive(Debug)]
struct OpenStep {
    slot: Slot,
    index: i64,
    id: Option<String>,
    /// Who runs it, if it is a call.
    host: Option<Host>,
    /// An unreadable event may have belonged to this step: nothing more of it leaves.
    spoiled: bool,
}

/// Where whole steps are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepsIn {
    /// In an event, where they repeat earlier ones.
    Event,
    /// In a body.
    Body,
}

impl Reader {
    /// A reader at the start of a response. It refuses more than `max_calls` calls.
    pub(super) fn new(max_calls: usize) -> Self {
        let (open, calls, slots) = (Vec::new(), Vec::new(), CallSlots::new(max_calls));
        Self { open, calls, slots, has_read_any: false }
    }
}

impl Read for Reader {
    fn has_read_any(&self) -> bool {
        self.has_read_any
    }

    /// Reads one event's data.
    fn read(&mut self, name: Option<&[u8]>, data: &str) -> Result<Reading, Unreadable> {
        if is_done(data) {
            return Ok(Reading::done());
        }
        expect_object(data, Unreadable::Nothing)?;
        let found = event(data)?;
        let kind = decode(found.kind)?;
        if has_strangers(kind.as_deref().unwrap_or_default(), &found) {
            return Err(Unreadable::Ambiguous("an event with fields of another event"));
        }
        let reading = match kind.as_deref() {
            Some("step.delta") => self.step_delta(&found, data)?,
            Some("step.start") => self.step_start(&found, data)?,
            Some("step.stop") => self.step_stop(&found)?,
            Some("error") => Reading::failure(),
            Some(kind) if kind.starts_with("interaction.") => {
                self.interaction_event(kind, &found, data)?
            }
            // If the data has no type, clients may take it from the event's name.
            None if name.is_some_and(is_known) => {
                return Err(Unreadable::Ambiguous("an event whose data has no type"));
            }
            _ if !self.has_read_any || found.is_of_another_revision => {
                return Err(Unreadable::Foreign);
            }
            _ if found.step.is_some() || found.delta.arguments.is_some() => {
                return Err(Unreadable::Foreign);
            }
            _ => Reading::in_lane(LANE),
        };
        self.has_read_any = true;
        Ok(reading)
    }

    /// Reads a whole interaction.
    fn read_body(&mut self, data: &str) -> Result<Reading, Unreadable> {
        expect_object(data, Unreadable::Ambiguous("not an interaction"))?;
        let found = body(data)?;
        let is_ours = found.steps.is_some() || (found.is_object && found.status.is_some());
        if !is_ours && !found.fails {
            return Err(Unreadable::Foreign);
        }
        self.has_read_any = true;
        let mut reading = Reading::in_stream();
        self.add_metadata(&found, data, &mut reading);
        self.steps(&found, data, StepsIn::Body, &mut reading)?;
        if is_ours {
            finish(found.status, &mut reading);
        }
        Ok(reading)
    }

    fn skipped_members(&self, form: DocumentKind) -> Option<SkippedMembers> {
        Some(match form {
            DocumentKind::Frame => &[("interaction", &ECHOES)],
            DocumentKind::Body => &[("", &ECHOES)],
        })
    }

    fn stray_slot(&mut self) -> Result<Slot, Unreadable> {
        self.slots.begin()
    }

    /// The texts of whole steps.
    fn texts(&self, data: &str) -> Vec<Span> {
        let in_event = || event(data).ok()?.interaction.map(|interaction| *interaction);
        let in_body = || body(data).ok();
        let found = in_event().or_else(in_body).unwrap_or_default();
        found.list.iter().flat_map(|step| step.shown().map(inside).collect::<Vec<_>>()).collect()
    }

    /// The event may have belonged to any open step.
    fn contain(&mut self) -> bool {
        for step in &mut self.open {
            step.spoiled = true;
        }
        self.has_read_any
    }
}

impl Reader {
    fn step_start(&mut self, found: &Event<'_>, data: &str) -> Result<Reading, Unreadable> {
        let (Some(step), Some(index)) = (&found.step, number(found)) else {
            return Err(Unreadable::Ambiguous("the start of a step without the step or its index"));
        };
        if self.open.iter().any(|open| open.index == index) {
            return Err(Unreadable::Ambiguous("a step with the index of another step"));
        }
        if self.open.len() >= self.slots.remaining() {
            return Err(Unreadable::TooManyCalls);
        }
        let (slot, host) = (self.slots.take(), step.host()?);
        let mut reading = block(slot, BlockStep::Open, found);
        let mut id = None;
        match host {
            Some(host) => {
                let piece = step.piece(slot, host, data)?;
                id.clone_from(&piece.id);
                if host == Host::Client {
                    self.calls.extend(piece.id.clone().map(|id| (id, slot)));
                    // Some clients take the arguments from here, and some only from later events.
                    reading.skipped_by_some_clients = piece.arguments != ArgumentsPiece::None;
                }
                reading.takes(step.span, step.name);
                reading.add_call(LANE, step.span, piece);
            }
            None => {
                for text in step.shown() {
                    match reading.text {
                        None => reading.text = Some(inside(text)),
                        Some(_) => reading.add_text(LANE, Some(*text)),
                    }
                }
                reading.add_signature(LANE, step.signature());
            }
        }
        self.open.push(OpenStep { slot, index, id, host, spoiled: false });
        Ok(reading)
    }

    fn step_delta(&mut self, found: &Event<'_>, data: &str) -> Result<Reading, Unreadable> {
        let Some(open) = self.resolve(found) else { return Err(Unreadable::Orphan) };
        let (slot, host) = (open.slot, open.host);
        if open.spoiled && host != Some(Host::Client) {
            return Err(Unreadable::Orphan);
        }
        let mut reading = block(slot, BlockStep::Add, found);
        let delta = &found.delta;
        match host {
            Some(Host::Client) => {
                let piece = call_delta(open, delta, data)?;
                reading.add_call(LANE, Span::default(), piece);
            }
            Some(Host::Provider) => {
                let mut piece = Piece { slot, host: Host::Provider, ..Piece::default() };
                if let Some(value) = delta.arguments {
                    piece.arguments = ArgumentsPiece::of_value(value, data);
                }
                reading.takes(delta.span, delta.name);
                reading.add_call(LANE, Span::default(), piece);
            }
            // Some client may add them to a call.
            None if delta.arguments.is_some() => return Err(Unreadable::Orphan),
            None if delta.kind.is_some_and(|kind| kind.raw().ends_with("_call")) => {
                return Err(Unreadable::Orphan);
            }
            None => {
                let is_text = delta.kind.is_some_and(|kind| kind.is("text"));
                let text = delta.text.filter(|text| is_text && !text.is_empty());
                reading.text = text.map(|text| inside(&text));
                reading.add_signature(LANE, delta.signature.filter(|text| !text.is_empty()));
            }
        }
        Ok(reading)
    }

    fn step_stop(&mut self, found: &Event<'_>) -> Result<Reading, Unreadable> {
        let Some(open) = self.resolve(found) else { return Err(Unreadable::Orphan) };
        let (slot, host) = (open.slot, open.host);
        self.open.retain(|open| open.slot != slot);
        let mut reading = block(slot, BlockStep::Close, found);
        if host.is_some() {
            reading.add_end(LANE, slot);
        }
        Ok(reading)
    }

    fn interaction_event(
        &mut self,
        kind: &str,
        found: &Event<'_>,
        data: &str,
    ) -> Result<Reading, Unreadable> {
        if found.is_of_another_revision {
            return Err(Unreadable::Foreign);
        }
        let mut reading = Reading::in_lane(LANE);
        if let Some(interaction) = &found.interaction {
            self.add_metadata(interaction, data, &mut reading);
            self.steps(interaction, data, StepsIn::Event, &mut reading)?;
            reading.repeats_texts = interaction.steps.is_some();
        }
        let inner = found.interaction.as_ref().and_then(|interaction| interaction.status);
        for status in [found.status, inner].into_iter().flatten() {
            let status = Some(status).filter(|status| !GOES_ON.iter().any(|word| status.is(word)));
            if status.is_some() {
                finish(status, &mut reading);
            }
        }
        match (kind, found.kind) {
            // Its name alone announces calls.
            ("interaction.requires_action", Some(kind)) => {
                reading.finish(LANE, kind.span(), true);
            }
            ("interaction.completed", _) if inner.is_none() && found.status.is_none() => {
                finish(None, &mut reading);
            }
            _ => {}
        }
        Ok(reading)
    }

    /// Adds the metadata of an interaction.
    fn add_metadata(&self, found: &Interaction<'_>, data: &str, reading: &mut Reading) {
        reading.model = found.model.as_ref().map(inside);
        let mut tally = Tally::default();
        let ended = found.status.filter(|status| !GOES_ON.iter().any(|word| status.is(word)));
        tally.stopped(ended);
        tally.response = decode(found.id).ok().flatten().filter(|id| !id.is_empty());
        if let Some(usage) = found.usage {
            let keys = [
                "total_input_tokens",
                "total_output_tokens",
                "total_thought_tokens",
                "total_cached_tokens",
            ];
            let [input, said, thought, cached] = counts(data, usage, keys);
            (tally.input, tally.cached, tally.reasoning) = (input, cached, thought);
            tally.output = [said, thought].into_iter().flatten().reduce(u64::saturating_add);
        }
        reading.tally = tally.boxed();
    }

    /// Reads whole steps.
    fn steps(
        &mut self,
        found: &Interaction<'_>,
        data: &str,
        form: StepsIn,
        reading: &mut Reading,
    ) -> Result<(), Unreadable> {
        reading.content = found.steps;
        for step in &found.list {
            if form == StepsIn::Body {
                step.shown().for_each(|text| reading.add_text(LANE, Some(*text)));
                reading.add_signature(LANE, step.signature());
            }
            let Some(host) = step.host()? else {
                if form == StepsIn::Body {
                    self.slots.take();
                }
                continue;
            };
            reading.takes(step.span, step.name);
            let id = decode(step.id)?.unwrap_or_default();
            let known = self.calls.iter().find(|(known, _)| *known == id && !id.is_empty());
            let known = known.map(|(_, slot)| *slot).filter(|_| form == StepsIn::Event);
            let slot = match known {
                Some(slot) => slot,
                // It was reported when it came.
                None if host == Host::Provider && form == StepsIn::Event => continue,
                None => self.slots.begin()?,
            };
            let mut piece = step.piece(slot, host, data)?;
            let arguments = step.arguments(data).to_owned();
            if known.is_some() {
                (piece.role, piece.original) = (PieceRole::Copy, None);
                piece.arguments = ArgumentsPiece::Again(arguments);
            } else {
                piece.followed_by = FollowedBy::Nothing;
                piece.arguments = ArgumentsPiece::Whole(arguments);
            }
            reading.add_call(LANE, step.span, piece);
        }
        Ok(())
    }

    fn resolve(&self, found: &Event<'_>) -> Option<&OpenStep> {
        let index = number(found)?;
        self.open.iter().find(|open| open.index == index)
    }
}

/// States in which an interaction continues.
const GOES_ON: [&str; 3] = ["in_progress", "queued", "pending"];

/// A piece of a call that the client runs.
fn call_delta(open: &OpenStep, delta: &Delta<'_>, data: &str) -> Result<Piece, Unreadable> {
    let mut piece = Piece { slot: open.slot, ..Piece::default() };
    let is_piece = delta.kind.is_some_and(|kind| kind.is("arguments_delta"));
    let id = decode(delta.id)?.filter(|id| !id.is_empty());
    piece.refuse = match delta.arguments {
        _ if delta.name.is_some() => Some("its name changes"),
        _ if id.is_some() && id != open.id => Some("its id changes"),
        Some((_, Kind::String)) if is_piece => None,
        Some(_) => Some("a piece of its arguments has another type"),
        None => None,
    };
    if let Some(value @ (_, Kind::String)) = delta.arguments {
        piece.arguments = ArgumentsPiece::of_value(value, data);
    }
    Ok(piece)
}

/// Whether an event of a known kind contains members of other kinds. They would not be judged
/// there.
fn has_strangers(kind: &str, found: &Event<'_>) -> bool {
    let (step, interaction) = (found.step.is_some(), found.interaction.is_some());
    match kind {
        "step.start" => interaction || found.delta.arguments.is_some(),
        "step.delta" | "step.stop" | "error" => step || interaction,
        kind if kind.starts_with("interaction.") => step || found.delta.arguments.is_some(),
        _ => false,
    }
}

fn is_known(name: &[u8]) -> bool {
    name.starts_with(b"step.") || name.starts_with(b"interaction.")
}

/// The index of an event, if it is valid.
fn number(found: &Event<'_>) -> Option<i64> {
    found.index.and_then(|(_, index)| index).filter(|index| *index >= 0)
}

fn block(slot: Slot, does: BlockStep, found: &Event<'_>) -> Reading {
    Reading::of_block(LANE, slot, does, found.index.map(|(span, _)| span))
}

/// The end of the turn.
fn finish(status: Option<Text<'_>>, reading: &mut Reading) {
    let announces_calls = status.is_some_and(|status| status.is("requires_action"));
    let at = status.map(|status| status.span()).unwrap_or_default();
    reading.finish(LANE, at, announces_calls);
}
