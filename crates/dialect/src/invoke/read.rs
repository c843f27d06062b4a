//! Reads chunks of InvokeModelWithResponseStream, and whole bodies, as the model's own API.

use callgate_json::Span;

use super::flavour::Flavour;
use crate::Dialect;
use crate::event::{Reading, Slot, Unreadable};
use crate::side_text::TextNames;
use crate::spec::Read;
use crate::stray::{self, DocumentKind, SkippedMembers};

/// Reads the chunks of one response.
#[derive(Debug)]
pub(super) struct Reader {
    max_calls: usize,
    /// The detected API of the response, with its reader.
    inner: Option<(Flavour, Box<dyn Read>)>,
    has_failed: bool,
}

impl Reader {
    /// A reader at the start of a response.
    pub(super) fn new(max_calls: usize) -> Self {
        Self { max_calls, inner: None, has_failed: false }
    }

    /// The reader for the API of `data`. It stays the same for the whole response.
    fn inner(&mut self, data: &str) -> Result<&mut dyn Read, Unreadable> {
        let flavour = Flavour::of(data)?;
        let max_calls = self.max_calls;
        let (settled, reader) =
            self.inner.get_or_insert_with(|| (flavour, flavour.reader(max_calls)));
        match *settled == flavour {
            true => Ok(reader.as_mut()),
            false => Err(Unreadable::Foreign),
        }
    }
}

impl Read for Reader {
    fn has_read_any(&self) -> bool {
        self.has_failed || self.inner.as_ref().is_some_and(|(_, inner)| inner.has_read_any())
    }

    fn api(&self) -> Option<Dialect> {
        self.inner.as_ref().and_then(|(flavour, _)| flavour.dialect())
    }

    fn read(&mut self, event: Option<&[u8]>, data: &str) -> Result<Reading, Unreadable> {
        match event {
            Some(b"chunk") => {}
            // An exception has no reader that would judge a call in it.
            Some(name) if name.ends_with(b"Exception") => {
                if stray::holds_call(data)? {
                    return Err(Unreadable::Foreign);
                }
                self.has_failed = true;
                return Ok(Reading::failure());
            }
            _ => return Err(Unreadable::Foreign),
        }
        let mut reading = self.inner(data)?.read(None, data)?;
        // There are no names here, and clients need none.
        reading.rename = None;
        Ok(reading)
    }

    fn read_body(&mut self, data: &str) -> Result<Reading, Unreadable> {
        let mut reading = self.inner(data)?.read_body(data)?;
        reading.rename = None;
        Ok(reading)
    }

    fn skipped_members(&self, form: DocumentKind) -> Option<SkippedMembers> {
        self.inner.as_ref().and_then(|(_, inner)| inner.skipped_members(form))
    }

    fn stray_slot(&mut self) -> Result<Slot, Unreadable> {
        let Some((_, inner)) = &mut self.inner else { return Err(Unreadable::Foreign) };
        inner.stray_slot()
    }

    fn texts(&self, data: &str) -> Vec<Span> {
        self.inner.as_ref().map(|(_, inner)| inner.texts(data)).unwrap_or_default()
    }

    fn names(&self) -> TextNames {
        self.inner.as_ref().map_or(TextNames::Plain, |(_, inner)| inner.names())
    }

    fn contain(&mut self) -> bool {
        self.inner.as_mut().is_some_and(|(_, inner)| inner.contain())
    }
}

#[cfg(test)]
mod tests;
