//! How the program ends: every exit code, defined here and nowhere else.

use std::process::ExitCode;

use callgate_policy::{Course, Verdict};

/// One way to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It worked, and nothing that was asked about is denied.
    Success,
    /// A call is denied.
    Denied,
    /// The thing that was checked is not intact.
    Broken,
    /// Usage, file or policy problem. Clap uses the same number for its own errors.
    Error,
    /// A call waits for an approval.
    Waits,
    /// A response was cut off or was unreadable.
    Cut,
    /// A wrapped server ended with this code.
    Server(u8),
}

impl Exit {
    /// One of each code.
    const ALL: [Self; 5] = [Self::Success, Self::Denied, Self::Error, Self::Waits, Self::Cut];

    fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Denied | Self::Broken => 1,
            Self::Error => 2,
            Self::Waits => 3,
            Self::Cut => 4,
            Self::Server(code) => code,
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::Success => {
                "success; check: the call is allowed; filter: the response was read to its end"
            }
            Self::Denied | Self::Broken => {
                "check: denied; policy test: failed; import, export: a difference; verify, doctor: a fault"
            }
            Self::Error => {
                "wrong usage, an unreadable file, call or store, or a rejected config or policy"
            }
            Self::Waits => "check: the call needs an approval or a review",
            Self::Cut => {
                "filter: the response was cut off or unreadable, and was ended with an error"
            }
            Self::Server(_) => "mcp wrap: the server's own code",
        }
    }

    /// The end of a command that judged a call. A verdict this version does not know does not
    /// pass.
    pub(crate) fn of(verdict: Verdict) -> Self {
        match verdict.course() {
            Course::Passes => Self::Success,
            Course::Waits => Self::Waits,
            Course::Stops => Self::Denied,
        }
    }

    /// The one of two that matters more to a script: a call that could not be judged, then a
    /// denied one, then a waiting one.
    pub(crate) fn or_stricter(self, other: Self) -> Self {
        let rank = |exit| match exit {
            Self::Success => 0,
            Self::Waits => 1,
            Self::Denied | Self::Broken => 2,
            Self::Error => 3,
            Self::Cut | Self::Server(_) => 4,
        };
        if rank(other) > rank(self) { other } else { self }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// The codes of one command, with their meaning there.
pub(crate) type Codes = &'static [(Exit, &'static str)];

pub(crate) const CHECK: Codes = &[
    (Exit::Success, "the call is allowed"),
    (Exit::Denied, "the call is denied"),
    (Exit::Error, "the call, the config or a policy cannot be read"),
    (Exit::Waits, "the call needs an approval or a review"),
];

pub(crate) const FILTER: Codes = &[
    (Exit::Success, "the response was read to its end, even if calls were denied"),
    (Exit::Error, "the config or a policy cannot be read"),
    (Exit::Cut, "the response was cut off or unreadable, and was ended with an error"),
];

pub(crate) const SERVE: Codes = &[
    (Exit::Success, "stopped by SIGINT or SIGTERM"),
    (Exit::Error, "could not start: the message on stderr says why"),
];

pub(crate) const VERIFY: Codes = &[
    (Exit::Success, "every record is intact"),
    (Exit::Broken, "a record was changed, removed or reordered"),
    (Exit::Error, "the store cannot be read"),
];

pub(crate) const DOCTOR: Codes = &[
    (Exit::Success, "nothing is wrong"),
    (Exit::Broken, "something does not work: the report says what"),
    (Exit::Error, "the config cannot be read"),
];

pub(crate) const CHECK_FILES: Codes = &[
    (Exit::Success, "no problems; there may be warnings"),
    (Exit::Error, "a file has problems, or cannot be read"),
];

pub(crate) const CHECK_POLICIES: Codes = &[
    (Exit::Success, "no problems; without `--strict` there may be warnings"),
    (Exit::Broken, "there are warnings, and `--strict` was given"),
    (Exit::Error, "a file has problems, or cannot be read"),
];

pub(crate) const TEST: Codes = &[
    (Exit::Success, "every test passed"),
    (Exit::Broken, "a test failed"),
    (Exit::Error, "a test file, the config or a policy cannot be read"),
];

pub(crate) const EXCHANGE: Codes = &[
    (Exit::Success, "done; there may be differences"),
    (Exit::Broken, "done, with differences, and `--strict` was given"),
    (Exit::Error, "a file, the config or a policy cannot be read, or the result cannot be written"),
];

/// The section of `--help` that lists the codes of one command.
pub(crate) fn help_of(codes: Codes) -> String {
    section(codes.iter().copied())
}

/// The section of `--help` that lists every code.
pub(crate) fn help() -> String {
    section(Exit::ALL.map(|exit| (exit, exit.meaning())))
}

fn section(codes: impl IntoIterator<Item = (Exit, &'static str)>) -> String {
    let lines = codes.into_iter().map(|(exit, meaning)| format!("\n  {}  {meaning}", exit.code()));
    format!("Exit codes:{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bad_line_is_not_hidden_by_the_others() {
        let strictest = |list: &[Exit]| list.iter().copied().reduce(Exit::or_stricter).unwrap();
        assert_eq!(strictest(&[Exit::Success, Exit::Denied, Exit::Success]), Exit::Denied);
        assert_eq!(strictest(&[Exit::Error, Exit::Denied]), Exit::Error);
        assert_eq!(strictest(&[Exit::Waits, Exit::Denied]), Exit::Denied);
        assert_eq!(strictest(&[Exit::Success]), Exit::Success);
    }
}
