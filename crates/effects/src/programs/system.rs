//! Programs that change the system: users, services, kernel, guards, disks, power, processes.

use crate::effect::{Change, Scope};
use crate::marks::Mark;
use crate::model::*;

const GUARD: Use = &[mark(Mark::Guard)];
const DISK: Use = &[mark(Mark::Disk)];
const SCHEDULE: Use = &[mark(Mark::Schedules)];
const POWER: Use = &[mark(Mark::Power)];

pub(crate) const MODELS: &[Model] = &[
    model(&["crontab"])
        .flags(&[
            takes(&["-u"], &[]),
            switch(&["-l"], &[]).operands(each(&[])).instead(),
            switch(
                &["-r"],
                &[Does::DeletesFile("/var/spool/cron", Scope::One), mark(Mark::Schedules)],
            ),
            switch(
                &["-e"],
                &[Does::WritesFile("/var/spool/cron", Change::Content), mark(Mark::Schedules)],
            ),
        ])
        .operands(each(&[
            READS,
            Does::WritesFile("/var/spool/cron", Change::Content),
            mark(Mark::Schedules),
        ]))
        .bare(&[mark(Mark::Schedules)])
        .examples(&[
            ("crontab -l", &[]),
            ("crontab jobs", &["reads jobs", "writes /var/spool/cron", "marks schedules"]),
            ("crontab -r", &["deletes /var/spool/cron", "marks schedules"]),
        ]),
    model(&[
        "systemctl",
        "rc-service",
        "service",
        "sv",
        "initctl",
        "svcadm",
        "rcctl",
        "dinitctl",
        "s6-rc",
    ])
    .flags(&[
        takes(
            &[
                "--type",
                "-t",
                "--state",
                "--host",
                "-H",
                "--machine",
                "-M",
                "--property",
                "-p",
                "--signal",
                "-s",
                "--lines",
                "-n",
                "--output",
                "-o",
            ],
            &[],
        ),
        takes(&["--root"], &[]),
    ])
    .subs(&[
        model(&[
            "status",
            "show",
            "cat",
            "is-active",
            "is-enabled",
            "is-failed",
            "list-units",
            "list-unit-files",
            "list-timers",
            "list-sockets",
            "list-dependencies",
            "list-jobs",
            "get-default",
            "help",
            "restart",
            "reload",
            "try-restart",
            "daemon-reload",
            "reset-failed",
            "condrestart",
        ]),
        // Those with `one`, `force` and `fast` are of FreeBSD.
        model(&[
            "stop",
            "kill",
            "disable",
            "mask",
            "onestop",
            "forcestop",
            "faststop",
            "down",
            "exit",
            "force-stop",
        ])
        .operands(each(STOPS))
        .always(&[mark(Mark::Kills)]),
        model(&[
            "enable",
            "link",
            "preset",
            "add-wants",
            "add-requires",
            "set-default",
            "revert",
            "reenable",
        ])
        .always(SCHEDULE),
        model(&["start", "onestart", "faststart"])
            .operands(each(&[Does::MarksIf(REMOTE_UNITS, Mark::Tunnel)])),
        model(&["edit"]).always(SCHEDULE),
        model(&["set-environment", "import-environment", "unset-environment"]).always(SCHEDULE),
        model(&[
            "poweroff",
            "reboot",
            "halt",
            "suspend",
            "hibernate",
            "kexec",
            "isolate",
            "rescue",
            "emergency",
            "soft-reboot",
            "hybrid-sleep",
        ])
        .always(POWER),
    ])
    .examples(&[
        ("systemctl status nginx", &[]),
        ("systemctl --user enable x", &["marks schedules"]),
        ("systemctl stop auditd", &["marks guard kills"]),
        ("systemctl disable --now falcon-sensor.service", &["marks guard kills"]),
        ("systemctl stop nginx", &["marks kills"]),
        ("systemctl start tor", &["marks tunnel"]),
        ("sv down auditd", &["marks guard kills"]),
        ("service pf onestop", &["runs systemctl onestop pf", "marks guard kills"]),
        ("systemctl poweroff", &["marks power"]),
        ("systemctl list-units --type=service", &[]),
    ]),
    model(&["asr"])
        .flags(&[switch(&["--erase", "-erase"], &[mark(Mark::Disk)])])
        .examples(&[("asr restore --source a --target b --erase", &["marks disk"])]),
    model(&["apparmor_parser", "aa-remove-unknown"])
        .flags(&[switch(&["--replace", "-r", "--preprocess", "-p", "--names", "-N"], &[])])
        .always(&[mark(Mark::Guard)])
        .examples(&[("apparmor_parser -R a", &["marks guard"])]),
    model(&["launchctl"])
        .subs(&[
            model(&["list", "print", "blame", "dumpstate", "version", "managername"]),
            model(&["getenv"]).operands(each(&[
                Does::MarksIfContains("TOKEN", Mark::Credentials),
                Does::MarksIfContains("SECRET", Mark::Credentials),
                Does::MarksIfContains("KEY", Mark::Credentials),
                Does::MarksIfContains("PASSW", Mark::Credentials),
            ])),
            model(&["load", "bootstrap", "submit", "enable", "kickstart", "start", "asuser"])
                .operands(each(&[]))
                .always(SCHEDULE),
            model(&["unload", "bootout", "disable", "remove", "stop", "kill"])
                .operands(each(STOPS))
                .always(&[mark(Mark::Kills)]),
            model(&["setenv", "config"]).always(SCHEDULE),
        ])
        .examples(&[
            ("launchctl list", &[]),
            ("launchctl load x.plist", &["marks schedules"]),
            (
                "launchctl unload /Library/LaunchDaemons/com.crowdstrike.falcond.plist",
                &["marks guard kills"],
            ),
        ]),
    model(&["sc", "sc.exe"])
        .style(Style::Plain)
        .subs(&[
            model(&["query", "queryex", "qc", "start", "interrogate"]),
            model(&["stop", "delete", "pause"]).operands(each(STOPS)),
            model(&["create", "config", "failure", "sdset"]).always(SCHEDULE),
        ])
        .examples(&[
            ("sc query", &[]),
            ("sc stop WinDefend", &["marks guard"]),
            ("sc create x binPath= y", &["marks schedules"]),
        ]),
    // They run what is due.
    model(&["crond", "anacron", "atd", "fcron"])
        .always(SCHEDULE)
        .examples(&[("crond -c a", &["marks schedules"])]),
    model(&["pdbedit", "faillock", "pam_tally2"])
        .flags(&[
            switch(
                &["--reset", "--create", "-a", "--modify", "-r", "--delete", "-x"],
                &[mark(Mark::Accounts)],
            ),
            switch(&["--list", "-L", "-v", "-w"], &[]),
            takes(&["--user", "-u"], &[]),
        ])
        .examples(&[("pdbedit -L", &[]), ("faillock --user dev --reset", &["marks accounts"])]),
    model(&["bless"])
        .style(Style::SingleDash)
        .flags(&[
            switch(&["--setBoot", "-setBoot", "--netboot"], &[mark(Mark::Kernel)]),
            takes(&["--mount", "--folder", "--device", "--file"], &[LISTS]),
        ])
        .examples(&[("bless --mount /v --setBoot", &["lists /v", "marks kernel"])]),
    // Writers of settings.
    model(&["kwriteconfig5", "kwriteconfig6", "crudini", "augtool"])
        .flags(&[
            takes(&["--file"], &[WRITES]),
            takes(&["--group", "--key", "--type"], &[]),
            switch(&["--set", "--del", "--merge"], &[]).operands(leading(&[&[WRITES]], &[])),
        ])
        .examples(&[
            ("kwriteconfig5 --file a --group g --key k v", &["writes a"]),
            ("crudini --set a g k v", &["writes a"]),
        ]),
    model(&["spctl"])
        .style(Style::SingleDash)
        .flags(&[switch(
            &["--master-disable", "--global-disable", "--disable", "--add", "--remove"],
            &[mark(Mark::Guard)],
        )])
        .examples(&[("spctl --assess -vv x", &[]), ("spctl --master-disable", &["marks guard"])]),
    model(&["defaults"])
        .subs(&[
            model(&["read", "find", "domains", "read-type", "export", "help"]),
            model(&["write", "delete", "import", "rename"]).operands(each(RUNS_AT_LOGIN)),
        ])
        .examples(&[
            ("defaults read com.x", &[]),
            ("defaults write com.apple.dock autohide -bool true", &[]),
            ("defaults write com.apple.loginwindow LoginHook /tmp/x", &["marks schedules"]),
            ("defaults write com.apple.LaunchServices LSQuarantine -bool NO", &["marks schedules"]),
        ]),
    // The settings of FreeBSD that say which services start.
    model(&["sysrc"])
        .flags(&[
            takes(&["-f", "-j", "-R"], &[]),
            switch(&["-x"], &[])
                .operands(each(&[Does::Stops, Does::WritesFile("/etc/rc.conf", Change::Content)])),
        ])
        .operands(each(&[Does::MarksIfContains("=", Mark::Schedules)]))
        .examples(&[
            ("sysrc -a", &[]),
            ("sysrc syslogd_enable=NO", &["marks schedules"]),
            ("sysrc -x auditd_enable", &["writes /etc/rc.conf"]),
        ]),
    model(&["update-rc.d", "chkconfig", "rc-update", "insserv", "loginctl"])
        .operands(each(STOPS))
        .subs(&[
            model(&[
                "list",
                "--list",
                "show",
                "/query",
                "query",
                "session-status",
                "user-status",
                "list-sessions",
            ]),
            model(&["terminate-user", "kill-user"]).always(&[mark(Mark::Power)]),
            model(&["enable-linger", "delete", "/create", "create", "add", "config"])
                .always(SCHEDULE),
        ])
        .examples(&[
            ("loginctl enable-linger", &["marks schedules"]),
            ("update-rc.d auditd disable", &["marks guard"]),
            ("chkconfig nginx off", &[]),
        ]),
    // A slash is doubled in the shell of Git for Windows.
    model(&["schtasks", "schtasks.exe"])
        .style(Style::Plain)
        .operands(each(&[Does::MarksIf(
            &[
                "/create", "/Create", "/CREATE", "//create", "//Create", "//CREATE", "/change",
                "/Change", "/CHANGE", "//change", "//Change", "//CHANGE",
            ],
            Mark::Schedules,
        )]))
        .examples(&[
            ("schtasks /Query", &[]),
            ("schtasks.exe //Create //TN x //TR y", &["marks schedules"]),
        ]),
    model(&["visudo"])
        .flags(&[takes(&["--file", "-f"], &[WRITES]), switch(&["--check", "-c"], &[])])
        .always(&[Does::WritesFile("/etc/sudoers", Change::Content), mark(Mark::Privilege)])
        .examples(&[("visudo", &["writes /etc/sudoers", "marks privilege"])]),
    model(&[
        "setenforce",
        "setsebool",
        "semanage",
        "aa-disable",
        "aa-complain",
        "ufw",
        "nft",
        "firewall-cmd",
        "pfctl",
        "auditctl",
        "augenrules",
        "csrutil",
        "tccutil",
        "netsh",
        "fail2ban-client",
        "update-crypto-policies",
        "trust",
        "chcon",
        "ipfw",
        "ipf",
        "npfctl",
        "shorewall",
        "csf",
        "bputil",
        "bcdedit",
        "vssadmin",
        "socketfilterfw",
        "kextload",
        "profiles",
    ])
    .subs(&[model(&[
        "status",
        "list",
        "-L",
        "--list",
        "--list-all",
        "-S",
        "--list-rules",
        "-s",
        "show",
        "--state",
        "-l",
        "--status",
        "-sr",
        "-vL",
        "-nL",
        "-a",
        "--assess",
        "/enum",
        "el",
        "gl",
        "enum-logs",
        "query",
    ])])
    .always(&[])
    .operands(each(GUARD))
    .flags(&[
        switch(
            &[
                "--flush",
                "-F",
                "--delete-chain",
                "-X",
                "--master-disable",
                "--global-disable",
                "--policy",
                "-P",
                "--delete",
                "-D",
                "--append",
                "-A",
                "--insert",
                "-I",
                "--zero",
                "-Z",
                "-e",
                "-d",
                "--panic-off",
                "--remove-service",
                "--remove-port",
                "--remove-rich-rule",
                "--set-default-zone",
                "--set-target",
                "--add-port",
                "--add-service",
                "--add-source",
                "--add-rich-rule",
                "--add-forward-port",
            ],
            GUARD,
        ),
        switch(
            &[
                "--list",
                "-L",
                "-S",
                "--list-rules",
                "-n",
                "-v",
                "--list-all",
                "--state",
                "-s",
                "-l",
            ],
            &[],
        ),
    ])
    .examples(&[
        ("setenforce 0", &["marks guard"]),
        ("ufw status", &[]),
        ("ufw disable", &["marks guard"]),
        ("netsh advfirewall show allprofiles", &[]),
        ("netsh advfirewall set allprofiles state off", &["marks guard"]),
        ("firewall-cmd --zone public --query-port 8080/tcp", &[]),
        ("firewall-cmd --zone public --remove-service ssh", &["marks guard"]),
        ("pfctl -vnf a", &[]),
        ("pfctl -s rules", &[]),
        ("pfctl -f a", &["marks guard"]),
    ]),
    model(&["iptables-restore", "ip6tables-restore"]).always(GUARD).examples(&[
        ("iptables-restore a", &["reads a", "marks guard"]),
        ("iptables-restore --test a", &["reads a"]),
    ]),
    // Only these flags change rules; the others say which ones are shown.
    model(&["iptables", "ip6tables", "ebtables", "arptables", "iptables-legacy", "iptables-nft"])
        .flags(&[
            takes(
                &[
                    "--append",
                    "-A",
                    "--insert",
                    "-I",
                    "--delete",
                    "-D",
                    "--replace",
                    "-R",
                    "--new-chain",
                    "-N",
                    "--policy",
                    "-P",
                    "--rename-chain",
                    "-E",
                ],
                GUARD,
            ),
            switch(&["--flush", "-F", "--delete-chain", "-X", "--zero", "-Z"], GUARD),
            switch(
                &["--list", "-L", "--list-rules", "-S", "--numeric", "-n", "--verbose", "-v"],
                &[],
            ),
            takes(&["--table", "-t", "--check", "-C", "--jump", "-j"], &[]),
        ])
        .examples(&[
            ("iptables -F", &["marks guard"]),
            ("iptables -t nat -A PREROUTING -j DNAT", &["marks guard"]),
            ("iptables -P INPUT ACCEPT", &["marks guard"]),
            ("iptables -vnL INPUT --line-numbers", &[]),
            ("iptables -C INPUT -p tcp -j ACCEPT", &[]),
        ]),
    model(&["wevtutil"])
        .style(Style::Plain)
        .operands(leading(
            &[&[Does::MarksIf(
                &["cl", "clear-log", "sl", "set-log", "um", "uninstall-manifest"],
                Mark::Guard,
            )]],
            &[],
        ))
        .examples(&[
            ("wevtutil cl Security", &["marks guard"]),
            ("wevtutil qe System /c:5 /f:text", &[]),
        ]),
    model(&["nvram"])
        .flags(&[switch(&["-d", "-c"], GUARD), takes(&["-f"], GUARD), switch(&["-x", "-p"], &[])])
        .operands(each(&[Does::MarksIfContains("=", Mark::Guard)]))
        .examples(&[
            ("nvram boot-args", &[]),
            ("nvram boot-args='-v'", &["marks guard"]),
            ("nvram -c", &["marks guard"]),
        ]),
    model(&["restorecon"])
        .flags(&[switch(&["-R", "-r", "-v", "-n", "-F", "-p"], &[]), takes(&["-T", "-f"], &[])])
        .operands(each(&[CHANGES]))
        .examples(&[("restorecon -Rv a", &["changes a"])]),
    model(&[
        "insmod",
        "modprobe",
        "rmmod",
        "kexec",
        "depmod",
        "kmod",
        "dkms",
        "kmutil",
        "kextunload",
        "kldload",
        "kldunload",
    ])
    .flags(&[switch(&["--show-depends", "-D", "--version", "-V", "-l"], &[])])
    .operands(each(&[]))
    .always(&[mark(Mark::Kernel)])
    .examples(&[("modprobe x", &["marks kernel"])]),
    model(&["sysctl"])
        .flags(&[
            switch(&["--write", "-w"], &[mark(Mark::Kernel)]),
            takes(&["--load", "-p"], &[READS, mark(Mark::Kernel)]),
            switch(&["--system"], &[mark(Mark::Kernel)]),
            switch(&["-a", "--all", "-n", "-e"], &[]),
            joined(&["net.", "kernel.", "vm.", "fs."], &[Does::MarksIfContains("=", Mark::Kernel)]),
        ])
        .examples(&[
            ("sysctl net.ipv4.ip_forward=1", &["marks kernel"]),
            ("sysctl kernel.ostype", &[]),
            ("sysctl -a", &[]),
            ("sysctl -w kernel.x=0", &["marks kernel"]),
        ]),
    model(&["shutdown", "reboot", "halt", "poweroff", "init", "telinit", "pm-suspend", "zzz"])
        .flags(&[switch(&["--help", "--version", "-c"], &[])])
        .always(POWER)
        .examples(&[("shutdown -h now", &["marks power"]), ("reboot", &["marks power"])]),
    model(&[
        "kill",
        "pkill",
        "killall",
        "skill",
        "xkill",
        "taskkill",
        "tskill",
        "fkill",
        "kill-port",
    ])
    .flags(&[
        switch(
            &[
                "-STOP", "-CONT", "-KILL", "-TERM", "-HUP", "-INT", "-QUIT", "-USR1", "-USR2",
                "-TSTP", "-ABRT", "-SIGSTOP", "-SIGCONT", "-SIGKILL", "-SIGTERM", "-SIGHUP",
                "-SIGINT", "-SIGUSR1", "-SIGUSR2", "-SIGQUIT",
            ],
            &[],
        ),
        takes(
            &[
                "--signal",
                "-s",
                "-n",
                "--user",
                "-u",
                "--parent",
                "-P",
                "--terminal",
                "-t",
                "--group",
                "-g",
                "--older-than",
                "-o",
                "/PID",
                "/IM",
            ],
            &[],
        ),
        switch(&["-l", "-L", "--list"], &[]),
    ])
    .operands(each(STOPS))
    .always(&[mark(Mark::Kills)])
    .examples(&[
        ("kill -9 12", &["marks kills"]),
        ("pkill -f node", &["marks kills"]),
        ("killall -9 auditd", &["marks guard kills"]),
        ("taskkill /F /IM MsMpEng.exe", &["marks guard kills"]),
    ]),
    model(&["fuser"])
        .flags(&[
            switch(&["--kill", "-k"], &[mark(Mark::Kills)]),
            takes(&["--namespace", "-n"], &[]),
        ])
        .operands(each(&[LISTS]))
        .examples(&[("fuser -k a", &["lists a", "marks kills"])]),
    model(&[
        "mkfs",
        "mkfs.ext2",
        "mkfs.ext3",
        "mkfs.ext4",
        "mkfs.xfs",
        "mkfs.btrfs",
        "mkfs.vfat",
        "mkfs.fat",
        "mkfs.ntfs",
        "mkfs.f2fs",
        "mkfs.exfat",
        "mke2fs",
        "mkswap",
        "mkdosfs",
        "newfs",
        "newfs_apfs",
        "newfs_hfs",
        "blkdiscard",
        "format",
        "fsck",
        "e2fsck",
        "resize2fs",
        "xfs_repair",
        "debugfs",
        "nvme-format",
        "mkntfs",
    ])
    .flags(&[takes(
        &["--type", "-t", "-L", "--label", "-b", "-i", "-N", "-m", "-O", "-U", "-o", "-E"],
        &[],
    )])
    .operands(each(&[WRITES]))
    .examples(&[
        ("mkfs.ext4 -q build/disk.img", &["writes build/disk.img"]),
        ("mkfs.ext4 /dev/sda", &["writes /dev/sda", "marks disk"]),
        ("mkfs.ext4 -n /dev/sda", &[]),
        ("mkfs.ext4 -L -n /dev/sda", &["writes /dev/sda", "marks disk"]),
        ("mkfs.vfat /dev/loop0", &["writes /dev/loop0"]),
        ("e2fsck -nf /dev/sda", &[]),
    ]),
    // Without these flags they only show something.
    model(&["wipefs", "badblocks", "tune2fs"])
        .flags(&[
            switch(&["--all", "-a", "-w", "-n"], &[]).operands(each(ERASES)),
            takes(&["--offset", "-o", "-O", "-L", "-U", "-m", "-c", "-i", "-I", "-E", "-e"], &[])
                .operands(each(ERASES)),
            takes(&["--types", "-t", "-b", "-B"], &[]),
        ])
        .operands(each(&[LISTS]))
        .examples(&[
            ("wipefs -a /dev/sda", &["writes /dev/sda", "marks disk"]),
            ("wipefs /dev/sda", &["lists /dev/sda"]),
            ("badblocks -sv /dev/sda", &["lists /dev/sda"]),
            ("badblocks -w /dev/sda", &["writes /dev/sda", "marks disk"]),
            ("tune2fs -l /dev/sda", &["lists /dev/sda"]),
        ]),
    model(&["hdparm"])
        .flags(&[switch(
            &[
                "--security-erase",
                "--security-erase-enhanced",
                "--security-set-pass",
                "--security-disable",
                "--security-unlock",
                "--security-freeze",
                "--sanitize-block-erase",
                "--sanitize-crypto-scramble",
                "--sanitize-overwrite",
                "--write-sector",
                "--repair-sector",
                "--make-bad-sector",
                "--trim-sector-ranges",
                "--trim-sector-ranges-stdin",
                "--fwdownload",
                "--dco-restore",
                "--yes-i-know-what-i-am-doing",
                "--please-destroy-my-drive",
            ],
            &[],
        )
        .operands(each(ERASES))])
        .operands(each(&[LISTS]))
        .examples(&[
            ("hdparm -tT /dev/sda", &["lists /dev/sda"]),
            ("hdparm --security-erase p /dev/sda", &["writes p", "writes /dev/sda", "marks disk"]),
        ]),
    model(&["nvme"])
        .subs(&[model(&[
            "format",
            "sanitize",
            "write",
            "write-zeroes",
            "write-uncor",
            "dsm",
            "delete-ns",
            "create-ns",
            "detach-ns",
            "attach-ns",
            "fw-download",
            "fw-commit",
            "security-send",
            "set-feature",
            "subsystem-reset",
        ])
        .operands(each(ERASES))])
        .operands(leading(&[&[]], &[LISTS]))
        .examples(&[
            ("nvme id-ctrl /dev/nvme0", &["lists /dev/nvme0"]),
            ("nvme format /dev/nvme0n1", &["writes /dev/nvme0n1", "marks disk"]),
        ]),
    // A device that stands for a file.
    model(&["losetup"])
        .flags(&[
            switch(&["--list", "-l", "--all", "-a"], &[]).operands(each(&[LISTS])),
            switch(&["--find", "-f", "--show", "--partscan", "-P", "--read-only", "-r"], &[]),
            switch(&["--detach", "-d", "--detach-all", "-D"], &[]),
            takes(&["--offset", "-o", "--sizelimit", "--sector-size", "-b"], &[]),
            takes(&["--associated", "-j"], &[LISTS]),
        ])
        .operands(each(&[WRITES]))
        .examples(&[
            ("losetup -fP disk.img", &["writes disk.img"]),
            ("losetup /dev/loop0 /dev/sda", &["writes /dev/loop0", "writes /dev/sda"]),
        ]),
    model(&[
        "fdisk",
        "sfdisk",
        "cfdisk",
        "gdisk",
        "sgdisk",
        "parted",
        "partprobe",
        "cryptsetup",
        "mdadm",
        "sg_format",
        "dmsetup",
        "diskutil",
        "diskpart",
        "ddrescue",
        "testdisk",
        "growpart",
        "kpartx",
        "bcachefs",
        "tgtadm",
    ])
    .flags(&[
        switch(
            &[
                "--list",
                "-l",
                "--print",
                "-p",
                "--dump",
                "-d",
                "--info",
                "-I",
                "-i",
                "--detail",
                "-D",
                "--version",
            ],
            &[],
        )
        .operands(each(&[LISTS])),
        takes(&["--key-file", "-o", "-t", "-n", "--typecode"], &[]),
    ])
    .subs(&[
        model(&[
            "list",
            "info",
            "status",
            "luksDump",
            "isLuks",
            "ls",
            "table",
            "verifyVolume",
            "verifyDisk",
            "listFilesystems",
            "activity",
            "benchmark",
            "luksUUID",
        ]),
        model(&["apfs"]).subs(&[
            model(&["deleteContainer", "deleteVolume", "eraseVolume"]).always(&[mark(Mark::Disk)]),
            model(&["list", "listSnapshots", "listUsers"]),
        ]),
    ])
    .operands(each(&[WRITES]))
    .examples(&[
        (
            "parted -s build/a.img mklabel gpt",
            &["writes build/a.img", "writes mklabel", "writes gpt"],
        ),
        ("parted /dev/sda print", &[]),
        ("diskutil apfs deleteContainer disk1", &["marks disk"]),
        ("fdisk -l", &[]),
        ("sgdisk --zap-all /dev/sda", &["writes /dev/sda", "marks disk"]),
        ("diskutil list", &[]),
    ]),
    model(&["lvremove", "vgremove", "pvremove", "lvreduce", "lvconvert", "vgreduce"])
        .operands(each(DISK))
        .examples(&[("lvremove -f vg0/data", &["marks disk"]), ("lvremove --test vg0/data", &[])]),
    // A noun and a verb; the verb says whether something is lost.
    model(&["zfs", "zpool", "btrfs", "stratis", "gluster", "rbd", "ceph"])
        .subs(&[
            model(&["list", "get", "info", "ls", "status", "show", "create", "mount", "set"]),
            model(&["subvolume"]).subs(&[
                model(&["delete"]).operands(each(&[DELETES_TREE])).always(DISK),
                model(&["list", "show", "create", "snapshot"]),
            ]),
        ])
        .operands(leading(&[LOSES, LOSES, LOSES], &[]))
        .examples(&[
            ("zpool status", &[]),
            ("zfs destroy -r tank", &["marks disk"]),
            ("zfs destroy -nv tank@a%b", &[]),
            ("zfs destroy tank -n", &[]),
            ("zfs diff tank@a tank@b", &[]),
            ("ceph osd tree", &[]),
            ("ceph osd pool delete a a", &["marks disk"]),
            ("gluster volume delete a", &["marks disk"]),
        ]),
    model(&[
        "lvs",
        "vgs",
        "pvs",
        "lvdisplay",
        "vgdisplay",
        "pvdisplay",
        "smartctl",
        "swapon",
        "swapoff",
        "sync",
        "fstrim",
        "e4defrag",
        "quota",
        "repquota",
        "lsscsi",
        "multipath",
        "pvscan",
        "vgscan",
        "lvscan",
        "blockdev",
        "dumpe2fs",
        "e2freefrag",
        "dump.exfat",
        "udevadm",
        "hd-idle",
        "ioping",
        "grub-probe",
        "os-prober",
        "linux-boot-prober",
    ])
    .flags(&[switch(&["--setro", "--setrw", "--rereadpt"], &[mark(Mark::Disk)])])
    .operands(each(&[LISTS]))
    .examples(&[("lvs", &[]), ("smartctl --all /dev/sda", &["lists /dev/sda"])]),
    model(&[
        "mount",
        "mount.nfs",
        "umount",
        "fusermount",
        "fusermount3",
        "bindfs",
        "mount.cifs",
        "pmount",
        "udisksctl",
        "unionfs",
    ])
    .flags(&[
        takes(
            &["--options", "-o"],
            &[Does::MarksIf(
                &["remount,rw", "rw,remount", "remount,exec", "remount,suid"],
                Mark::HostAccess,
            )],
        ),
        switch(&["--bind", "-B", "--rbind", "-R", "--move", "-M", "--all", "-a"], &[]),
        takes(&["--types", "-t", "--source", "--target", "-L", "-U"], &[]),
    ])
    .operands(leading(&[&[LISTS], &[MAKES, mark(Mark::HostAccess)]], &[]))
    .examples(&[
        ("mount", &[]),
        ("mount -o remount,rw /", &["lists /", "marks host-access"]),
        ("mount --bind a /etc", &["lists a", "makes /etc", "marks host-access"]),
    ]),
    model(&[
        "pivot_root",
        "switch_root",
        "debootstrap",
        "update-grub",
        "grub-install",
        "efibootmgr",
        "dracut",
        "mkinitcpio",
        "update-initramfs",
        "bootctl",
        "fwupdmgr",
        "flashrom",
    ])
    .always(&[mark(Mark::Kernel)])
    .examples(&[("grub-install /dev/sda", &["marks kernel"])]),
    model(&["ldconfig", "update-alternatives", "alternatives", "dpkg-divert", "dpkg-reconfigure"])
        .flags(&[
            switch(
                &["--print-cache", "-p", "--list", "--display", "--query", "--get-selections"],
                &[],
            ),
            takes(&["--install", "--set", "--config", "--add"], &[mark(Mark::Privilege)]),
        ])
        .examples(&[("ldconfig -p", &[])]),
    model(&["ssh-agent"])
        .style(Style::Posix)
        .flags(&[takes(&["-a", "-E", "-t", "-P", "-O"], &[]), switch(&["-k", "-s", "-c"], &[])])
        .operands(leading(&[&[COMMAND]], &[]))
        .examples(&[("ssh-agent cat a", &["runs cat a", "reads a"]), ("ssh-agent -s", &[])]),
    // A server with a file of settings, which can name programs, modules and folders.
    model(&["nginx", "apachectl", "httpd", "apache2ctl", "apache2", "lighttpd", "rsyslogd"])
        .style(Style::SingleDash)
        .flags(&[
            takes(&["-c", "-f", "--config"], &[Does::Recipe]),
            takes(&["-C", "-g"], &[Does::Code(Language::Other)]),
            // The folder that busybox serves.
            takes(&["-h"], &[READS_TREE]),
            takes(&["-p", "-d", "-s", "-k", "-D"], &[]),
            switch(&["-t", "-T", "-v", "-V", "-S", "-M", "-l"], &[]),
        ])
        .examples(&[("nginx -t", &[]), ("nginx -s reload", &[])]),
    model(&[
        "gpg-agent",
        "gnome-keyring-daemon",
        "dbus-daemon",
        "pulseaudio",
        "pipewire",
        "Xvfb",
        "Xorg",
        "startx",
        "caddy",
        "haproxy",
        "traefik",
        "envoy",
        "supervisord",
        "supervisorctl",
        "pm2",
        "forever",
        "monit",
        "s6-svc",
        "runsvdir",
        "foreman",
        "overmind",
        "honcho",
        "procfile",
    ])
    .flags(&[
        takes(&["-c", "--config", "-g", "-f"], &[LISTS]),
        switch(&["-t", "-v", "-V", "configtest"], &[]),
    ])
    .subs(&[
        model(&[
            "status", "list", "ls", "logs", "monit", "show", "describe", "info", "validate",
            "version", "reload", "restart",
        ]),
        model(&["start", "run", "exec"]).style(Style::Posix).operands(leading(&[&[COMMAND]], &[])),
        // `caddy file-server`
        model(&["file-server"]).flags(&[
            takes(&["--root", "-r"], &[READS_TREE]),
            takes(&["--listen", "-l", "--domain", "-d"], &[]),
        ]),
        model(&["startup", "save"]).always(SCHEDULE),
        // `pm2 env 0` prints the environment of a process.
        model(&["env"]).always(&[mark(Mark::Credentials)]),
        model(&["stop", "delete", "kill"]).always(&[mark(Mark::Kills)]),
    ])
    .examples(&[("nginx -t", &[]), ("pm2 list", &[]), ("pm2 startup", &["marks schedules"])]),
    model(&["certutil"])
        .style(Style::SingleDash)
        .flags(&[
            switch(&["-hashfile", "-verify", "-dump", "-viewstore", "-store"], &[])
                .operands(leading(&[&[READS]], &[])),
            // The tool of NSS: certificates in a folder.
            switch(&["-L", "-V", "-N", "-O"], &[]).operands(each(&[])),
            takes(&["-d", "-n", "-h"], &[]),
            switch(&["-urlcache", "-decode", "-decodehex", "-encode", "-ping", "-A", "-M"], &[])
                .operands(each(&[Does::Hides])),
        ])
        .operands(each(&[Does::Hides]))
        .examples(&[
            ("certutil -L -d sql:.", &[]),
            ("certutil -hashfile a SHA256", &["reads a"]),
            ("certutil -urlcache -f x", &["opaque language"]),
        ]),
    // Who may do what with a file.
    model(&["icacls"])
        .style(Style::Plain)
        .flags(&[joined(
            &["/grant", "/deny", "/setowner", "/inheritance", "/remove", "/reset"],
            &[],
        )
        .operands(leading(&[&[CHANGES]], &[]))])
        .operands(leading(&[&[LISTS]], &[]))
        .examples(&[("icacls a", &["lists a"]), ("icacls a /grant x", &["changes a"])]),
    model(&["attrib"])
        .style(Style::Plain)
        .operands(each(&[CHANGES]))
        .flags(&[joined(&["+", "/"], &[])])
        .examples(&[("attrib +r a", &["changes a"])]),
    model(&[
        "reg",
        "regedit",
        "wmic",
        "rundll32",
        "regsvr32",
        "mshta",
        "bitsadmin",
        "cscript",
        "wscript",
        "installutil",
        "msiexec",
        "cipher",
        "takeown",
        "runas",
        "psexec",
        "nltest",
    ])
    .subs(&[
        model(&["query"]).operands(each(&[
            Does::MarksIfContains("password", Mark::Credentials),
            Does::MarksIfContains("SAM", Mark::Credentials),
        ])),
        model(&["export", "-hashfile", "-dump"]),
    ])
    .examples(&[("reg query HKLM /f password /s", &["marks credentials"])])
    .operands(each(&[Does::Hides])),
];

