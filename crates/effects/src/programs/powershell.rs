//! Commands of PowerShell, by their names in lower case: look-ups ignore case.

use crate::effect::Change;
use crate::marks::Mark;
use crate::model::*;

const PATH: &[&str] = &["-Path", "-LiteralPath", "-path", "-literalpath", "-FilePath", "-filepath"];
/// Parameters that take a value and do nothing.
const OTHER: Flag = takes(
    &[
        "-ErrorAction",
        "-erroraction",
        "-Encoding",
        "-encoding",
        "-Filter",
        "-filter",
        "-Include",
        "-include",
        "-Exclude",
        "-exclude",
        "-Depth",
        "-depth",
        "-TotalCount",
        "-totalcount",
        "-first",
        "-pattern",
        "-credential",
        "-Tail",
        "-tail",
        "-Property",
        "-property",
        "-Name",
        "-name",
    ],
    &[],
);

/// What stops, if it guards the machine.
const GUARD_SERVICES: Use = &[Does::Stops];

const READ_FLAGS: &[Flag] = &[takes(PATH, &[READS]), OTHER];
const WRITE_FLAGS: &[Flag] = &[
    takes(PATH, &[WRITES]),
    takes(&["-Value", "-value", "-ItemType", "-itemtype", "-InputObject", "-inputobject"], &[]),
    OTHER,
];
const COPY_FLAGS: &[Flag] = &[
    takes(PATH, &[READS_TREE]),
    takes(&["-Destination", "-destination", "-DestinationPath", "-destinationpath"], &[MAKES]),
    OTHER,
];

const fn reads(names: &'static [&'static str]) -> Model {
    model(names).style(Style::SingleDash).flags(READ_FLAGS).operands(each(&[READS]))
}

const fn writes(names: &'static [&'static str]) -> Model {
    model(names).style(Style::SingleDash).flags(WRITE_FLAGS).operands(leading(&[&[WRITES]], &[]))
}

const fn marked(names: &'static [&'static str], does: Use) -> Model {
    model(names).style(Style::SingleDash).always(does)
}

const fn copies(names: &'static [&'static str]) -> Model {
    model(names)
        .style(Style::SingleDash)
        .flags(COPY_FLAGS)
        .operands(leading(&[&[READS_TREE], &[MAKES]], &[]))
}

