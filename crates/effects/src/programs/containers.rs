//! Containers and clusters.

use crate::effect::{Access, Purpose};
use crate::marks::Mark;
use crate::model::*;

const HOST: Use = &[mark(Mark::HostAccess)];
const DISK: Use = &[mark(Mark::Disk)];
const DESTROY: Use = &[mark(Mark::Infrastructure)];
const IMAGE: Use = &[Does::Package(Registry::Image)];
/// A file or a URL that says which containers run.
const MANIFEST: Use = &[Does::Repository(Purpose::Execute)];
const IN_CONTAINER: Use = &[Does::RemoteCommand];
/// Values that join a namespace of the host.
const OF_HOST: Use = &[Does::MarksIf(&["host"], Mark::HostAccess)];
/// Capabilities that are as good as root on the host.
const CAPABILITIES: Use = &[Does::MarksIf(
    &[
        "ALL",
        "all",
        "SYS_ADMIN",
        "CAP_SYS_ADMIN",
        "SYS_PTRACE",
        "CAP_SYS_PTRACE",
        "SYS_MODULE",
        "CAP_SYS_MODULE",
        "DAC_READ_SEARCH",
        "NET_ADMIN",
    ],
    Mark::HostAccess,
)];

const RUN_FLAGS: &[Flag] = &[
    takes(&["--volume", "-v", "--mount"], &[Does::Mount]),
    switch(&["--privileged"], HOST),
    takes(&["--pid", "--ipc", "--uts", "--userns", "--cgroupns"], OF_HOST),
    takes(&["--network", "--net"], &[]),
    takes(&["--cap-add"], CAPABILITIES),
    takes(
        &["--security-opt"],
        &[Does::MarksIf(
            &[
                "seccomp=unconfined",
                "apparmor=unconfined",
                "seccomp:unconfined",
                "apparmor:unconfined",
                "label=disable",
                "label:disable",
                "no-new-privileges=false",
            ],
            Mark::HostAccess,
        )],
    ),
    takes(&["--device"], &[WRITES]),
    takes(&["--volumes-from"], &[]),
    // The variables are for the container.
    takes(&["--env-file"], &[LISTS]),
    takes(&["--label-file"], &[READS]),
    takes(&["--cidfile", "--iidfile"], &[WRITES]),
    takes(&["--entrypoint"], IN_CONTAINER),
    takes(
        &[
            "--env",
            "-e",
            "--publish",
            "-p",
            "--name",
            "--workdir",
            "-w",
            "--user",
            "-u",
            "--hostname",
            "-h",
            "--label",
            "-l",
            "--memory",
            "-m",
            "--cpus",
            "--restart",
            "--platform",
            "--add-host",
            "--dns",
            "--expose",
            "--gpus",
            "--group-add",
            "--health-cmd",
            "--ip",
            "--link",
            "--log-driver",
            "--log-opt",
            "--mac-address",
            "--network-alias",
            "--pull",
            "--runtime",
            "--shm-size",
            "--stop-signal",
            "--stop-timeout",
            "--sysctl",
            "--tmpfs",
            "--ulimit",
            "--cpuset-cpus",
            "--cap-drop",
            "--pids-limit",
            "--attach",
            "-a",
            "--detach-keys",
            "--oom-score-adj",
            "--annotation",
        ],
        &[],
    ),
];

const BUILD: Model = model(&["build", "bake", "bud"])
    .flags(&[
        takes(&["--file", "-f"], &[Does::Recipe]),
        takes(
            &[
                "--tag",
                "-t",
                "--build-arg",
                "--target",
                "--platform",
                "--label",
                "--cache-from",
                "--cache-to",
                "--network",
                "--progress",
                "--builder",
                "--provenance",
                "--sbom",
                "--set",
            ],
            &[],
        ),
        takes(&["--secret", "--ssh"], &[]),
        takes(&["--volume", "-v"], &[Does::Mount]),
        takes(&["--allow"], &[Does::MarksIfContains("security.insecure", Mark::HostAccess)]),
        takes(&["--build-context"], &[Does::Mount]),
        takes(&["--output", "-o", "--iidfile", "--metadata-file"], &[]),
    ])
    .operands(each(&[Does::Repository(Purpose::Execute)]));

