//! A journal as of one moment, to be copied while other processes keep writing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use super::files::path_of;
use super::head::JournalHead;
use super::volume::{Segment, Volume};
use crate::database::Fault;

/// Every record that was confirmed at one moment. The segments stay open, so that they can be
/// copied even after retention has removed them.
#[derive(Debug)]
pub(crate) struct Snapshot {
    head: Vec<u8>,
    parts: Vec<SegmentCopy>,
}

/// A segment and the number of its bytes that are copied.
#[derive(Debug)]
struct SegmentCopy {
    number: u64,
    segment: Arc<dyn Segment>,
    bytes: u64,
}

impl Snapshot {
    /// Takes a snapshot. The caller must hold the lock: no other process truncates a segment or
    /// writes the head meanwhile.
    pub(crate) fn take(volume: &dyn Volume) -> Result<Self, Fault> {
        let bytes = volume.read_head()?;
        let head = JournalHead::newest(&bytes)
            .ok_or_else(|| Fault::Lost("the head of the journal cannot be read".to_owned()))?;
        let mut parts = Vec::new();
        for number in volume.numbers()? {
            // Later segments contain no confirmed records.
            if number > head.segment {
                break;
            }
            let Some(segment) = volume.open(number)? else { continue };
            let all = segment.size()?.unwrap_or(0);
            let bytes = if number == head.segment { head.end.min(all) } else { all };
            parts.push(SegmentCopy { number, segment, bytes });
        }
        Ok(Self { head: bytes, parts })
    }

    /// The size of all segments.
    pub(crate) fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    /// Writes the copy to a new folder and its head to a new file, both readable by this user only.
    /// `progress` is called with the number of bytes copied so far.
    pub(crate) fn copy(
        &self,
        folder: &Path,
        head: &Path,
        progress: &mut dyn FnMut(u64),
    ) -> io::Result<()> {
        fs::DirBuilder::new().mode(0o700).create(folder)?;
        let mut done = 0;
        for part in &self.parts {
            let mut file = create_private(&path_of(folder, part.number))?;
            part.copy(&mut file, |bytes| {
                done += bytes;
                progress(done);
            })?;
            file.sync_all()?;
        }
        let head_folder = head.parent().unwrap_or(folder);
        fs::DirBuilder::new().mode(0o700).create(head_folder)?;
        let mut file = create_private(head)?;
        file.write_all(&self.head)?;
        file.sync_all()?;
        File::open(head_folder)?.sync_all()?;
        File::open(folder)?.sync_all()
    }
}

impl SegmentCopy {
    fn copy(&self, file: &mut File, mut progress: impl FnMut(u64)) -> io::Result<()> {
        let mut buffer = vec![0; COPIED_AT_ONCE];
        let mut offset = 0;
        while offset < self.bytes {
            let wanted = usize::try_from(self.bytes - offset).unwrap_or(usize::MAX);
            let into = buffer.get_mut(..wanted.min(COPIED_AT_ONCE)).unwrap_or_default();
            let read = self.segment.read_at(into, offset)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            file.write_all(into.get(..read).unwrap_or_default())?;
            offset += read as u64;
            progress(read as u64);
        }
        Ok(())
    }
}

/// Creates a file that only this user can read. It must not exist yet.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Large enough that the number of reads does not matter.
const COPIED_AT_ONCE: usize = 1024 * 1024;
