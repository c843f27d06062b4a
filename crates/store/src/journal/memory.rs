//! A journal in memory, for tests and demonstrations.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard, RwLock};

use super::volume::{Locked, Segment, Volume};
use crate::database::Fault;

/// Segments in memory.
#[derive(Debug, Default)]
pub(crate) struct MemoryVolume {
    writing: Mutex<()>,
    segments: RwLock<BTreeMap<u64, Arc<MemorySegment>>>,
    head: RwLock<Vec<u8>>,
}

#[derive(Debug, Default)]
pub(crate) struct MemorySegment(RwLock<Vec<u8>>);

impl Locked for MutexGuard<'_, ()> {}

impl Volume for MemoryVolume {
    fn lock(&self) -> Result<Box<dyn Locked + '_>, Fault> {
        Ok(Box::new(self.writing.lock()))
    }

    fn numbers(&self) -> io::Result<Vec<u64>> {
        Ok(self.segments.read().keys().copied().collect())
    }

    fn exists(&self, number: u64) -> io::Result<bool> {
        Ok(self.segments.read().contains_key(&number))
    }

    fn create(&self, number: u64) -> io::Result<Arc<dyn Segment>> {
        let mut segments = self.segments.write();
        if segments.contains_key(&number) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let segment = Arc::<MemorySegment>::default();
        segments.insert(number, Arc::clone(&segment));
        Ok(segment)
    }

    fn open(&self, number: u64) -> io::Result<Option<Arc<dyn Segment>>> {
        let found = self.segments.read().get(&number).map(Arc::clone);
        Ok(found.map(|segment| segment as Arc<dyn Segment>))
    }

    fn remove(&self, number: u64) -> io::Result<()> {
        self.segments.write().remove(&number);
        Ok(())
    }

    fn sync_names(&self) -> io::Result<()> {
        Ok(())
    }

    fn read_head(&self) -> io::Result<Vec<u8>> {
        Ok(self.head.read().clone())
    }

    fn write_head(&self, place: u64, bytes: &[u8]) -> io::Result<()> {
        write(&mut self.head.write(), bytes, place)
    }
}

impl Segment for MemorySegment {
    fn size(&self) -> io::Result<Option<u64>> {
        Ok(Some(self.0.read().len() as u64))
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        let bytes = self.0.read();
        let from = usize::try_from(offset).ok().and_then(|from| bytes.get(from..));
        let mut from = from.unwrap_or_default();
        io::Read::read(&mut from, into)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        write(&mut self.0.write(), bytes, offset)
    }

    fn truncate(&self, size: u64) -> io::Result<()> {
        let size = usize::try_from(size).map_err(|_| ErrorKind::InvalidInput)?;
        self.0.write().truncate(size);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

fn write(into: &mut Vec<u8>, bytes: &[u8], offset: u64) -> io::Result<()> {
    let from = usize::try_from(offset).map_err(|_| ErrorKind::InvalidInput)?;
    let upto = from.checked_add(bytes.len()).ok_or(ErrorKind::InvalidInput)?;
    if into.len() < upto {
        into.resize(upto, 0);
    }
    into.get_mut(from..upto).ok_or(ErrorKind::InvalidInput)?.copy_from_slice(bytes);
    Ok(())
}
