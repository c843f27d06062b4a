//! Servers, clients of networks and other programs that have no family.

use crate::effect::{Access, Purpose};
use crate::marks::Mark;
use crate::model::*;

const READ: Operands = each(&[READS]);
const RUNS: Operands = leading(&[&[COMMAND]], &[]);

pub(crate) const MODELS: &[Model] = &[
    model(&["link"]).operands(leading(&[&[READS], &[WRITES]], &[])),
    model(&["compare"])
        .style(Style::SingleDash)
        .flags(&[takes(&["-metric", "-fuzz"], &[])])
        .operands(sources_and_target(&[READS], &[WRITES]))
        .examples(&[("compare a b c", &["reads a", "reads b", "writes c"])]),
    model(&["ansible-test"])
        .subs(&[
            model(&["shell"]).always(&[Does::StartsShell]),
            model(&["sanity", "units", "integration", "coverage", "env"]),
        ])
        .examples(&[("ansible-test shell", &["runs sh"]), ("ansible-test sanity", &[])]),
    model(&["fallocate"])
        .flags(&[takes(&["--length", "-l", "--offset", "-o"], &[])])
        .operands(each(&[WRITES]))
        .examples(&[("fallocate -l 1G a", &["writes a"])]),
    model(&["jar"])
        .style(Style::Bundle)
        .flags(&[
            switch(&["--create", "-c", "--update", "-u"], &[]).operands(each(&[READS])),
            switch(&["--extract", "-x"], &[Does::WritesFile(".", crate::effect::Change::Folder)]),
            takes(&["--file", "-f"], &[READS, WRITES]),
            takes(&["-C"], &[READS_TREE]),
            takes(&["--main-class", "-e", "--manifest", "-m"], &[]),
        ])
        .examples(&[
            ("jar cf a.jar b", &["reads a.jar", "writes a.jar", "reads b"]),
            ("jar tf a.jar", &["reads a.jar", "writes a.jar"]),
        ]),
    model(&["radare2", "r2", "rizin"])
        .style(Style::Posix)
        .flags(&[takes(&["-p", "-P", "-e", "-a", "-b", "-s"], &[])])
        .operands(READ)
        .examples(&[("r2 -A a", &["reads a"])]),
    model(&["systemd-cat", "flatpak-spawn", "wezterm", "kitty", "libtool", "dtruss-run"])
        .style(Style::Posix)
        .flags(&[
            takes(&["--identifier", "-t", "--priority", "-p", "--title", "-T"], &[]),
            takes(&["--config", "-c"], &[Does::Recipe]),
            takes(&["--directory", "-d", "--working-directory"], &[FOLDER]),
        ])
        .subs(&[model(&["start"]).operands(RUNS)])
        .operands(RUNS)
        .examples(&[
            ("systemd-cat cat a", &["runs cat a", "reads a"]),
            ("wezterm start cat a", &["runs cat a", "reads a"]),
        ]),
    model(&["dtrace"])
        .flags(&[
            takes(&["-c"], &[SHELL]),
            takes(&["-s"], &[Does::Script(Language::Other)]),
            takes(&["-o"], &[WRITES]),
            takes(&["-n", "-p", "-P", "-i", "-f", "-m", "-x"], &[]),
        ])
        .always(&[mark(Mark::Kernel)])
        .examples(&[("dtrace -c 'cat a' -n x", &["runs cat a", "reads a", "marks kernel"])]),
    model(&["envconsul"])
        .style(Style::Posix)
        .flags(&[takes(&["-config", "-prefix", "-secret"], &[])])
        .operands(RUNS)
        .examples(&[("envconsul -once cat a", &["runs cat a", "reads a"])]),
    model(&[
        "iperf3",
        "iperf",
        "httping",
        "rdesktop",
        "vncviewer",
        "chronyc",
        "snmpget",
        "snmpwalk",
    ])
    .flags(&[
        takes(&["-c", "--client", "-h", "--host"], &[FETCHES]),
        takes(&["-p", "--port", "-t", "-P", "-u", "-v", "-i", "-n", "-b"], &[]),
    ])
    .operands(leading(&[&[FETCHES]], &[]))
    .examples(&[("iperf3 -c h.example", &["fetches h.example"])]),
    model(&["xfreerdp", "xfreerdp3"])
        .flags(&[joined(&["/v:"], &[FETCHES]), joined(&["/drive:"], &[READS_TREE])])
        .examples(&[("xfreerdp /v:h.example", &["fetches h.example"])]),
    model(&["iscsiadm"])
        .flags(&[takes(&["--portal", "-p"], &[FETCHES]), takes(&["-m", "-t", "-T"], &[])])
        .examples(&[("iscsiadm -m discovery -p h.example", &["fetches h.example"])]),
    model(&["mitmproxy", "mitmdump", "mitmweb"])
        .flags(&[
            takes(&["--scripts", "-s"], &[Does::Script(Language::Python)]),
            takes(&["--save-stream-file", "-w", "--hardump"], &[WRITES]),
            takes(&["--rfile", "-r"], &[READS]),
            takes(&["--mode", "-m"], &[Does::KeyedHost]),
            takes(&["--listen-port", "-p", "--listen-host", "--set"], &[]),
        ])
        .examples(&[("mitmdump -w a", &["writes a"]), ("mitmdump -s a.py", &["reads a.py"])]),
    model(&["fetchmail", "getmail"])
        .flags(&[
            takes(&["--mda", "-m", "--preconnect", "--postconnect", "--plugin"], &[SHELL]),
            takes(&["--fetchmailrc", "-f", "--rcfile", "-r"], &[Does::Recipe]),
            takes(&["--protocol", "-p", "--username", "-u", "--folder"], &[]),
        ])
        .operands(each(&[FETCHES]))
        .examples(&[(
            "fetchmail --mda 'cat a' h.example",
            &["runs cat a", "reads a", "fetches h.example"],
        )]),
    model(&["dhclient", "dhcpcd", "udhcpc"])
        .flags(&[
            takes(&["-sf", "--script", "-s", "-c"], &[PROGRAM]),
            takes(&["-cf", "--config", "-f"], &[Does::Recipe]),
            takes(&["-lf", "-pf"], &[WRITES]),
            takes(&["-i", "-p"], &[]),
        ])
        .style(Style::SingleDash)
        .always(&[mark(Mark::Network)])
        .examples(&[("dhclient -sf ./x eth0", &["runs x", "marks network"])]),
    model(&["pppd"])
        .flags(&[joined(&["connect"], &[])])
        .operands(each(&[Does::Hides]))
        .always(&[mark(Mark::Network)])
        .examples(&[]),
    model(&["uwsgi"])
        .flags(&[
            takes(
                &[
                    "--exec-asap",
                    "--exec-pre-jail",
                    "--exec-as-root",
                    "--attach-daemon",
                    "--exec-post-app",
                ],
                &[SHELL],
            ),
            takes(&["--ini", "--yaml", "--json", "--xml"], &[Does::Recipe]),
            takes(&["--wsgi-file", "--file"], &[Does::Script(Language::Python)]),
            takes(&["--logto", "--daemonize", "--pidfile"], &[WRITES]),
            takes(&["--chdir"], &[FOLDER]),
            takes(&["--http", "--http-socket", "--socket", "--module", "-w", "--processes"], &[]),
        ])
        .examples(&[("uwsgi --exec-asap 'cat a'", &["runs cat a", "reads a"])]),
    model(&["webfsd", "godoc", "pkgsite"])
        .style(Style::SingleDash)
        .flags(&[takes(&["-http", "-p", "-i", "--addr", "--port", "-r"], &[])])
        .operands(each(&[READS_TREE]))
        .always(&[Does::ConnectsTo("localhost", Purpose::Listen)])
        .examples(&[("webfsd a", &["reads-tree a", "listens localhost:443"])]),
    model(&["scrapy"])
        .flags(&[
            takes(&["-o", "-O", "--output"], &[WRITES]),
            takes(&["-c"], &[Does::Code(Language::Python)]),
        ])
        .subs(&[
            model(&["runspider"]).operands(leading(&[&[Does::Script(Language::Python)]], &[])),
            model(&["shell", "fetch", "view"]).operands(each(&[FETCHES])),
            model(&["crawl", "list", "startproject", "genspider", "settings", "version", "bench"]),
        ])
        .examples(&[("scrapy runspider a.py -o b", &["reads a.py", "writes b"])]),
    // Backdrop, Drupal and WordPress.
    model(&["bee"])
        .subs(&[
            model(&["eval", "ev", "php-eval"]).operands(each(&[Does::Code(Language::Php)])),
            model(&["php-script", "scr"]).operands(leading(&[&[Does::Script(Language::Php)]], &[])),
        ])
        .examples(&[("bee eval 'system(\"cat a\");'", &["runs cat a", "reads a"])]),
    model(&["iptables-save", "ip6tables-save"])
        .flags(&[takes(&["--table", "-t"], &[])])
        .examples(&[("iptables-save -f a", &["writes a"])]),
    model(&["arch-chroot", "scriptlive"])
        .style(Style::Posix)
        .operands(leading(&[&[Does::Reads(Access::Names)], &[COMMAND]], &[]))
        .examples(&[("arch-chroot a cat b", &["lists a", "runs cat b", "reads b"])]),
    // Modules that `python -m` runs.
    model(&["zipfile", "tarfile"])
        .style(Style::SingleDash)
        .flags(&[
            takes(&["-e", "--extract"], &[READS]).operands(each(&[MAKES])),
            takes(&["-c", "--create"], &[WRITES]).operands(READ),
            takes(&["-l", "--list", "-t", "--test"], &[READS]),
        ])
        .examples(&[(
            "python3 -m zipfile -e a.zip b",
            &["runs zipfile -e a.zip b", "reads a.zip", "makes b"],
        )]),
    model(&["ftplib", "telnetlib"]).operands(leading(&[&[FETCHES]], &[])),
    model(&["smtpd"]).flags(&[takes(&["-p", "-n", "-k"], &[]), takes(&["-c"], &[])]).examples(&[]),
    // What `cmake -E` runs.
    model(&["remove_directory"]).operands(each(&[DELETES_TREE])).examples(&[(
        "cmake -E remove_directory a",
        &["runs remove_directory a", "deletes-tree a"],
    )]),
    model(&["copy_directory", "copy_directory_if_different", "copy_if_different"])
        .operands(sources_and_target(&[READS_TREE], &[MAKES])),
    model(&["make_directory"]).operands(each(&[MAKES])),
    model(&["create_symlink", "create_hardlink"]).operands(leading(&[&[], &[WRITES]], &[])),
    model(&["chdir"]).style(Style::Posix).operands(leading(&[&[], &[COMMAND]], &[])),
];
