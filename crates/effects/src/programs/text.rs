//! Programs that read text and print it, and some that change it.

use crate::model::*;

const AWK_SCRIPT: Use = &[Does::Code(Language::Awk)];
const SED_SCRIPT: Use = &[Does::Code(Language::Sed)];

pub(crate) const MODELS: &[Model] = &[
    model(&[
        "cat", "tac", "nl", "bat", "batcat", "gcat", "zcat", "bzcat", "xzcat", "zstdcat", "gzcat",
        "lz4cat", "zless", "zmore",
    ])
    .flags(&[
        takes(&["--pager"], &[SHELL]),
        takes(
            &[
                "--line-range",
                "--highlight-line",
                "-H",
                "--theme",
                "--language",
                "--style",
                "-l",
                "-w",
                "--number-width",
            ],
            &[],
        ),
    ])
    .operands(each(&[READS]))
    .examples(&[
        ("cat -n a b", &["reads a", "reads b"]),
        ("cat -", &[]),
        ("bat --pager 'touch x' a", &["reads a", "runs touch x", "changes x"]),
    ]),
    model(&["head", "tail", "ghead", "gtail"])
        .flags(&[takes(
            &["--lines", "-n", "--bytes", "-c", "--sleep-interval", "-s", "--pid"],
            &[],
        )])
        .operands(each(&[READS]))
        .examples(&[("head -n 5 a", &["reads a"]), ("tail -f -n5 a", &["reads a"])]),
    // It prints how much there is.
    model(&["wc"])
        .flags(&[takes(&["--files0-from"], &[READS])])
        .operands(each(&[LISTS]))
        .examples(&[("wc -l a", &["lists a"])]),
    model(&[
        "rev",
        "md5sum",
        "sha1sum",
        "sha224sum",
        "sha256sum",
        "sha384sum",
        "sha512sum",
        "b2sum",
        "b3sum",
        "cksum",
        "sum",
        "crc32",
        "md5",
        "tsort",
        "ptx",
        "vis",
        "unvis",
        "colrm",
        "col",
        "cmp",
        "glow",
        "mdcat",
        "csvlook",
        "csvstat",
        "xmllint",
        "tidy",
        "html2text",
        "catdoc",
        "antiword",
        "diffstat",
        "wdiff",
        "zcmp",
        "zdiff",
        "cloc",
        "tokei",
        "scc",
        "sloccount",
        "lolcat",
        "hexyl",
        "unexpand",
        "expand",
        "hd",
        "comm",
    ])
    .flags(&[
        takes(&["--output", "-o"], &[WRITES]),
        takes(&["--files0-from"], &[READS]),
        takes(&["--xpath", "--schema"], &[]),
    ])
    .operands(each(&[READS]))
    .examples(&[
        ("md5sum a b", &["reads a", "reads b"]),
        ("sha256sum -c a", &["reads a"]),
        ("comm -23 a b", &["reads a", "reads b"]),
    ]),
    model(&["dos2unix", "unix2dos", "mac2unix", "unix2mac"])
        .flags(&[
            switch(&["--newfile", "-n"], &[]).operands(leading(&[&[READS], &[WRITES]], &[READS])),
            switch(&["--stdout", "-O", "--info", "-i"], &[]).operands(each(&[READS])),
        ])
        .operands(each(&[READS, WRITES]))
        .examples(&[
            ("dos2unix a", &["reads a", "writes a"]),
            ("dos2unix -n a b", &["reads a", "writes b"]),
        ]),
    model(&["fold", "fmt", "gfold"])
        .flags(&[takes(&["--width", "-w", "--prefix", "-p", "--goal", "-g"], &[])])
        .operands(each(&[READS]))
        .examples(&[("fold -w 80 a", &["reads a"])]),
    model(&["paste"])
        .flags(&[takes(&["--delimiters", "-d"], &[])])
        .operands(each(&[READS]))
        .examples(&[("paste -d, a b", &["reads a", "reads b"])]),
    model(&["pr"])
        .flags(&[takes(
            &["--header", "-h", "--length", "-l", "--indent", "-o", "--width", "-w"],
            &[],
        )])
        .operands(each(&[READS]))
        .examples(&[("pr -t a", &["reads a"])]),
    model(&["join", "gjoin"])
        .flags(&[takes(&["-t", "-1", "-2", "-o", "-j", "-a", "-v", "-e"], &[])])
        .operands(each(&[READS]))
        .examples(&[("join -t, a b", &["reads a", "reads b"])]),
    model(&["od", "hexdump"])
        .flags(&[
            takes(
                &[
                    "--format",
                    "-t",
                    "--address-radix",
                    "-A",
                    "--read-bytes",
                    "-N",
                    "--skip-bytes",
                    "-j",
                    "-n",
                    "-s",
                    "-e",
                    "--strings",
                    "-S",
                ],
                &[],
            ),
            joined(&["--width", "-w"], &[]),
            takes(&["-f"], &[READS]),
        ])
        .operands(each(&[READS]))
        .examples(&[("od -An -tx1 a", &["reads a"]), ("hexdump -C a", &["reads a"])]),
    model(&["xxd"])
        .flags(&[takes(
            &[
                "-l",
                "-len",
                "-s",
                "-seek",
                "-c",
                "-cols",
                "-g",
                "-groupsize",
                "-o",
                "-n",
                "-name",
                "-R",
            ],
            &[],
        )])
        .operands(leading(&[&[READS], &[WRITES]], &[]))
        .examples(&[("xxd -p -l 16 a", &["reads a"]), ("xxd -r a b", &["reads a", "writes b"])]),
    model(&["strings", "gstrings"])
        .flags(&[takes(&["--bytes", "-n", "--radix", "-t", "--encoding", "-e", "-T"], &[])])
        .operands(each(&[READS]))
        .examples(&[("strings -n 8 a", &["reads a"])]),
    model(&["base32", "base64", "gbase64", "basenc", "uuencode", "uudecode"])
        .flags(&[
            takes(&["--wrap", "-w", "-b", "--break"], &[]),
            takes(&["-i", "--input"], &[READS]),
            takes(&["--output", "-o"], &[WRITES]),
            switch(&["--decode", "-d", "-D", "--ignore-garbage"], &[]),
        ])
        .operands(each(&[READS]))
        .examples(&[("base64 -w 0 a", &["reads a"]), ("base64 -d a", &["reads a"])]),
    model(&["shasum"])
        .flags(&[takes(&["--algorithm", "-a"], &[])])
        .operands(each(&[READS]))
        .examples(&[("shasum -a 256 a", &["reads a"])]),
    model(&["uniq", "guniq"])
        .flags(&[takes(&["--skip-fields", "-f", "--skip-chars", "-s", "--check-chars", "-w"], &[])])
        .operands(leading(&[&[READS], &[WRITES]], &[]))
        .examples(&[("uniq -c a", &["reads a"]), ("uniq a b", &["reads a", "writes b"])]),
    model(&["look"]).operands(leading(&[&[]], &[READS])).examples(&[("look x a", &["reads a"])]),
    model(&["column"])
        .flags(&[takes(
            &[
                "--separator",
                "-s",
                "--output-separator",
                "-o",
                "--output-width",
                "-c",
                "--table-columns",
                "-N",
                "--table-right",
                "-R",
            ],
            &[],
        )])
        .operands(each(&[READS]))
        .examples(&[("column -t -s, a", &["reads a"])]),
    model(&[
        "mlr",
        "csvcut",
        "csvgrep",
        "csvsort",
        "csvjoin",
        "in2csv",
        "qsv",
        "xsv",
        "visidata",
        "vd",
        "xmlstarlet",
        "numfmt",
    ])
    .flags(&[
        takes(
            &[
                "--columns",
                "-c",
                "--regex",
                "-r",
                "-m",
                "--delimiter",
                "-d",
                "--from",
                "--to",
                "-f",
            ],
            &[],
        ),
        takes(&["--output", "-o"], &[WRITES]),
    ])
    .operands(each(&[READS]))
    .examples(&[("csvcut -c 1 a.csv", &["reads a.csv"])]),
    model(&["pdftotext", "highlight", "pygmentize", "source-highlight"])
        .flags(&[takes(&["-f", "-l", "-O", "-S", "-P"], &[]), takes(&["-o"], &[WRITES])])
        .operands(leading(&[&[READS], &[WRITES]], &[]))
        .examples(&[("pdftotext a.pdf b.txt", &["reads a.pdf", "writes b.txt"])]),
    model(&["cut", "gcut"])
        .flags(&[takes(
            &[
                "--fields",
                "-f",
                "--characters",
                "-c",
                "--bytes",
                "-b",
                "--delimiter",
                "-d",
                "--output-delimiter",
            ],
            &[],
        )])
        .operands(each(&[READS]))
        .examples(&[("cut -d: -f1 a", &["reads a"])]),
    model(&["sort", "gsort"])
        .flags(&[
            takes(&["--output", "-o"], &[WRITES]),
            takes(
                &[
                    "--key",
                    "-k",
                    "--field-separator",
                    "-t",
                    "--buffer-size",
                    "-S",
                    "--parallel",
                    "--batch-size",
                    "--sort",
                    "-T",
                    "--temporary-directory",
                ],
                &[],
            ),
            takes(&["--compress-program"], &[PROGRAM]),
            takes(&["--files0-from", "--random-source"], &[READS]),
        ])
        .operands(each(&[READS]))
        .examples(&[
            ("sort -o out.txt in.txt", &["reads in.txt", "writes out.txt"]),
            ("sort -rn -oout.txt in.txt", &["reads in.txt", "writes out.txt"]),
            ("sort --compress-program=sh a", &["reads a", "runs sh"]),
        ]),
    model(&["shuf"])
        .flags(&[
            takes(&["--head-count", "-n", "--input-range", "-i"], &[]),
            takes(&["--output", "-o"], &[WRITES]),
            switch(&["--echo", "-e"], &[]).operands(each(&[])),
        ])
        .operands(each(&[READS]))
        .examples(&[("shuf -n 1 a", &["reads a"]), ("shuf -e a b", &[])]),
    model(&["tr", "gtr"]).examples(&[("tr a-z A-Z", &[])]),
    model(&[
        "grep", "egrep", "fgrep", "ggrep", "zgrep", "zegrep", "bzgrep", "xzgrep", "ugrep", "ag",
        "ack",
    ])
    .flags(&[
        takes(&["--regexp", "-e"], &[]).instead(),
        takes(&["--file", "-f"], &[READS]).instead(),
        takes(
            &[
                "--after-context",
                "-A",
                "--before-context",
                "-B",
                "--context",
                "-C",
                "--max-count",
                "-m",
                "--include",
                "--exclude",
                "--exclude-dir",
                "--binary-files",
                "--label",
                "-D",
                "-d",
                "--ignore",
                "-G",
            ],
            &[],
        ),
        takes(&["--exclude-from"], &[READS]),
        takes(&["--pager"], &[SHELL]),
        switch(
            &[
                "-n", "-i", "-v", "-w", "-x", "-l", "-L", "-o", "-h", "-H", "-s", "-E", "-F", "-P",
                "-a", "-b", "-I", "-z", "-Z",
            ],
            &[],
        ),
        switch(&["--recursive", "-r", "-R", "--dereference-recursive"], &[])
            .operands(leading(&[&[]], &[READS_TREE])),
        // Whether something is there, or how often, is not the text itself.
        switch(&["--quiet", "--silent", "-q", "--count", "-c"], &[])
            .operands(leading(&[&[]], &[LISTS])),
    ])
    .operands(leading(&[&[]], &[READS]))
    .examples(&[
        ("grep -rn /srv/a docs", &["reads-tree docs"]),
        ("grep -in /srv/a docs", &["reads docs"]),
        ("grep x a b", &["reads a", "reads b"]),
        ("grep -q x a", &["lists a"]),
        ("grep -e x a", &["reads a"]),
        ("grep -rn 'rm -rf /' docs", &["reads-tree docs"]),
        ("grep -f list a", &["reads list", "reads a"]),
    ]),
    model(&["rg"])
        .flags(&[
            takes(&["--regexp", "-e"], &[]).instead(),
            takes(&["--file", "-f"], &[READS]).instead(),
            takes(&["--pre"], &[PROGRAM]),
            takes(&["--hostname-bin"], &[PROGRAM]),
            takes(&["--ignore-file"], &[READS]),
            takes(
                &[
                    "--after-context",
                    "-A",
                    "--before-context",
                    "-B",
                    "--context",
                    "-C",
                    "--max-count",
                    "-m",
                    "--glob",
                    "-g",
                    "--iglob",
                    "--type",
                    "-t",
                    "--type-not",
                    "-T",
                    "--max-depth",
                    "-d",
                    "--replace",
                    "-r",
                    "--threads",
                    "-j",
                    "--sort",
                    "--color",
                    "--colors",
                    "--max-columns",
                    "-M",
                    "--encoding",
                    "-E",
                    "--engine",
                    "--max-filesize",
                    "--pre-glob",
                    "--type-add",
                    "--path-separator",
                ],
                &[],
            ),
            switch(&["--files"], &[]).operands(each(&[LISTS])),
        ])
        .operands(leading(&[&[]], &[READS_TREE]))
        .examples(&[
            ("rg -n x src", &["reads-tree src"]),
            ("rg --files src", &["lists src"]),
            ("rg --pre ./x y", &["runs x"]),
        ]),
    model(&["sed", "gsed"])
        .flags(&[
            takes(&["--expression", "-e"], SED_SCRIPT).instead(),
            takes(&["--file", "-f"], &[Does::Script(Language::Sed)]).instead(),
            joined(&["--in-place", "-i"], &[]).operands(leading(&[SED_SCRIPT], &[READS, WRITES])),
            takes(&["--line-length", "-l"], &[]),
        ])
        .operands(leading(&[SED_SCRIPT], &[READS]))
        .examples(&[
            ("sed s/a/b/ f", &["reads f"]),
            ("sed -i s/a/b/ f", &["reads f", "writes f"]),
            ("sed -n -e 1p f", &["reads f"]),
            ("sed -n '1e touch x' f", &["reads f", "runs touch x", "changes x"]),
            ("sed '1r a' f", &["reads f", "reads a"]),
            ("sed 'w out' f", &["reads f", "writes out"]),
        ]),
    model(&["awk", "gawk", "mawk", "nawk", "goawk"])
        .style(Style::Posix)
        .flags(&[
            takes(&["--file", "-f", "--exec", "-E"], &[Does::Script(Language::Awk)]).instead(),
            // `-i inplace` writes the files back.
            takes(&["--include", "-i"], &[])
                .operands(leading(&[AWK_SCRIPT], &[READS, crate::model::WRITES])),
            takes(&["--source", "-e"], AWK_SCRIPT).instead(),
            takes(&["--field-separator", "-F", "--assign", "-v"], &[]),
            takes(&["--load", "-l"], &[Does::Hides]),
            joined(
                &["--dump-variables", "-d", "--profile", "-p", "--pretty-print", "-o"],
                &[WRITES],
            ),
        ])
        .operands(leading(&[AWK_SCRIPT], &[READS]))
        .examples(&[
            ("awk '{print $1}' f", &["reads f"]),
            ("awk -F: '{print $1}' f", &["reads f"]),
            ("awk 'BEGIN{system(\"touch x\")}'", &["runs touch x", "changes x"]),
        ]),
    model(&["jq", "gojq", "jaq", "yq", "dasel", "fx", "gron", "htmlq", "pup", "xq", "tomlq"])
        .flags(&[
            takes(&["--from-file", "-f"], &[READS]).instead(),
            takes(&["--slurpfile", "--rawfile"], &[READS]).value(Value::SecondOfTwo),
            takes(&["--arg", "--argjson"], &[]).value(Value::SecondOfTwo),
            takes(&["-L", "--library-path"], &[READS]),
            takes(
                &[
                    "--indent",
                    "-I",
                    "--input-format",
                    "-p",
                    "--output-format",
                    "-o",
                    "--unwrapScalar",
                ],
                &[],
            ),
            switch(&["--inplace", "-i", "--in-place"], &[])
                .operands(leading(&[&[]], &[READS, WRITES])),
            switch(&["--args", "--jsonargs"], &[]).operands(each(&[])),
        ])
        .operands(leading(&[&[]], &[READS]))
        .examples(&[
            ("jq .a f.json", &["reads f.json"]),
            ("yq -i '.a = 1' f.yml", &["reads f.yml", "writes f.yml"]),
            ("jq --slurpfile x a.json . b.json", &["reads a.json", "reads b.json"]),
        ]),
    model(&["jsonnet", "jrsonnet"])
        .flags(&[
            switch(&["--exec", "-e"], &[]).operands(each(&[Does::Code(Language::Expression)])),
            takes(&["--output-file", "-o", "--multi", "-m"], &[WRITES]),
            takes(&["--ext-str", "-V", "--tla-str", "-A", "--jpath", "-J"], &[]),
        ])
        .operands(each(&[READS]))
        .examples(&[("jsonnet -e 'importstr \"./a\"'", &["reads a"]), ("jsonnet a", &["reads a"])]),
    model(&["dhall", "dhall-to-json", "dhall-to-yaml", "dhall-to-text"])
        .flags(&[takes(&["--file"], &[READS]), takes(&["--output"], &[WRITES])])
        .always(&[Does::RunsInput(Language::Expression)])
        .examples(&[("dhall <<< './a as Text'", &["reads a"])]),
    model(&["gomplate"])
        .flags(&[
            takes(&["--in", "-i"], &[Does::Code(Language::Expression)]),
            takes(&["--file", "-f"], &[READS]),
            takes(&["--out", "-o"], &[WRITES]),
            takes(&["--datasource", "-d", "--context", "-c"], &[Does::Code(Language::Expression)]),
        ])
        .always(&[Does::RunsInput(Language::Expression)])
        .examples(&[("gomplate -i '{{ file.Read \"./a\" }}'", &["reads a"])]),
    model(&["diff", "sdiff", "diff3", "colordiff", "delta", "difft", "icdiff", "gdiff"])
        .flags(&[
            takes(
                &[
                    "--unified",
                    "-U",
                    "--context",
                    "-C",
                    "--ignore-matching-lines",
                    "-I",
                    "--exclude",
                    "-x",
                    "--label",
                    "-L",
                    "--width",
                    "-W",
                    "--color",
                ],
                &[],
            ),
            takes(&["--exclude-from", "-X"], &[READS]),
            takes(&["--output", "-o"], &[WRITES]),
            takes(&["--diff-program"], &[PROGRAM]),
            switch(&["--recursive", "-r"], &[]).operands(each(&[READS_TREE])),
        ])
        .operands(each(&[READS]))
        .examples(&[
            ("diff -u a b", &["reads a", "reads b"]),
            ("diff -r a b", &["reads-tree a", "reads-tree b"]),
        ]),
    model(&["patch", "gpatch"])
        .flags(&[
            takes(&["--input", "-i"], &[Does::Recipe]),
            takes(&["--output", "-o", "--reject-file", "-r"], &[WRITES]),
            takes(&["--directory", "-d"], &[FOLDER]),
            takes(&["--strip", "-p", "--fuzz", "-F", "--prefix", "-B", "--suffix", "-z"], &[]),
            switch(&["--ed", "-e"], &[Does::Hides]),
        ])
        .operands(leading(&[&[WRITES], &[Does::Recipe]], &[]))
        .examples(&[("patch -o b a", &["writes b", "writes a"])]),
    model(&["iconv"])
        .flags(&[
            takes(&["--from-code", "-f", "--to-code", "-t"], &[]),
            takes(&["--output", "-o"], &[WRITES]),
        ])
        .operands(each(&[READS]))
        .examples(&[("iconv -f latin1 -t utf8 a", &["reads a"])]),
    model(&["less", "more", "most", "pg"])
        .flags(&[
            joined(&["+"], &[Does::Code(Language::Vim)]),
            takes(&["--lesskey-file", "-k", "--lesskey-src", "--tag-file", "-T"], &[READS]),
            takes(&["--log-file", "-o", "-O", "--LOG-FILE"], &[WRITES]),
            takes(&["--pattern", "-p", "--tabs", "-x"], &[]),
        ])
        .operands(each(&[READS]))
        .examples(&[
            ("less a", &["reads a"]),
            ("less '+!touch x' a", &["reads a", "runs touch x", "changes x"]),
        ]),
    model(&["file"])
        .flags(&[
            takes(&["--separator", "-F", "--exclude", "-e"], &[]),
            takes(&["--files-from", "-f", "--magic-file", "-m"], &[READS]),
        ])
        .operands(each(&[LISTS]))
        .examples(&[("file a", &["lists a"]), ("file -f a", &["reads a"])]),
    model(&["pandoc"])
        .flags(&[
            takes(&["--output", "-o"], &[WRITES]),
            takes(&["--filter", "-F", "--lua-filter", "-L", "--pdf-engine"], &[PROGRAM]),
            takes(
                &[
                    "--from",
                    "-f",
                    "--to",
                    "-t",
                    "--metadata",
                    "-M",
                    "--variable",
                    "-V",
                    "--toc-depth",
                ],
                &[],
            ),
            takes(
                &[
                    "--template",
                    "--css",
                    "--metadata-file",
                    "--defaults",
                    "-d",
                    "--include-in-header",
                    "-H",
                    "--bibliography",
                    "--reference-doc",
                ],
                &[READS],
            ),
        ])
        .operands(each(&[READS]))
        .examples(&[
            ("pandoc a.md -o b.pdf", &["reads a.md", "writes b.pdf"]),
            ("pandoc --filter ./x a", &["runs x", "reads a"]),
        ]),
    model(&["envsubst"]).examples(&[("envsubst", &[])]),
    model(&[
        "shellcheck",
        "hadolint",
        "actionlint",
        "yamllint",
        "markdownlint",
        "markdownlint-cli2",
        "vale",
        "codespell",
        "typos",
        "aspell",
        "jsonlint",
        "proselint",
    ])
    .operands(each(&[READS_TREE]))
    .examples(&[("shellcheck a.sh", &["reads-tree a.sh"])]),
];
