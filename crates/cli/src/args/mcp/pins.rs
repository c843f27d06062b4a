//! The command line of `callgate mcp pins`.

use callgate_registry::PinStatus;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

use crate::args::WideArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum PinsCommand {
    /// List the pinned definitions with their hash and state.
    List(PinsListArgs),

    /// Show definitions that changed since they were trusted, and new ones that wait for approval.
    Diff {
        /// Only this server.
        #[arg(long, value_name = "ID")]
        server: Option<String>,

        #[command(flatten)]
        pick: DefinitionArgs,

        /// Print one JSON object per definition.
        #[arg(long)]
        json: bool,
    },

    /// Trust the definition that was seen last, so that it can be listed and called.
    ///
    /// Check it first with `callgate mcp pins diff`. A running gateway and running servers use it
    /// from the next call on.
    Trust {
        /// The server.
        #[arg(long, value_name = "ID")]
        server: String,

        #[command(flatten)]
        pick: DefinitionArgs,

        /// Everything that this server offers.
        #[arg(long, conflicts_with = "one")]
        all: bool,

        /// Only if this is still the hash that `diff` showed; the beginning of it is enough.
        #[arg(long, value_name = "HASH", conflicts_with = "all")]
        hash: Option<String>,
    },

    /// Forget a definition: the next one counts as the first again.
    Reset {
        /// The server.
        #[arg(long, value_name = "ID")]
        server: String,

        #[command(flatten)]
        pick: DefinitionArgs,

        /// Everything that this server offers.
        #[arg(long, conflicts_with = "one")]
        all: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct PinsListArgs {
    /// Only servers whose name matches; `*` and `?` are wildcards.
    #[arg(long, value_name = "GLOB")]
    pub(crate) server: Option<String>,

    #[command(flatten)]
    pub(crate) pick: DefinitionArgs,

    /// Only definitions in this state.
    #[arg(long, value_parser = state())]
    pub(crate) state: Option<PinStatus>,

    #[command(flatten)]
    pub(crate) wide: WideArgs,

    /// Print one JSON object per pin.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which definition of a server.
#[derive(Debug, Default, Args)]
#[group(id = "one", multiple = false)]
pub(crate) struct DefinitionArgs {
    /// Only this tool.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,

    /// Only this prompt.
    #[arg(long, value_name = "NAME")]
    pub(crate) prompt: Option<String>,

    /// Only the server's instructions.
    #[arg(long)]
    pub(crate) instructions: bool,
}

fn state() -> impl TypedValueParser<Value = PinStatus> {
    let kept = [PinStatus::Trusted, PinStatus::Changed, PinStatus::Quarantined];
    PossibleValuesParser::new(kept.map(PinStatus::as_str))
        .try_map(|word| PinStatus::parse(&word).ok_or("no such state"))
}
