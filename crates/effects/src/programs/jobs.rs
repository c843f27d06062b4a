//! Schedulers of clusters and queues: what is given to them runs later, or on another node.

use crate::model::*;

/// Flags of Slurm whose value does nothing.
const NAMES: Flag = takes(
    &[
        "--job-name",
        "-J",
        "--partition",
        "-p",
        "--time",
        "-t",
        "--nodes",
        "-N",
        "--ntasks",
        "-n",
        "--cpus-per-task",
        "-c",
        "--mem",
        "--account",
        "-A",
        "--gres",
        "--qos",
        "-q",
        "--array",
        "-a",
        "--dependency",
        "-d",
        "--nodelist",
        "-w",
        "--constraint",
        "-C",
        "--export",
        "--mail-type",
        "--mail-user",
        "--clusters",
        "-M",
        "--gpus",
        "-G",
    ],
    &[],
);
const FILES: Flag = takes(&["--output", "-o", "--error", "-e"], &[WRITES]);
const HOOKS: Flag = takes(&["--prolog", "--epilog", "--task-prolog", "--task-epilog"], &[PROGRAM]);
const SLURM: &[Flag] = &[NAMES, FILES, HOOKS, takes(&["--chdir", "-D"], &[FOLDER])];
const SBATCH: &[Flag] = &[
    takes(&["--wrap"], &[SHELL]).operands(each(&[])).instead(),
    NAMES,
    FILES,
    HOOKS,
    takes(&["--chdir", "-D"], &[FOLDER]),
];

pub(crate) const MODELS: &[Model] = &[
    model(&["sbatch"])
        .style(Style::Posix)
        .flags(SBATCH)
        .operands(leading(&[&[Does::Script(Language::Shell)]], &[]))
        .bare(&[Does::RunsInput(Language::Shell)])
        .examples(&[
            ("sbatch --wrap='cat a'", &["runs cat a", "reads a"]),
            ("sbatch -p gpu --time=3-0 --wrap \"cat a\"", &["runs cat a", "reads a"]),
        ]),
    model(&["srun", "salloc", "mpirun", "mpiexec", "aprun", "jsrun", "flux-run"])
        .style(Style::Posix)
        .flags(SLURM)
        .operands(each(&[COMMAND]))
        .examples(&[("srun -n 4 --pty cat a", &["runs cat a", "reads a"])]),
    model(&["qsub", "qrsh", "qalter", "oarsub", "jsub", "msub"])
        .style(Style::Posix)
        .flags(&[
            takes(&["-b", "--command"], &[]).operands(each(&[SHELL])),
            takes(
                &[
                    "-N",
                    "-q",
                    "-l",
                    "-pe",
                    "-P",
                    "-A",
                    "-M",
                    "-m",
                    "-t",
                    "-v",
                    "-p",
                    "-W",
                    "-a",
                    "-S",
                    "-u",
                    "-hold_jid",
                ],
                &[],
            ),
            takes(&["-o", "-e"], &[WRITES]),
        ])
        .operands(leading(&[&[Does::Script(Language::Shell)]], &[]))
        .bare(&[Does::RunsInput(Language::Shell)])
        .examples(&[("qsub -b y 'cat a'", &["runs cat a", "reads a"])]),
    model(&["bsub", "condor_run"])
        .style(Style::Posix)
        .flags(&[
            takes(
                &[
                    "-J", "-q", "-n", "-R", "-W", "-M", "-P", "-G", "-m", "-w", "-u", "-g", "-app",
                    "-gpu", "-cwd",
                ],
                &[],
            ),
            takes(&["-o", "-e", "-oo", "-eo"], &[WRITES]),
            takes(&["-E", "-Ep"], &[SHELL]),
        ])
        .operands(each(&[SHELL]))
        .bare(&[Does::RunsInput(Language::Shell)])
        .examples(&[("bsub -n 4 -J x 'cat a'", &["runs cat a", "reads a"])]),
];
