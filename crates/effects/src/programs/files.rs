//! Programs that read, copy, move and delete files.

use crate::effect::Change;
use crate::model::*;

pub(crate) const MODELS: &[Model] = &[
    model(&["cat", "tac", "nl", "bat", "batcat"])
        .operands(each(&[READS]))
        .examples(&[("cat -n a b", &["reads a", "reads b"]), ("cat -", &[])]),
    model(&["rm"])
        .flags(&[switch(&["--recursive", "-r", "-R"], &[]).operands(each(&[DELETES_TREE]))])
        .operands(each(&[DELETES]))
        .examples(&[
            ("rm a", &["deletes a"]),
            ("rm -rf build", &["deletes-tree build"]),
            ("rm build --recur", &["deletes-tree build"]),
            ("rm -f -- -r", &["deletes -r"]),
        ]),
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
    model(&["truncate"])
        .flags(&[takes(&["--size", "-s"], &[]), takes(&["--reference", "-r"], &[LISTS])])
        .operands(each(&[Does::Writes(Change::Empty)]))
        .examples(&[("truncate -s 0 log", &["empties log"])]),
    model(&["dd"])
        .style(Style::Plain)
        .flags(&[joined(&["if="], &[READS]), joined(&["of="], &[WRITES])])
        .examples(&[("dd if=a of=/dev/sda bs=1M", &["reads a", "writes /dev/sda"])]),
];