const COMPOSE: Model = model(&["compose"])
    .flags(&[
        takes(&["--file", "-f"], &[Does::Package(Registry::Other)]),
        takes(&["--env-file"], &[LISTS]),
        takes(
            &["--project-name", "-p", "--profile", "--project-directory", "--ansi", "--parallel"],
            &[],
        ),
    ])
    .subs(&[
        model(&[
            "up", "down", "ps", "logs", "build", "pull", "push", "start", "stop", "restart",
            "images", "top", "events", "port", "create", "kill", "pause", "unpause", "version",
            "ls", "wait", "watch", "rm", "cp", "stats", "scale",
        ])
        .flags(&[takes(
            &[
                "--tail",
                "-n",
                "--timeout",
                "-t",
                "--scale",
                "--since",
                "--exit-code-from",
                "--format",
            ],
            &[],
        )]),
        model(&["config", "convert"]).flags(&[
            takes(&["--format", "--output", "-o", "--hash"], &[]),
            // What the files that compose reads set.
            switch(&["--environment"], &[Does::ReadsFile(".env", Access::Content)]),
        ]),
        model(&["exec"])
            .style(Style::Posix)
            .flags(&[
                takes(&["--env", "-e", "--user", "-u", "--workdir", "-w", "--index"], &[]),
                switch(&["--privileged"], HOST),
            ])
            .operands(leading(&[&[], IN_CONTAINER], &[])),
        model(&["run"])
            .style(Style::Posix)
            .flags(RUN_FLAGS)
            .operands(leading(&[&[], IN_CONTAINER], &[])),
    ]);

