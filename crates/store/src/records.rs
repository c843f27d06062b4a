//! Where records are appended.

mod file;
mod keeper;
mod retention;

use callgate_audit::Sealed;

use crate::database::Fault;

pub(crate) use file::RecordsFile;
pub(crate) use keeper::RecordsKeeper;
#[cfg(test)]
pub(crate) use retention::{Progress, expire};

/// Where records are appended. Whatever else is written because of a record, or told by one, is written
/// elsewhere: so the order of the two matters, and each place that writes both says which it has chosen.
pub(crate) trait Records: Sync {
    /// Appends these in their order, all of them or none. When it returns they are as safe as was
    /// promised. It may wait for the disk, and for others who append.
    fn append(&self, records: Vec<Sealed>) -> Result<(), Fault>;
}