/// What is on a disk is lost.
const ERASES: Use = &[WRITES, mark(Mark::Disk)];
/// Verbs after which a pool, a volume or what is in it is gone.
const LOSES: Use = &[Does::MarksIf(
    &[
        "destroy",
        "delete",
        "rollback",
        "export",
        "remove",
        "offline",
        "detach",
        "labelclear",
        "rm",
        "purge",
        "zap",
        "wipe",
        "reset",
        "replace",
        "stop",
        "rmfailed",
        "rmsnap",
    ],
    Mark::Disk,
)];

/// What stops, if it guards the machine.
pub(super) const STOPS: Use = &[Does::Stops];

/// Services that let others in, or traffic out by another way.
const REMOTE_UNITS: &[&str] = &[
    "tor",
    "tor.service",
    "teamviewerd",
    "anydesk",
    "anydesk.service",
    "rustdesk",
    "xrdp",
    "vncserver",
    "x11vnc",
    "cloudflared",
    "ngrok",
    "frpc",
    "frps",
    "telnetd",
    "inetd",
    "xinetd",
    "dropbear",
];

/// Settings of macOS that run something at login, or that guard the machine.
const RUNS_AT_LOGIN: Use = &[
    Does::MarksIfContains("loginwindow", Mark::Schedules),
    Does::MarksIfContains("LoginHook", Mark::Schedules),
    Does::MarksIfContains("loginitems", Mark::Schedules),
    Does::MarksIfContains("LaunchAgents", Mark::Schedules),
    Does::MarksIfContains("LaunchDaemons", Mark::Schedules),
    Does::MarksIfContains("LSQuarantine", Mark::Schedules),
    Does::MarksIfContains("LSHandlers", Mark::Schedules),
    Does::MarksIfContains("com.apple.alf", Mark::Schedules),
    Does::MarksIfContains("SoftwareUpdate", Mark::Schedules),
    Does::MarksIfContains("askForPassword", Mark::Schedules),
    Does::MarksIfContains("com.apple.security", Mark::Schedules),
    Does::MarksIfContains("com.apple.Terminal", Mark::Schedules),
    Does::MarksIfContains("iterm2", Mark::Schedules),
    Does::MarksIfContains("RemoteManagement", Mark::Schedules),
    Does::MarksIfContains("screensharing", Mark::Schedules),
    Does::MarksIfContains("NSUserScriptTask", Mark::Schedules),
];
