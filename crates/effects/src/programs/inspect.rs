//! Programs that only look: at names of files, processes, hardware and the system.

use crate::effect::Access;
use crate::marks::Mark;
use crate::model::*;

const PROCESS_ENVIRONMENT: Use = &[Does::ReadsFile("/proc/*/environ", Access::Content)];

pub(crate) const MODELS: &[Model] = &[
    model(&["pgrep"])
        .flags(&[takes(&["-u", "-U", "-P", "-g", "-G", "-s", "-t", "-d", "-r", "-F"], &[])])
        .examples(&[("pgrep -f 'a b'", &[])]),
    model(&[
        "ls", "gls", "dir", "vdir", "exa", "eza", "lsd", "tree", "stat", "gstat", "du", "gdu",
        "dust", "ncdu", "readlink", "realpath", "basename", "dirname", "getfacl", "getfattr",
        "getcap", "namei", "pathchk", "ll", "la", "colorls", "broot", "mdls", "attr",
    ])
    .flags(&[
        takes(
            &[
                "--ignore",
                "-I",
                "--hide",
                "--block-size",
                "--width",
                "-w",
                "--tabsize",
                "-T",
                "--sort",
                "--time",
                "--time-style",
                "--format",
                "-c",
                "-f",
                "--printf",
                "--max-depth",
                "-d",
                "--level",
                "-L",
                "--exclude",
                "-X",
                "--threshold",
                "-t",
                "-P",
                "--filelimit",
                "--suffix",
                "-s",
            ],
            &[],
        ),
        takes(&["--files0-from"], &[READS]),
        takes(&["-o"], &[WRITES]),
    ])
    .operands(each(&[LISTS]))
    .examples(&[
        ("ls -la a", &["lists a"]),
        ("stat a", &["lists a"]),
        ("du -sh a b", &["lists a", "lists b"]),
        ("tree -L 2 a", &["lists a"]),
    ]),
    model(&["find", "gfind", "bfs"])
        .style(Style::SingleDash)
        .flags(&[
            takes(&["-exec", "-execdir", "-ok", "-okdir"], &[COMMAND]).value(Value::ToSemicolon),
            switch(&["-delete"], &[]).operands(each(&[DELETES_TREE])),
            takes(&["-fprint", "-fprint0", "-fls"], &[WRITES]),
            takes(&["-fprintf"], &[WRITES]).value(Value::FirstOfTwo),
            takes(&["-files0-from"], &[READS]),
            takes(
                &[
                    "-name",
                    "-iname",
                    "-path",
                    "-ipath",
                    "-wholename",
                    "-iwholename",
                    "-regex",
                    "-iregex",
                    "-regextype",
                    "-lname",
                    "-ilname",
                    "-type",
                    "-xtype",
                    "-size",
                    "-mtime",
                    "-mmin",
                    "-atime",
                    "-amin",
                    "-ctime",
                    "-cmin",
                    "-newer",
                    "-anewer",
                    "-cnewer",
                    "-newermt",
                    "-newerct",
                    "-newerat",
                    "-user",
                    "-group",
                    "-uid",
                    "-gid",
                    "-perm",
                    "-maxdepth",
                    "-mindepth",
                    "-links",
                    "-inum",
                    "-samefile",
                    "-printf",
                    "-fstype",
                    "-used",
                    "-context",
                    "-D",
                ],
                &[],
            ),
            switch(
                &[
                    "-print",
                    "-print0",
                    "-ls",
                    "-prune",
                    "-quit",
                    "-o",
                    "-a",
                    "-or",
                    "-and",
                    "-not",
                    "-empty",
                    "-depth",
                    "-follow",
                    "-mount",
                    "-xdev",
                    "-executable",
                    "-readable",
                    "-writable",
                    "-true",
                    "-false",
                    "-daystart",
                    "-noleaf",
                    "-L",
                    "-H",
                    "-P",
                    "-E",
                    "-X",
                    "-s",
                    "-x",
                    "-nogroup",
                    "-nouser",
                ],
                &[],
            ),
            joined(&["!"], &[]),
            joined(&["("], &[]),
            joined(&[")"], &[]),
            joined(&["-O"], &[]),
        ])
        .operands(each(&[LISTS]))
        .examples(&[
            ("find . -name '*.rs'", &["lists ."]),
            ("find src -type f -delete", &["deletes-tree src"]),
            ("find . -maxdepth 0 -exec cat a ';'", &["lists .", "runs cat a", "reads a"]),
            ("find . -fprint out", &["lists .", "writes out"]),
        ]),
    model(&["fd", "fdfind"])
        .flags(&[
            takes(&["--exec", "-x", "--exec-batch", "-X"], &[COMMAND]).value(Value::Rest),
            takes(
                &[
                    "--extension",
                    "-e",
                    "--type",
                    "-t",
                    "--exclude",
                    "-E",
                    "--max-depth",
                    "-d",
                    "--min-depth",
                    "--size",
                    "-S",
                    "--changed-within",
                    "--changed-before",
                    "--color",
                    "--threads",
                    "-j",
                    "--format",
                    "--owner",
                    "-o",
                ],
                &[],
            ),
            takes(&["--search-path", "--base-directory", "-C"], &[LISTS]),
            takes(&["--ignore-file"], &[READS]),
        ])
        .operands(leading(&[&[]], &[LISTS]))
        .examples(&[
            ("fd -e ts x src", &["lists src"]),
            ("fd . -x cat a", &["runs cat a", "reads a"]),
        ]),
    model(&[
        "locate", "plocate", "mdfind", "where", "apropos", "whatis", "help", "tldr", "cheat",
        "info", "pinfo",
    ])
    .flags(&[
        takes(&["--database", "-d"], &[READS]),
        takes(&["--limit", "-l", "-n", "-name", "-onlyin"], &[]),
    ])
    .examples(&[("which git", &[]), ("whatis ls", &[])]),
    model(&["man"])
        .flags(&[
            takes(&["--pager", "-P"], &[SHELL]),
            takes(&["--html", "-H", "--preprocessor", "-p", "--browser"], &[PROGRAM]),
            takes(&["--config-file", "-C"], &[READS]),
            takes(
                &[
                    "--section",
                    "-s",
                    "-S",
                    "--manpath",
                    "-M",
                    "--locale",
                    "-L",
                    "--troff-device",
                    "-T",
                ],
                &[],
            ),
        ])
        .examples(&[("man ls", &[]), ("man -P 'touch x' ls", &["runs touch x", "changes x"])]),
    model(&["ps"]).style(Style::Bundle).flags(&[
        switch(
            &["e", "eww", "ewww", "auxe", "auxeww", "axe", "axeww", "auxewww", "-E"],
            PROCESS_ENVIRONMENT,
        ),
        takes(
            &[
                "--pid", "-p", "--format", "-o", "--user", "-u", "-U", "-C", "--ppid", "--sort",
                "-t", "-g", "-G", "-O", "-q", "-s",
            ],
            &[],
        ),
    ]),
    model(&[
        "top",
        "htop",
        "btop",
        "atop",
        "glances",
        "uptime",
        "free",
        "vmstat",
        "iostat",
        "mpstat",
        "sar",
        "pidstat",
        "nproc",
        "lscpu",
        "lsmem",
        "lspci",
        "lsusb",
        "lsblk",
        "lshw",
        "lsmod",
        "lsns",
        "lsipc",
        "lslocks",
        "lslogins",
        "inxi",
        "screenfetch",
        "sensors",
        "acpi",
        "nvidia-smi",
        "rocm-smi",
        "blkid",
        "who",
        "w",
        "users",
        "id",
        "groups",
        "whoami",
        "logname",
        "tty",
        "uname",
        "hostid",
        "getconf",
        "locale",
        "cal",
        "ncal",
        "tput",
        "stty",
        "tset",
        "clear",
        "reset",
        "infocmp",
        "pidof",
        "pstree",
        "pmap",
        "pwdx",
        "lsof",
        "ss",
        "netstat",
        "sockstat",
        "ipcs",
        "vm_stat",
        "sw_vers",
        "system_profiler",
        "ioreg",
        "systeminfo",
        "tasklist",
        "ver",
        "numastat",
        "slabtop",
        "ifstat",
        "nethogs",
        "iftop",
        "bmon",
        "vnstat",
        "nload",
        "procs",
        "bandwhich",
        "iotop",
        "powertop",
        "cpuid",
        "sysbench",
        "stress-ng",
        "caller",
        "sleep",
        "usleep",
        "yes",
        "banner",
        "figlet",
        "toilet",
        "fortune",
        "uuidgen",
        "mcookie",
        "tzselect",
        "zdump",
        "c++filt",
        "pkg-config",
        "pkgconf",
        "rustfilt",
        "xdpyinfo",
        "xrandr",
        "xprop",
        "xwininfo",
        "glxinfo",
        "vulkaninfo",
        "fc-list",
        "fc-match",
        "iwconfig",
        "ethtool",
        "lldpctl",
        "ptree",
        "errno",
        "ascii",
        "speedtest",
        "speedtest-cli",
        "fast",
    ])
    .flags(&[takes(
        &["--output", "-o", "--format", "-f", "-p", "-u", "-n", "-i", "-c", "-t", "-d", "-s"],
        &[],
    )])
    .examples(&[
        ("uname -a", &[]),
        ("pgrep -fl node", &[]),
        ("ss -ltnp", &[]),
        ("echo 'rm -rf /'", &[]),
    ]),
    // They say where a folder is and how full its disk is.
    model(&["df", "gdf", "duf", "mountpoint", "findmnt", "lsattr"])
        .flags(&[takes(
            &["--output", "-o", "--type", "-t", "--exclude-type", "-x", "--block-size", "-B"],
            &[],
        )])
        .operands(each(&[LISTS]))
        .examples(&[("df -h ~", &["lists ~"]), ("findmnt -T a", &["lists a"]), ("df -h", &[])]),
    model(&["date", "gdate"])
        .flags(&[
            takes(&["--file", "-f"], &[READS]),
            takes(&["--reference", "-r"], &[LISTS]),
            takes(&["--set", "-s"], &[mark(Mark::Guard)]),
            takes(&["--date", "-d", "-v", "-j"], &[]),
            joined(&["--iso-8601", "-I", "--rfc-3339"], &[]),
        ])
        .examples(&[("date -u -Iseconds", &[]), ("date +%F", &[]), ("date -f a", &["reads a"])]),
    model(&["hostname", "domainname"])
        .flags(&[
            takes(&["--file", "-F"], &[READS]),
            switch(
                &[
                    "--fqdn",
                    "-f",
                    "--short",
                    "-s",
                    "--ip-address",
                    "-i",
                    "-I",
                    "--all-ip-addresses",
                    "-d",
                    "-A",
                ],
                &[],
            ),
        ])
        .operands(each(&[mark(Mark::Network)]))
        .examples(&[("hostname -f", &[])]),
    model(&["printenv"]).examples(&[("printenv PATH", &[])]),
    model(&["journalctl"])
        .flags(&[
            switch(&["--rotate"], &[mark(Mark::Guard)]),
            takes(&["--vacuum-time", "--vacuum-size", "--vacuum-files"], &[mark(Mark::Guard)]),
            takes(
                &[
                    "--unit",
                    "-u",
                    "--since",
                    "-S",
                    "--until",
                    "-U",
                    "--lines",
                    "-n",
                    "--output",
                    "-o",
                    "--priority",
                    "-p",
                    "--identifier",
                    "-t",
                    "--boot",
                    "-b",
                    "--grep",
                    "-g",
                    "--user-unit",
                    "--field",
                    "-F",
                ],
                &[],
            ),
            takes(&["--file", "--directory", "-D", "--cursor-file"], &[READS]),
        ])
        .examples(&[
            ("journalctl -u nginx -n 50", &[]),
            ("journalctl --vacuum-time=1s", &["marks guard"]),
        ]),
    model(&["log"])
        .subs(&[
            model(&["show", "stream", "stats"]),
            model(&["erase", "config"]).always(&[mark(Mark::Guard)]),
        ])
        .examples(&[("log show", &[]), ("log erase --all", &["marks guard"])]),
    model(&["ip"])
        .flags(&[
            takes(&["-family", "-f", "-n", "-netns"], &[]),
            takes(&["-batch", "-b"], &[READS, Does::Hides]),
            switch(&["-brief", "-br", "-color", "-c", "-details", "-d", "-json", "-j", "-s"], &[]),
        ])
        .subs(&[
            model(&["netns"]).subs(&[
                model(&["exec"]).style(Style::Posix).operands(leading(&[&[], &[COMMAND]], &[])),
                model(&["list", "add", "delete", "identify", "pids"]),
            ]),
            model(&[
                "addr",
                "address",
                "a",
                "link",
                "l",
                "route",
                "r",
                "ro",
                "rule",
                "neigh",
                "neighbour",
                "n",
                "tunnel",
                "maddr",
                "tuntap",
                "xfrm",
            ])
            .subs(&[
                model(&["show", "list", "ls", "get", "lst"]),
                model(&["add", "del", "delete", "set", "flush", "replace", "change", "append"])
                    .always(&[mark(Mark::Network)]),
            ]),
        ])
        .examples(&[
            ("ip addr show", &[]),
            ("ip -brief address", &[]),
            ("ip route add default via 10.0.0.1", &["marks network"]),
            ("ip netns exec x cat a", &["runs cat a", "reads a"]),
        ]),
    model(&["nmcli", "rfkill"])
        .flags(&[
            switch(&["-t", "-p", "-a"], &[]),
            switch(&["--show-secrets", "-s"], &[mark(Mark::Credentials)]),
            takes(
                &["--fields", "-f", "--get-values", "-g"],
                &[
                    Does::MarksIfContains("psk", Mark::Credentials),
                    Does::MarksIfContains("password", Mark::Credentials),
                ],
            ),
        ])
        .subs(&[
            model(&["networking", "radio", "n", "r"])
                .operands(each(&[Does::MarksIf(&["off"], Mark::Network)])),
            model(&["connection", "con", "c", "device", "dev", "d"]).subs(&[
                model(&["show", "status", "list", "wifi", "monitor"]),
                model(&["add", "modify", "mod", "delete", "import", "up", "down", "disconnect"])
                    .always(&[mark(Mark::Network)]),
            ]),
            model(&["block"]).always(&[mark(Mark::Network)]),
            model(&["general", "list", "monitor", "unblock"]),
        ])
        .examples(&[
            ("nmcli device status", &[]),
            ("nmcli -g 802-1x.password connection show x", &["marks credentials"]),
            ("nmcli networking off", &["marks network"]),
            ("rfkill block all", &["marks network"]),
        ]),
    model(&[
        "ifconfig",
        "arp",
        "route",
        "scutil",
        "iw",
        "iwctl",
        "resolvconf",
        "netplan",
        "hostnamectl",
        "timedatectl",
        "localectl",
    ])
    .subs(&[
        model(&["show", "list", "status", "general", "device", "-getinfo", "get", "scan"]),
        model(&[
            "add",
            "del",
            "delete",
            "flush",
            "set",
            "modify",
            "apply",
            "-setdnsservers",
            "-setwebproxy",
            "--set",
            "set-hostname",
            "set-time",
            "set-ntp",
            "lo",
            "lo0",
        ])
        .always(&[mark(Mark::Network)]),
    ])
    .examples(&[("ifconfig", &[]), ("route add default x", &["marks network"])]),
    // Histories of shells in a database.
    model(&["atuin", "mcfly", "hishtory", "hstr", "resh"])
        .subs(&[
            model(&["search", "history", "query", "export", "tquery", "stats", "dump"])
                .always(&[Does::ReadsFile("~/.local/share/atuin", Access::Tree)]),
            model(&["init", "sync", "login", "status", "import", "gen-completions", "server"]),
        ])
        .examples(&[
            ("atuin search x", &["reads-tree ~/.local/share/atuin"]),
            ("atuin status", &[]),
        ]),
    model(&["networksetup"])
        .style(Style::SingleDash)
        .flags(&[joined(
            &[
                "-setdnsservers",
                "-setwebproxy",
                "-setsecurewebproxy",
                "-setsocksfirewallproxy",
                "-setautoproxyurl",
                "-setnetworkserviceenabled",
                "-setmanual",
                "-setairportpower",
            ],
            &[mark(Mark::Network)],
        )])
        .examples(&[
            ("networksetup -getdnsservers Wi-Fi", &[]),
            ("networksetup -setdnsservers Wi-Fi 192.0.2.1", &["marks network"]),
        ]),
    model(&["getent"])
        .subs(&[
            model(&["shadow", "gshadow"])
                .always(&[Does::ReadsFile("/etc/shadow", Access::Content)]),
            model(&["hosts", "ahosts", "ahostsv4", "ahostsv6"]).operands(each(&[FETCHES])),
        ])
        .examples(&[
            ("getent passwd", &[]),
            ("getent shadow", &["reads /etc/shadow"]),
            ("getent hosts h.example", &["fetches h.example"]),
        ]),
    model(&["fzf", "sk", "gum", "dialog", "whiptail", "zenity", "rofi", "dmenu", "peco", "percol"])
        .flags(&[
            takes(&["--preview", "--bind", "--execute"], &[SHELL]),
            takes(
                &[
                    "--query",
                    "-q",
                    "--prompt",
                    "--height",
                    "--header",
                    "--delimiter",
                    "-d",
                    "--with-nth",
                    "--layout",
                    "--filter",
                    "-f",
                    "--preview-window",
                    "--title",
                    "--text",
                ],
                &[],
            ),
        ])
        .examples(&[("fzf --preview 'cat a'", &["runs cat a", "reads a"])]),
    model(&[
        "nm",
        "ldd",
        "size",
        "readelf",
        "objdump",
        "otool",
        "addr2line",
        "dwarfdump",
        "lipo",
        "vtool",
        "llvm-nm",
        "llvm-objdump",
        "identify",
        "mediainfo",
        "ffprobe",
        "soxi",
        "pdfinfo",
        "jpeginfo",
        "pngcheck",
    ])
    .style(Style::SingleDash)
    .flags(&[
        takes(
            &[
                "-v",
                "-i",
                "-show_entries",
                "-select_streams",
                "-of",
                "-print_format",
                "-format",
                "-j",
                "--section",
                "-arch",
            ],
            &[],
        ),
        joined(&["@"], &[READS]),
    ])
    .operands(each(&[READS]))
    .examples(&[
        ("readelf -h a", &["reads a"]),
        ("nm -C a", &["reads a"]),
        ("readelf -a @a", &["reads a"]),
    ]),
    model(&["exiftool"])
        .style(Style::SingleDash)
        .flags(&[
            takes(&["-config", "-@", "-if", "-execute"], &[Does::Hides]),
            takes(&["-o", "-w", "-W", "-textOut", "-tagOut"], &[WRITES]),
            joined(&["-filename", "-FileName", "-directory", "-Directory"], &[WRITES]),
            takes(&["-ext", "-d", "-p"], &[]),
        ])
        .operands(each(&[READS]))
        .examples(&[("exiftool a.jpg", &["reads a.jpg"])]),
    model(&[
        "getenforce",
        "sestatus",
        "aa-status",
        "mokutil",
        "needrestart",
        "checksec",
        "lynis",
        "rkhunter",
        "chkrootkit",
        "clamscan",
    ])
    .examples(&[("getenforce", &[])]),
    model(&[
        "notify-send",
        "terminal-notifier",
        "say",
        "espeak",
        "afplay",
        "aplay",
        "paplay",
        "wall",
        "mesg",
        "beep",
        "logger",
    ])
    .flags(&[
        takes(&["--server", "-n"], &[SENDS]),
        takes(
            &[
                "--tag",
                "-t",
                "--priority",
                "-p",
                "--port",
                "-P",
                "--urgency",
                "-u",
                "--icon",
                "-i",
                "-title",
                "-message",
            ],
            &[],
        ),
        takes(&["--file", "-f"], &[READS]),
    ])
    .examples(&[("notify-send Build done", &[]), ("logger -n h.example x", &["sends h.example"])]),
    model(&[
        "screencapture",
        "gnome-screenshot",
        "grim",
        "maim",
        "import",
        "xwd",
        "arecord",
        "rec",
        "xinput",
        "showkey",
        "logkeys",
        "xev",
        "evtest",
        "imagesnap",
        "fswebcam",
    ])
    .operands(each(&[WRITES]))
    .always(&[mark(Mark::Spies)])
    .examples(&[("scrot a.png", &["writes a.png", "marks spies"])]),
    model(&["pbpaste", "wl-paste"])
        .always(&[mark(Mark::Spies)])
        .examples(&[("pbpaste", &["marks spies"])]),
    model(&["xclip", "xsel"])
        .flags(&[
            takes(&["-selection", "-sel"], &[]),
            switch(&["-i", "-in"], &[]),
            switch(&["-o", "-out", "--output"], &[mark(Mark::Spies)]),
        ])
        .operands(each(&[READS]))
        .examples(&[("xclip a", &["reads a"])]),
    model(&["pbcopy", "wl-copy", "clip", "clip.exe", "osc52"]).examples(&[("pbcopy", &[])]),
];
