//! A simulated disk that loses power, fills up, or fails to sync.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use crate::database::Fault;
use crate::journal::volume::{Locked, Segment, Volume};

/// What happens to a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The process is killed: everything it wrote is there.
    Kill,
    /// The power fails: only synced bytes are there.
    PowerLoss,
    /// The power fails, and some bytes that were not synced are there too.
    PartlyWritten,
}

#[derive(Debug, Default)]
pub(super) struct SimVolume {
    writing: Mutex<()>,
    disk: Arc<Mutex<Disk>>,
}

#[derive(Debug, Default)]
struct Disk {
    files: BTreeMap<u64, Content>,
    head: Content,
    /// The process that used it is dead: every operation fails until the restart.
    dead: bool,
    /// Bytes that can be written before the process dies; any other change counts as one.
    until_death: Option<usize>,
    /// Bytes that can be written before the disk is full.
    until_full: Option<usize>,
    /// The failing syncs: the first one, and how many.
    failing_syncs: Option<(usize, usize)>,
    syncs: usize,
}

#[derive(Debug, Default, Clone)]
struct Content {
    bytes: Vec<u8>,
    synced: Vec<u8>,
    /// Its name is still there after a power failure.
    named: bool,
    /// The range of bytes that a failed sync gave up.
    lost: Option<(usize, usize)>,
}

impl Disk {
    fn alive(&mut self, cost: usize) -> io::Result<usize> {
        if self.dead {
            return Err(io::Error::other("the process is gone"));
        }
        let Some(left) = &mut self.until_death else { return Ok(cost) };
        let can = cost.min(*left);
        *left -= can;
        self.dead = can < cost;
        Ok(can)
    }

    fn step(&mut self) -> io::Result<()> {
        match self.alive(1)? {
            1 => Ok(()),
            _ => Err(io::Error::other("the process is gone")),
        }
    }

    fn write(&mut self, file: Option<u64>, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut can = self.alive(bytes.len())?;
        let content = match file {
            Some(number) => self.files.get_mut(&number).ok_or(ErrorKind::NotFound)?,
            None => &mut self.head,
        };
        let from = usize::try_from(offset).unwrap();
        if let Some(left) = &mut self.until_full {
            let more = (from + can).saturating_sub(content.bytes.len());
            can -= more.saturating_sub(*left);
            *left -= more.min(*left);
        }
        if content.bytes.len() < from + can {
            content.bytes.resize(from + can, 0);
        }
        content.bytes[from..from + can].copy_from_slice(&bytes[..can]);
        match can == bytes.len() {
            true => Ok(()),
            false => Err(ErrorKind::StorageFull.into()),
        }
    }

    fn sync(&mut self, number: u64) -> io::Result<()> {
        self.step()?;
        self.syncs += 1;
        let fails = self
            .failing_syncs
            .is_some_and(|(first, many)| (first..first + many).contains(&(self.syncs - 1)));
        let content = self.files.get_mut(&number).ok_or(ErrorKind::NotFound)?;
        if fails {
            // The system forgets that these pages are not on the disk.
            content.lost = Some((content.synced.len(), content.bytes.len()));
            return Err(io::Error::other("a sync that fails"));
        }
        content.synced.clone_from(&content.bytes);
        if let Some((from, upto)) = content.lost {
            let upto = upto.min(content.synced.len());
            content.synced[from.min(upto)..upto].fill(0);
        }
        Ok(())
    }
}

impl SimVolume {
    /// A disk whose process dies after this many bytes.
    pub(super) fn dying_after(bytes: usize) -> Self {
        let volume = Self::default();
        volume.disk.lock().until_death = Some(bytes);
        volume
    }

    /// A disk on which these syncs fail.
    pub(super) fn failing_syncs(first: usize, many: usize) -> Self {
        let volume = Self::default();
        volume.disk.lock().failing_syncs = Some((first, many));
        volume
    }

