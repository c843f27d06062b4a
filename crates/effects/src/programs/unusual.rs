//! Programs that few people think of as readers, writers or wrappers, and that can be one.

use crate::effect::{Change, Purpose, Reach, Scope};
use crate::marks::Mark;
use crate::model::*;

const RUNS: Operands = leading(&[&[COMMAND]], &[]);
const READ: Operands = each(&[READS]);
const IN_PLACE: Operands = each(&[READS, WRITES]);

pub(crate) const MODELS: &[Model] = &[
    model(&[
        "aa-exec", "aoss", "genie", "grc", "pexec", "proot", "wine", "setlock", "openvt", "dosbox",
        "gtester", "rc", "posh", "sash", "ksshell", "tasksh",
    ])
    .style(Style::Posix)
    .flags(&[
        takes(&["-c", "--command"], &[SHELL]).instead(),
        takes(&["-p", "--profile", "-n", "--namespace"], &[]),
        takes(&["-i"], &[READS]),
        takes(&["-o"], &[WRITES]),
    ])
    .operands(RUNS)
    .examples(&[
        ("aa-exec -p x cat a", &["runs cat a", "reads a"]),
        ("sash -c 'cat a'", &["runs cat a", "reads a"]),
    ]),
    model(&["sg"])
        .style(Style::Posix)
        .flags(&[takes(&["-c"], &[SHELL])])
        // The other program of that name searches code by its syntax.
        .subs(&[model(&["run", "scan", "test", "new", "lsp", "completions"])
            .style(Style::SingleDash)
            .flags(&[takes(&["-p", "--pattern", "-r", "--rewrite", "-l", "--lang"], &[])])
            .operands(each(&[READS]))])
        .operands(leading(&[&[]], &[SHELL]))
        .examples(&[
            ("sg root 'cat a'", &["runs cat a", "reads a"]),
            ("sg run -p 'f($A)' -l ts src", &["reads src"]),
        ]),
    model(&["agetty", "getty", "login"])
        .flags(&[
            takes(&["--login-program", "-l"], &[PROGRAM]),
            takes(&["--login-options", "-o", "--autologin", "-a"], &[]),
        ])
        .always(&[mark(Mark::Elevates)])
        .examples(&[("agetty -l ./x tty1", &["runs x", "marks elevates"])]),
    model(&["arj", "pax", "unsquashfs", "mksquashfs", "genisoimage", "mkisofs", "xorriso"])
        .style(Style::SingleDash)
        .flags(&[
            takes(&["-f", "-o", "-dest", "-d", "-output"], &[WRITES]),
            takes(&["-s", "-V", "-volid", "-b", "-comp", "-x"], &[]),
            takes(&["-path-list", "-ef"], &[READS]),
        ])
        .operands(each(&[READS_TREE]))
        .examples(&[("genisoimage -o b a", &["reads-tree a", "writes b"])]),
    model(&[
        "restic",
        "borg",
        "duplicity",
        "rdiff-backup",
        "rsnapshot",
        "unison",
        "syncthing",
        "kopia",
        "tarsnap",
    ])
    .flags(&[
        takes(
            &["--password-command", "--rsh", "--remote-schema", "--sshcmd", "--ssh-options"],
            &[SHELL],
        ),
        takes(&["--password-file", "-p", "--exclude-file", "--files-from"], &[READS]),
        takes(&["--repo", "-r", "--repository"], &[Does::Repository(Purpose::Send)]),
        takes(&["--target", "-t"], &[MAKES]),
        takes(&["--exclude", "-e", "--tag", "--host", "--keep-daily", "--keep-weekly"], &[]),
    ])
    .subs(&[
        model(&["backup", "create"]).operands(each(&[Does::Repository(Purpose::Send), READS_TREE])),
        model(&["forget", "prune", "delete", "remove-older-than", "key"])
            .always(&[mark(Mark::Infrastructure)]),
        model(&[
            "snapshots",
            "list",
            "info",
            "stats",
            "check",
            "ls",
            "find",
            "diff",
            "version",
            "collection-status",
        ]),
        model(&["restore", "extract"]).always(&[Does::WritesFile(".", Change::Folder)]),
    ])
    .examples(&[
        ("restic snapshots", &[]),
        ("restic forget latest", &["marks infrastructure"]),
        ("restic --password-command 'cat a' snapshots", &["runs cat a", "reads a"]),
    ]),
    model(&[
        "ascii85",
        "base58",
        "basez",
        "ascii-xfr",
        "atobm",
        "cupsfilter",
        "eqn",
        "pic",
        "tbl",
        "soelim",
        "zsoelim",
        "nroff",
        "troff",
        "groff",
        "ul",
        "xmore",
        "yelp",
        "zathura",
        "redcarpet",
        "tic",
        "efax",
        "cowthink",
        "ispell",
        "evince",
        "okular",
        "xpdf",
        "feh",
        "eog",
        "grip",
        "msgattrib",
        "msgcat",
        "msgconv",
        "msgmerge",
        "msguniq",
        "xgettext",
        "facter",
        "dstat",
        "mailcap",
        "run-mailcap",
        "see",
        "lwp-request",
    ])
    .flags(&[
        takes(&["--output", "-o", "--output-file"], &[WRITES]),
        takes(&["--custom-dir"], &[Does::Hides]),
        takes(&["-f", "--format", "-T", "-m", "-w"], &[]),
    ])
    .operands(READ)
    .examples(&[("eqn a", &["reads a"]), ("msgcat -o b a", &["reads a", "writes b"])]),
    model(&["m4", "gm4"])
        .flags(&[
            takes(&["-D", "-U", "-I", "--include", "-L", "-B", "-S"], &[]),
            takes(&["-F", "-o", "--freeze-state", "--debugfile"], &[WRITES]),
            takes(&["-R", "--reload-state"], &[READS]),
        ])
        .operands(each(&[READS]))
        .bare(&[Does::RunsInput(Language::Other)])
        .examples(&[("m4 a", &["reads a"]), ("m4 -o b a", &["reads a", "writes b"])]),
    // A program on a socket.
    model(&["socket"])
        .flags(&[takes(&["-p"], &[SHELL, mark(Mark::Tunnel)])])
        .operands(leading(&[&[SENDS]], &[]))
        .examples(&[(
            "socket -qvp cat h.example 9",
            &["runs cat", "sends h.example", "marks tunnel"],
        )]),
    model(&["runscript", "automator"])
        .operands(leading(&[&[Does::Script(Language::Other)]], &[]))
        .examples(&[("runscript a", &["reads a"])]),
    model(&["csvtool"])
        .subs(&[model(&["call"]).operands(leading(&[&[SHELL]], &[READS]))])
        .flags(&[takes(&["-o"], &[WRITES]), takes(&["-t", "-u"], &[])])
        .operands(leading(&[&[]], &[READS]))
        .examples(&[("csvtool call 'cat a' b", &["runs cat a", "reads a", "reads b"])]),
    model(&["enscript", "a2ps"])
        .flags(&[takes(&["-I", "--filter"], &[SHELL]), takes(&["-o", "-p", "--output"], &[WRITES])])
        .operands(READ)
        .examples(&[("enscript -I 'cat a' b", &["runs cat a", "reads a", "reads b"])]),
    model(&["rpmquery", "rpmverify", "rpmdb", "rpmspec"])
        .flags(&[
            takes(&["--eval", "-E", "--define", "-D"], &[Does::Code(Language::Other)]),
            takes(&["--pipe"], &[SHELL]),
        ])
        .examples(&[("rpmquery -a", &[]), ("rpmquery --pipe 'cat a'", &["runs cat a", "reads a"])]),
    model(&["dvips", "dvipdfmx", "xdvi"])
        .flags(&[takes(&["-o"], &[WRITES]), switch(&["-R0"], &[Does::Hides])])
        .operands(READ)
        .examples(&[("dvips a.dvi", &["reads a.dvi"])]),
    model(&["aria2p", "bpftrace", "bpftool"])
        .flags(&[takes(&["-e"], &[Does::Code(Language::Other)]), takes(&["-p", "-c"], &[])])
        .operands(leading(&[&[Does::Script(Language::Other)]], &[]))
        .always(&[mark(Mark::Kernel)]),
    model(&["dc"])
        .flags(&[
            takes(&["-e", "--expression"], &[Does::Code(Language::Other)]),
            takes(&["-f", "--file"], &[READS]),
        ])
        .operands(READ)
        .examples(&[("dc -e '1 2 + p'", &[]), ("dc -e '!cat a'", &["opaque language"])]),
    model(&["bc"]).operands(READ).examples(&[("bc -l a", &["reads a"])]),
    model(&["dmidecode", "biosdecode"])
        .flags(&[
            takes(&["--dump-bin"], &[WRITES]),
            takes(&["--from-dump", "-d", "--dev-mem"], &[READS]),
        ])
        .examples(&[("dmidecode -t 1", &[])]),
    model(&["dnsmasq"])
        .flags(&[
            takes(&["--conf-script", "--dhcp-script"], &[SHELL]),
            takes(&["--conf-file", "-C"], &[Does::Recipe]),
        ])
        .always(&[mark(Mark::Network)])
        .examples(&[(
            "dnsmasq --conf-script='cat a'",
            &["runs cat a", "reads a", "marks network"],
        )]),
    model(&["check_by_ssh", "check_log", "check_ssl_cert", "check_file_age", "check_raid"])
        .flags(&[
            takes(&["-o"], &[Does::Assigns("ssh:", Reach::Command)]),
            takes(&["-F"], &[READS]),
            takes(&["-O", "--out"], &[WRITES]),
            takes(
                &["--grep-bin", "--curl-bin", "--openssl", "--file-bin", "--nmap-bin"],
                &[PROGRAM],
            ),
            takes(&["-C"], &[Does::RemoteShell]),
            takes(&["-H"], &[FETCHES]),
        ])
        .examples(&[("check_log -F a -O b", &["reads a", "writes b"])]),
    model(&["fastfetch", "neofetch", "macchina", "hyfetch"])
        .flags(&[
            takes(&["-c", "--config"], &[Does::Recipe]),
            takes(&["--file", "--source"], &[READS]),
        ])
        .examples(&[("fastfetch -c a", &["reads a"])]),
    model(&["last", "lastb", "lastlog", "utmpdump"])
        .flags(&[takes(&["-f", "--file"], &[READS]), takes(&["-n", "-s", "-t", "-u"], &[])])
        .examples(&[("last -f a", &["reads a"]), ("last -n 5", &[])]),
    model(&["latexmk"])
        .style(Style::SingleDash)
        .flags(&[
            joined(&["-pdflatex", "-latex", "-lualatex", "-xelatex", "-bibtex"], &[SHELL]),
            takes(&["-e"], &[Does::Code(Language::Perl)]),
            takes(&["-r"], &[Does::Script(Language::Perl)]),
            takes(&["-outdir", "-output-directory", "-auxdir"], &[MAKES]),
            switch(&["-pdf", "-dvi", "-ps", "-c", "-C", "-pvc", "-f"], &[]),
        ])
        .operands(READ)
        .examples(&[("latexmk -pdf a.tex", &["reads a.tex"])]),
    model(&["minicom", "picocom"])
        .flags(&[
            takes(&["-D", "-b"], &[]),
            takes(&["-S"], &[Does::Script(Language::Other)]),
            takes(&["-C"], &[WRITES]),
        ])
        .examples(&[("minicom -D /dev/ttyUSB0", &[])]),
    model(&["scrot"])
        .flags(&[takes(&["-e", "--exec"], &[SHELL]), takes(&["-F", "--file"], &[WRITES])])
        .operands(each(&[WRITES]))
        .always(&[mark(Mark::Spies)])
        .examples(&[("scrot a.png", &["writes a.png", "marks spies"])]),
    model(&["zic"])
        .flags(&[takes(&["-y"], &[PROGRAM]), takes(&["-d", "-l", "-p", "-t"], &[])])
        .operands(READ)
        .examples(&[("zic -y ./x a", &["runs x", "reads a"])]),
    model(&["easyrsa"])
        .flags(&[joined(&["--vars", "--pki-dir", "--ssl-conf"], &[Does::Recipe])])
        .examples(&[("easyrsa --vars=a init-pki", &["reads a"])]),
    model(&["acr"])
        .flags(&[
            takes(&["-r"], &[Does::Script(Language::Other)]),
            takes(&["-o"], &[WRITES]),
            takes(&["-I", "-W"], &[]),
        ])
        .operands(READ)
        .examples(&[("acr a", &["reads a"])]),
    model(&["msgfilter"])
        .style(Style::Posix)
        .flags(&[
            takes(&["--input", "-i"], &[READS]),
            takes(&["--output-file", "-o"], &[WRITES]),
            takes(&["-D"], &[]),
            switch(&["-P"], &[]),
        ])
        .operands(RUNS)
        .examples(&[("msgfilter -i f cat a", &["reads f", "runs cat a", "reads a"])]),
    model(&["lp", "lpr", "lpstat", "cancel", "cupsctl", "lpadmin", "lpq"])
        .flags(&[takes(&["-h", "-H"], &[SENDS]), takes(&["-d", "-P", "-n", "-o", "-t", "-u"], &[])])
        .operands(READ)
        .examples(&[("lp -h h.example a", &["sends h.example", "reads a"])]),
    model(&[
        "byebug", "pdb", "pry", "ginsh", "jjs", "rdbg", "ipdb", "pudb", "scanmem", "jdb", "dlv",
    ])
    .style(Style::Posix)
    .flags(&[
        takes(&["--command", "-c", "-e"], &[Does::Code(Language::Other)]),
        switch(&["--version", "-v"], &[]),
    ])
    .operands(leading(&[&[Does::Script(Language::Other)]], &[]))
    .bare(&[Does::RunsInput(Language::Other)])
    .examples(&[("pry --version", &[])]),
    model(&["cobc", "c89", "c99", "f77", "gnatmake"])
        .flags(&[
            takes(&["-o"], &[WRITES]),
            takes(&["-wrapper"], &[Does::Hides]),
            joined(&["-I", "-L", "-l"], &[]),
        ])
        .operands(READ)
        .examples(&[("c99 -o b a.c", &["reads a.c", "writes b"])]),
    model(&["easy_install"])
        .flags(&[takes(
            &["--index-url", "-i", "--find-links", "-f"],
            &[Does::Connects(Purpose::Execute)],
        )])
        .operands(each(&[Does::Package(Registry::Other)]))
        .examples(&[("easy_install https://h.example/x.egg", &["executes h.example:443"])]),
    model(&["gimp", "blender", "godot", "inkview", "openscad"])
        .flags(&[
            takes(&["--batch", "-b"], &[Does::Code(Language::Other)]),
            takes(&["--python-expr"], &[Does::Code(Language::Python)]),
            takes(&["--python", "-P", "--script", "-s"], &[Does::Script(Language::Other)]),
            takes(&["--render-output", "-o"], &[WRITES]),
        ])
        .operands(READ)
        .examples(&[("blender --python-expr \"open('a').read()\"", &["reads a"])]),
    model(&["busctl", "dbus-send", "gdbus", "qdbus"])
        .subs(&[model(&[
            "list",
            "list-names",
            "list-activatable-names",
            "status",
            "tree",
            "introspect",
            "monitor",
            "get-property",
            "wait",
        ])])
        .flags(&[
            takes(&["--address"], &[PROGRAM]),
            switch(&["--system", "--session", "--user"], &[]),
        ])
        .operands(each(&[Does::Hides]))
        .examples(&[("busctl list", &[])]),
    model(&["jstack", "py-spy", "rbspy", "jps", "jcmd", "jstat", "jinfo"])
        .flags(&[takes(&["-o", "--output"], &[WRITES]), takes(&["--pid", "-p", "-d", "-r"], &[])])
        .examples(&[("jstack -l 12", &[]), ("py-spy dump -p 12", &[])]),
    model(&["plutil", "PlistBuddy", "plistutil"])
        .style(Style::SingleDash)
        .flags(&[
            takes(&["-o"], &[WRITES]),
            takes(&["-convert", "-extract", "-type", "-c", "-remove"], &[]),
            takes(&["-replace", "-insert"], &[]),
            switch(&["-lint", "-p", "-help"], &[]).operands(READ),
        ])
        .operands(IN_PLACE)
        .examples(&[
            ("plutil -p a.plist", &["reads a.plist"]),
            ("plutil -convert json -o b a.plist", &["writes b", "reads a.plist", "writes a.plist"]),
        ]),
    model(&["gsettings", "dconf", "xrdb"])
        .subs(&[
            model(&[
                "get",
                "list-keys",
                "list-schemas",
                "list-recursively",
                "read",
                "dump",
                "list",
                "describe",
                "range",
            ]),
            model(&["set", "write", "load", "reset", "update"]).always(&[mark(Mark::Schedules)]),
        ])
        .flags(&[takes(&["-c"], &[Does::Hides]), takes(&["-merge", "-load"], &[READS])])
        .operands(IN_PLACE)
        .examples(&[("gsettings get a b", &[]), ("gsettings set a b c", &["marks schedules"])]),
    model(&[
        "xdotool",
        "ydotool",
        "wtype",
        "xmodmap",
        "setxkbmap",
        "xhost",
        "cliclick",
        "AutoHotkey",
    ])
    .subs(&[
        model(&["exec"]).style(Style::Posix).operands(RUNS),
        model(&["getactivewindow", "getmouselocation", "search", "getwindowname"]),
    ])
    .operands(each(&[mark(Mark::Spies)]))
    .examples(&[
        ("xdotool exec cat a", &["runs cat a", "reads a"]),
        ("xdotool type x", &["marks spies"]),
    ]),
    model(&["gcore", "volatility", "memdump", "dumpcore", "procdump"])
        .flags(&[takes(&["-o", "--output", "--pid", "-p"], &[])])
        .always(&[mark(Mark::Spies)])
        .examples(&[("gcore 12", &["marks spies"])]),
    // Counts and settings of a process; its memory only if it is asked for.
    model(&["jmap"])
        .style(Style::SingleDash)
        .flags(&[joined(&["-dump:"], &[mark(Mark::Spies)])])
        .examples(&[
            ("jmap -histo 12", &[]),
            ("jmap -dump:file=a 12", &["writes a", "marks spies"]),
        ]),
    model(&["bconsole", "jtag", "cu", "psftp", "rlogin", "rsh", "rexec", "plink", "putty"])
        .flags(&[takes(&["-b", "-S", "-c", "-C"], &[READS]), takes(&["-p", "-l", "-i", "-D"], &[])])
        .operands(leading(&[&[Does::Connects(Purpose::Remote)]], &[Does::RemoteShell]))
        .examples(&[("rsh h.example cat a", &["remote h.example", "runs cat a", "reads a"])]),
    model(&[
        "mosquitto_pub",
        "mosquitto",
        "ntpdate",
        "varnishncsa",
        "rtorrent",
        "transmission-cli",
        "aws-nuke",
        "cdist",
    ])
    .flags(&[
        takes(&["-h", "--host"], &[SENDS]),
        takes(&["-f", "--file"], &[READS]),
        takes(&["-w"], &[WRITES]),
        takes(&["-t", "-m", "-p", "-u", "-P"], &[]),
    ])
    .operands(each(&[]))
    .examples(&[("mosquitto_pub -h h.example -f a", &["sends h.example", "reads a"])]),
    model(&["twistd"])
        .style(Style::Posix)
        .subs(&[model(&["web"]).style(Style::Gnu).flags(&[takes(&["--path"], &[READS_TREE])])])
        .flags(&[takes(&["-y", "--python"], &[Does::Script(Language::Python)])])
        .examples(&[("twistd -n web --path a", &["reads-tree a"])]),
    model(&["skills"])
        .subs(&[model(&["add", "install"]).operands(each(&[Does::Package(Registry::Npm)]))])
        .examples(&[("skills add a/b", &["executes github.com:443"]), ("skills list", &[])]),
    model(&["mosquitto_sub"])
        .flags(&[
            takes(&["-h", "--host"], &[FETCHES]),
            takes(&["-t", "--topic", "-p", "--port", "-u", "-P", "-C", "-W", "-q", "-F"], &[]),
        ])
        .examples(&[("mosquitto_sub -h h.example -t x", &["fetches h.example"])]),
    model(&["logrotate"])
        .flags(&[
            takes(&["--state", "-s"], &[WRITES]),
            takes(&["--mail", "-m"], &[PROGRAM]),
            takes(&["--log", "-l"], &[WRITES]),
            // The scripts in the settings run now, whatever they are.
            switch(&["--force", "-f"], &[Does::Hides]),
            switch(&["--debug", "-d"], &[]),
        ])
        .operands(each(&[Does::Recipe]))
        .examples(&[
            ("logrotate -m ./x a", &["runs x", "reads a"]),
            ("logrotate -d a", &["reads a"]),
            ("logrotate -f a", &["reads a", "opaque language"]),
        ]),
    model(&["ranger", "lf", "nnn", "vifm", "yazi", "joshuto", "xplr"])
        .flags(&[
            takes(&["--cmd", "-command", "-c"], &[SHELL]),
            takes(&["--choosefile", "-selection-path", "-p", "--choosedir"], &[WRITES]),
        ])
        .operands(each(&[LISTS]))
        .examples(&[("lf a", &["lists a"]), ("lf -command 'cat a'", &["runs cat a", "reads a"])]),
    model(&["vlc", "cvlc", "mpv", "mplayer", "ffplay"])
        .flags(&[
            takes(&["--script", "--scripts"], &[Does::Script(Language::Lua)]),
            takes(&["--sout", "-dumpfile", "--stream-record", "--screenshot-directory"], &[WRITES]),
        ])
        .operands(each(&[Does::Transfers(Purpose::Fetch)]))
        .examples(&[("mpv a.mp4", &["reads-tree a.mp4"])]),
    model(&[
        "strip",
        "objcopy",
        "patchelf",
        "install_name_tool",
        "codesign",
        "upx",
        "sips",
        "ranlib",
    ])
    .flags(&[
        takes(&["-o", "--output"], &[WRITES]),
        takes(
            &[
                "--set-interpreter",
                "--set-rpath",
                "--add-needed",
                "-s",
                "--sign",
                "--only-section",
                "-j",
            ],
            &[],
        ),
        takes(&["--entitlements"], &[READS]),
    ])
    .operands(IN_PLACE)
    .examples(&[("strip a", &["reads a", "writes a"])]),
    model(&["ditto", "robocopy", "xcopy"])
        .operands(sources_and_target(&[READS_TREE], &[MAKES]))
        .examples(&[("ditto a b", &["reads-tree a", "makes b"])]),
    model(&[
        "installer",
        "softwareupdate",
        "notarytool",
        "altool",
        "xcode-select",
        "tmutil",
        "mdutil",
        "pmset",
    ])
    .style(Style::SingleDash)
    .flags(&[
        takes(&["-pkg"], &[Does::Package(Registry::System)]),
        takes(&["-target", "--apple-id", "--password", "--team-id"], &[]),
        switch(&["--list", "-l", "-g", "-p", "--print-path", "-s"], &[]),
    ])
    .subs(&[
        model(&["delete", "deletelocalsnapshots", "disable", "removedestination"])
            .always(&[mark(Mark::Disk)]),
        model(&[
            "listbackups",
            "status",
            "latestbackup",
            "destinationinfo",
            "history",
            "info",
            "log",
        ]),
    ])
    .examples(&[("tmutil listbackups", &[]), ("tmutil delete x", &["marks disk"])]),
    model(&["postqueue", "postsuper", "dovecot", "exiqgrep"])
        .flags(&[
            takes(&["-d"], &[Does::DeletesFile("/var/spool/postfix", Scope::Tree)]),
            takes(&["-c"], &[LISTS]),
        ])
        .examples(&[
            ("postqueue -p", &[]),
            ("postsuper -d ALL", &["deletes-tree /var/spool/postfix"]),
        ]),
    model(&["tdbtool", "tdbdump", "gdbmtool", "ldbsearch", "dbicdump"])
        .operands(READ)
        .examples(&[("tdbdump a", &["reads a"])]),
    model(&[
        "ipmitool",
        "rdma",
        "chvt",
        "deallocvt",
        "setfont",
        "xset",
        "vlock",
        "i3lock",
        "xscreensaver",
        "bridge",
        "ntfsfix",
    ])
    .subs(&[
        model(&["power", "chassis"]).always(&[mark(Mark::Power)]),
        model(&["sensor", "sdr", "link", "show", "status", "q"]),
    ])
    .examples(&[("ipmitool power off", &["marks power"]), ("bridge link", &[])]),
    model(&["ghc"])
        .flags(&[
            takes(&["-e"], &[Does::Code(Language::Other)]),
            takes(&["-o", "-outputdir"], &[WRITES]),
            takes(&["-package", "-i"], &[]),
        ])
        .operands(each(&[READS]))
        .examples(&[("ghc -e 'readFile x'", &["opaque language"]), ("ghc a.hs", &["reads a.hs"])]),
    model(&["devtunnel", "pagekite.py", "localxpose", "loclx"])
        .always(&[mark(Mark::Tunnel)])
        .examples(&[("devtunnel host -p 3000", &["marks tunnel"])]),
    model(&["octave-cli", "matlab", "scilab"])
        .flags(&[
            takes(&["--eval", "-r", "-batch", "-e"], &[Does::Code(Language::Other)]),
            switch(&["--version", "--help"], &[]),
        ])
        .operands(each(&[Does::Script(Language::Other)]))
        .examples(&[("octave-cli --eval 'system(x)'", &["opaque language"])]),
    model(&["cgexec", "runcon", "zellij", "dtach", "abduco", "reptyr"])
        .style(Style::Posix)
        .flags(&[takes(&["-g", "-t", "-u", "-r", "-A", "-c", "-n"], &[])])
        .operands(leading(&[&[]], &[COMMAND]))
        .examples(&[("runcon x cat a", &["runs cat a", "reads a"])]),
    model(&["matrix-commander", "signal-cli"])
        .flags(&[
            takes(
                &["--file", "-f", "--image", "-i", "--attachment", "-a"],
                &[READS, Does::ConnectsTo("matrix.org", Purpose::Send)],
            ),
            takes(&["--room", "-r", "--message", "-m", "-u", "--username"], &[]),
        ])
        .examples(&[("signal-cli -u +1 send -a b +2", &["reads b", "sends matrix.org:443"])]),
    model(&["ipfs", "ipfs-cluster-ctl"])
        .subs(&[
            model(&["add"])
                .operands(each(&[READS_TREE]))
                .always(&[mark(Mark::Publishes), Does::ConnectsTo("ipfs.io", Purpose::Send)]),
            model(&["cat", "get", "ls", "id", "init", "swarm", "stats", "version"]),
        ])
        .examples(&[
            ("ipfs cat x", &[]),
            ("ipfs add -r a", &["reads-tree a", "sends ipfs.io:443", "marks publishes"]),
        ]),
    model(&["kaggle"])
        .subs(&[model(&["datasets", "kernels", "models", "d", "k"]).subs(&[
            model(&["create", "version", "push"])
                .flags(&[takes(&["--path", "-p"], &[READS_TREE])])
                .always(&[mark(Mark::Publishes), Does::ConnectsTo("kaggle.com", Purpose::Send)]),
            model(&["list", "download", "files", "status", "init", "metadata"])
                .flags(&[takes(&["--path", "-p"], &[MAKES])]),
        ])])
        .examples(&[(
            "kaggle datasets create -p a",
            &["reads-tree a", "sends kaggle.com:443", "marks publishes"],
        )]),
    model(&[
        "slackcat",
        "telegram-send",
        "telegram-upload",
        "discord-upload",
        "notifico",
        "apprise",
        "ntfy",
    ])
    .operands(each(&[READS]))
    .always(&[mark(Mark::Publishes), Does::ConnectsTo("slack.com", Purpose::Send)])
    .examples(&[("slackcat a", &["reads a", "sends slack.com:443", "marks publishes"])]),
    model(&["autossh"])
        .style(Style::Posix)
        .flags(&[
            takes(&["-M", "-p", "-l", "-i", "-o"], &[]),
            takes(&["-L", "-R", "-D"], &[Does::Forward]),
        ])
        .operands(leading(&[&[Does::Connects(Purpose::Remote)]], &[SHELL]))
        .examples(&[(
            "autossh -M 0 -R 2222:localhost:22 h.example",
            &["tunnels localhost:22", "remote h.example", "marks tunnel"],
        )]),
    model(&["aa-teardown", "update-ca-certificates", "update-ca-trust", "certctl"])
        .always(&[mark(Mark::Guard)])
        .examples(&[("aa-teardown", &["marks guard"])]),
    model(&["hdfs", "hadoop"])
        .style(Style::SingleDash)
        .subs(&[
            model(&["dfs", "fs"])
                .flags(&[
                    switch(&["-rm", "-rmr", "-expunge"], &[mark(Mark::Infrastructure)]),
                    switch(
                        &[
                            "-r",
                            "-R",
                            "-f",
                            "-skipTrash",
                            "-ls",
                            "-lsr",
                            "-du",
                            "-df",
                            "-cat",
                            "-tail",
                            "-count",
                            "-stat",
                            "-mkdir",
                            "-p",
                            "-h",
                            "-test",
                            "-mv",
                            "-chmod",
                            "-chown",
                            "-setrep",
                            "-touchz",
                            "-checksum",
                            "-find",
                        ],
                        &[],
                    ),
                    switch(&["-put", "-copyFromLocal", "-moveFromLocal", "-appendToFile"], &[])
                        .operands(leading(&[&[READS_TREE]], &[])),
                    switch(&["-get", "-copyToLocal", "-getmerge"], &[])
                        .operands(leading(&[&[], &[MAKES]], &[])),
                ])
                .operands(each(&[])),
            model(&["namenode"]).flags(&[switch(&["-format"], &[mark(Mark::Infrastructure)])]),
            model(&["dfsadmin", "fsck", "version", "classpath", "jar", "distcp"]),
        ])
        .examples(&[
            ("hdfs dfs -ls /data", &[]),
            ("hdfs dfs -rm -r -skipTrash /data", &["marks infrastructure"]),
            ("hadoop fs -put a /data", &["reads-tree a"]),
        ]),
    // Programs that run a command in many places.
    model(&["pssh", "parallel-ssh", "pdsh", "clush", "mussh", "dsh"])
        .style(Style::Posix)
        .flags(&[takes(
            &["-h", "-H", "-w", "-l", "-t", "-o", "-e", "-O", "-x", "-p", "-g", "-m", "-M"],
            &[],
        )])
        .operands(each(&[Does::RemoteShell]))
        .examples(&[("pssh -h hosts -i 'cat a'", &["runs cat a", "reads a"])]),
    model(&["kamal"])
        .subs(&[
            model(&["remove"]).always(&[mark(Mark::Infrastructure)]),
            model(&["app", "accessory", "server", "proxy"]).subs(&[
                model(&["exec"]).style(Style::Posix).operands(each(&[Does::RemoteShell])),
                model(&["remove"]).always(&[mark(Mark::Infrastructure)]),
            ]),
        ])
        .examples(&[
            ("kamal remove -y", &["marks infrastructure"]),
            ("kamal app exec 'cat a'", &["runs cat a", "reads a"]),
            ("kamal app logs", &[]),
        ]),
    model(&["govc", "dokku", "xe", "talosctl", "cap"])
        .subs(&[
            model(&[
                "vm.destroy",
                "object.destroy",
                "pool.destroy",
                "datastore.rm",
                "datastore.remove",
                "snapshot.remove",
                "apps:destroy",
                "postgres:destroy",
                "mysql:destroy",
                "redis:destroy",
                "mongo:destroy",
                "mariadb:destroy",
                "vm-destroy",
                "vm-uninstall",
                "vdi-destroy",
                "sr-destroy",
                "reset",
            ])
            .always(&[mark(Mark::Infrastructure)]),
            model(&["run", "enter"])
                .style(Style::Posix)
                .operands(leading(&[&[], &[Does::RemoteShell]], &[])),
        ])
        .flags(&[joined(&["COMMAND="], &[Does::RemoteShell])])
        .examples(&[
            ("govc vm.info x", &[]),
            ("govc vm.destroy x", &["marks infrastructure"]),
            ("dokku postgres:destroy x", &["marks infrastructure"]),
            ("cap production invoke COMMAND='cat a'", &["runs cat a", "reads a"]),
        ]),
    model(&["west", "meta", "gita", "mr"])
        .subs(&[
            model(&["forall"])
                .style(Style::Posix)
                .flags(&[takes(&["-c"], &[SHELL]), takes(&["-C"], &[])]),
            model(&["exec", "run", "shell"]).style(Style::Posix).operands(each(&[SHELL])),
        ])
        .examples(&[
            ("west forall -c 'cat a'", &["runs cat a", "reads a"]),
            ("meta exec 'cat a'", &["runs cat a", "reads a"]),
            ("west update", &[]),
        ]),
    model(&["pueue", "tsp", "ts", "nq"])
        .style(Style::Posix)
        .subs(&[
            model(&["add"])
                .style(Style::Posix)
                .flags(&[takes(&["--label", "-l", "--group", "-g", "--after", "-a"], &[])])
                .operands(each(&[SHELL])),
            model(&[
                "status",
                "log",
                "follow",
                "wait",
                "clean",
                "start",
                "pause",
                "kill",
                "shutdown",
                "reset",
                "restart",
                "remove",
                "stash",
                "enqueue",
                "parallel",
                "group",
                "switch",
                "completions",
            ]),
        ])
        .operands(leading(&[&[COMMAND]], &[]))
        .examples(&[("pueue add -- 'cat a'", &["runs cat a", "reads a"]), ("pueue status", &[])]),
    model(&["slsh"])
        .flags(&[takes(&["-e"], &[Does::Code(Language::Other)])])
        .operands(leading(&[&[Does::Script(Language::Other)]], &[]))
        .examples(&[("slsh -e 'system(\"x\")'", &["opaque language"])]),
    model(&["perlbug", "perlthanks"])
        .flags(&[
            takes(&["-e"], &[SHELL]),
            takes(&["-f"], &[READS]),
            takes(&["-s", "-r", "-c", "-b", "-a"], &[]),
        ])
        .examples(&[("perlbug -s x -e 'cat a'", &["runs cat a", "reads a"])]),
    model(&["killall5"]).always(&[mark(Mark::Kills)]),
    model(&["cowsay"])
        .flags(&[takes(&["-f"], &[Does::Extension]), takes(&["-e", "-T", "-W"], &[])])
        .examples(&[
            ("cowsay -f tux hi", &[]),
            ("cowsay -f a.cow hi", &["reads a.cow", "opaque language"]),
        ]),
    model(&["dmesg"])
        .flags(&[
            switch(&["--clear", "-C", "--read-clear", "-c"], &[mark(Mark::Guard)]),
            takes(&["--level", "-l", "--facility", "-f", "--since", "--until"], &[]),
        ])
        .examples(&[("dmesg -T", &[]), ("dmesg -C", &["marks guard"])]),
];
