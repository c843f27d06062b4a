//! Where removed calls go in a list of blocks: to the place of the notice, else to their old
//! position among the blocks.

use callgate_json::Span;

use super::{ClientMessage, Plan, RemovedTurn, ShownNotice, rest, shown, whole_object};
use crate::json::Edits;

/// What the placement needs to know about a block of a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlacedBlock {
    /// Its position in the request.
    pub(crate) span: Span,
    /// Whether it is a text.
    pub(crate) is_text: bool,
    /// Its `cache_control`, which moves to a call that replaces it.
    pub(crate) cache_control: Option<Span>,
}

/// Puts the plan's calls back into the list of blocks at `list`, and removes their notices.
pub(crate) fn put_back_blocks(
    request: &str,
    list: Span,
    blocks: &[PlacedBlock],
    seen: &ClientMessage<'_>,
    plan: &Plan<'_>,
    edits: &mut Edits,
) {
    let places = CallPlaces::find(request, blocks, seen, plan);
    places.notices.cut(edits);
    let spans: Vec<Span> = blocks.iter().map(|block| block.span).collect();
    fill_gaps(&spans, &places.notices.gone, &places.gaps, edits);
    let calls = places.gaps.last().filter(|calls| blocks.is_empty() && !calls.is_empty());
    if let Some(calls) = calls {
        edits.insert(list.end - 1, calls.join(","));
    }
}

/// Puts what belongs in front of each item there, or in its place if the item is gone, and the rest
/// behind the last item.
pub(crate) fn fill_gaps(items: &[Span], gone: &[bool], gaps: &[Vec<String>], edits: &mut Edits) {
    for ((item, gone), calls) in items.iter().zip(gone).zip(gaps) {
        match (gone, calls.join(",")) {
            (_, calls) if calls.is_empty() => {}
            (true, calls) => edits.replace(*item, calls),
            (false, calls) => edits.insert(item.start, format!("{calls},")),
        }
    }
    let behind = gaps.get(items.len()).map(|calls| calls.join(",")).unwrap_or_default();
    if let Some(last) = items.last().filter(|_| !behind.is_empty()) {
        edits.insert(last.end, format!(",{behind}"));
    }
}

/// The notices of a plan among the items of a message.
pub(crate) struct NoticePlaces {
    /// For each item, whether it contains only notices.
    pub(crate) gone: Vec<bool>,
    /// For each of the plan's calls, the item in front of which its notice was.
    pub(crate) marked: Vec<Option<usize>>,
    /// The notices in items that contain more.
    pub(crate) cuts: Vec<Span>,
}

impl NoticePlaces {
    /// Finds them among this many items. `shown` are those in each of the message's texts.
    pub(crate) fn find(
        items: usize,
        seen: &ClientMessage<'_>,
        shown: &[Vec<ShownNotice>],
        plan: &Plan<'_>,
    ) -> Self {
        let (mut gone, mut has_more) = (vec![false; items], vec![false; items]);
        for ((place, text), shown) in seen.texts.iter().zip(shown) {
            if let (Some(gone), Some(more)) = (gone.get_mut(*place), has_more.get_mut(*place)) {
                *gone |= !shown.is_empty();
                // The provider rejects a text of only white space.
                *more |= !rest(&text.text, shown).trim().is_empty();
            }
        }
        gone.iter_mut().zip(has_more).for_each(|(gone, more)| *gone &= !more);
        let (mut marked, mut cuts) = (vec![None; plan.calls.len()], Vec::new());
        for ((place, text), shown) in seen.texts.iter().zip(shown) {
            let is_gone = gone.get(*place) == Some(&true);
            for notice in shown {
                if let Some(mark) = marked.get_mut(notice.call) {
                    *mark = Some(if is_gone || notice.leads { *place } else { place + 1 });
                }
                if !is_gone {
                    cuts.push(text.span(&notice.cut));
                }
            }
        }
        Self { gone, marked, cuts }
    }

    /// Removes the notices from items that contain more.
    pub(crate) fn cut(&self, edits: &mut Edits) {
        self.cuts.iter().for_each(|cut| edits.replace(*cut, ""));
    }
}

