//! Archives and compression.

use crate::model::*;

const PACKS: Operands = each(&[READS_TREE]);
const UNPACKS: Operands = each(&[]);

pub(crate) const MODELS: &[Model] = &[
    model(&["tar", "gtar", "bsdtar"])
        .style(Style::Bundle)
        .flags(&[
            takes(&["--file", "-f"], &[READS]),
            takes(&["--directory", "-C"], &[FOLDER]),
            takes(&["--to-command"], &[SHELL]),
            takes(&["--use-compress-program", "-I"], &[SHELL]),
            takes(&["--info-script", "--new-volume-script", "-F"], &[SHELL]),
            takes(&["--rsh-command", "--rmt-command"], &[PROGRAM]),
            takes(&["--checkpoint-action"], &[]),
            takes(&["--files-from", "-T", "--exclude-from", "-X"], &[READS]),
            takes(
                &[
                    "--exclude",
                    "--strip-components",
                    "--transform",
                    "--owner",
                    "--group",
                    "--mode",
                    "--mtime",
                    "--blocking-factor",
                    "-b",
                    "--format",
                    "-H",
                    "--level",
                    "--newer",
                    "-N",
                    "--label",
                    "-V",
                    "--pax-option",
                ],
                &[],
            ),
            joined(&["--checkpoint"], &[]),
            takes(&["--listed-incremental", "-g", "--index-file"], &[WRITES]),
            switch(&["--create", "-c", "--append", "-r", "--update", "-u"], &[]).operands(PACKS),
            switch(&["--list", "-t"], &[]).operands(UNPACKS),
            switch(
                &["--extract", "-x", "--get"],
                &[Does::WritesFile(".", crate::effect::Change::Folder)],
            )
            .operands(UNPACKS),
            switch(&["--absolute-names", "-P"], &[Does::Hides]),
            switch(&["--remove-files"], &[]).operands(each(&[READS_TREE, DELETES_TREE])),
        ])
        .operands(PACKS)
        .examples(&[
            ("tar tzf a.tgz", &["reads a.tgz"]),
            (
                "tar xf a.tar --to-command='touch x'",
                &["reads a.tar", "makes .", "runs touch x", "changes x"],
            ),
        ]),
    model(&["zip"])
        .flags(&[
            takes(&["--unzip-command", "-TT"], &[SHELL]),
            takes(
                &[
                    "--exclude",
                    "-x",
                    "--include",
                    "-i",
                    "--suffixes",
                    "-n",
                    "--temp-path",
                    "-b",
                    "-P",
                    "--password",
                    "-t",
                ],
                &[],
            ),
            switch(&["--move", "-m"], &[])
                .operands(leading(&[&[WRITES]], &[READS_TREE, DELETES_TREE])),
        ])
        .operands(leading(&[&[WRITES]], &[READS_TREE]))
        .examples(&[
            ("zip -r a.zip src", &["writes a.zip", "reads-tree src"]),
            ("zip -rm a.zip src", &["writes a.zip", "reads-tree src", "deletes-tree src"]),
            (
                "zip a.zip x -T -TT 'touch y'",
                &["writes a.zip", "reads-tree x", "runs touch y", "changes y"],
            ),
        ]),
    model(&["unzip", "bsdunzip", "unar"])
        .flags(&[
            takes(&["-d", "--output-directory"], &[MAKES]),
            takes(&["-x", "-P"], &[]),
            switch(&["-l", "-v", "-t", "-Z", "-p", "-c"], &[]),
        ])
        .operands(leading(&[&[READS]], &[]))
        .examples(&[
            ("unzip a.zip -d out", &["reads a.zip", "makes out"]),
            ("unzip -l a.zip", &["reads a.zip"]),
        ]),
    model(&["zipinfo", "lsar", "zipgrep", "zipnote"])
        .operands(leading(&[&[READS]], &[]))
        .examples(&[("zipinfo a.zip", &["reads a.zip"])]),
    model(&["7z", "7za", "7zr", "7zz", "rar", "unrar"])
        .flags(&[joined(&["-o"], &[MAKES]), switch(&["-sdel"], &[])])
        .style(Style::SingleDash)
        .subs(&[
            model(&["a", "u", "m", "mf"])
                .flags(&[
                    switch(&["-sdel", "-df"], &[])
                        .operands(leading(&[&[WRITES]], &[READS_TREE, DELETES_TREE])),
                    // Without the name of an archive, all operands are files for it.
                    switch(&["-an"], &[]).operands(each(&[READS_TREE])),
                ])
                .operands(leading(&[&[WRITES]], &[READS_TREE])),
            model(&["x", "e"])
                .operands(leading(&[&[READS]], &[]))
                .always(&[Does::WritesFile(".", crate::effect::Change::Folder)]),
            model(&["l", "t", "h", "lb", "vt", "v", "p"]).operands(each(&[READS])),
            model(&["d", "rn"]).operands(leading(&[&[WRITES]], &[])),
        ])
        .examples(&[
            ("7z a x.7z src", &["writes x.7z", "reads-tree src"]),
            ("7z l x.7z", &["reads x.7z"]),
            ("7z x x.7z -o~/a -y", &["reads x.7z", "makes ~/a", "makes ."]),
            ("7z a -sdel x.7z src", &["writes x.7z", "reads-tree src", "deletes-tree src"]),
        ]),
    model(&[
        "gzip",
        "pigz",
        "bzip2",
        "pbzip2",
        "xz",
        "lzma",
        "lz4",
        "compress",
        "lzip",
        "brotli",
        "zopfli",
        "gunzip",
        "bunzip2",
        "unxz",
        "unlzma",
        "uncompress",
        "unlz4",
    ])
    .flags(&[
        takes(&["--suffix", "-S", "--threads", "-T", "--processes", "-p"], &[]),
        takes(&["--output", "-o"], &[WRITES]),
        switch(&["--stdout", "-c", "--to-stdout", "--list", "-l", "--test", "-t"], &[])
            .operands(each(&[READS])),
    ])
    .operands(each(&[READS, WRITES]))
    .examples(&[("gzip -c a", &["reads a"]), ("gzip a", &["reads a", "writes a"])]),
    model(&["zstd", "unzstd", "pzstd"])
        .flags(&[
            takes(&["-o"], &[WRITES]),
            takes(&["-D", "--patch-from", "--filelist"], &[READS]),
            takes(&["--output-dir-flat", "--output-dir-mirror"], &[MAKES]),
            takes(&["-T", "--threads", "-M", "--memory"], &[]),
            switch(&["--rm"], &[]).operands(each(&[READS, DELETES])),
        ])
        .operands(each(&[READS]))
        .examples(&[("zstd -d a.zst -o b", &["reads a.zst", "writes b"])]),
    model(&["cpio"])
        .flags(&[
            takes(&["--file", "-F", "-I"], &[READS]),
            takes(&["-O"], &[WRITES]),
            takes(&["--pattern-file", "-E"], &[READS]),
            takes(&["--rsh-command"], &[PROGRAM]),
            takes(&["--format", "-H", "--owner", "-R"], &[]),
            takes(&["--directory", "-D"], &[FOLDER]),
            switch(&["--create", "-o"], &[Does::OpaqueInput]),
            switch(&["--pass-through", "-p"], &[Does::OpaqueInput]).operands(each(&[MAKES])),
            switch(&["--extract", "-i"], &[Does::WritesFile(".", crate::effect::Change::Folder)]),
        ])
        .examples(&[("cpio -i -F a.cpio", &["reads a.cpio", "makes ."])]),
    model(&["ar", "gar", "llvm-ar"])
        .operands(leading(&[&[], &[WRITES]], &[READS]))
        .examples(&[("ar rcs lib.a a.o", &["writes lib.a", "reads a.o"])]),
    model(&["dpkg-deb"])
        .flags(&[
            switch(&["--extract", "-x", "--raw-extract", "-R", "--control", "-e"], &[])
                .operands(leading(&[&[READS], &[MAKES]], &[])),
            switch(&["--build", "-b"], &[]).operands(leading(&[&[READS_TREE], &[WRITES]], &[])),
        ])
        .operands(each(&[READS]))
        .examples(&[
            ("dpkg-deb -x a.deb out", &["reads a.deb", "makes out"]),
            ("dpkg-deb -c a.deb", &["reads a.deb"]),
        ]),
    model(&["hdiutil"])
        .subs(&[
            model(&["attach", "attachplugin", "mount"])
                .operands(each(&[READS, Does::Package(Registry::Other)])),
            model(&["info", "verify", "detach", "imageinfo"]).operands(each(&[READS])),
            model(&["create", "convert"]).operands(each(&[WRITES])).flags(&[
                takes(&["-srcfolder"], &[READS_TREE]),
                takes(&["-size", "-fs", "-volname", "-format"], &[]),
                takes(&["-o"], &[WRITES]),
            ]),
        ])
        .style(Style::SingleDash)
        .examples(&[("hdiutil attach a.dmg", &["reads a.dmg"])]),
];