const DOCKER_SUBS: &[Model] = &[
    model(&["run", "create"])
        .style(Style::Posix)
        .flags(RUN_FLAGS)
        .operands(leading(&[IMAGE, IN_CONTAINER], &[])),
    model(&["exec"])
        .style(Style::Posix)
        .flags(&[
            takes(&["--env", "-e", "--user", "-u", "--workdir", "-w", "--detach-keys"], &[]),
            takes(&["--env-file"], &[LISTS]),
            switch(&["--privileged"], HOST),
        ])
        .operands(leading(&[&[], IN_CONTAINER], &[])),
    BUILD,
    model(&["buildx", "builder"]).subs(&[
        BUILD,
        model(&[
            "ls",
            "inspect",
            "create",
            "use",
            "du",
            "version",
            "imagetools",
            "rm",
            "stop",
            "prune",
        ]),
    ]),
    COMPOSE,
    model(&["context"]).subs(&[
        model(&["ls", "list", "show", "use", "inspect", "create", "update", "rm"]),
        model(&["export"]).always(&[mark(Mark::Credentials)]),
    ]),
    model(&[
        "ps", "images", "logs", "inspect", "info", "version", "stats", "top", "port", "events",
        "history", "diff", "search", "attach", "wait", "help", "stop", "start", "restart", "pause",
        "unpause", "rename", "tag", "kill", "rm", "rmi", "update", "commit", "scout", "manifest",
        "trust", "init", "desktop",
    ])
    .flags(&[takes(
        &[
            "--format",
            "-f",
            "--filter",
            "--tail",
            "-n",
            "--since",
            "--until",
            "--time",
            "-t",
            "--signal",
            "-s",
            "--message",
            "-m",
            "--author",
            "-a",
        ],
        &[],
    )]),
    model(&["pull"]).operands(each(IMAGE)),
    model(&["push"]).operands(each(IMAGE)).always(&[mark(Mark::Publishes)]),
    model(&["cp"]),
    model(&["save", "export"]).flags(&[takes(&["--output", "-o"], &[WRITES])]),
    model(&["load", "import"]).flags(&[takes(&["--input", "-i"], &[READS])]).operands(each(&[])),
    model(&["login"])
        .flags(&[takes(&["--username", "-u", "--password", "-p"], &[])])
        .operands(each(&[FETCHES])),
    model(&["logout"]),
    model(&["volume"]).subs(&[
        model(&["rm", "remove", "prune"]).always(DISK),
        // `device=/` makes a volume of a folder of the host.
        model(&["create"]).flags(&[
            takes(&["--opt", "-o"], &[Does::Mount]),
            takes(&["--name", "--driver", "-d", "--label"], &[]),
        ]),
        model(&["ls", "list", "inspect", "update"]),
    ]),
    model(&["service"]).subs(&[
        model(&["create", "update"])
            .style(Style::Posix)
            .flags(RUN_FLAGS)
            .operands(leading(&[IMAGE, IN_CONTAINER], &[])),
        model(&["rm", "remove"]).always(DESTROY),
        model(&["scale"]).operands(each(&[Does::MarksIfContains("=0", Mark::Infrastructure)])),
        model(&["ls", "ps", "inspect", "logs", "rollback"]),
    ]),
    model(&["system"]).subs(&[
        model(&["reset"]).always(DISK),
        model(&["prune"]).flags(&[switch(&["--volumes"], DISK), switch(&["--all", "-a"], &[])]),
        model(&["df", "info", "events", "connection", "service"]),
    ]),
    model(&["image", "container", "network"]).subs(&[
        model(&["run", "create"])
            .style(Style::Posix)
            .flags(RUN_FLAGS)
            .operands(leading(&[IMAGE, IN_CONTAINER], &[])),
        model(&["exec"])
            .style(Style::Posix)
            .flags(&[
                takes(&["--env", "-e", "--user", "-u", "--workdir", "-w"], &[]),
                switch(&["--privileged"], HOST),
            ])
            .operands(leading(&[&[], IN_CONTAINER], &[])),
        model(&[
            "ls",
            "list",
            "inspect",
            "rm",
            "prune",
            "history",
            "pull",
            "tag",
            "connect",
            "disconnect",
            "stop",
            "start",
            "logs",
            "top",
            "stats",
            "port",
            "build",
        ]),
    ]),
    model(&["swarm"]).subs(&[
        model(&["leave"]).flags(&[switch(&["--force", "-f"], DESTROY)]),
        model(&["init", "join", "ca", "join-token", "unlock", "update"]),
    ]),
    model(&["stack", "service", "secret", "config", "node"]).subs(&[
        model(&["rm", "remove", "down"]).always(DESTROY),
        model(&["deploy"]).flags(&[takes(&["--compose-file", "-c"], MANIFEST)]),
        model(&[
            "ls", "ps", "services", "inspect", "create", "update", "logs", "scale", "rollback",
            "config", "up", "demote", "promote",
        ]),
    ]),
    model(&["plugin"]).subs(&[
        // A plugin runs with the rights of the daemon.
        model(&["install"]).operands(each(IMAGE)).always(HOST),
        model(&["ls", "inspect", "enable", "disable", "rm"]),
    ]),
    model(&["import"]).operands(leading(&[&[Does::Package(Registry::Other)]], &[])),
    model(&["unshare"]).style(Style::Posix).operands(leading(&[&[COMMAND]], &[])),
    model(&["play"]).subs(&[model(&["kube"]).operands(each(MANIFEST))]),
    model(&["kube"])
        .subs(&[model(&["play", "apply"]).operands(each(MANIFEST)), model(&["generate", "down"])]),
    model(&["machine", "pod", "generate", "mount"]),
];

