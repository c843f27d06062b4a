//! Command lines of powerful programs that only show something, only say what they would do, or that
//! make a protection stronger.

use crate::effect::{Action, Effect, Purpose, Why};
use crate::marks::Marks;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;

/// Programs, and the words behind the name with which they do no harm. Either of the first two words
/// may be it: `semanage port --list`.
const SHOWS: &[(&[&str], &[&str])] = &[
    (&["passwd"], &["-S", "--status"]),
    (&["chage", "chsh"], &["-l", "--list", "--list-shells"]),
    (&["pw"], &["usershow", "groupshow", "usernext", "groupnext"]),
    (&["pwpolicy"], &["getaccountpolicies", "-getaccountpolicies", "-getglobalpolicy"]),
    (&["ipa"], &["user-find", "user-show", "group-find", "group-show", "ping"]),
    (&["realm"], &["list", "discover"]),
    (&["authselect"], &["current", "list", "check"]),
    (&["semanage"], &["--list", "-l", "export"]),
    (&["ufw"], &["enable", "deny", "reject", "limit", "reload", "--dry-run", "version", "app"]),
    (&["setenforce"], &["1", "Enforcing", "enforcing"]),
    (&["csrutil"], &["enable", "status"]),
    (&["spctl"], &["--master-enable", "--global-enable", "--assess", "--status"]),
    (&["fail2ban-client"], &["ping", "version", "banned", "start", "get"]),
    (&["dseditgroup"], &["read", "checkmember"]),
    (&["sysadminctl"], &["-secureTokenStatus"]),
    (&["pwck"], &["-r", "--read-only"]),
    (&["sshd"], &["-t", "-T", "-G"]),
    (&["tailscale"], &["status", "ip", "netcheck", "ping"]),
    (&["ngrok"], &["check", "diagnose", "version", "help"]),
    (&["dockerd"], &["--validate", "--version"]),
    (&["containerd"], &["config", "--version"]),
    (&["flashrom"], &["--version", "-L", "--list-supported"]),
    (&["nft"], &["list", "monitor", "--check", "-c"]),
    (&["socketfilterfw"], &["--getglobalstate", "--listapps", "--getblockall", "--getstealthmode"]),
    (&["profiles"], &["list", "show", "status", "-L"]),
    (&["depmod", "modprobe"], &["--dry-run", "-n", "--show-depends", "--showconfig", "-c"]),
    (&["kmod"], &["list", "static-nodes"]),
    (&["dkms"], &["status"]),
    (&["kmutil"], &["showloaded", "libraries", "inspect", "find", "check"]),
    (&["bootctl"], &["list", "status"]),
    (&["bpftool"], &["list", "show", "version"]),
    (&["efibootmgr"], &["-v", "--verbose", "-u", "--unicode"]),
    (
        &["fwupdmgr"],
        &["get-devices", "get-updates", "get-history", "get-releases", "refresh", "security"],
    ),
    (&["mkinitcpio"], &["-L", "--listhooks", "-H", "--hookhelp"]),
    (&["dracut"], &["--list-modules"]),
    (&["setcap"], &["-v"]),
    (&["tcpdump", "dumpcap", "tshark"], &["-D", "--list-interfaces", "-r", "--read-file"]),
    (&["arecord"], &["-l", "-L", "--list-devices", "--list-pcms"]),
    (&["xinput"], &["list", "--list", "list-props", "--list-props"]),
    (&["at"], &["-l", "-c"]),
    (&["cloudflared"], &["list", "info", "version"]),
    (&["frpc", "frps"], &["verify", "completion"]),
    (&["zrok"], &["status", "version"]),
    (&["openvpn"], &["--genkey", "--show-ciphers", "--show-digests"]),
    (&["vncserver"], &["-list", "-kill", "--kill"]),
    (&["shutdown"], &["-c"]),
    (&["wg-quick"], &["down", "strip"]),
    (&["glab"], &["status", "login", "logout"]),
    (&["setxkbmap"], &["-query", "-print"]),
    (&["nvram"], &["-p"]),
    (&["visudo"], &["-c", "--check", "-cf", "-V"]),
];

