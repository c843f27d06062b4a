//! Keys, certificates and stores of passwords.

use crate::effect::{Access, Change, Purpose};
use crate::marks::Mark;
use crate::model::*;

const SECRET: Use = &[mark(Mark::Credentials)];

/// What changes the money of real customers.
const LIVE: Model = model(&["delete", "cancel", "create", "post"])
    .flags(&[switch(&["--live"], &[mark(Mark::Infrastructure)])]);

pub(crate) const MODELS: &[Model] = &[
    model(&["gpg", "gpg2"])
        .flags(&[
            switch(
                &["--export-secret-keys", "--export-secret-subkeys", "--export-secret-key"],
                &[mark(Mark::Credentials), Does::ReadsFile("~/.gnupg", Access::Tree)],
            )
            .operands(each(&[])),
            switch(
                &[
                    "--export",
                    "--list-keys",
                    "-k",
                    "--list-secret-keys",
                    "-K",
                    "--fingerprint",
                    "--list-sigs",
                    "--check-sigs",
                    "--locate-keys",
                ],
                &[],
            )
            .operands(each(&[])),
            switch(
                &["--delete-keys", "--delete-secret-keys", "--delete-secret-and-public-key"],
                &[Does::WritesFile("~/.gnupg", Change::Content)],
            )
            .operands(each(&[])),
            takes(&["--recv-keys", "--search-keys", "--send-keys", "--refresh-keys"], &[])
                .operands(each(&[])),
            takes(&["--keyserver"], &[FETCHES]),
            takes(&["--output", "-o"], &[WRITES]),
            takes(&["--passphrase-file", "--options"], &[READS]),
            takes(
                &[
                    "--recipient",
                    "-r",
                    "--local-user",
                    "-u",
                    "--default-key",
                    "--passphrase",
                    "--homedir",
                    "--keyring",
                    "--pinentry-mode",
                    "--cipher-algo",
                    "--digest-algo",
                    "--status-fd",
                    "--trust-model",
                ],
                &[],
            ),
        ])
        .operands(each(&[READS]))
        .examples(&[
            ("gpg --verify a.asc", &["reads a.asc"]),
            ("gpg --list-keys", &[]),
            ("gpg --export-secret-keys --armor", &["reads-tree ~/.gnupg", "marks credentials"]),
            ("gpg -o b -d a", &["reads a", "writes b"]),
        ]),
    // Keys that are made or used, not shown.
    model(&["certtool"])
        .flags(&[
            takes(&["--outfile"], &[WRITES]),
            takes(&["--infile"], &[READS]),
            takes(
                &[
                    "--load-privkey",
                    "--load-pubkey",
                    "--load-certificate",
                    "--load-ca-privkey",
                    "--load-ca-certificate",
                    "--load-request",
                    "--template",
                ],
                &[LISTS],
            ),
        ])
        .examples(&[("certtool --generate-privkey --outfile a.key", &["writes a.key"])]),
    model(&["openssl", "libressl"])
        .style(Style::SingleDash)
        .flags(&[
            takes(
                &[
                    "-in",
                    "-certfile",
                    "-config",
                    "-kfile",
                    "-signature",
                    "-verify",
                    "-prverify",
                    "-sigfile",
                    "-content",
                    "-rand",
                ],
                &[READS],
            ),
            // Keys and certificates that are used, not shown.
            takes(&["-inkey", "-key", "-CAkey", "-cert", "-CA", "-CAfile"], &[LISTS]),
            takes(&["-out", "-keyout", "-writerand"], &[WRITES]),
            takes(&["-connect", "-proxy", "-url", "-host"], &[FETCHES]),
            takes(&["-accept"], &[mark(Mark::Tunnel)]),
            takes(&["-engine", "-provider", "-provider-path"], &[Does::Hides]),
            takes(
                &[
                    "-subj",
                    "-days",
                    "-newkey",
                    "-passin",
                    "-passout",
                    "-pass",
                    "-k",
                    "-K",
                    "-iv",
                    "-md",
                    "-name",
                    "-servername",
                    "-starttls",
                    "-inform",
                    "-outform",
                    "-addext",
                    "-extensions",
                    "-set_serial",
                    "-port",
                    "-iter",
                    "-S",
                    "-cipher",
                    "-curves",
                    "-checkhost",
                    "-checkend",
                    "-algorithm",
                    "-pkeyopt",
                    "-extfile",
                    "-alpn",
                ],
                &[],
            ),
        ])
        .subs(&[
            model(&["rand", "version", "ciphers", "list", "speed", "prime", "errstr", "help"]),
            model(&["dgst", "sha1", "sha256", "sha512", "md5", "base64"]).operands(each(&[READS])),
            // These show certificates and requests; a key that is in the same file stays there.
            model(&["x509", "verify", "crl", "req"])
                .flags(&[takes(&["-in", "-CAfile", "-untrusted"], &[LISTS])])
                .operands(each(&[LISTS])),
            model(&[
                "genrsa",
                "genpkey",
                "ecparam",
                "rsa",
                "ec",
                "pkey",
                "pkcs12",
                "pkcs8",
                "pkcs7",
                "enc",
                "ca",
                "dhparam",
                "smime",
                "cms",
                "pkeyutl",
                "rsautl",
                "asn1parse",
                "passwd",
                "ts",
                "ocsp",
                "sess_id",
                "s_client",
                "s_time",
                "aes-256-cbc",
                "storeutl",
            ])
            .operands(each(&[])),
            model(&["s_server"]).always(&[mark(Mark::Tunnel)]),
        ])
        .examples(&[
            ("openssl rand -hex 16", &[]),
            ("openssl x509 -in a.pem -noout", &["lists a.pem"]),
            ("openssl s_client -connect h.example:443", &["fetches h.example:443"]),
            (
                "openssl s_client -connect h.example:443 < a",
                &["reads a", "fetches h.example:443", "sends h.example:443"],
            ),
            ("openssl enc -base64 -in a -out b", &["reads a", "writes b"]),
        ]),
    model(&["ssh-keygen"])
        .flags(&[
            switch(&["-l", "-B", "-Y"], &[]),
            // It prints public keys and fingerprints only.
            takes(&["-f"], &[LISTS]),
            takes(&["-D"], &[Does::Hides]),
            takes(&["-R", "-F"], &[]),
            takes(&["-s"], &[READS]),
            takes(
                &[
                    "-t", "-b", "-N", "-C", "-P", "-m", "-Z", "-a", "-E", "-I", "-n", "-V", "-O",
                    "-w",
                ],
                &[],
            ),
            switch(&["-y", "-e", "-p"], &[]),
        ])
        .operands(each(&[READS]))
        .examples(&[
            ("ssh-keygen -f k -N x", &["lists k", "writes k"]),
            ("ssh-keygen -y -f k", &["lists k"]),
            ("ssh-keygen -lf k", &["lists k"]),
        ]),
    model(&["ssh-add"])
        .flags(&[
            switch(&["-l", "-L", "-D", "-d"], &[]).operands(each(&[])),
            takes(&["-t", "-E"], &[]),
            takes(&["-s", "-e"], &[Does::Hides]),
        ])
        .operands(each(&[LISTS]))
        .examples(&[("ssh-add -l", &[]), ("ssh-add a", &["lists a"])]),
    model(&["ssh-keyscan"])
        .flags(&[takes(&["-t", "-p", "-T"], &[]), takes(&["-f"], &[READS])])
        .operands(each(&[FETCHES]))
        .examples(&[("ssh-keyscan h.example", &["fetches h.example"])]),
    model(&["security"])
        .style(Style::SingleDash)
        .subs(&[
            model(&[
                "find-generic-password",
                "find-internet-password",
                "dump-keychain",
                "export",
                "find-key",
            ])
            .always(SECRET),
            model(&[
                "delete-keychain",
                "delete-generic-password",
                "delete-certificate",
                "set-keychain-settings",
                "authorizationdb",
                "add-trusted-cert",
                "unlock-keychain",
            ])
            .always(&[mark(Mark::Guard)]),
            model(&[
                "list-keychains",
                "default-keychain",
                "find-identity",
                "show-keychain-info",
                "cms",
                "verify-cert",
            ]),
            // Certificates are public, the keychain stays closed.
            model(&["find-certificate"])
                .flags(&[takes(&["-c", "-e"], &[])])
                .operands(each(&[LISTS])),
        ])
        .examples(&[
            ("security find-certificate -a -p x.keychain", &["lists x.keychain"]),
            ("security find-generic-password -w", &["marks credentials"]),
            ("security list-keychains", &[]),
        ]),
    model(&["kwallet-query"])
        .flags(&[
            takes(&["--read-password", "-r"], SECRET),
            takes(&["--write-password", "-w", "--folder", "-f"], &[]),
        ])
        .examples(&[
            ("kwallet-query -r github kdewallet", &["marks credentials"]),
            ("kwallet-query -l kdewallet", &[]),
        ]),
    model(&[
        "secret-tool",
        "keyctl",
        "lastpass",
        "lpass",
        "keyring",
        "gnome-keyring",
        "seahorse",
        "chamber",
        "teller",
        "doppler",
        "infisical",
        "aws-vault",
        "saml2aws",
        "summon",
        "gopass",
        "berglas",
        "credhub",
        "keybase",
    ])
    .subs(&[
        model(&[
            "lookup", "search", "get", "show", "read", "export", "secrets", "print", "env",
            "reveal", "pipe", "dump",
        ])
        .always(SECRET),
        // Values stay in the environment of the command.
        model(&["exec"])
            .style(Style::Posix)
            .flags(&[switch(&["--json", "-j", "--ecs-server", "--stdout"], SECRET)])
            .operands(leading(
                &[&[], &[Does::MarksIf(&["--json", "-j"], Mark::Credentials), COMMAND]],
                &[],
            )),
        model(&["run"])
            .style(Style::Posix)
            .flags(&[takes(&["--env", "--project", "-p", "--config", "-c", "--path"], &[])])
            .operands(leading(&[&[COMMAND]], &[])),
        model(&["fs"]).subs(&[
            model(&["cp", "write"])
                .operands(each(&[READS]))
                .always(&[Does::ConnectsTo("keybase.io", crate::effect::Purpose::Send)]),
            model(&["ls", "read", "stat"]),
        ]),
        model(&["list", "ls", "status", "version", "login", "store", "set", "add"]),
    ])
    .examples(&[
        ("secret-tool lookup a b", &["marks credentials"]),
        ("aws-vault list", &[]),
        ("aws-vault exec dev -- cat a", &["runs cat a", "reads a"]),
        (
            "aws-vault exec dev -- env",
            &["runs env", "reads /proc/self/environ", "marks credentials"],
        ),
        ("aws-vault exec --json dev", &["marks credentials"]),
        ("aws-vault exec dev --json", &["runs --json", "marks credentials"]),
        ("doppler secrets --only-names", &[]),
    ]),
    model(&[
        "docker-credential-desktop",
        "docker-credential-osxkeychain",
        "docker-credential-secretservice",
        "docker-credential-pass",
        "docker-credential-wincred",
        "docker-credential-ecr-login",
        "docker-credential-gcr",
        "docker-credential-gcloud",
        "docker-credential-acr-env",
        "git-credential-osxkeychain",
        "git-credential-libsecret",
        "git-credential-store",
        "git-credential-cache",
        "git-credential-manager",
        "git-credential-oauth",
    ])
    .subs(&[model(&["get"]).always(SECRET)])
    .examples(&[
        ("docker-credential-pass get", &["marks credentials"]),
        ("docker-credential-pass list", &[]),
    ]),
    model(&["stripe"])
        .subs(&[
            model(&["config"]).flags(&[switch(&["--list", "-l"], SECRET)]),
            model(&["listen"]).flags(&[switch(&["--print-secret"], SECRET)]),
            model(&["api_keys"]).always(SECRET),
            LIVE,
            model(&["customers", "subscriptions", "products", "prices", "refunds", "payouts"])
                .subs(&[LIVE]),
        ])
        .examples(&[
            ("stripe config --list", &["marks credentials"]),
            ("stripe listen --forward-to localhost:1", &[]),
        ]),
    model(&["pass", "passage"])
        .subs(&[
            model(&["ls", "list", "find", "git", "generate", "insert", "version", "help", "init"]),
            model(&["rm", "remove", "delete"])
                .always(&[Does::DeletesFile("~/.password-store", crate::effect::Scope::One)]),
            model(&["show", "grep", "edit"]).always(SECRET),
        ])
        .operands(each(SECRET))
        .examples(&[("pass show a", &["marks credentials"]), ("pass ls", &[])]),
    model(&["op", "bw", "1password", "bitwarden", "rbw", "dcli", "nordpass"])
        .subs(&[
            model(&["item", "document"]).subs(&[
                // Names only.
                model(&["list", "ls", "template", "create", "edit", "delete", "move"]),
                model(&["get", "share"]).always(SECRET),
            ]),
            model(&["read", "get", "inject", "export", "code", "unlock"]).always(SECRET),
            model(&["run"])
                .style(Style::Posix)
                .flags(&[takes(&["--env-file"], &[LISTS])])
                .operands(leading(&[&[COMMAND]], &[])),
            model(&["list"]).subs(&[model(&["items", "item"]).always(SECRET)]),
            model(&[
                "vault", "account", "whoami", "signin", "status", "sync", "login", "logout",
                "generate", "user",
            ]),
        ])
        .examples(&[
            ("op read a/b", &["marks credentials"]),
            ("op item get a --reveal", &["marks credentials"]),
            ("op item list", &[]),
            ("op whoami", &[]),
        ]),
    model(&[
        "age",
        "rage",
        "sops",
        "git-crypt",
        "ansible-vault",
        "eyaml",
        "blackbox",
        "transcrypt",
        "keepassxc-cli",
    ])
    .flags(&[
        takes(&["--output", "-o"], &[WRITES]),
        takes(&["--identity", "-i", "--vault-password-file", "--vault-id"], &[READS]),
        takes(
            &[
                "--recipient",
                "-r",
                "--age",
                "--pgp",
                "--kms",
                "--input-type",
                "--output-type",
                "--set",
            ],
            &[],
        ),
        switch(&["--decrypt", "-d"], SECRET),
        // What is written in place of it can be read by nobody else.
        switch(&["--encrypt", "-e"], &[]).operands(each(&[])),
    ])
    .subs(&[
        model(&["view", "decrypt", "edit", "show", "exec-env", "exec-file", "unlock", "clip"])
            .operands(each(&[READS]))
            .always(SECRET),
        // What they write can be read by nobody else.
        model(&["encrypt", "rekey", "create", "encrypt_string", "lock", "status", "updatekeys"])
            .operands(each(&[LISTS, WRITES])),
    ])
    .operands(each(&[READS]))
    .examples(&[
        ("sops -d a.yml", &["reads a.yml", "marks credentials"]),
        ("ansible-vault encrypt a", &["lists a", "writes a"]),
        ("ansible-vault view a", &["reads a", "marks credentials"]),
    ]),
    model(&["certbot", "mkcert", "step", "acme.sh", "lego", "keytool", "cfssl"])
        .flags(&[
            takes(
                &[
                    "--deploy-hook",
                    "--pre-hook",
                    "--post-hook",
                    "--renew-hook",
                    "--manual-auth-hook",
                    "--reloadcmd",
                    "--run-hook",
                ],
                &[SHELL],
            ),
            takes(&["-cert-file", "-key-file", "--out"], &[WRITES]),
            takes(&["-d", "--email", "-m", "-keystore", "-alias", "-storepass"], &[]),
            switch(&["-install", "-uninstall"], &[mark(Mark::Network)]),
        ])
        .examples(&[
            ("mkcert localhost", &[]),
            ("keytool -importcert -cacerts -file a -alias x", &["marks guard"]),
            ("keytool -list -cacerts", &[]),
            ("certbot renew --deploy-hook 'touch x'", &["runs touch x", "changes x"]),
        ]),
    model(&["cosign"])
        .flags(&[switch(
            &["--insecure-ignore-tlog", "--insecure-ignore-sct", "--allow-insecure-registry"],
            &[mark(Mark::Guard)],
        )])
        .examples(&[
            ("cosign verify a", &[]),
            ("cosign verify --insecure-ignore-tlog a", &["marks guard"]),
        ]),
    model(&["gitleaks", "trufflehog", "detect-secrets", "ggshield"])
        .examples(&[("gitleaks detect", &[])]),
    // Changes in a directory of users.
    model(&["ldapadd", "ldapmodify", "ldapdelete", "ldappasswd", "ldapmodrdn"])
        .flags(&[
            takes(&["-H", "-h"], &[Does::Connects(Purpose::Send)]),
            takes(&["-y", "-f"], &[READS]),
            takes(&["-D", "-w", "-b", "-c", "-l", "-p", "-s"], &[]),
        ])
        .always(&[mark(Mark::Accounts)])
        .examples(&[("ldapadd -f a", &["reads a", "marks accounts"])]),
    model(&["kinit", "klist", "kdestroy", "ksu", "ldapsearch"])
        .flags(&[
            takes(&["-H", "-h"], &[Does::Connects(Purpose::Send)]),
            takes(&["-k", "-t", "-y", "-f"], &[READS]),
            takes(&["-D", "-w", "-b", "-c", "-l", "-p"], &[]),
        ])
        .examples(&[("klist", &[])]),
];
