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
    model(&["systemctl", "rc-service", "service", "sv", "initctl"])
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
                "start",
                "restart",
                "reload",
                "try-restart",
                "daemon-reload",
                "reset-failed",
                "condrestart",
            ]),
            model(&["stop", "kill", "disable", "mask", "down", "exit", "force-stop"])
                .always(&[mark(Mark::Kills)])
                .operands(each(GUARDS)),
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
                .operands(each(GUARDS))
                .always(&[mark(Mark::Kills)]),
            model(&["setenv", "config"]).always(SCHEDULE),
        ])
        .examples(&[("launchctl list", &[]), ("launchctl load x.plist", &["marks schedules"])]),
    model(&["sc", "sc.exe"])
        .style(Style::Plain)
        .subs(&[
            model(&["query", "queryex", "qc", "start", "interrogate"]),
            model(&["stop", "delete", "pause"]).operands(each(GUARDS)),
            model(&["create", "config", "failure", "sdset"]).always(SCHEDULE),
        ])
        .examples(&[
            ("sc query", &[]),
            ("sc stop WinDefend", &["marks guard"]),
            ("sc create x binPath= y", &["marks schedules"]),
        ]),
    model(&[
        "update-rc.d",
        "chkconfig",
        "rc-update",
        "insserv",
        "anacron",
        "crond",
        "atd",
        "schtasks",
        "loginctl",
    ])
    .subs(&[
        model(&[
            "list",
            "--list",
            "show",
            "/query",
            "query",
            "read",
            "find",
            "domains",
            "session-status",
            "user-status",
            "list-sessions",
        ]),
        model(&["terminate-user", "kill-user"]).always(&[mark(Mark::Power)]),
        model(&["enable-linger", "write", "delete", "/create", "create", "add", "config"])
            .always(SCHEDULE),
    ])
    .examples(&[("loginctl enable-linger", &["marks schedules"])]),
    model(&["defaults"])
        .style(Style::Plain)
        .operands(each(&[
            Does::MarksIfContains("LoginHook", Mark::Schedules),
            Does::MarksIfContains("LogoutHook", Mark::Schedules),
            Does::MarksIfContains("LSQuarantine", Mark::Guard),
            Does::MarksIfContains("askForPassword", Mark::Guard),
            Does::MarksIfContains("com.apple.alf", Mark::Guard),
            Does::MarksIfContains("AutomaticCheckEnabled", Mark::Guard),
            Does::MarksIfContains("ConfigDataInstall", Mark::Guard),
            Does::MarksIfContains("DisableLibraryValidation", Mark::Guard),
            Does::MarksIfContains("/Library/Preferences", Mark::Schedules),
            Does::MarksIfContains("com.apple.loginwindow", Mark::Schedules),
            Does::MarksIfContains("com.apple.loginitems", Mark::Schedules),
        ]))
        .examples(&[
            ("defaults read com.x", &[]),
            ("defaults write com.apple.dock autohide -bool true", &[]),
            ("defaults write com.apple.loginwindow LoginHook x", &["marks schedules"]),
        ]),
    model(&["systemsetup"])
        .style(Style::Plain)
        .operands(leading(
            &[&[Does::MarksIf(
                &["-setremotelogin", "-setremoteappleevents", "-setusingnetworktime"],
                Mark::Guard,
            )]],
            &[],
        ))
        .examples(&[("systemsetup -setremotelogin on", &["marks guard"])]),
    model(&[
        "useradd",
        "adduser",
        "userdel",
        "deluser",
        "usermod",
        "groupadd",
        "addgroup",
        "groupdel",
        "groupmod",
        "gpasswd",
        "newgrp",
        "passwd",
        "chpasswd",
        "chsh",
        "chfn",
        "vipw",
        "vigr",
        "pwck",
        "pwconv",
        "newusers",
        "chage",
        "dscl",
        "sysadminctl",
        "dseditgroup",
        "newuidmap",
        "newgidmap",
        "smbpasswd",
        "htpasswd",
    ])
    .flags(&[takes(
        &[
            "--groups",
            "-G",
            "--gid",
            "-g",
            "--uid",
            "-u",
            "--shell",
            "-s",
            "--home",
            "-d",
            "--comment",
            "-c",
            "-a",
            "--password",
            "-p",
        ],
        &[],
    )])
    .always(&[mark(Mark::Accounts)])
    .examples(&[
        ("usermod -aG docker dev", &["marks accounts"]),
        ("passwd -d root", &["marks accounts"]),
    ]),
    model(&["net"])
        .style(Style::Plain)
        .operands(leading(
            &[
                &[Does::MarksIf(&["stop", "share", "accounts"], Mark::Guard)],
                &[],
                &[mark(Mark::Accounts)],
            ],
            &[],
        ))
        .examples(&[
            ("net user", &[]),
            ("net user x y /add", &["marks accounts"]),
            ("net localgroup administrators x /add", &["marks accounts"]),
            ("net stop WinDefend", &["marks guard"]),
        ]),
    model(&["spctl"])
        .style(Style::SingleDash)
        .flags(&[switch(
            &["--master-disable", "--global-disable", "--disable", "--add", "--remove"],
            &[mark(Mark::Guard)],
        )])
        .examples(&[("spctl --assess -vv x", &[]), ("spctl --master-disable", &["marks guard"])]),
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
        "iptables",
        "ip6tables",
        "iptables-restore",
        "nft",
        "ebtables",
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
        "restorecon",
        "bcdedit",
        "vssadmin",
        "wevtutil",
        "socketfilterfw",
        "kextload",
        "kextunload",
        "systemextensionsctl",
        "nvram",
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
                "--add-port",
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
        ("iptables -F", &["marks guard"]),
        ("iptables -L", &[]),
        ("ufw status", &[]),
        ("ufw disable", &["marks guard"]),
    ]),
    model(&["insmod", "modprobe", "rmmod", "kexec", "depmod", "kmod", "dkms", "kmutil"])
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
    .always(&[mark(Mark::Kills)])
    .examples(&[("kill -9 12", &["marks kills"]), ("pkill -f node", &["marks kills"])]),
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
        "wipefs",
        "blkdiscard",
        "format",
        "badblocks",
        "fsck",
        "e2fsck",
        "resize2fs",
        "tune2fs",
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
        ("wipefs -a /dev/sda", &["writes /dev/sda", "marks disk"]),
    ]),
    model(&[
        "fdisk",
        "sfdisk",
        "cfdisk",
        "gdisk",
        "sgdisk",
        "parted",
        "partprobe",
        "hdparm",
        "cryptsetup",
        "mdadm",
        "nvme",
        "sg_format",
        "losetup",
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
            "smart-log",
            "ls",
            "table",
            "verifyVolume",
        ]),
        model(&["apfs"]).subs(&[
            model(&["deleteContainer", "deleteVolume", "eraseVolume"]).always(&[mark(Mark::Disk)]),
            model(&["list", "listSnapshots", "listUsers"]),
        ]),
    ])
    .operands(each(&[WRITES, mark(Mark::Disk)]))
    .examples(&[
        ("diskutil apfs deleteContainer disk1", &["marks disk"]),
        ("fdisk -l", &[]),
        ("sgdisk --zap-all /dev/sda", &["writes /dev/sda", "marks disk"]),
        ("diskutil list", &[]),
    ]),
    model(&[
        "lvremove",
        "vgremove",
        "pvremove",
        "lvreduce",
        "lvconvert",
        "vgreduce",
        "zfs",
        "zpool",
        "btrfs",
        "stratis",
        "gluster",
        "rbd",
        "ceph",
    ])
    .subs(&[
        model(&[
            "list",
            "status",
            "get",
            "iostat",
            "history",
            "filesystem",
            "device",
            "property",
            "info",
            "ls",
            "health",
            "df",
            "scrub",
            "snapshot",
            "create",
            "mount",
            "send",
            "receive",
            "clone",
        ]),
        model(&["subvolume"]).subs(&[
            model(&["delete"]).operands(each(&[DELETES_TREE])).always(DISK),
            model(&["list", "show", "create", "snapshot"]),
        ]),
        model(&["destroy", "rollback", "export", "remove", "offline", "labelclear", "rm", "purge"])
            .always(DISK),
    ])
    .operands(each(DISK))
    .examples(&[
        ("zpool status", &[]),
        ("zfs destroy -r tank", &["marks disk"]),
        ("lvremove -f vg0/data", &["marks disk"]),
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
    ])
    .examples(&[("lvs", &[])]),
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
            takes(&["-p", "-d", "-s", "-k", "-h", "-D"], &[]),
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
        model(&["startup", "save"]).always(SCHEDULE),
        // `pm2 env 0` prints the environment of a process.
        model(&["env"]).always(&[mark(Mark::Credentials)]),
        model(&["stop", "delete", "kill"]).always(&[mark(Mark::Kills)]),
    ])
    .examples(&[("nginx -t", &[]), ("pm2 list", &[]), ("pm2 startup", &["marks schedules"])]),
    model(&["certutil"])
        .style(Style::SingleDash)
        .flags(&[switch(&["-hashfile", "-verify", "-dump", "-viewstore", "-store"], &[])
            .operands(leading(&[&[READS]], &[]))])
        .operands(each(&[Does::Hides]))
        .examples(&[
            ("certutil -hashfile a SHA256", &["reads a"]),
            ("certutil -urlcache -f x", &["opaque language"]),
        ]),
    model(&["icacls"]).style(Style::Plain).operands(leading(&[&[LISTS]], &[Does::Hides])).examples(
        &[("icacls a", &["lists a"]), ("icacls a /grant x", &["lists a", "opaque language"])],
    ),
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
        "attrib",
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

