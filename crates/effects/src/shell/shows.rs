//! Command lines of powerful programs that only show something, or that make a protection stronger.

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
    (&["fail2ban-client"], &["ping", "version", "banned", "start"]),
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
    (&["fwupdmgr"], &["get-devices", "get-updates", "get-history", "get-releases", "refresh"]),
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
}
