//! What the user typed to read records.

use std::path::PathBuf;

use callgate_audit::{Action, Kind};
use callgate_call::Surface;
use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use jiff::Timestamp;

use crate::table::Fit;
use crate::when;

/// How much a table shows.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct Wide {
    /// Show more columns and whole cells, even if rows get wider than the terminal.
    #[arg(long)]
    wide: bool,
}

impl Wide {
    pub(crate) fn fit(self) -> Fit {
        Fit::of(self.wide)
    }
}

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Calls {
    #[command(subcommand)]
    pub(crate) command: Option<CallsCommand>,

    #[command(flatten)]
    pub(crate) filters: Filters,

    #[command(flatten)]
    pub(crate) wide: Wide,

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

        /// Print it as one JSON object.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct Events {
    /// Only of this type; may be given several times.
    #[arg(long = "type", visible_alias = "kind", value_name = "TYPE", help_heading = FILTERS, value_parser = kind())]
    pub(crate) kinds: Vec<Kind>,

    #[command(flatten)]
    pub(crate) filters: Filters,

    #[command(flatten)]
    pub(crate) wide: Wide,

    /// Print one JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Stats {
    #[command(flatten)]
    pub(crate) filters: Filters,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Tail {
    /// Go on with new records as they come; this is the default.
    #[arg(long, short, overrides_with = "no_follow")]
    pub(crate) follow: bool,

    /// End behind the last record.
    #[arg(long)]
    pub(crate) no_follow: bool,

    #[command(flatten)]
    pub(crate) filters: Filters,

    /// Print one JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// Check that no record was changed, removed or put in another order.
    ///
    /// Every record holds the hash of the one before it. Ends with 1 if the chain is broken, and
    /// says where.
    Verify {
        /// Print the result as one JSON object.
        #[arg(long)]
        json: bool,
    },

    /// Write records as JSON lines, the oldest first.
    Export {
        #[command(flatten)]
        filters: Box<Filters>,

        /// Write to this file instead of stdout. It is made readable for you alone.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

/// Under this heading `--help` lists what chooses records.
pub(super) const FILTERS: &str = "Filters";

/// Which records.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Filters {
    /// Of this session.
    #[arg(long, help_heading = FILTERS, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// Of tools whose name matches; `*` and `?` are wildcards.
    #[arg(long, help_heading = FILTERS, value_name = "GLOB")]
    pub(crate) tool: Option<String>,

    /// Of MCP servers whose name matches.
    #[arg(long, help_heading = FILTERS, value_name = "GLOB")]
    pub(crate) server: Option<String>,

    /// Seen there.
    #[arg(long, help_heading = FILTERS, value_parser = super::surface())]
    pub(crate) surface: Option<Surface>,

    /// With that outcome.
    #[arg(long, help_heading = FILTERS, value_parser = action())]
    pub(crate) verdict: Option<Action>,

    /// Decided by this rule, or with it among the audit and shadow rules that matched.
    #[arg(long, help_heading = FILTERS, value_name = "ID")]
    pub(crate) rule: Option<String>,

    /// Of models whose name matches.
    #[arg(long, help_heading = FILTERS, value_name = "GLOB")]
    pub(crate) model: Option<String>,

    #[command(flatten)]
    pub(crate) by: By,

    #[command(flatten)]
    pub(crate) part: Part,
}

/// Whose records, and by way of which provider.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct By {
    /// Of users whose name matches.
    #[arg(long, help_heading = FILTERS, value_name = "GLOB")]
    pub(crate) user: Option<String>,

    /// Of teams whose name matches.
    #[arg(long, help_heading = FILTERS, value_name = "GLOB")]
    pub(crate) team: Option<String>,

    /// Of organisations whose name matches.
    #[arg(long, help_heading = FILTERS, value_name = "GLOB")]
    pub(crate) org: Option<String>,

    /// Of agents whose name matches.
    #[arg(long, help_heading = FILTERS, value_name = "GLOB")]
    pub(crate) agent: Option<String>,

    /// Of gateway keys whose name matches.
    #[arg(long, help_heading = FILTERS, value_name = "GLOB")]
    pub(crate) key: Option<String>,

    /// Of providers whose name in the config matches.
    #[arg(long, help_heading = FILTERS, value_name = "GLOB")]
    pub(crate) provider: Option<String>,
}

/// Which part of them.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct Part {
    /// Not before: a time ago (`30m`, `2h`, `7d`), a date, or an RFC 3339 time.
    #[arg(long, help_heading = FILTERS, value_name = "TIME", value_parser = when::parse)]
    pub(crate) since: Option<Timestamp>,

    /// Before: the same.
    #[arg(long, help_heading = FILTERS, value_name = "TIME", value_parser = when::parse)]
    pub(crate) until: Option<Timestamp>,

    /// At most so many.
    #[arg(long, help_heading = FILTERS, value_name = "N")]
    pub(crate) limit: Option<usize>,
}

fn action() -> impl TypedValueParser<Value = Action> {
    PossibleValuesParser::new(Action::ALL.map(Action::as_str))
        .try_map(|word| Action::from_word(&word).ok_or("no such verdict"))
}

/// The type of a record, by its word.
pub(super) fn kind() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(Kind::ALL.iter().map(|kind| kind.as_str()))
        .try_map(|word| Kind::from_word(&word).ok_or("no such type"))
}