/// Parts of the names of services that guard a machine.
const GUARDS: &[Does] = &[
    Does::MarksIf(&["falco", "syslog", "rsyslog.service", "Sense", "aide", "cbagent"], Mark::Guard),
    Does::MarksIfContains("auditd", Mark::Guard),
    Does::MarksIfContains("auditbeat", Mark::Guard),
    Does::MarksIfContains("audit-agent", Mark::Guard),
    Does::MarksIfContains("rsyslog", Mark::Guard),
    Does::MarksIfContains("syslog-ng", Mark::Guard),
    Does::MarksIfContains("syslog.s", Mark::Guard),
    Does::MarksIfContains("journald", Mark::Guard),
    Does::MarksIfContains("EventLog", Mark::Guard),
    Does::MarksIfContains("eventlog", Mark::Guard),
    Does::MarksIfContains("apparmor", Mark::Guard),
    Does::MarksIfContains("selinux", Mark::Guard),
    Does::MarksIfContains("firewall", Mark::Guard),
    Does::MarksIfContains("ufw", Mark::Guard),
    Does::MarksIfContains("iptables", Mark::Guard),
    Does::MarksIfContains("nftables", Mark::Guard),
    Does::MarksIfContains("ip6tables", Mark::Guard),
    Does::MarksIfContains("fail2ban", Mark::Guard),
    Does::MarksIfContains("crowdsec", Mark::Guard),
    Does::MarksIfContains("sshguard", Mark::Guard),
    Does::MarksIfContains("denyhosts", Mark::Guard),
    Does::MarksIfContains("crowdstrike", Mark::Guard),
    Does::MarksIfContains("CrowdStrike", Mark::Guard),
    Does::MarksIfContains("falcon", Mark::Guard),
    Does::MarksIfContains("falco-", Mark::Guard),
    Does::MarksIfContains("falco.s", Mark::Guard),
    Does::MarksIfContains("sentinelone", Mark::Guard),
    Does::MarksIfContains("SentinelOne", Mark::Guard),
    Does::MarksIfContains("sentinelctl", Mark::Guard),
    Does::MarksIfContains("mdatp", Mark::Guard),
    Does::MarksIfContains("wdavdaemon", Mark::Guard),
    Does::MarksIfContains("WinDefend", Mark::Guard),
    Does::MarksIfContains("windefend", Mark::Guard),
    Does::MarksIfContains("Defender", Mark::Guard),
    Does::MarksIfContains("defender", Mark::Guard),
    Does::MarksIfContains("mpssvc", Mark::Guard),
    Does::MarksIfContains("wscsvc", Mark::Guard),
    Does::MarksIfContains("SecurityHealth", Mark::Guard),
    Does::MarksIfContains("wazuh", Mark::Guard),
    Does::MarksIfContains("ossec", Mark::Guard),
    Does::MarksIfContains("osquery", Mark::Guard),
    Does::MarksIfContains("carbonblack", Mark::Guard),
    Does::MarksIfContains("CarbonBlack", Mark::Guard),
    Does::MarksIfContains("cbagentd", Mark::Guard),
    Does::MarksIfContains("cbdaemon", Mark::Guard),
    Does::MarksIfContains("sophos", Mark::Guard),
    Does::MarksIfContains("Sophos", Mark::Guard),
    Does::MarksIfContains("mcafee", Mark::Guard),
    Does::MarksIfContains("McAfee", Mark::Guard),
    Does::MarksIfContains("trellix", Mark::Guard),
    Does::MarksIfContains("cylance", Mark::Guard),
    Does::MarksIfContains("Cylance", Mark::Guard),
    Does::MarksIfContains("tanium", Mark::Guard),
    Does::MarksIfContains("Tanium", Mark::Guard),
    Does::MarksIfContains("elastic-agent", Mark::Guard),
    Does::MarksIfContains("elastic-endpoint", Mark::Guard),
    Does::MarksIfContains("clamav", Mark::Guard),
    Does::MarksIfContains("clamd", Mark::Guard),
    Does::MarksIfContains("freshclam", Mark::Guard),
    Does::MarksIfContains("antivirus", Mark::Guard),
    Does::MarksIfContains("santa", Mark::Guard),
    Does::MarksIfContains("jamf", Mark::Guard),
    Does::MarksIfContains("Jamf", Mark::Guard),
    Does::MarksIfContains("kandji", Mark::Guard),
    Does::MarksIfContains("littlesnitch", Mark::Guard),
    Does::MarksIfContains("LittleSnitch", Mark::Guard),
    Does::MarksIfContains("lulu.daemon", Mark::Guard),
    Does::MarksIfContains("snort", Mark::Guard),
    Does::MarksIfContains("suricata", Mark::Guard),
    Does::MarksIfContains("zeek", Mark::Guard),
    Does::MarksIfContains("tripwire", Mark::Guard),
    Does::MarksIfContains("aide-check", Mark::Guard),
    Does::MarksIfContains("samhain", Mark::Guard),
    Does::MarksIfContains("rkhunter", Mark::Guard),
    Does::MarksIfContains("sysmon", Mark::Guard),
    Does::MarksIfContains("Sysmon", Mark::Guard),
    Does::MarksIfContains("velociraptor", Mark::Guard),
    Does::MarksIfContains("qualys", Mark::Guard),
    Does::MarksIfContains("nessus", Mark::Guard),
    Does::MarksIfContains("watchdog", Mark::Guard),
    Does::MarksIfContains("callgate", Mark::Guard),
    Does::MarksIfContains("opensnitch", Mark::Guard),
];
