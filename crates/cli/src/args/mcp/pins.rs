//! What the user typed about pins.

use callgate_registry::PinStatus;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum Pins {
    /// List what servers are held to, with its hash and where it stands.
    List(PinsList),

    /// Show what changed since it was trusted, or what waits for a person.
    Diff {
        /// Only of this server.
        #[arg(long, value_name = "ID")]
        server: Option<String>,

        #[command(flatten)]
        pick: Pick,

        /// Print one JSON object a definition.
        #[arg(long)]
        json: bool,
    },

    /// Trust what was seen last: it may be listed and called from then on.
    ///
    /// Look at it first with `callgate mcp pins diff`. A gateway and servers that run take it over
    /// by the next call.
    Trust {
        /// The server.
        #[arg(long, value_name = "ID")]
        server: String,

        #[command(flatten)]
        pick: Pick,

        /// Everything of this server.
        #[arg(long, conflicts_with = "one", required_unless_present = "one")]
        all: bool,

        /// Only if it is still this: the hash that `diff` showed, or the beginning of it.
        #[arg(long, value_name = "HASH", conflicts_with = "all")]
        hash: Option<String>,
    },

    /// Forget what was seen: the next definition is the first one again.
    Reset {
        /// The server.
        #[arg(long, value_name = "ID")]
        server: String,

        #[command(flatten)]
        pick: Pick,

        /// Everything of this server.
        #[arg(long, conflicts_with = "one", required_unless_present = "one")]
        all: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct PinsList {
    /// Of servers whose name matches; `*` and `?` are wildcards.
    #[arg(long, value_name = "GLOB")]
    pub(crate) server: Option<String>,

    #[command(flatten)]
    pub(crate) pick: Pick,

    /// Where it stands.
    #[arg(long, value_parser = state())]
    pub(crate) state: Option<PinStatus>,

    /// Print one JSON object a pin.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What of a server.
#[derive(Debug, Default, Args)]
#[group(id = "one", multiple = false)]
pub(crate) struct Pick {
    /// This tool.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,

    /// This prompt.
    #[arg(long, value_name = "NAME")]
    pub(crate) prompt: Option<String>,

    /// What the server says of itself.
    #[arg(long)]
    pub(crate) instructions: bool,
}

fn state() -> impl TypedValueParser<Value = PinStatus> {
    let kept = [PinStatus::Trusted, PinStatus::Changed, PinStatus::Quarantined];
    PossibleValuesParser::new(kept.map(PinStatus::as_str))
        .try_map(|word| PinStatus::parse(&word).ok_or("no such state"))
}
