//! What the user typed about the config and gateway keys.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Find every problem in the config and its policies, and show what holds.
    ///
    /// Shows each problem and warning with its place in the text. Warnings do not fail.
    Check {
        /// Fail if other users can change the config or a policy. Without it that is a warning.
        #[arg(long)]
        strict: bool,

        /// Print it as one JSON object.
        #[arg(long)]
        json: bool,
    },

    /// Print the JSON Schema of the config file, for editors.
    Schema,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Keys {
    /// Make a gateway key and print it: this once, and nowhere else.
    ///
    /// Clients send it in the header x-callgate-key, or as their API key where the provider has
    /// `api_key_env`. A gateway that runs takes it about a second later.
    Add {
        /// A name for it, unique for all time: records tell it.
        name: String,

        /// The organisation of whoever uses it.
        #[arg(long)]
        org: Option<String>,

        /// The team of whoever uses it.
        #[arg(long)]
        team: Option<String>,

        /// The user.
        #[arg(long)]
        user: Option<String>,
    },

    /// List the gateway keys, without the keys themselves.
    List {
        /// Print one JSON object a key.
        #[arg(long)]
        json: bool,
    },

    /// Revoke a gateway key. A gateway that runs refuses it about a second later.
    Revoke {
        /// Its name.
        name: String,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
