//! What the user typed about the config and gateway keys.

use clap::Subcommand;

use crate::when::{self, Expiry};

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
    Add(AddKey),

    /// List the gateway keys, without the keys themselves.
    List {
        /// Print one JSON object a key.
        #[arg(long)]
        json: bool,
    },

    /// Extend a gateway key that expires, or give it a new secret.
    ///
    /// Without `--expires` it is extended by as long as it was given the last time, from now on. A
    /// revoked key cannot be renewed.
    Renew(RenewKey),

    /// Revoke a gateway key. A gateway that runs refuses it about a second later.
    Revoke {
        /// Its name.
        name: String,

        /// Print it as one JSON object.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct AddKey {
    /// A name for it, unique for all time: records tell it.
    pub(crate) name: String,

    /// The organisation of whoever uses it.
    #[arg(long)]
    pub(crate) org: Option<String>,

    /// The team of whoever uses it.
    #[arg(long)]
    pub(crate) team: Option<String>,

    /// The user.
    #[arg(long)]
    pub(crate) user: Option<String>,

    /// When it expires: after a time (`12h`, `90d`), at the beginning of a date, at an RFC 3339
    /// time, or `never`, which is the default.
    #[arg(long, value_name = "WHEN", value_parser = when::expiry)]
    pub(crate) expires: Option<Expiry>,

    /// Print one JSON object, with the key in it.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RenewKey {
    /// Its name.
    pub(crate) name: String,

    /// When it expires: after a time (`12h`, `90d`), at the beginning of a date, at an RFC 3339
    /// time, or `never`.
    #[arg(long, value_name = "WHEN", value_parser = when::expiry)]
    pub(crate) expires: Option<Expiry>,

    /// Give it a new secret, and print that: this once, and nowhere else. The old one is refused
    /// from then on.
    #[arg(long)]
    pub(crate) new_secret: bool,

    /// Print one JSON object, with the new secret in it if there is one.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