/// Flags with which a program only says what it would do, or hides the values of what it lists: the
/// programs, the sub-commands that have the flag (none: all of them), and the flags. A letter counts in
/// a bundle, too.
const TRIES: &[(&[&str], &[&str], &[&str])] = &[
    (&["zfs"], &["destroy", "send", "receive", "recv"], &["-n"]),
    (&["lvremove", "vgremove", "lvreduce", "vgreduce", "lvconvert"], &[], &["--test", "-t"]),
    (&["pvremove"], &[], &["--test", "-t"]),
    (&["wipefs"], &[], &["--no-act", "-n"]),
    (&["mkfs.ext2", "mkfs.ext3", "mkfs.ext4", "mke2fs"], &[], &["-n"]),
    (&["mkfs.xfs"], &[], &["-N"]),
    (&["fsck"], &[], &["-N", "-n"]),
    (&["e2fsck", "fsck.ext4", "fsck.ext3", "xfs_repair"], &[], &["-n"]),
    (&["resize2fs"], &[], &["-P"]),
    (&["growpart"], &[], &["--dry-run", "-N"]),
    (&["sfdisk"], &[], &["--no-act", "-n"]),
    (&["sgdisk"], &[], &["--pretend", "-P"]),
    (&["partprobe"], &[], &["--dry-run", "-d"]),
    (&["mdadm"], &[], &["--examine", "-E", "--query", "-Q", "--detail", "-D"]),
    (&["btrfs"], &["check"], &["--readonly"]),
    (&["iptables-restore", "ip6tables-restore"], &[], &["--test", "-t"]),
    (&["pfctl"], &[], &["-n"]),
    (&["nft"], &[], &["--check", "-c"]),
    (&["apt-get", "apt", "aptitude"], &[], &["--simulate", "-s", "--just-print", "--recon"]),
    (&["apt-get", "apt"], &[], &["--no-act", "--dry-run"]),
    (&["dnf", "yum"], &[], &["--assumeno"]),
    (&["pacman"], &[], &["--print", "-p"]),
    (&["git"], &["push", "prune", "reflog"], &["-n", "--dry-run"]),
    (&["git", "git-filter-repo"], &["filter-repo", ""], &["--analyze", "--dry-run"]),
    (&["rclone"], &[], &["-n", "--dry-run"]),
    (&["rake", "make", "gmake"], &[], &["-n", "--dry-run", "--just-print", "--recon"]),
    (&["pulumi"], &["destroy", "up", "update", "refresh", "down"], &["--preview-only"]),
    (&["terraform", "tofu", "terragrunt"], &["state"], &["-dry-run", "--dry-run"]),
    (&["bq"], &["query", "rm", "cp"], &["--dry_run", "--dry_run=true"]),
    (&["mongorestore", "mongoimport"], &[], &["--dryRun"]),
    (&["pg_restore"], &[], &["--list", "-l"]),
    (&["pg_resetwal"], &[], &["--dry-run", "-n"]),
    (&["alembic"], &["downgrade", "upgrade"], &["--sql"]),
    (&["puppet"], &["agent", "apply"], &["--noop"]),
    (&["chef-client"], &[], &["--why-run", "-W"]),
    (&["salt", "salt-call"], &["state.apply", "state.highstate"], &["test=True", "--test"]),
    (&["crontab"], &[], &["-T"]),
    (&["git"], &["credential-manager"], &["diagnose", "--version", "--help"]),
    (&["update-rc.d", "insserv"], &[], &["-n", "--dry-run"]),
    (&["ffmpeg"], &[], &["-list_devices", "-devices", "-sources", "-sinks"]),
    (&["etcdctl"], &["get"], &["--keys-only", "--count-only"]),
    (&["consul"], &["get", "export"], &["-keys"]),
    (&["doppler"], &["secrets"], &["--only-names"]),
    (&["vault", "bao"], &[], &["-output-curl-string", "-output-policy"]),
];

/// Flags that no program gives a value: what follows them is a flag of its own.
const SWITCHES: &[&str] = &[
    "--all",
    "--all-topics",
    "--auto-approve",
    "--clean",
    "--debug",
    "--delete",
    "--delete-removed",
    "--delete-unmatched-destination-objects",
    "--drop",
    "--force",
    "--if-exists",
    "--ignore-daemonsets",
    "--no-verify",
    "--prefix",
    "--prune",
    "--purge",
    "--recursive",
    "--remove",
    "--reset-offsets",
    "--to-earliest",
    "--to-latest",
    "--verbose",
    "--yes",
    "-recurse",
];

