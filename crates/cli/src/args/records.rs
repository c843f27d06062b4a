//! The command line of commands that read records.

use std::path::PathBuf;

use callgate_audit::{CallOutcome, RecordKind};
use callgate_call::Surface;
use callgate_store::Opinion;
use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use jiff::Timestamp;

use crate::exit;
use crate::table::Fit;
use crate::when;

/// How much a table shows.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct WideArgs {
    /// Show more columns and whole cells, even if rows get wider than the terminal.
    #[arg(long)]
    wide: bool,
}

impl WideArgs {
    pub(crate) fn fit(self) -> Fit {
        Fit::of(self.wide)
    }
}

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct CallsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<CallsCommand>,

    /// Only this request: `x-callgate-request` of a response names it.
    #[arg(long, help_heading = FILTERS, value_name = "ID")]
    pub(crate) request: Option<String>,

    /// Only calls whose verdict is marked as this: wrong or right.
    #[arg(long, help_heading = FILTERS, value_name = "MARK", value_parser = opinion())]
    pub(crate) marked: Option<Opinion>,

    #[command(flatten)]
    pub(crate) filters: RecordFilterArgs,

    #[command(flatten)]
    pub(crate) wide: WideArgs,

    /// Print one JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CallsCommand {
    /// Show everything about one record.
    Show {
        /// The record's number, as listed, or its id or the beginning of its id.
        #[arg(value_name = "RECORD")]
        id: String,

        /// Print the result as one JSON object.
        #[arg(long)]
        json: bool,
    },

    /// Say that the verdict on a call was wrong, or right.
    ///
    /// Marks change no verdict. `callgate stats` shows the false alarms of each rule, and `callgate
    /// policy suggest --exceptions` proposes exceptions for denials that are marked wrong. Who marked
    /// what is on record.
    Mark(MarkCallsArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct MarkCallsArgs {
    /// The records' numbers, as listed, or their ids or the beginnings of their ids.
    #[arg(value_name = "RECORD", required = true)]
    pub(crate) ids: Vec<String>,

    #[command(flatten)]
    pub(crate) mark: MarkArgs,

    /// Print one JSON object per record.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to mark calls as: exactly one of the flags.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(crate) struct MarkArgs {
    /// The verdict was wrong: what was stopped should have passed, or the other way round.
    #[arg(long)]
    wrong: bool,

    /// The verdict was right.
    #[arg(long)]
    right: bool,

    /// Remove the mark.
    #[arg(long)]
    undo: bool,
}

impl MarkArgs {
    /// The opinion; `None` to remove the mark.
    pub(crate) fn opinion(&self) -> Option<Opinion> {
        match (self.wrong, self.right) {
            (true, _) => Some(Opinion::Wrong),
            (false, true) => Some(Opinion::Right),
            (false, false) => None,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct EventsArgs {
    /// Only records of this type; can be repeated.
    #[arg(long = "type", visible_alias = "kind", value_name = "TYPE", help_heading = FILTERS, value_parser = kind())]
    pub(crate) kinds: Vec<RecordKind>,

    #[command(flatten)]
    pub(crate) filters: RecordFilterArgs,

    #[command(flatten)]
    pub(crate) wide: WideArgs,

    /// Print one JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) filters: RecordFilterArgs,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TailArgs {
    /// Continue with new records; this is the default.
    #[arg(long, short, overrides_with = "no_follow")]
    pub(crate) follow: bool,

    /// Stop after the last record.
    #[arg(long)]
    pub(crate) no_follow: bool,

    /// Begin with the record that follows this one, and skip none.
    ///
    /// SEQ is the `seq` of the last record you have seen (`--json` shows it); 0 begins with the
    /// oldest record. A program that keeps the last `seq` it has handled resumes where it ended.
    #[arg(long, value_name = "SEQ", conflicts_with = "limit")]
    pub(crate) after: Option<u64>,

    #[command(flatten)]
    pub(crate) filters: RecordFilterArgs,

    /// Print one JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Check that no record was changed, removed or reordered.
    ///
    /// Every record contains the hash of the one before it. If the chain is broken, the output says
    /// where.
    #[command(after_long_help = exit::help_of(exit::VERIFY))]
    Verify {
        /// Print the result as one JSON object.
        #[arg(long)]
        json: bool,
    },

    /// Write records as JSON lines, oldest first.
    Export {
        #[command(flatten)]
        filters: Box<RecordFilterArgs>,

        /// Write to this file instead of stdout. Only you can read it.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },

    /// Copy the store to a new folder while callgate keeps writing to it.
    ///
    /// Copies the journal, the state (keys, pins, removed calls, limits) and the key file as they
    /// were at one moment, and verifies the copy. The index is not copied: it is rebuilt from the
    /// journal. The copy holds the key file, so keep it as safe as the store itself.
    Backup {
        /// The folder to write. It must be empty, or not exist yet.
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,

        /// Print the result as one JSON object.
        #[arg(long)]
        json: bool,
    },

    /// Rebuild the index that finds records. Only needed if the index was damaged.
    ///
    /// The index is built from the journal, so this loses nothing. A gateway may run meanwhile.
    Reindex {
        /// Print the result as one JSON object.
        #[arg(long)]
        json: bool,
    },
}

/// Under this heading `--help` lists what chooses records.
pub(super) const FILTERS: &str = "Filters";

/// Which records.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct RecordFilterArgs {
    /// Only this session.
    #[arg(long, help_heading = FILTERS, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// Only tools whose name matches; `*` and `?` are wildcards.
    #[arg(long, help_heading = FILTERS, value_name = "GLOB")]
    pub(crate) tool: Option<String>,

    /// Only MCP servers whose name matches.
    #[arg(long, help_heading = FILTERS, value_name = "GLOB")]
    pub(crate) server: Option<String>,

    /// Only calls seen there.
    #[arg(long, help_heading = FILTERS, value_parser = super::surface())]
    pub(crate) surface: Option<Surface>,

    /// Only with this verdict.
    #[arg(long, help_heading = FILTERS, value_parser = action())]
    pub(crate) verdict: Option<CallOutcome>,

    /// Only calls that this rule decided, or matched in audit or shadow mode.
    #[arg(long, help_heading = FILTERS, value_name = "ID")]
    pub(crate) rule: Option<String>,

    /// Only models whose name matches.
    #[arg(long, help_heading = FILTERS, value_name = "GLOB")]
    pub(crate) model: Option<String>,

    #[command(flatten)]
    pub(crate) by: PrincipalFilterArgs,

    #[command(flatten)]
    pub(crate) part: RecordRangeArgs,
}

/// Whose records, and by way of which provider.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct PrincipalFilterArgs {
    /// Only users whose name matches.
    #[arg(long, help_heading = FILTERS, value_name = "GLOB")]
    pub(crate) user: Option<String>,

    /// Only teams whose name matches.
    #[arg(long, help_heading = FILTERS, value_name = "GLOB")]
    pub(crate) team: Option<String>,

    /// Only organisations whose name matches.
    #[arg(long, help_heading = FILTERS, value_name = "GLOB")]
    pub(crate) org: Option<String>,

    /// Only agents whose name matches.
    #[arg(long, help_heading = FILTERS, value_name = "GLOB")]
    pub(crate) agent: Option<String>,

    /// Only gateway keys whose name matches.
    #[arg(long, help_heading = FILTERS, value_name = "GLOB")]
    pub(crate) key: Option<String>,

    /// Only providers whose name in the config matches.
    #[arg(long, help_heading = FILTERS, value_name = "GLOB")]
    pub(crate) provider: Option<String>,
}

/// Which part of them.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct RecordRangeArgs {
    /// Only from this time on: a time ago (`30m`, `2h`, `7d`, `1w`), `today`, `yesterday`, a date,
    /// or an RFC 3339 time.
    #[arg(long, help_heading = FILTERS, value_name = "TIME", value_parser = when::parse)]
    pub(crate) since: Option<Timestamp>,

    /// Only before this time, written in the same way.
    #[arg(long, help_heading = FILTERS, value_name = "TIME", value_parser = when::parse)]
    pub(crate) until: Option<Timestamp>,

    /// At most this many records [default: 50 in lists, 10 in `tail`, elsewhere all]
    #[arg(long, help_heading = FILTERS, value_name = "N")]
    pub(crate) limit: Option<usize>,
}

fn action() -> impl TypedValueParser<Value = CallOutcome> {
    PossibleValuesParser::new(CallOutcome::ALL.map(CallOutcome::as_str))
        .try_map(|word| CallOutcome::from_word(&word).ok_or("no such verdict"))
}

fn opinion() -> impl TypedValueParser<Value = Opinion> {
    PossibleValuesParser::new(Opinion::ALL.map(Opinion::as_str))
        .try_map(|word| Opinion::from_word(&word).ok_or("no such mark"))
}

/// The type of a record, by its word.
pub(super) fn kind() -> impl TypedValueParser<Value = RecordKind> {
    PossibleValuesParser::new(RecordKind::ALL.iter().map(|kind| kind.as_str()))
        .try_map(|word| RecordKind::from_word(&word).ok_or("no such type"))
}
