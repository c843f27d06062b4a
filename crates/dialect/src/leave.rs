//! Writes a frame: unchanged if possible, else rewritten with its splices.

use crate::departure::{Departure, Leaving, Orders, Rest};
use crate::event::{Carrier, Fate, Reading, What};
use crate::json::Edits;

/// Writes the frame with the edits. Without edits it writes the original bytes.
pub(crate) fn leave(leaving: &Leaving<'_>, mut edits: Edits, out: &mut Vec<u8>) {
    let Leaving { frame, data, reading, orders: Orders { departure, .. } } = *leaving;
    mask(departure, &mut edits);
    if departure.rest == Rest::Text {
        let event = frame.event().and_then(|name| std::str::from_utf8(name).ok());
        return frame.another(reading.rename.or(event), &edits.apply(data), out);
    }
    let as_it_came = edits.is_empty() && reading.rename.is_none() && frame.clean();
    // Some clients deliver a last event that lacks its blank line and some do not. If it contains a
    // part of a call, they must not differ.
    let must_end = !frame.terminated()
        && reading.parts.iter().any(|part| matches!(part.what, What::Piece(_) | What::End(_)));
    if as_it_came && !must_end {
        frame.keep(out);
    } else {
        let name = reading.rename.map(str::as_bytes);
        frame.rewrite(name, edits.apply(data).as_bytes(), out);
    }
}

/// The body with the edits and the masks of its texts.
pub(crate) fn finish_body(data: &str, departure: &Departure, mut edits: Edits) -> String {
    mask(departure, &mut edits);
    edits.apply(data)
}

/// Adds the masks of the frame's texts to the edits.
pub(crate) fn mask(departure: &Departure, edits: &mut Edits) {
    for (span, text) in &departure.masks {
        edits.replace(*span, text.clone());
    }
}

/// Whether the frame contains a denied call in an unexpected place.
pub(crate) fn stray_is_denied(reading: &Reading, fates: &[Fate]) -> bool {
    reading.parts.iter().zip(fates).any(|(part, fate)| {
        matches!(&part.what, What::Piece(piece) if piece.carrier == Carrier::Stray)
            && !matches!(fate, Fate::Keep)
    })
}