/// Whether a flag is known to take no value, whatever program it is for.
pub(crate) fn is_switch(word: &str) -> bool {
    let is_bundle =
        || word.len() > 1 && word.bytes().skip(1).all(|letter| b"Raafnqrvy".contains(&letter));
    word.contains('=') || SWITCHES.binary_search(&word).is_ok() || is_bundle()
}

/// Whether a flag of the program says that nothing is done. A word that may be the value of another
/// flag is not believed, nor is one behind `--`.
fn only_tries(name: &str, words: &[Field]) -> bool {
    let texts = || words.iter().map(|field| field.text().unwrap_or_default());
    let end = texts().position(|word| word == "--").unwrap_or(words.len());
    let has_sub = |subs: &[&str]| {
        let mut plain = texts().filter(|word| !word.starts_with('-')).take(4);
        subs.is_empty() || subs.contains(&"") || plain.any(|word| subs.contains(&word))
    };
    let is_given = |flags: &[&str]| {
        let mut before = "";
        texts().take(end).any(|word| {
            let before = std::mem::replace(&mut before, word);
            let stands_alone = !before.starts_with('-') || is_switch(before);
            stands_alone && flags.iter().any(|flag| word == *flag || is_in_bundle(flag, word))
        })
    };
    let rows = TRIES.iter().filter(|(names, ..)| names.contains(&name));
    { rows }.any(|(_, subs, flags)| has_sub(subs) && is_given(flags))
}

/// `-n` in `-nv`
fn is_in_bundle(flag: &str, word: &str) -> bool {
    let letters = word.strip_prefix('-').unwrap_or_default();
    flag.len() == 2
        && flag.starts_with('-')
        && letters.len() < 6
        && letters.bytes().all(|letter| letter.is_ascii_lowercase())
        && letters.contains(flag.trim_start_matches('-'))
}

/// Words of programs that show and change the same things, by their verbs.
struct Verbs {
    programs: &'static [&'static str],
    shows: &'static [&'static str],
    changes: &'static [&'static str],
}

const VERBS: &[Verbs] = &[
    Verbs {
        programs: &["netsh", "netsh.exe"],
        shows: &["show", "dump", "help"],
        changes: &["set", "add", "delete", "reset", "import", "connect", "disconnect"],
    },
    Verbs {
        programs: &["parted"],
        shows: &["print", "align-check", "help"],
        changes: &[
            "mklabel",
            "mktable",
            "mkpart",
            "rm",
            "resizepart",
            "rescue",
            "set",
            "toggle",
            "name",
            "disk_set",
            "disk_toggle",
            "type",
        ],
    },
    Verbs {
        programs: &["firewall-cmd"],
        shows: &["--get", "--list", "--query", "--info", "--state", "--check"],
        changes: &[
            "--add",
            "--remove",
            "--set",
            "--new",
            "--delete",
            "--change",
            "--panic",
            "--lockdown",
            "--direct",
            "--load",
            "--reload",
            "--complete",
            "--runtime",
            "--reset",
        ],
    },
    Verbs {
        programs: &["pfctl"],
        shows: &["-s", "-vs"],
        changes: &["-F", "-f", "-vf", "-E", "-d", "-e", "-k", "-K", "-x", "-O", "-T", "-m"],
    },
];

/// Whether the verbs of a command line are about showing only.
fn only_asks(name: &str, words: &[Field]) -> bool {
    let Some(verbs) = VERBS.iter().find(|it| it.programs.contains(&name)) else { return false };
    let begins = |known: &[&str], word: &str| {
        known.iter().any(|verb| word == *verb || verb.starts_with('-') && word.starts_with(verb))
    };
    let texts = || words.iter().filter_map(Field::text);
    texts().count() == words.len()
        && texts().any(|word| begins(verbs.shows, word))
        && !texts().any(|word| begins(verbs.changes, word))
}

