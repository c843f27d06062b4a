//! The tables of the state.

use crate::schema::Schema;

/// The state file: `CGST` in ASCII.
pub(crate) static STATE: Schema =
    Schema { application: 0x4347_5354, steps: &[FIRST, FILES, MARKS] };

const FIRST: &str = "
-- Gateway keys, by the SHA-256 of what is presented. `expires` is when a key expires, and `term` for
-- how long it was last given, both in microseconds; NULL if it does not expire.
CREATE TABLE keys (
    name TEXT PRIMARY KEY,
    hash BLOB NOT NULL,
    org TEXT,
    team TEXT,
    user TEXT,
    created INTEGER NOT NULL,
    revoked INTEGER,
    expires INTEGER,
    term INTEGER
);

-- Responses without calls, by the hour and by who asked.
CREATE TABLE turns (
    hour INTEGER NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    org TEXT NOT NULL,
    team TEXT NOT NULL,
    user TEXT NOT NULL,
    key TEXT NOT NULL,
    agent TEXT NOT NULL,
    turns INTEGER NOT NULL,
    tokens_input INTEGER NOT NULL,
    tokens_cached INTEGER NOT NULL,
    tokens_output INTEGER NOT NULL,
    tokens_reasoning INTEGER NOT NULL,
    PRIMARY KEY (hour, provider, model, org, team, user, key, agent)
) WITHOUT ROWID;

-- Calls taken out of responses, encrypted, and by what their turns are recognised.
CREATE TABLE removed (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    binding BLOB NOT NULL,
    nonce BLOB NOT NULL,
    content BLOB NOT NULL,
    created INTEGER NOT NULL
);
CREATE TABLE removed_signs (
    sign BLOB NOT NULL,
    removed INTEGER NOT NULL REFERENCES removed (id) ON DELETE CASCADE,
    PRIMARY KEY (sign, removed)
) WITHOUT ROWID;
CREATE INDEX removed_signs_removed ON removed_signs (removed);

-- Pins of what MCP servers offer, and what was seen instead.
CREATE TABLE pins (
    id INTEGER PRIMARY KEY,
    server TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    first_seen INTEGER NOT NULL,
    last_seen INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    launch TEXT NOT NULL,
    launch_shown TEXT NOT NULL,
    hash TEXT NOT NULL,
    whole TEXT NOT NULL,
    definition TEXT NOT NULL,
    seen_launch TEXT,
    seen_launch_shown TEXT,
    seen_hash TEXT,
    seen_whole TEXT,
    seen_definition TEXT,
    UNIQUE (server, kind, name)
);

-- What other processes watch: one number for each thing they keep in memory.
CREATE TABLE versions (one INTEGER PRIMARY KEY CHECK (one = 1), pins INTEGER NOT NULL);
INSERT INTO versions VALUES (1, 0);

-- Token buckets that several processes take from. `full_at` is when one can be forgotten.
CREATE TABLE buckets (
    key BLOB PRIMARY KEY,
    tokens REAL NOT NULL,
    at INTEGER NOT NULL,
    full_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX buckets_full_at ON buckets (full_at);

-- The recent calls of sessions. Sessions are hashes.
CREATE TABLE flows (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session BLOB NOT NULL,
    at INTEGER NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    role TEXT NOT NULL,
    record TEXT NOT NULL,
    arguments BLOB NOT NULL
);
CREATE INDEX flows_session ON flows (session, at);
CREATE INDEX flows_at ON flows (at);

-- Sessions that are under way. The key is a hash of the principal and the session.
CREATE TABLE sessions (
    key BLOB PRIMARY KEY,
    began INTEGER NOT NULL,
    seen INTEGER NOT NULL,
    who TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX sessions_seen ON sessions (seen);

-- Written after a checkpoint, see the keeper.
CREATE TABLE touched (one INTEGER PRIMARY KEY CHECK (one = 1), times INTEGER NOT NULL);
INSERT INTO touched VALUES (1, 0);
";

const FILES: &str = "
-- What the calls of a session have written into files, encrypted. Sessions are hashes.
CREATE TABLE files (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session BLOB NOT NULL,
    at INTEGER NOT NULL,
    nonce BLOB NOT NULL,
    content BLOB NOT NULL
);
CREATE INDEX files_at ON files (at);
";

const MARKS: &str = "
-- What people say about the verdicts on recorded calls: `wrong` or `right`.
CREATE TABLE marks (
    record TEXT PRIMARY KEY,
    mark TEXT NOT NULL,
    at INTEGER NOT NULL,
    user TEXT
) WITHOUT ROWID;
CREATE INDEX marks_at ON marks (at);
";
