//! The command line of `config`, `keys` and `doctor`.

use clap::Subcommand;

use crate::exit;
use crate::when::{self, Expiry};

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Find every problem in the config and its policies, and show the settings in effect.
    ///
    /// Shows each problem and warning with its position in the file. Warnings do not fail.
    #[command(after_long_help = exit::help_of(exit::CHECK_FILES))]
    Check {
        /// Fail if other users can change the config or a policy, instead of warning.
        #[arg(long)]
        strict: bool,

        /// Print the result as one JSON object.
        #[arg(long)]
        json: bool,
    },

    /// Print the JSON Schema of the config file, for editors.
    Schema,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Create a gateway key and print it. It is not shown again.
    ///
    /// Clients send it in the header x-callgate-key, or as their API key if the provider has
    /// `api_key_env`. A running gateway accepts it after about a second.
    Add(AddKeyArgs),

    /// List the gateway keys, without their secrets.
    List {
        /// Print one JSON object per key.
        #[arg(long)]
        json: bool,
    },

    /// Extend a gateway key that expires, or give it a new secret.
    ///
    /// Without `--expires` it is extended by the same length as the last time, counted from now. A
    /// revoked key cannot be renewed.
    Renew(RenewKeyArgs),

    /// Revoke a gateway key. A running gateway refuses it after about a second.
    Revoke {
        /// The name of the key.
        name: String,

        /// Print the result as one JSON object.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct AddKeyArgs {
    /// A name for the key. Records contain it, so a name cannot be used again.
    pub(crate) name: String,

    /// The organisation of the user.
    #[arg(long)]
    pub(crate) org: Option<String>,

    /// The team of the user.
    #[arg(long)]
    pub(crate) team: Option<String>,

    /// The user of the key.
    #[arg(long)]
    pub(crate) user: Option<String>,

    /// When it expires: after a time (`12h`, `90d`), at the start of a date, at an RFC 3339 time,
    /// or
    /// `never` [default: never]
    #[arg(long, value_name = "WHEN", value_parser = when::expiry)]
    pub(crate) expires: Option<Expiry>,

    /// Print one JSON object that includes the key.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RenewKeyArgs {
    /// The name of the key.
    pub(crate) name: String,

    /// When it expires: after a time (`12h`, `90d`), at the start of a date, at an RFC 3339 time,
    /// or
    /// `never`.
    #[arg(long, value_name = "WHEN", value_parser = when::expiry)]
    pub(crate) expires: Option<Expiry>,

    /// Replace its secret and print the new one. It is not shown again; the old one is refused from
    /// then on.
    #[arg(long)]
    pub(crate) new_secret: bool,

    /// Print one JSON object that includes the new secret, if there is one.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