/// Where the calls go in one message.
pub(crate) struct CallPlaces {
    /// The calls before each block, then those after the last.
    pub(crate) gaps: Vec<Vec<String>>,
    /// A block that contained only notices has calls before it.
    pub(crate) notices: NoticePlaces,
}

impl CallPlaces {
    /// Finds a place for each of the plan's calls.
    pub(crate) fn find(
        request: &str,
        blocks: &[PlacedBlock],
        seen: &ClientMessage<'_>,
        plan: &Plan<'_>,
    ) -> Self {
        let len = blocks.len();
        let shown = shown(&seen.texts, &plan.calls);
        let notices = NoticePlaces::find(len, seen, &shown, plan);
        let NoticePlaces { gone, marked, .. } = &notices;
        // The calls that have no block in the message. Without them, later blocks have moved up.
        let mut hidden = hidden(seen, plan.turn);
        for ((block, _), shown) in seen.texts.iter().zip(&shown) {
            let first = shown.first().and_then(|notice| plan.calls.get(notice.call));
            if let (Some(true), Some(call)) = (gone.get(*block), first) {
                hidden.retain(|place| *place != call.place);
            }
        }
        let mut chosen = choose(plan, marked, &hidden, len);
        leave_no_text_behind(&mut chosen, marked, blocks);
        let mut gaps: Vec<Vec<String>> = vec![Vec::new(); len + 1];
        for (call, gap) in plan.calls.iter().zip(chosen) {
            if let Some(gap) = gaps.get_mut(gap) {
                gap.push(call.original.clone());
            }
        }
        // The `cache_control` of a notice's block applies to the call that replaces it.
        for ((block, gone), calls) in blocks.iter().zip(gone).zip(&mut gaps) {
            if let (true, Some(cache), Some(call)) = (gone, block.cache_control, calls.last_mut()) {
                *call = with_cache_control(call, cache.of(request));
            }
        }
        Self { gaps, notices }
    }
}

/// The gap for each call: where its notice was, else by its position, in the order of the calls.
fn choose(plan: &Plan<'_>, marked: &[Option<usize>], hidden: &[usize], len: usize) -> Vec<usize> {
    let mut least = 0;
    let mut chosen = Vec::with_capacity(plan.calls.len());
    for (number, call) in plan.calls.iter().enumerate() {
        let gap = marked.get(number).copied().flatten().unwrap_or_else(|| {
            let missing = hidden.iter().filter(|place| **place < call.place).count();
            let later = marked.get(number..).unwrap_or(&[]).iter().flatten().min();
            let most = later.copied().unwrap_or(len).min(len);
            call.place.saturating_sub(missing).clamp(least.min(most), most)
        });
        least = least.max(gap);
        chosen.push(gap);
    }
    chosen
}

/// Moves a text at the end before the calls that left no notice: a silent denial put it into an
/// empty turn, and the provider is reported to reject text after a call.
fn leave_no_text_behind(chosen: &mut [usize], marked: &[Option<usize>], blocks: &[PlacedBlock]) {
    let Some(last) = chosen.last().copied() else { return };
    if !blocks.get(last..).is_some_and(|behind| behind.iter().all(|block| block.is_text)) {
        return;
    }
    for (gap, marked) in chosen.iter_mut().zip(marked).rev() {
        if *gap != last || marked.is_some() {
            return;
        }
        *gap = blocks.len();
    }
}

/// The positions of the turn's calls that are not in the message.
fn hidden(seen: &ClientMessage<'_>, turn: &RemovedTurn) -> Vec<usize> {
    turn.calls.iter().filter(|call| !seen.has_id(&call.id)).map(|call| call.place).collect()
}

fn with_cache_control(original: &str, cache: &str) -> String {
    let Some(span) = whole_object(original) else { return original.to_owned() };
    let mut edits = Edits::default();
    edits.insert(span.end - 1, format!(",\"cache_control\":{cache}"));
    edits.apply(original)
}
