//! Accounts of users, remote logins, and programs that control a guard of the machine.

use crate::marks::Mark;
use crate::model::*;
use crate::programs::system::STOPS;

const GUARD: Use = &[mark(Mark::Guard)];

pub(crate) const MODELS: &[Model] = &[
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
        "sysadminctl",
        "dseditgroup",
        "newuidmap",
        "newgidmap",
        "smbpasswd",
        // Of FreeBSD and macOS.
        "pw",
        "rmuser",
        "dsenableroot",
        "dsconfigad",
        "createmobileaccount",
        "pwpolicy",
        // Rights of remote management.
        "kickstart",
        // Of directories and other families.
        "luseradd",
        "lusermod",
        "luserdel",
        "lpasswd",
        "ipa",
        "kadmin",
        "kadmin.local",
        "realm",
        "authselect",
        "authconfig",
        "pam-auth-update",
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
        ("passwd --status dev", &[]),
        ("pw useradd x", &["marks accounts"]),
        ("dsenableroot -u a -p b -r c", &["marks accounts"]),
    ]),
    // A noun and a verb.
    model(&["samba-tool"])
        .operands(leading(&[CHANGES_ACCOUNTS, CHANGES_ACCOUNTS, CHANGES_ACCOUNTS], &[]))
        .examples(&[
            ("samba-tool user list", &[]),
            ("samba-tool user create x y", &["marks accounts"]),
        ]),
    // Paths of the directory are no files.
    model(&["dscl", "dscacheutil", "dsmemberutil"])
        .style(Style::SingleDash)
        .flags(&[
            switch(&["-list", "-read", "-search", "-readall", "-q", "-f"], &[]),
            switch(
                &["-create", "-createpl", "-append", "-merge", "-change", "-delete", "-passwd"],
                &[mark(Mark::Accounts)],
            ),
            takes(&["-u", "-P", "-p"], &[]),
        ])
        .operands(each(&[
            Does::MarksIf(&["create", "append", "delete", "passwd"], Mark::Accounts),
            Does::MarksIfContains("ShadowHashData", Mark::Credentials),
        ]))
        .examples(&[
            ("dscl . -list /Users", &[]),
            ("dscl . -create /Users/x", &["marks accounts"]),
            ("dscl . -read /Users/x dsAttrTypeNative:ShadowHashData", &["marks credentials"]),
        ]),
    model(&["net"])
        .style(Style::Plain)
        .subs(&[
            // A name alone is a question.
            model(&["user", "users", "localgroup", "group", "accounts"]).operands(leading(
                &[&[Does::MarksIfContains("/", Mark::Accounts)]],
                &[mark(Mark::Accounts)],
            )),
            model(&["stop"]).operands(each(STOPS)).always(&[mark(Mark::Kills)]),
            model(&["share"]).operands(each(GUARD)),
            model(&["start", "use", "view", "statistics", "time", "config", "help"]),
        ])
        .examples(&[
            ("net user x y /add", &["marks accounts"]),
            ("net user", &[]),
            ("net user dev", &[]),
            ("net accounts /minpwlen:0", &["marks accounts"]),
            ("net stop WinDefend", &["marks guard kills"]),
        ]),
    // Passwords of a web server, in a file.
    model(&["htpasswd", "htdigest"])
        .flags(&[
            switch(&["-n"], &[]).operands(each(&[])),
            switch(&["-c", "-b", "-B", "-m", "-D", "-v", "-i"], &[]),
            takes(&["-C", "-r"], &[]),
        ])
        .operands(leading(&[&[WRITES]], &[]))
        .examples(&[("htpasswd -cb a dev x", &["writes a"]), ("htpasswd -nb dev x", &[])]),
    // Remote logins of macOS, among other settings.
    model(&["systemsetup"])
        .style(Style::SingleDash)
        .flags(&[
            takes(
                &["-setremotelogin", "-setremoteappleevents"],
                &[Does::MarksIf(&["on", "On", "ON"], Mark::Accounts)],
            ),
            takes(&["-setusingnetworktime", "-setdate", "-settime"], GUARD),
        ])
        .examples(&[
            ("systemsetup -setremotelogin on", &["marks accounts"]),
            ("systemsetup -gettimezone", &[]),
        ]),
    model(&["fdesetup"])
        .subs(&[
            model(&["status", "list", "isactive", "supportsauthrestart", "version"]),
            model(&["disable", "remove", "authrestart"]).always(GUARD),
            model(&["changerecovery", "add", "sync", "enable"]).always(&[mark(Mark::Accounts)]),
        ])
        .examples(&[("fdesetup status", &[]), ("fdesetup disable", &["marks guard"])]),
    // Programs that control a guard.
    model(&[
        "mdatp",
        "falconctl",
        "sentinelctl",
        "cbagentctl",
        "cytool",
        "dsa_control",
        "wazuh-control",
        "ossec-control",
        "osqueryctl",
        "elastic-agent",
        "filebeat",
        "auditbeat",
        "splunk",
        "nessuscli",
        "santactl",
        "jamf",
        "crowdsec",
        "cscli",
        "mpcmdrun",
        "fltmc",
        "systemextensionsctl",
        "esxcli",
        "savdctl",
        "avgctl",
        "uptycs",
    ])
    .flags(&[
        takes(&["--value", "--enabled"], TURNS_OFF),
        switch(&["-d", "--del-cid", "-RemoveDefinitions", "--remove-aid"], GUARD),
    ])
    .operands(each(TURNS_OFF))
    .examples(&[
        ("mdatp config real-time-protection --value disabled", &["marks guard"]),
        ("mdatp health", &[]),
        ("falconctl unload", &["marks guard"]),
        ("wazuh-control stop", &["marks guard"]),
        ("splunk search x", &[]),
    ]),
];

/// Verbs that change a directory of users.
const CHANGES_ACCOUNTS: Use = &[Does::MarksIf(
    &[
        "add",
        "addmembers",
        "addunixattrs",
        "create",
        "delete",
        "demote",
        "disable",
        "edit",
        "enable",
        "getpassword",
        "join",
        "move",
        "password",
        "provision",
        "removemembers",
        "rename",
        "restore",
        "set",
        "setexpiry",
        "setpassword",
        "setprimarygroup",
        "syncpasswords",
        "transfer",
        "unlock",
    ],
    Mark::Accounts,
)];

/// Words with which a guard is turned off.
const TURNS_OFF: Use = &[Does::MarksIf(
    &[
        "stop",
        "unload",
        "uninstall",
        "disable",
        "disabled",
        "off",
        "false",
        "remove",
        "delete",
        "unprotect",
        "exclusion",
        "removeFramework",
        "reset",
        "unprotected",
    ],
    Mark::Guard,
)];
