//! How a server is started or reached: the other half of who it is.

use crate::definition::PinHash;

/// How a server is started or reached. A server that is started otherwise is another one, whatever
/// it calls itself; so this is part of each pin.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Launch {
    fingerprint: PinHash,
    shown: String,
}

impl Launch {
    /// A program on this machine: as configured, and the file it was found at. Arguments count, but
    /// are never shown: people put tokens into them.
    pub fn command<A: AsRef<str>>(command: &str, arguments: &[A], resolved: Option<&str>) -> Self {
        let parts = [Some("command"), Some(command), resolved];
        let parts = parts.into_iter().map(|part| part.unwrap_or("")).map(str::to_owned);
        let arguments = arguments.iter().map(|it| it.as_ref().to_owned());
        let fingerprint = fingerprint(&parts.chain(arguments.clone()).collect::<Vec<_>>());
        let mut shown = resolved.unwrap_or(command).to_owned();
        match arguments.count() {
            0 => {}
            1 => shown.push_str(" with 1 argument"),
            many => shown.push_str(&format!(" with {many} arguments")),
        }
        Self { fingerprint, shown }
    }

    /// A server on the network: scheme, host and port.
    pub fn origin(origin: &str) -> Self {
        let origin = origin.trim_end_matches('/').to_ascii_lowercase();
        Self { fingerprint: fingerprint(&["origin".to_owned(), origin.clone()]), shown: origin }
    }

    /// As it was stored.
    pub fn stored(fingerprint: impl Into<String>, shown: impl Into<String>) -> Self {
        Self { fingerprint: PinHash::stored(fingerprint), shown: shown.into() }
    }

    /// What is compared.
    pub fn fingerprint(&self) -> &PinHash {
        &self.fingerprint
    }

    /// What people are told: the program or the address, and how many arguments.
    pub fn shown(&self) -> &str {
        &self.shown
    }
}

/// Each part with its length before it, so that parts cannot run into each other.
fn fingerprint(parts: &[String]) -> PinHash {
    PinHash::of(&parts.iter().map(|part| format!("{}:{part}", part.len())).collect::<String>())
}