pub(crate) const MODELS: &[Model] = &[
    reads(&[
        "get-content",
        "gc",
        "select-string",
        "import-csv",
        "import-clixml",
        "get-filehash",
        "format-hex",
    ])
    .examples(&[("Get-Content a", &["reads a"]), ("Get-Content -Path a", &["reads a"])]),
    model(&[
        "get-childitem",
        "gci",
        "get-item",
        "gi",
        "test-path",
        "resolve-path",
        "get-itemproperty",
        "get-acl",
        "split-path",
        "join-path",
    ])
    .style(Style::SingleDash)
    .flags(&[takes(PATH, &[LISTS]), OTHER])
    .operands(each(&[LISTS]))
    .examples(&[("Get-ChildItem a", &["lists a"]), ("Test-Path a", &["lists a"])]),
    model(&["remove-item", "ri"])
        .style(Style::SingleDash)
        .flags(&[takes(PATH, &[DELETES_TREE]), OTHER])
        .operands(each(&[DELETES_TREE]))
        .examples(&[
            ("Remove-Item -Recurse -Force a", &["deletes-tree a"]),
            ("Remove-Item -Path a", &["deletes-tree a"]),
        ]),
    model(&["clear-content", "clc"])
        .style(Style::SingleDash)
        .flags(&[takes(PATH, &[Does::Writes(Change::Empty)]), OTHER])
        .operands(each(&[Does::Writes(Change::Empty)]))
        .examples(&[("Clear-Content a", &["empties a"])]),
    writes(&[
        "set-content",
        "add-content",
        "ac",
        "out-file",
        "new-item",
        "ni",
        "export-csv",
        "export-clixml",
        "tee-object",
        "set-acl",
    ])
    .examples(&[("Set-Content -Path a -Value b", &["writes a"]), ("Out-File a", &["writes a"])]),
    copies(&["copy-item", "cpi", "copy", "compress-archive", "expand-archive"])
        .examples(&[("Copy-Item a b", &["reads-tree a", "makes b"])]),
    model(&["move-item", "mi", "rename-item", "rni"])
        .style(Style::SingleDash)
        .flags(&[
            takes(PATH, &[READS_TREE, DELETES_TREE]),
            takes(&["-Destination", "-destination", "-NewName", "-newname"], &[MAKES]),
            OTHER,
        ])
        .operands(leading(&[&[READS_TREE, DELETES_TREE], &[MAKES]], &[]))
        .examples(&[("Move-Item a b", &["reads-tree a", "deletes-tree a", "makes b"])]),
    model(&["start-bitstransfer"])
        .style(Style::SingleDash)
        .flags(&[
            takes(&["-Source", "-source"], &[FETCHES]),
            takes(&["-Destination", "-destination"], &[WRITES]),
            takes(&["-TransferType", "-transfertype", "-Priority", "-priority"], &[]),
        ])
        .operands(leading(&[&[FETCHES], &[WRITES]], &[]))
        .examples(&[(
            "Start-BitsTransfer https://h.example/x y",
            &["fetches h.example:443", "writes y"],
        )]),
    model(&["send-mailmessage"])
        .style(Style::SingleDash)
        .flags(&[
            takes(&["-Attachments", "-attachments"], &[READS]),
            takes(&["-SmtpServer", "-smtpserver"], &[SENDS]),
            takes(&["-To", "-to", "-From", "-from", "-Subject", "-subject", "-Body", "-body"], &[]),
        ])
        .examples(&[(
            "Send-MailMessage -To a@b.example -Attachments c -SmtpServer h.example",
            &["reads c", "sends h.example"],
        )]),
    model(&["invoke-sqlcmd"])
        .style(Style::SingleDash)
        .flags(&[
            takes(&["-Query", "-query"], &[Does::Sql]),
            takes(&["-InputFile", "-inputfile"], &[READS]),
            takes(&["-ServerInstance", "-serverinstance", "-Database", "-database"], &[]),
        ])
        .examples(&[("Invoke-Sqlcmd -Query 'SELECT 1'", &["sql SELECT 1"])]),
    model(&["register-psrepository", "set-psrepository", "register-packagesource"])
        .style(Style::SingleDash)
        .flags(&[
            takes(
                &["-SourceLocation", "-sourcelocation", "-Location", "-location"],
                &[Does::Connects(crate::effect::Purpose::Execute)],
            ),
            OTHER,
        ])
        .examples(&[(
            "Register-PSRepository -Name x -SourceLocation https://h.example/api",
            &["executes h.example:443"],
        )]),
    model(&["stop-service", "spsv", "suspend-service", "remove-service"])
        .style(Style::SingleDash)
        .flags(&[takes(&["-Name", "-name", "-DisplayName", "-displayname"], GUARD_SERVICES)])
        .operands(each(GUARD_SERVICES))
        .always(&[mark(Mark::Kills)])
        .examples(&[
            ("Stop-Service WinDefend", &["marks guard kills"]),
            ("Stop-Service -Name postgresql", &["marks kills"]),
        ]),
    model(&["setx"])
        .style(Style::Plain)
        .operands(leading(&[&[Does::MarksIf(&["PATH", "Path", "path"], Mark::Schedules)]], &[]))
        .examples(&[("setx PATH x", &["marks schedules"]), ("setx EDITOR code", &[])]),
    model(&["auditpol", "wbadmin", "winrm"])
        .style(Style::Plain)
        .operands(leading(
            &[&[Does::MarksIf(
                &["/set", "/clear", "/remove", "delete", "quickconfig", "set"],
                Mark::Guard,
            )]],
            &[],
        ))
        .examples(&[
            ("auditpol /set /category:x", &["marks guard"]),
            ("wbadmin get versions", &[]),
            ("winrm quickconfig -q", &["marks guard"]),
        ]),
    model(&["invoke-wmimethod", "invoke-cimmethod"])
        .style(Style::SingleDash)
        .flags(&[
            takes(&["-ArgumentList", "-argumentlist", "-Arguments", "-arguments"], &[PROGRAM]),
            takes(
                &["-Class", "-class", "-ClassName", "-classname", "-MethodName", "-methodname"],
                &[],
            ),
            OTHER,
        ])
        .examples(&[(
            "Invoke-WmiMethod -Class Win32_Process -Name Create -ArgumentList 'cat a'",
            &["runs cat a", "reads a"],
        )]),
    model(&["manage-bde"])
        .style(Style::SingleDash)
        .flags(&[switch(&["-off", "-pause", "-forcerecovery"], &[mark(Mark::Guard)])])
        .examples(&[("manage-bde -off C:", &["marks guard"]), ("manage-bde -status", &[])]),
    marked(&["vaultcmd", "ntdsutil", "out-minidump"], &[mark(Mark::Credentials)])
        .examples(&[("ntdsutil ifm", &["marks credentials"])]),
    marked(&["import-certificate", "import-pfxcertificate"], &[mark(Mark::Network)])
        .examples(&[("Import-Certificate x.cer", &["marks network"])]),
    model(&["set-executionpolicy"])
        .style(Style::SingleDash)
        .flags(&[takes(&["-Scope", "-scope", "-ExecutionPolicy", "-executionpolicy"], &[])])
        .examples(&[
            ("Set-ExecutionPolicy Unrestricted", &["marks guard"]),
            ("Set-ExecutionPolicy RemoteSigned -Scope CurrentUser", &[]),
            ("Set-ExecutionPolicy Bypass -Scope Process", &[]),
        ]),
    model(&["invoke-webrequest", "iwr", "invoke-restmethod", "irm"])
        .style(Style::SingleDash)
        .flags(&[
            takes(&["-Uri", "-uri", "-Source", "-source"], &[FETCHES]),
            takes(&["-OutFile", "-outfile", "-Destination", "-destination"], &[WRITES]),
            takes(&["-InFile", "-infile"], &[READS, mark(Mark::Publishes)])
                .operands(each(&[SENDS])),
            takes(
                &[
                    "-Method",
                    "-method",
                    "-Headers",
                    "-headers",
                    "-ContentType",
                    "-contenttype",
                    "-TimeoutSec",
                    "-timeoutsec",
                ],
                &[],
            ),
            takes(&["-Body", "-body", "-Form", "-form"], &[]).operands(each(&[SENDS])),
            takes(&["-Proxy", "-proxy"], &[SENDS]),
        ])
        .operands(each(&[FETCHES]))
        .examples(&[
            (
                "Invoke-WebRequest -Uri https://h.example/x -OutFile a",
                &["fetches h.example:443", "writes a"],
            ),
            ("iwr https://h.example", &["fetches h.example:443"]),
        ]),
    model(&["invoke-expression", "invoke-command", "icm"])
        .style(Style::SingleDash)
        .flags(&[takes(
            &["-Command", "-command", "-ScriptBlock", "-scriptblock"],
            &[Does::Code(Language::PowerShell)],
        )])
        .operands(each(&[Does::Code(Language::PowerShell)]))
        .bare(&[Does::RunsInput(Language::PowerShell)]),
    model(&["start-process", "saps"])
        .style(Style::SingleDash)
        .flags(&[
            takes(PATH, &[PROGRAM]),
            takes(
                &["-ArgumentList", "-argumentlist", "-WorkingDirectory", "-workingdirectory"],
                &[],
            ),
            takes(&["-Verb", "-verb"], &[Does::MarksIf(&["RunAs", "runas"], Mark::Privilege)]),
        ])
        .operands(leading(&[&[PROGRAM]], &[]))
        .examples(&[("Start-Process x -Verb RunAs", &["runs x", "marks privilege"])]),
    model(&["import-module", "ipmo", "install-module", "install-package", "install-script"])
        .style(Style::SingleDash)
        .flags(&[
            takes(&["-Repository", "-repository"], &[Does::Package(Registry::Other)]),
            takes(&["-Source", "-source"], &[Does::Connects(crate::effect::Purpose::Execute)]),
            OTHER,
        ])
        .operands(each(&[Does::Package(Registry::Other)]))
        .examples(&[("Install-Package -Source https://h.example x", &["executes h.example:443"])]),
    marked(
        &[
            "set-mppreference",
            "new-netfirewallrule",
            "set-netfirewallrule",
            "enable-netfirewallrule",
            "enable-psremoting",
            "enable-wsmancredssp",
            "set-smbserverconfiguration",
            "new-smbshare",
            "grant-smbshareaccess",
            "disable-bitlocker",
            "suspend-bitlocker",
            "disable-computerrestore",
            "uninstall-windowsfeature",
            "set-processmitigation",
            "add-mppreference",
            "disable-windowsoptionalfeature",
            "set-netfirewallprofile",
            "disable-netfirewallrule",
            "clear-eventlog",
            "remove-eventlog",
            "unblock-file",
            "clear-history",
        ],
        &[mark(Mark::Guard)],
    )
    .examples(&[("Set-MpPreference -DisableRealtimeMonitoring 1", &["marks guard"])]),
    marked(
        &[
            "register-scheduledtask",
            "new-scheduledtask",
            "new-service",
            "set-service",
            "set-itemproperty",
            "new-itemproperty",
            "remove-itemproperty",
            "set-alias",
            "register-objectevent",
        ],
        &[mark(Mark::Schedules)],
    )
    .examples(&[("New-Service x", &["marks schedules"])]),
    marked(
        &[
            "format-volume",
            "clear-disk",
            "initialize-disk",
            "remove-partition",
            "reset-physicaldisk",
        ],
        &[mark(Mark::Disk)],
    )
    .examples(&[("Format-Volume C", &["marks disk"])]),
    model(&["stop-process", "spps", "stop-job"])
        .style(Style::SingleDash)
        .flags(&[takes(&["-Name", "-name", "-ProcessName", "-processname"], GUARD_SERVICES)])
        .operands(each(GUARD_SERVICES))
        .always(&[mark(Mark::Kills)])
        .examples(&[
            ("Stop-Process -Id 1", &["marks kills"]),
            ("Stop-Process -Name MsMpEng -Force", &["marks guard kills"]),
        ]),
    marked(&["get-clipboard"], &[mark(Mark::Spies)])
        .examples(&[("Get-Clipboard", &["marks spies"])]),
    marked(&["restart-computer", "stop-computer"], &[mark(Mark::Power)])
        .examples(&[("Restart-Computer", &["marks power"])]),
    marked(
        &["get-credential", "convertfrom-securestring", "get-secret"],
        &[mark(Mark::Credentials)],
    )
    .examples(&[("Get-Secret x", &["marks credentials"])]),
    marked(
        &["new-localuser", "add-localgroupmember", "set-localuser", "remove-localuser"],
        &[mark(Mark::Accounts)],
    )
    .examples(&[("New-LocalUser x", &["marks accounts"])]),
    marked(
        &[
            "write-output",
            "write-host",
            "write-error",
            "get-process",
            "gps",
            "get-service",
            "gsv",
            "get-command",
            "gcm",
            "get-help",
            "get-member",
            "gm",
            "get-location",
            "get-date",
            "get-host",
            "get-variable",
            "get-module",
            "get-history",
            "get-computerinfo",
            "get-psdrive",
            "get-volume",
            "get-disk",
            "get-nettcpconnection",
            "test-netconnection",
            "where-object",
            "foreach-object",
            "select-object",
            "sort-object",
            "group-object",
            "measure-object",
            "format-table",
            "format-list",
            "convertto-json",
            "convertfrom-json",
            "compare-object",
            "out-string",
            "out-null",
            "start-sleep",
            "read-host",
        ],
        &[],
    )
    .examples(&[("Write-Output x", &[]), ("Get-Process", &[])]),
];
