//! How a server is started or reached, which is part of its identity.

use crate::definition::PinHash;

/// How a server is started or reached. A server that is started differently is another server,
/// whatever it calls itself, so this is part of each pin.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Launch {
    fingerprint: PinHash,
    shown: String,
}

impl Launch {
    /// A program on this machine: the command as configured, and the file that it resolved to.
    /// Arguments are part of the fingerprint but are never shown, because they may contain tokens.
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

    /// A launch from the store.
    pub fn stored(fingerprint: impl Into<String>, shown: impl Into<String>) -> Self {
        Self { fingerprint: PinHash::stored(fingerprint), shown: shown.into() }
    }

    /// The fingerprint, for comparison.
    pub fn fingerprint(&self) -> &PinHash {
        &self.fingerprint
    }

    /// The text for people: the program or the address, and the number of arguments.
    pub fn shown(&self) -> &str {
        &self.shown
    }
}

/// Each part is preceded by its length, so that different parts never give the same text.
fn fingerprint(parts: &[String]) -> PinHash {
    PinHash::of(&parts.iter().map(|part| format!("{}:{part}", part.len())).collect::<String>())
}
