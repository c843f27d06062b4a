//! What a masked stream says: the same text, in frames that may divide it otherwise.

use anyhow::{Context, Result, ensure};
use callgate_wire::Splitter;
use serde_json::Value;

use crate::script::{Api, Script};

/// Compares the text of a stream with the text that was sent, and counts its frames.
#[derive(Debug)]
pub(crate) struct Said {
    api: Api,
    script: Script,
    splitter: Splitter,
    /// Frames that have arrived, those that were sent at most.
    pub(crate) whole: usize,
    /// The frame whose text is awaited, and what is still to come of it.
    next: usize,
    awaited: String,
}

impl Said {
    pub(crate) fn new(api: Api, script: Script) -> Self {
        let splitter = Splitter::new(api.framing(), 1 << 20);
        Self { api, script, splitter, whole: 0, next: 0, awaited: String::new() }
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<()> {
        self.splitter.push(bytes);
        while let Some(frame) = self.splitter.next_frame()? {
            let said = text(self.api, frame.data());
            self.whole = (self.whole + 1).min(self.script.len());
            let mut said = said.as_str();
            while !said.is_empty() {
                if self.awaited.is_empty() {
                    self.awaited = sent(self.api, &self.script, self.next)?;
                    self.next += 1;
                    continue;
                }
                let both = said.len().min(self.awaited.len());
                let same = said.as_bytes().get(..both) == self.awaited.as_bytes().get(..both);
                ensure!(same, "said {said:?} instead of {:?}", self.awaited);
                self.awaited.drain(..both);
                said = said.get(both..).unwrap_or_default();
            }
        }
        Ok(())
    }

    pub(crate) fn finish(&mut self) -> Result<()> {
        while self.awaited.is_empty() && self.next < self.script.len() {
            self.awaited = sent(self.api, &self.script, self.next)?;
            self.next += 1;
        }
        ensure!(self.awaited.is_empty(), "{:?} did not come", self.awaited);
        ensure!(self.whole == self.script.len(), "only {} frames came", self.whole);
        Ok(())
    }

    pub(crate) fn script(&self) -> &Script {
        &self.script
    }
}

/// The text of a frame as it was sent.
fn sent(api: Api, script: &Script, at: usize) -> Result<String> {
    let frame = script.frame(at).context("more was said than was sent")?;
    let mut splitter = Splitter::new(api.framing(), 1 << 20);
    splitter.push(frame);
    let frame = splitter.next_frame()?;
    Ok(text(api, frame.and_then(|frame| frame.data())))
}

fn text(api: Api, data: Option<&[u8]>) -> String {
    let event: Option<Value> = data.and_then(|data| serde_json::from_slice(data).ok());
    let text = event.as_ref().and_then(|event| event.pointer(api.text()));
    text.and_then(Value::as_str).unwrap_or_default().to_owned()
}
