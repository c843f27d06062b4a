//! Programs that copy, move, delete and change files.

use crate::effect::{Change, Purpose};
use crate::marks::Mark;
use crate::model::*;

pub(crate) const MODELS: &[Model] = &[
    model(&["rm", "grm"])
        .flags(&[
            switch(&["--recursive", "-r", "-R"], &[]).operands(each(&[DELETES_TREE])),
            switch(&["--no-preserve-root"], &[mark(Mark::Disk)]),
            switch(&["--force", "-f"], &[]),
        ])
        .operands(each(&[DELETES]))
        .examples(&[
            ("rm a", &["deletes a"]),
            ("rm -rf build", &["deletes-tree build"]),
            ("rm build --recur", &["deletes-tree build"]),
            ("rm -f -- -r", &["deletes -r"]),
            ("rm -rf --no-preserve-root /", &["deletes-tree /", "marks disk"]),
        ]),
    model(&["unlink"]).operands(each(&[DELETES])).examples(&[("unlink a", &["deletes a"])]),
    model(&["rmdir"])
        .flags(&[switch(&["--parents", "-p"], &[])])
        .operands(each(&[DELETES]))
        .examples(&[("rmdir -p a/b", &["deletes a/b"])]),
    model(&["srm", "trash", "trash-put", "rimraf", "del-cli", "wipe", "del", "rd", "erase"])
        .operands(each(&[DELETES_TREE]))
        .examples(&[
            ("trash dist", &["deletes-tree dist"]),
            ("rimraf dist coverage", &["deletes-tree dist", "deletes-tree coverage"]),
        ]),
    model(&["shred"])
        .flags(&[
            switch(&["--remove", "-u"], &[]).operands(each(&[DELETES])),
            takes(&["--iterations", "-n"], &[]),
            takes(&["--size", "-s"], &[]),
            takes(&["--random-source"], &[READS]),
        ])
        .operands(each(&[Does::Writes(Change::Empty)]))
        .examples(&[("shred -n 1 a", &["empties a"]), ("shred -uz a", &["deletes a"])]),
    model(&["truncate"])
        .flags(&[takes(&["--size", "-s"], &[]), takes(&["--reference", "-r"], &[LISTS])])
        .operands(each(&[Does::Writes(Change::Empty)]))
        .examples(&[("truncate -s 0 log", &["empties log"])]),
    model(&["cp", "gcp"])
        .flags(&[
            switch(&["--recursive", "-r", "-R", "--archive", "-a"], &[])
                .operands(sources_and_target(&[READS_TREE], &[MAKES])),
            takes(&["--target-directory", "-t"], &[MAKES]).operands(each(&[READS_TREE])),
            takes(&["--suffix", "-S"], &[]),
        ])
        .operands(sources_and_target(&[READS], &[WRITES]))
        .examples(&[
            ("cp a b", &["reads a", "writes b"]),
            ("cp -t dir a b", &["makes dir", "reads-tree a", "reads-tree b"]),
            ("cp -a src dst", &["reads-tree src", "makes dst"]),
        ]),
    model(&["mv", "gmv"])
        .flags(&[
            takes(&["--target-directory", "-t"], &[MAKES])
                .operands(each(&[READS_TREE, DELETES_TREE])),
            takes(&["--suffix", "-S"], &[]),
        ])
        .operands(sources_and_target(&[READS_TREE, DELETES_TREE], &[MAKES]))
        .examples(&[("mv a b", &["reads-tree a", "deletes-tree a", "makes b"])]),
    model(&["ln", "gln"])
        .flags(&[
            takes(&["--target-directory", "-t"], &[Does::Writes(Change::Link)]),
            takes(&["--suffix", "-S"], &[]),
        ])
        .operands(sources_and_target(&[READS], &[Does::Writes(Change::Link)]))
        .examples(&[("ln -sf a b", &["reads a", "links b"])]),
    model(&["install", "ginstall"])
        .flags(&[
            takes(&["--mode", "-m"], &[Does::Mode]),
            takes(&["--owner", "-o", "--group", "-g"], &[]),
            takes(&["--suffix", "-S"], &[]),
            takes(&["--strip-program"], &[PROGRAM]),
            takes(&["--target-directory", "-t"], &[MAKES]).operands(each(&[READS])),
            switch(&["--directory", "-d"], &[]).operands(each(&[MAKES])),
        ])
        .operands(sources_and_target(&[READS], &[WRITES]))
        .examples(&[
            ("install -m 755 a b", &["reads a", "writes b"]),
            ("install -d x", &["makes x"]),
            ("install -m 4755 sh /tmp/sh", &["reads sh", "writes /tmp/sh", "marks privilege"]),
            ("install -s --strip-program=./x a b", &["reads a", "writes b", "runs x"]),
        ]),
    model(&["dd", "gdd", "dcfldd"])
        .style(Style::Plain)
        .flags(&[joined(&["if="], &[READS]), joined(&["of="], &[WRITES])])
        .examples(&[
            ("dd if=a of=/dev/sda bs=1M", &["reads a", "writes /dev/sda"]),
            ("dd of=b if=/dev/zero", &["writes b", "empties b"]),
        ]),
    model(&["mkdir"])
        .flags(&[takes(&["--mode", "-m"], &[])])
        .operands(each(&[MAKES]))
        .examples(&[("mkdir -p a/b", &["makes a/b"])]),
    model(&["mkfifo", "mknod"])
        .flags(&[takes(&["--mode", "-m"], &[])])
        .operands(leading(&[&[WRITES]], &[]))
        .examples(&[("mkfifo p", &["writes p"])]),
    model(&["mktemp"])
        .flags(&[takes(&["--suffix", "-p", "--tmpdir"], &[])])
        .examples(&[("mktemp -d", &[])]),
    model(&["touch", "gtouch"])
        .flags(&[
            takes(&["--date", "-d", "-t", "--time"], &[]),
            takes(&["--reference", "-r"], &[LISTS]),
        ])
        .operands(each(&[CHANGES]))
        .examples(&[("touch -d now a", &["changes a"])]),
    model(&["chmod", "gchmod"])
        .flags(&[
            takes(&["--reference"], &[LISTS]).instead(),
            switch(&["--recursive", "-R"], &[]),
            // A mode: `chmod -x file`.
            switch(&["-x", "-r", "-w", "-t", "-X"], &[]).instead(),
        ])
        .operands(leading(&[&[Does::Mode]], &[CHANGES]))
        .examples(&[
            ("chmod +x a", &["changes a"]),
            ("chmod u+s /bin/bash", &["changes /bin/bash", "marks privilege"]),
            ("chmod 4755 a", &["changes a", "marks privilege"]),
            ("chmod g+xs,o-w a", &["changes a", "marks privilege"]),
            ("chmod 0755 a", &["changes a"]),
            ("chmod 644 ~/.ssh/k", &["changes ~/.ssh/k", "marks guard"]),
            ("chmod 600 ~/.ssh/k", &["changes ~/.ssh/k"]),
        ]),
    model(&["chown", "chgrp", "gchown"])
        .flags(&[takes(&["--reference"], &[LISTS]).instead(), takes(&["--from"], &[])])
        .operands(leading(&[&[]], &[CHANGES]))
        .examples(&[("chown -R root:root a", &["changes a"])]),
    model(&["chattr", "setfattr", "chflags"])
        // `-i` takes the protection away.
        .flags(&[switch(&["-i", "-a"], &[mark(Mark::Guard)]).operands(each(&[CHANGES]))])
        .operands(leading(&[&[]], &[CHANGES]))
        .examples(&[
            ("chattr +i a", &["changes a"]),
            ("chattr -i a", &["changes a", "marks guard"]),
        ]),
    model(&["setfacl"])
        .flags(&[
            takes(&["--modify", "-m", "--remove", "-x"], &[]),
            takes(&["--restore", "-M"], &[READS]),
        ])
        .operands(each(&[CHANGES]))
        .examples(&[("setfacl -m u:dev:rw a", &["changes a"])]),
    model(&["setcap"])
        .operands(leading(&[&[]], &[CHANGES]))
        .always(&[mark(Mark::Privilege)])
        .examples(&[("setcap cap_setuid+ep a", &["changes a", "marks privilege"])]),
    model(&["tee", "gtee", "sponge"])
        .flags(&[switch(&["--append", "-a"], &[]).operands(each(&[APPENDS]))])
        .operands(each(&[WRITES]))
        .examples(&[("tee a b", &["writes a", "writes b"]), ("tee -a a", &["appends a"])]),
    model(&["split", "gsplit"])
        .flags(&[
            takes(&["--filter"], &[SHELL]),
            takes(
                &[
                    "--lines",
                    "-l",
                    "--bytes",
                    "-b",
                    "-C",
                    "--number",
                    "-n",
                    "--suffix-length",
                    "-a",
                    "--additional-suffix",
                ],
                &[],
            ),
        ])
        .operands(leading(&[&[READS], &[WRITES]], &[]))
        .examples(&[
            ("split -l 10 a part_", &["reads a", "writes part_"]),
            ("split --filter='rm x' a", &["reads a", "runs rm x", "deletes x"]),
        ]),
    model(&["csplit"])
        .flags(&[takes(&["--prefix", "-f", "--suffix-format", "-b", "--digits", "-n"], &[])])
        .operands(leading(&[&[READS]], &[]))
        .examples(&[("csplit -s a 2", &["reads a"])]),
    model(&["rsync"])
        .flags(&[
            takes(&["--rsh", "-e"], &[SHELL]),
            takes(&["--rsync-path"], &[Does::RemoteShell]),
            takes(
                &["--files-from", "--exclude-from", "--include-from", "--password-file"],
                &[READS],
            ),
            takes(&["--log-file", "--write-batch", "--partial-dir", "--backup-dir"], &[WRITES]),
            takes(
                &[
                    "--exclude",
                    "--include",
                    "--filter",
                    "-f",
                    "--bwlimit",
                    "--timeout",
                    "--port",
                    "--chmod",
                    "--chown",
                    "--max-size",
                    "--out-format",
                    "-M",
                    "--compare-dest",
                    "--link-dest",
                    "--copy-dest",
                ],
                &[],
            ),
            switch(&["--dry-run", "-n"], &[]),
            switch(&["--remove-source-files"], &[]).operands(sources_and_target(
                &[Does::Transfers(Purpose::Fetch), DELETES_TREE],
                &[Does::Transfers(Purpose::Send)],
            )),
            switch(
                &[
                    "--delete",
                    "--del",
                    "--delete-before",
                    "--delete-after",
                    "--delete-during",
                    "--delete-excluded",
                    "--delete-delay",
                ],
                &[],
            )
            .operands(sources_and_target(
                &[Does::Transfers(Purpose::Fetch)],
                &[Does::Transfers(Purpose::Send), DELETES_TREE],
            )),
        ])
        .operands(sources_and_target(
            &[Does::Transfers(Purpose::Fetch)],
            &[Does::Transfers(Purpose::Send)],
        ))
        .examples(&[
            ("rsync -a a b", &["reads-tree a", "makes b"]),
            ("rsync -a a host.example:b", &["reads-tree a", "sends host.example:22"]),
            ("rsync -a --delete a b", &["reads-tree a", "makes b", "deletes-tree b"]),
            ("rsync -e 'touch x' a b", &["reads-tree a", "makes b", "runs touch x", "changes x"]),
        ]),
    model(&["rename", "prename"])
        // Only names change.
        .operands(leading(&[&[Does::Code(Language::Perl)]], &[CHANGES]))
        .flags(&[takes(&["-e"], &[Does::Code(Language::Perl)]).instead()])
        .examples(&[("rename s/a/b/ c", &["changes c"])]),
    model(&["xattr"])
        .operands(each(&[CHANGES]))
        .flags(&[takes(&["-d", "-w", "-p"], &[mark(Mark::Guard)])]),
];
