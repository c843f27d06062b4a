//! Marks: what is known about a whole command that its other effects do not say.

use std::fmt;

/// What the model of a program says about a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Mark {
    /// Overwrites a branch or tag of another repository: `git push --force`.
    ForcePush,
    /// Deletes a branch, tag, release or package on a server: `git push --delete`.
    RemoteDelete,
    /// Rewrites or expires recorded history: `git filter-branch`, `git reflog expire`.
    History,
    /// Throws away uncommitted work: `git reset --hard`, `git clean -f`.
    DiscardsWork,
    /// Skips a check that the project has set up: `git commit --no-verify`.
    SkipsCheck,
    /// Disables protection of the system: a firewall, SELinux, certificate checks, an audit log.
    Guard,
    /// Destroys infrastructure or data in a cloud or cluster: `terraform destroy`.
    Infrastructure,
    /// Drops or empties a database: `dropdb`, `redis-cli FLUSHALL`.
    Database,
    /// Overwrites a disk, a partition or a volume: `mkfs`, `wipefs`, `docker volume rm`.
    Disk,
    /// Gives privileges away or gains them: setuid bits, sudoers, capabilities.
    Privilege,
    /// Runs with the rights of another user: `sudo`.
    Elevates,
    /// Gives a container access to the host: `--privileged`, `-v /:/host`.
    HostAccess,
    /// Prints credentials: `gh auth token`, `security find-generic-password -w`.
    Credentials,
    /// Starts code later or at every start: cron, services, login items.
    Schedules,
    /// Changes users, groups or passwords.
    Accounts,
    /// Turns the machine off or restarts it.
    Power,
    /// Ends processes.
    Kills,
    /// Publishes something under the user's name: `npm publish`, `gh release create`.
    Publishes,
    /// Starts another agent without its own guards: `claude --dangerously-skip-permissions`.
    Escalates,
    /// Passes a shell or traffic on: reverse shells, `ssh -R`, `ngrok`.
    Tunnel,
    /// Watches the user: screen, keyboard, clipboard, microphone.
    Spies,
    /// Loads code into the kernel or changes its settings.
    Kernel,
    /// Changes routes, name resolution, proxies or certificates of the system.
    Network,
    /// Uses up the machine: a fork bomb, an endless loop that writes.
    Exhausts,
}

impl Mark {
    /// Every mark.
    pub const ALL: [Self; 24] = [
        Self::ForcePush,
        Self::RemoteDelete,
        Self::History,
        Self::DiscardsWork,
        Self::SkipsCheck,
        Self::Guard,
        Self::Infrastructure,
        Self::Database,
        Self::Disk,
        Self::Privilege,
        Self::Elevates,
        Self::HostAccess,
        Self::Credentials,
        Self::Schedules,
        Self::Accounts,
        Self::Power,
        Self::Kills,
        Self::Publishes,
        Self::Escalates,
        Self::Tunnel,
        Self::Spies,
        Self::Kernel,
        Self::Network,
        Self::Exhausts,
    ];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ForcePush => "force-push",
            Self::RemoteDelete => "remote-delete",
            Self::History => "history",
            Self::DiscardsWork => "discards-work",
            Self::SkipsCheck => "skips-check",
            Self::Guard => "guard",
            Self::Infrastructure => "infrastructure",
            Self::Database => "database",
            Self::Disk => "disk",
            Self::Privilege => "privilege",
            Self::Elevates => "elevates",
            Self::HostAccess => "host-access",
            Self::Credentials => "credentials",
            Self::Schedules => "schedules",
            Self::Accounts => "accounts",
            Self::Power => "power",
            Self::Kills => "kills",
            Self::Publishes => "publishes",
            Self::Escalates => "escalates",
            Self::Tunnel => "tunnel",
            Self::Spies => "spies",
            Self::Kernel => "kernel",
            Self::Network => "network",
            Self::Exhausts => "exhausts",
        }
    }
}

/// A set of marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Marks(u32);

impl Marks {
    /// No mark.
    pub const NONE: Self = Self(0);

    /// Whether the mark is in the set.
    pub const fn contains(self, mark: Mark) -> bool {
        self.0 & 1 << mark as u8 != 0
    }

    /// Adds a mark.
    pub fn insert(&mut self, mark: Mark) {
        self.0 |= 1 << mark as u8;
    }

    /// Takes marks away.
    pub(crate) fn remove_all(&mut self, marks: &[Mark]) {
        for mark in marks {
            self.0 &= !(1 << *mark as u8);
        }
    }

    /// The marks of the set.
    pub fn iter(self) -> impl Iterator<Item = Mark> {
        Mark::ALL.into_iter().filter(move |mark| self.contains(*mark))
    }

    /// Whether there is no mark.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for Marks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for mark in self.iter() {
            write!(f, "{separator}{}", mark.as_str())?;
            separator = " ";
        }
        Ok(())
    }
}