    pub(super) fn set_room(&self, bytes: Option<usize>) {
        self.disk.lock().until_full = bytes;
    }

    pub(super) fn is_dead(&self) -> bool {
        self.disk.lock().dead
    }

    pub(super) fn syncs(&self) -> usize {
        self.disk.lock().syncs
    }

    /// Applies what happened to the disk, and makes it usable again.
    pub(super) fn restart(&self, end: End) {
        let mut disk = self.disk.lock();
        (disk.dead, disk.until_death, disk.failing_syncs) = (false, None, None);
        if end == End::Kill {
            return;
        }
        disk.files.retain(|_, content| content.named);
        for content in disk.files.values_mut() {
            let mut found = content.synced.clone();
            if end == End::PartlyWritten {
                let more = content.bytes.get(found.len()..).unwrap_or_default();
                found.extend_from_slice(&more[..more.len() / 2]);
            }
            content.bytes = found;
        }
    }
}

impl Locked for LockedSim<'_> {}
struct LockedSim<'a>(#[allow(dead_code, reason = "held")] MutexGuard<'a, ()>);

impl Volume for SimVolume {
    fn lock(&self) -> Result<Box<dyn Locked + '_>, Fault> {
        Ok(Box::new(LockedSim(self.writing.lock())))
    }

    fn numbers(&self) -> io::Result<Vec<u64>> {
        Ok(self.disk.lock().files.keys().copied().collect())
    }

    fn exists(&self, number: u64) -> io::Result<bool> {
        Ok(self.disk.lock().files.contains_key(&number))
    }

    fn create(&self, number: u64) -> io::Result<Arc<dyn Segment>> {
        let mut disk = self.disk.lock();
        disk.step()?;
        if disk.files.contains_key(&number) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        disk.files.insert(number, Content::default());
        Ok(Arc::new(SimSegment { disk: Arc::clone(&self.disk), number }))
    }

    fn open(&self, number: u64) -> io::Result<Option<Arc<dyn Segment>>> {
        let known = self.disk.lock().files.contains_key(&number);
        let segment = || Arc::new(SimSegment { disk: Arc::clone(&self.disk), number });
        Ok(known.then(|| segment() as Arc<dyn Segment>))
    }

    fn remove(&self, number: u64) -> io::Result<()> {
        let mut disk = self.disk.lock();
        disk.step()?;
        disk.files.remove(&number);
        Ok(())
    }

    fn sync_names(&self) -> io::Result<()> {
        let mut disk = self.disk.lock();
        disk.step()?;
        disk.files.values_mut().for_each(|content| content.named = true);
        Ok(())
    }

    fn read_head(&self) -> io::Result<Vec<u8>> {
        Ok(self.disk.lock().head.bytes.clone())
    }

    fn write_head(&self, place: u64, bytes: &[u8]) -> io::Result<()> {
        self.disk.lock().write(None, bytes, place)
    }
}

#[derive(Debug)]
struct SimSegment {
    disk: Arc<Mutex<Disk>>,
    number: u64,
}

impl Segment for SimSegment {
    fn size(&self) -> io::Result<Option<u64>> {
        Ok(self.disk.lock().files.get(&self.number).map(|it| it.bytes.len() as u64))
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        let disk = self.disk.lock();
        let content = disk.files.get(&self.number).ok_or(ErrorKind::NotFound)?;
        let from = usize::try_from(offset).unwrap().min(content.bytes.len());
        io::Read::read(&mut &content.bytes[from..], into)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.disk.lock().write(Some(self.number), bytes, offset)
    }

    fn truncate(&self, size: u64) -> io::Result<()> {
        let mut disk = self.disk.lock();
        disk.step()?;
        let content = disk.files.get_mut(&self.number).ok_or(ErrorKind::NotFound)?;
        content.bytes.truncate(usize::try_from(size).unwrap());
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.lock().sync(self.number)
    }
}
