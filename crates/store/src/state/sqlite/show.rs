//! The state for those who read records: pins and counts of turns beside them.

use rusqlite::Connection;

use crate::place::Place;

/// Lets a connection to the records see what the state tells about pins and turns. A store that was made
/// before the state had a file of its own has them among its own tables, which are seen instead.
pub(crate) fn show(state: &Place, connection: &Connection) -> rusqlite::Result<()> {
    // As bytes: a path need not be text.
    let attach = |address: &[u8]| -> rusqlite::Result<bool> {
        connection.execute("ATTACH ?1 AS state", [address])?;
        let made = "SELECT 1 FROM state.sqlite_schema WHERE name = 'turns'";
        connection.prepare(made)?.exists([])
    };
    let is_made = match state {
        Place::File(path) if matches!(path.try_exists(), Ok(false)) => return Ok(()),
        Place::File(path) => attach(path.as_os_str().as_encoded_bytes()).or_else(|error| {
            // As with the records: in a folder that cannot be written it is read without locks.
            let address = state.immutable_uri().ok_or(error)?;
            let _ = connection.execute("DETACH state", []);
            attach(address.as_bytes())
        })?,
        Place::Memory(uri) => attach(uri.as_bytes())?,
    };
    if is_made {
        for table in ["pins", "turns"] {
            // These names come before those of the tables in the file itself.
            let view = format!("CREATE TEMP VIEW {table} AS SELECT * FROM state.{table}");
            connection.execute_batch(&view)?;
        }
    }
    Ok(())
}