const KUBE_DELETE: Model = model(&["delete"])
    .flags(&[
        takes(&["--filename", "-f", "--kustomize", "-k"], DESTROY),
        switch(&["--all", "--all-namespaces", "-A"], DESTROY),
        takes(
            &["--selector", "-l", "--grace-period", "--timeout", "--cascade", "--field-selector"],
            &[],
        ),
    ])
    .operands(leading(
        &[&[Does::MarksIf(
            &[
                "namespace",
                "namespaces",
                "ns",
                "all",
                "pvc",
                "pv",
                "persistentvolumeclaim",
                "persistentvolumeclaims",
                "persistentvolume",
                "persistentvolumes",
                "crd",
                "crds",
                "customresourcedefinition",
                "customresourcedefinitions",
                "node",
                "nodes",
                "no",
                "statefulset",
                "statefulsets",
                "sts",
                "project",
                "cluster",
                "clusters",
                "secret",
                "secrets",
                "storageclass",
            ],
            Mark::Infrastructure,
        )]],
        &[],
    ));

const KUBE_FLAGS: &[Flag] = &[
    takes(
        &[
            "--namespace",
            "-n",
            "--context",
            "--cluster",
            "--user",
            "--server",
            "-s",
            "--token",
            "--as",
            "--request-timeout",
            "-v",
            "--output",
            "-o",
            "--selector",
            "-l",
            "--field-selector",
            "--tail",
            "--since",
            "--container",
            "-c",
            "--replicas",
            "--image",
            "--type",
            "--sort-by",
            "--dry-run",
            "--timeout",
            "--field-manager",
        ],
        &[],
    ),
    takes(&["--kubeconfig"], &[LISTS]),
];

/// Kinds of a cluster that keep others within bounds.
const GUARDING_KINDS: Use = &[Does::MarksIf(
    &[
        "networkpolicy",
        "networkpolicies",
        "netpol",
        "clusterrole",
        "clusterrolebinding",
        "role",
        "rolebinding",
        "validatingwebhookconfiguration",
        "mutatingwebhookconfiguration",
        "podsecuritypolicy",
    ],
    Mark::Guard,
)];