impl Shell<'_, '_> {
    /// Takes back what a command would do if it were meant: it only tries, or only shows. What its
    /// words read, and what runs inside of it, stays.
    pub(crate) fn takes_back(&mut self, name: &str, fields: &[Field], run: usize) {
        let words = fields.get(1..).unwrap_or_default();
        let is_marked = self.out.run_mut(run).is_some_and(|run| !run.marks.is_empty());
        if words.is_empty() || !is_marked && !self.out.since(run).iter().any(|it| acts(&it.action))
        {
            return;
        }
        let is_cmdlet = name.contains('-') && name.starts_with(|c: char| c.is_ascii_uppercase());
        let is_asked =
            |field: &Field| field.text().is_some_and(|text| text.eq_ignore_ascii_case("-whatif"));
        let takes_back = is_cmdlet && words.iter().any(is_asked)
            || only_tries(name, words)
            || only_asks(name, words);
        if !takes_back {
            return;
        }
        if let Some(run) = self.out.run_mut(run) {
            run.marks = Marks::NONE;
        }
        let runs = |effect: &Effect| matches!(effect.action, Action::Runs(_));
        if !self.out.since(run + 1).iter().any(runs) {
            self.out.effects.forget(run, acts);
        }
    }
}

/// What a command does to files, hosts and databases.
fn acts(action: &Action) -> bool {
    match action {
        Action::Writes(..) | Action::Deletes(..) | Action::Sql(_) => true,
        Action::Opaque(opaque) => opaque.why == Why::Language,
        Action::Connects(connection) => connection.purpose == Purpose::Send,
        _ => false,
    }
}

/// Whether a command line only shows something, whatever its program could do.
pub(crate) fn only_shows(fields: &[Field]) -> bool {
    let Some((first, words)) = fields.split_first() else { return false };
    if let [only] = words
        && matches!(
            only.text(),
            Some("--version" | "-version" | "--help" | "version" | "help" | "-V")
        )
    {
        return true;
    }
    if first.text() == Some("aws") && words.last().and_then(Field::text) == Some("help") {
        return true;
    }
    let path = first.word.known_part();
    let name = path.rsplit('/').next().unwrap_or(path);
    let row = SHOWS.iter().find(|(names, _)| names.contains(&name));
    row.is_some_and(|(_, shows)| {
        words.iter().take(2).filter_map(Field::text).any(|word| shows.contains(&word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word::Word;

    fn shows(text: &str) -> bool {
        let fields: Vec<Field> =
            text.split(' ').map(|word| Field::new(Word::known(word), 0..0)).collect();
        only_shows(&fields)
    }

    #[test]
    fn what_only_shows_something_is_known() {
        for text in [
            "passwd -S root",
            "/usr/sbin/semanage port -l",
            "frpc --version",
            "nft list ruleset",
            "ngrok version",
        ] {
            assert!(shows(text), "{text}");
        }
        for text in ["passwd -d root", "ufw disable", "frpc", "nft flush ruleset"] {
            assert!(!shows(text), "{text}");
        }
    }

    fn tries(text: &str) -> bool {
        let fields: Vec<Field> =
            text.split(' ').map(|word| Field::new(Word::known(word), 0..0)).collect();
        let name = fields[0].text().unwrap();
        only_tries(name, &fields[1..]) || only_asks(name, &fields[1..])
    }

    #[test]
    fn what_only_says_what_it_would_do_is_known() {
        for text in [
            "zfs destroy -nv tank@a%b",
            "lvremove --test vg0/old",
            "wipefs -n -a /dev/sdb",
            "git push -n origin --delete v1",
            "pulumi destroy --yes --preview-only",
            "consul kv get -recurse -keys app/secret",
            "pg_restore --clean -l a.dump",
            "parted -s /dev/sdb unit MiB print free",
            "netsh int ipv4 show dynamicport tcp",
            "firewall-cmd --permanent --zone=public --list-services",
        ] {
            assert!(tries(text), "{text}");
        }
        for text in [
            "zfs destroy -r tank",
            "zfs destroy -- -n",
            "mkfs.ext4 -L -n /dev/sda",
            "pulumi destroy --message --preview-only",
            "git push -o -n --delete origin v1",
            "rclone purge remote:a --config -n",
            "salt * cmd.run x test=True",
            "parted -s /dev/sda mklabel gpt print",
            "netsh advfirewall firewall add rule name=show",
            "firewall-cmd --list-all --add-port=22/tcp",
        ] {
            assert!(!tries(text), "{text}");
        }
    }

    #[test]
    fn switches_are_sorted() {
        assert!(SWITCHES.is_sorted());
    }
}
