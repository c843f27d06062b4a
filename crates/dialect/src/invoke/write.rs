//! Writes InvokeModel: in the form of the model's own API, in the same envelope.

use callgate_json::Span;
use callgate_wire::Frame;

use super::flavour::Flavour;
use crate::departure::{Leaving, Orders};
use crate::event::{Reading, Slot};
use crate::json::Edits;
use crate::leave::leave;
use crate::spec::Write;

/// Writes the chunks of one response.
#[derive(Debug, Default)]
pub(super) struct Writer {
    inner: Option<Box<dyn Write>>,
}

impl Writer {
    /// The writer for the API of `data`: the reader has made sure that it is always the same.
    fn inner(&mut self, data: &str) -> &mut dyn Write {
        self.inner.get_or_insert_with(|| new_writer(data)).as_mut()
    }
}

fn new_writer(data: &str) -> Box<dyn Write> {
    Flavour::of(data).unwrap_or(Flavour::Plain).writer()
}

impl Write for Writer {
    fn leaves_as_it_came(&self, reading: &Reading, data: &str) -> bool {
        match &self.inner {
            Some(inner) => inner.leaves_as_it_came(reading, data),
            None => reading.block.is_none(),
        }
    }

    fn is_out(&self, slot: Slot) -> bool {
        self.inner.as_ref().is_some_and(|inner| inner.is_out(slot))
    }

    fn open_call(&self) -> Option<Slot> {
        self.inner.as_ref()?.open_call()
    }

    fn close_call(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        if let Some(inner) = &mut self.inner {
            inner.close_call(frame, out);
        }
    }

    fn has_open_block(&self) -> bool {
        self.inner.as_ref().is_some_and(|inner| inner.has_open_block())
    }

    fn close_blocks(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        if let Some(inner) = &mut self.inner {
            inner.close_blocks(frame, out);
        }
    }

    fn leaves_out(&mut self, data: &str, reading: &Reading) -> bool {
        match &mut self.inner {
            Some(inner) => inner.leaves_out(data, reading),
            None => new_writer(data).leaves_out(data, reading),
        }
    }

    fn write_frame(&mut self, leaving: &Leaving<'_>, out: &mut Vec<u8>) {
        match leaving.frame.event() == Some(b"chunk") {
            true => self.inner(leaving.data).write_frame(leaving, out),
            // An exception is not part of the model's API.
            false => leave(leaving, Edits::default(), out),
        }
    }

    fn text_ahead(&self, data: &str) -> Option<String> {
        match &self.inner {
            Some(inner) => inner.text_ahead(data),
            None => new_writer(data).text_ahead(data),
        }
    }

    fn text_alone(&self, data: &str) -> Vec<(Span, String)> {
        match &self.inner {
            Some(inner) => inner.text_alone(data),
            None => new_writer(data).text_alone(data),
        }
    }

    fn stop_early(&mut self, frame: &Frame<'_>, text: &str, out: &mut Vec<u8>) {
        if let (Some(data), Some(b"chunk")) = (frame.text(), frame.event()) {
            self.inner(data).stop_early(frame, text, out);
        }
    }

    fn whole_body(&mut self, data: &str, reading: &Reading, orders: Orders<'_>) -> Option<String> {
        self.inner(data).whole_body(data, reading, orders)
    }
}