pub(crate) const MODELS: &[Model] = &[
    model(&["docker", "podman", "nerdctl", "finch"])
        .flags(&[
            takes(&["--host", "-H", "--url"], &[SENDS]),
            takes(&["--context", "-c", "--config", "--log-level", "-l", "--namespace"], &[]),
        ])
        .subs(DOCKER_SUBS)
        .examples(&[
            ("docker ps -a", &[]),
            ("docker run --privileged alpine", &["executes docker.io:443", "marks host-access"]),
            ("docker run --pid=host alpine", &["executes docker.io:443", "marks host-access"]),
            ("docker volume rm data", &["marks disk"]),
            ("docker volume ls", &[]),
            ("docker push localhost:5000/a", &["sends localhost:5000", "marks publishes"]),
            ("docker system prune -a --volumes", &["marks disk"]),
            ("docker compose down -v", &[]),
            ("docker compose config --services", &[]),
            ("docker compose config --environment", &["reads .env"]),
            ("docker stack deploy -c https://h.example/c.yml s", &["executes h.example:443"]),
            ("podman kube play https://h.example/p.yaml", &["executes h.example:443"]),
            ("docker compose -f https://h.example/c.yml up", &["executes h.example:443"]),
            ("docker run --env-file .env alpine", &["executes docker.io:443", "lists .env"]),
            (
                "docker service create --mount type=bind,src=/,dst=/h alpine",
                &["executes docker.io:443", "reads-tree /", "makes /", "marks host-access"],
            ),
            ("docker build --allow security.insecure .", &["reads-tree .", "marks host-access"]),
            ("docker build --build-context h=./a .", &["reads-tree .", "reads-tree a", "makes a"]),
            (
                "docker volume create -o type=none -o device=/ v",
                &["reads-tree /", "makes /", "marks host-access"],
            ),
            ("podman unshare cat a", &["runs cat a", "reads a"]),
        ]),
    model(&["docker-compose", "podman-compose"])
        .flags(COMPOSE.flags)
        .subs(COMPOSE.subs)
        .examples(&[("docker-compose up -d", &[])]),
    model(&["buildah"])
        .subs(&[
            BUILD,
            model(&["run"])
                .style(Style::Posix)
                .flags(RUN_FLAGS)
                .operands(leading(&[&[], IN_CONTAINER], &[])),
            model(&["unshare"]).style(Style::Posix).operands(leading(&[&[COMMAND]], &[])),
            model(&["from", "pull"]).operands(each(IMAGE)),
            model(&[
                "images",
                "containers",
                "inspect",
                "version",
                "rm",
                "rmi",
                "commit",
                "config",
                "mount",
                "umount",
                "push",
                "copy",
                "add",
            ]),
        ])
        .examples(&[("buildah images", &[])]),
    model(&["skopeo", "crane", "oras", "regctl"])
        .subs(&[
            model(&["copy", "cp", "sync", "push"]).always(&[mark(Mark::Publishes)]),
            model(&["delete"]).always(&[mark(Mark::RemoteDelete)]),
            model(&[
                "inspect",
                "list-tags",
                "ls",
                "manifest",
                "digest",
                "catalog",
                "pull",
                "config",
            ]),
        ])
        .examples(&[("skopeo inspect alpine", &[])]),
    model(&["kubectl", "k", "oc", "kubecolor", "microk8s.kubectl"])
        .flags(KUBE_FLAGS)
        .subs(&[
            KUBE_DELETE,
            model(&[
                "get",
                "describe",
                "logs",
                "top",
                "explain",
                "api-resources",
                "api-versions",
                "version",
                "cluster-info",
                "config",
                "auth",
                "diff",
                "events",
                "wait",
                "completion",
                "options",
                "kustomize",
                "plugin",
                "status",
                "whoami",
                "projects",
            ]),
            model(&["apply", "create", "replace"])
                .flags(&[
                    takes(
                        &["--filename", "-f", "--kustomize", "-k"],
                        &[Does::Repository(Purpose::Execute)],
                    ),
                    switch(&["--force"], &[]),
                    switch(&["--prune"], DESTROY),
                    takes(&["--from-file", "--from-env-file"], &[READS]),
                    takes(&["--from-literal"], &[]),
                    takes(&["--image"], IMAGE),
                ])
                .subs(&[model(&["job", "cronjob", "cj"])
                    .flags(&[takes(&["--image"], IMAGE), takes(&["--schedule", "--from"], &[])])
                    .operands(leading(&[&[], IN_CONTAINER], &[]))])
                .operands(leading(
                    &[&[Does::MarksIf(
                        &["clusterrolebinding", "rolebinding", "clusterrole", "token"],
                        Mark::Privilege,
                    )]],
                    &[],
                )),
            model(&["exec"]).flags(KUBE_FLAGS).operands(leading(&[&[], IN_CONTAINER], &[])),
            model(&["run"])
                .flags(&[
                    takes(&["--image"], IMAGE),
                    takes(&["--overrides"], HOST),
                    switch(&["--privileged"], HOST),
                    takes(&["--env", "--port", "--restart", "--labels"], &[]),
                ])
                .operands(leading(&[&[], IN_CONTAINER], &[])),
            model(&["debug"])
                .flags(&[
                    takes(&["--image"], IMAGE),
                    takes(
                        &["--profile"],
                        &[Does::MarksIf(&["sysadmin", "netadmin"], Mark::HostAccess)],
                    ),
                    takes(&["--target", "--copy-to"], &[]),
                ])
                .operands(leading(&[&[], IN_CONTAINER], &[])),
            model(&["cp"]),
            model(&["port-forward", "proxy"]).flags(&[
                takes(&["--address"], &[Does::MarksIf(&["0.0.0.0", "::", "0"], Mark::Tunnel)]),
                takes(&["--port", "-p", "--accept-hosts", "--accept-paths"], &[]),
            ]),
            model(&[
                "rollout",
                "scale",
                "autoscale",
                "annotate",
                "expose",
                "set",
                "attach",
                "cordon",
                "uncordon",
                "taint",
                "certificate",
            ]),
            model(&["label"]).operands(each(&[
                Does::MarksIfContains("enforce=privileged", Mark::Guard),
                Does::MarksIfContains("enforce-", Mark::Guard),
            ])),
            model(&["drain"])
                .flags(&[switch(
                    &[
                        "--ignore-daemonsets",
                        "--delete-emptydir-data",
                        "--force",
                        "--disable-eviction",
                    ],
                    &[],
                )])
                .always(DESTROY),
            model(&["edit", "patch"])
                .flags(&[takes(&["--patch", "-p", "--patch-file"], &[])])
                .operands(leading(&[GUARDING_KINDS], &[])),
            model(&["adm", "login", "logout", "new-app", "new-project", "start-build"]),
        ])
        .examples(&[
            ("kubectl get pods -A", &[]),
            ("kubectl exec -it web-0 -- cat a", &["runs cat a", "reads a"]),
            ("kubectl delete namespace prod", &["marks infrastructure"]),
            ("kubectl delete pod web-0", &[]),
            ("kubectl delete namespace x --context kind-dev", &[]),
            ("kubectl delete namespace x --dry-run=client", &[]),
            ("kubectl delete ns x --dry-run=client --dry-run=none", &["marks infrastructure"]),
            ("kubectl patch clusterrole x -p '[]'", &["marks guard"]),
            ("kubectl patch deploy web -p '{}'", &[]),
            ("kubectl -n x delete all --all", &["marks infrastructure"]),
            ("kubectl apply -f https://h.example/x.yaml", &["executes h.example:443"]),
            (
                "kubectl port-forward --address 0.0.0.0 svc/db 5432",
                &["listens 0.0.0.0", "marks tunnel"],
            ),
            (
                "kubectl create clusterrolebinding x --clusterrole=cluster-admin",
                &["marks privilege"],
            ),
        ]),
    model(&["helm"])
        .flags(&[
            takes(
                &[
                    "--namespace",
                    "-n",
                    "--kube-context",
                    "--version",
                    "--set",
                    "--set-string",
                    "--output",
                    "-o",
                    "--timeout",
                    "--registry-config",
                ],
                &[],
            ),
            takes(&["--values", "-f", "--set-file", "--kubeconfig"], &[READS]),
            takes(&["--post-renderer"], &[PROGRAM]),
            takes(&["--repo"], &[Does::Connects(Purpose::Execute)]),
        ])
        .subs(&[
            model(&["uninstall", "delete", "del", "un"]).always(DESTROY),
            model(&["install", "upgrade"])
                .operands(leading(&[&[], &[Does::Package(Registry::Other)]], &[])),
            model(&[
                "template",
                "lint",
                "list",
                "ls",
                "status",
                "history",
                "get",
                "show",
                "search",
                "version",
                "env",
                "dependency",
                "dep",
                "package",
                "create",
                "test",
                "rollback",
                "verify",
                "diff",
                "pull",
            ]),
            model(&["repo"]).subs(&[
                model(&["add"]).operands(leading(&[&[], &[Does::Connects(Purpose::Execute)]], &[])),
                model(&["update", "list", "remove", "index"]),
            ]),
            model(&["plugin"]).subs(&[
                model(&["install"]).operands(each(&[Does::Repository(Purpose::Execute)])),
                model(&["list", "update", "uninstall"]),
            ]),
            model(&["push"]).always(&[mark(Mark::Publishes)]),
        ])
        .examples(&[
            ("helm list -A", &[]),
            ("helm uninstall x", &["marks infrastructure"]),
            ("helm template . --post-renderer ./x", &["runs x"]),
        ]),
    // Clusters on this machine, for tests.
    model(&["kind", "k3d", "minikube"])
        .subs(&[
            model(&[
                "delete", "create", "get", "load", "export", "start", "stop", "status", "image",
            ]),
            model(&["ssh", "kubectl"])
                .style(Style::Posix)
                .operands(leading(&[&[], IN_CONTAINER], &[])),
        ])
        .examples(&[("kind create cluster", &[]), ("kind delete cluster --name t", &[])]),
    model(&[
        "k9s",
        "kubectx",
        "kubens",
        "stern",
        "kustomize",
        "skaffold",
        "tilt",
        "kubeseal",
        "argocd",
        "flux",
        "istioctl",
        "linkerd",
        "eksctl",
        "kops",
        "kubeadm",
        "velero",
        "crictl",
        "colima",
        "limactl",
        "multipass",
        "vagrant",
    ])
    .subs(&[
        model(&["delete", "destroy", "reset", "uninstall"]).always(DESTROY),
        model(&["ssh", "shell", "exec"])
            .style(Style::Posix)
            .flags(&[takes(&["-c", "--command"], &[Does::RemoteShell])])
            .operands(leading(&[&[], IN_CONTAINER], &[])),
        // Folders of the host for a virtual machine.
        model(&["mount"]).operands(leading(
            &[&[READS_TREE, MAKES, Does::MarksIf(&["/", "/etc", "/root"], Mark::HostAccess)]],
            &[],
        )),
        model(&["start", "launch", "create"]).flags(&[takes(&["--mount", "-V"], &[Does::Mount])]),
    ])
    .examples(&[
        ("multipass mount / x", &["reads-tree /", "makes /", "marks host-access"]),
        ("stern web", &[]),
        ("vagrant destroy", &["marks infrastructure"]),
        ("vagrant ssh -c 'cat a'", &["runs cat a", "reads a"]),
    ]),
    model(&["ctr"])
        .style(Style::Posix)
        .flags(&[takes(&["--namespace", "-n", "--address", "-a"], &[])])
        .subs(&[
            model(&["run"])
                .style(Style::Posix)
                .flags(RUN_FLAGS)
                .operands(leading(&[IMAGE, &[], IN_CONTAINER], &[])),
            model(&["images", "image", "i"]).subs(&[
                model(&["ls", "list", "check", "tag", "rm"]),
                model(&["pull"]).operands(each(IMAGE)),
            ]),
            model(&["tasks", "task", "t"]).subs(&[
                model(&["exec"]).style(Style::Posix).operands(leading(&[&[], IN_CONTAINER], &[])),
                model(&["ls", "list", "kill", "rm"]),
            ]),
        ])
        .examples(&[
            ("ctr images ls", &[]),
            (
                "ctr run --mount type=bind,src=/,dst=/h h.example/a x cat b",
                &[
                    "reads-tree /",
                    "makes /",
                    "executes h.example:443",
                    "runs cat b",
                    "reads b",
                    "marks host-access",
                ],
            ),
        ]),
    model(&["apptainer", "singularity"])
        .subs(&[
            model(&["exec", "run", "shell", "test"])
                .style(Style::Posix)
                .flags(&[
                    takes(&["--bind", "-B", "--mount"], &[Does::Mount]),
                    takes(&["--env-file"], &[READS]),
                    takes(&["--env", "--pwd", "--home", "-H", "--workdir", "-W", "--overlay"], &[]),
                ])
                .operands(leading(&[&[Does::Package(Registry::Other)], IN_CONTAINER], &[])),
            model(&["build"]).operands(leading(&[&[WRITES], &[Does::Recipe]], &[])),
            model(&["pull"]).operands(each(&[FETCHES])),
            model(&["inspect", "cache", "version", "verify", "sif"]),
        ])
        .examples(&[(
            "apptainer exec -B /:/h a.sif cat b",
            &["reads-tree /", "makes /", "runs cat b", "reads b", "marks host-access"],
        )]),
    model(&["act", "devcontainer"])
        .flags(&[
            switch(&["--privileged"], HOST),
            takes(&["--bind-mount", "--mount"], &[Does::Mount]),
            takes(
                &["--container-options"],
                &[
                    Does::MarksIfContains("--privileged", Mark::HostAccess),
                    Does::MarksIfContains("-v /:", Mark::HostAccess),
                    Does::MarksIfContains("docker.sock", Mark::HostAccess),
                ],
            ),
            takes(&["--job", "-j", "--workflows", "-W", "--workspace-folder", "--platform"], &[]),
            takes(&["--secret-file", "--env-file", "--var-file"], &[LISTS]),
        ])
        .subs(&[model(&["exec"])
            .style(Style::Posix)
            .flags(&[takes(&["--workspace-folder"], &[])])
            .operands(leading(&[IN_CONTAINER], &[]))])
        .examples(&[
            ("act -j build", &[]),
            ("act --container-options '--privileged -v /:/h'", &["marks host-access"]),
        ]),
    model(&["qemu-img"])
        .flags(&[takes(&["-f", "-O", "-o", "-b", "-F", "-m", "-S"], &[])])
        .subs(&[
            model(&["convert", "dd"]).operands(sources_and_target(&[READS], &[WRITES])),
            model(&["create", "resize", "rebase", "commit", "amend"])
                .operands(leading(&[&[WRITES]], &[])),
            model(&["info", "check", "compare", "map", "measure"]).operands(each(&[READS])),
        ])
        .examples(&[
            ("qemu-img convert -O raw a.qcow2 b", &["reads a.qcow2", "writes b"]),
            ("qemu-img info a", &["reads a"]),
        ]),
    model(&[
        "virsh",
        "lxc",
        "lxc-attach",
        "incus",
        "VBoxManage",
        "vboxmanage",
        "qm",
        "pct",
        "qemu-system-x86_64",
        "machinectl",
        "systemd-nspawn",
        "virt-install",
    ])
    .subs(&[
        model(&["undefine", "destroy", "delete", "unregistervm", "vol-delete", "pool-delete"])
            .always(DISK),
        model(&[
            "list", "info", "dominfo", "domstate", "status", "start", "stop", "shutdown", "reboot",
            "image", "network", "snapshot", "check",
        ]),
        model(&["exec", "shell"]).style(Style::Posix).operands(leading(
            // The machine itself.
            &[&[Does::MarksIf(&["root@.host", ".host"], Mark::Privilege)], IN_CONTAINER],
            &[],
        )),
        model(&["launch", "init"]).flags(&[takes(
            &["--config", "-c"],
            &[
                Does::MarksIfContains("security.privileged=true", Mark::HostAccess),
                Does::MarksIfContains("raw.", Mark::HostAccess),
            ],
        )]),
        model(&["config"]).subs(&[
            model(&["device"])
                .subs(&[
                    model(&["add", "set", "override"]).always(HOST),
                    model(&["list", "show", "get", "remove", "unset"]),
                ])
                .operands(each(HOST)),
            model(&["show", "get", "set"]),
        ]),
    ])
    .flags(&[takes(&["-connect", "--connect", "-c"], &[])])
    .always(&[])
    .examples(&[
        ("virsh list", &[]),
        ("virsh undefine vm --remove-all-storage", &["marks disk"]),
        ("lxc config device add c h disk source=/", &["marks host-access"]),
        ("lxc config device list c", &[]),
        ("lxc launch ubuntu c -c security.privileged=true", &["marks host-access"]),
    ]),
    model(&[
        "dive",
        "trivy",
        "grype",
        "syft",
        "ctop",
        "lazydocker",
        "kubeval",
        "kubeconform",
        "conftest",
        "checkov",
        "tfsec",
        "tflint",
        "infracost",
    ])
    .operands(each(&[]))
    .examples(&[("trivy image alpine", &[])]),
    model(&["lxd", "dockerd", "containerd", "kubelet"]).always(&[mark(Mark::Privilege)]),
];
