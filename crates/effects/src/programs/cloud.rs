//! Cloud providers and infrastructure as code.

use crate::effect::Purpose;
use crate::marks::Mark;
use crate::model::*;

const DESTROY: Use = &[mark(Mark::Infrastructure)];
const SECRET: Use = &[mark(Mark::Credentials)];
/// The value of a key whose name says that it is a secret.
const SECRET_NAMES: Use = &[
    Does::MarksIfContains("secret", Mark::Credentials),
    Does::MarksIfContains("password", Mark::Credentials),
    Does::MarksIfContains("token", Mark::Credentials),
    Does::MarksIfContains("credential", Mark::Credentials),
    Does::MarksIfContains("private", Mark::Credentials),
    Does::MarksIfContains("Secret", Mark::Credentials),
    Does::MarksIfContains("Password", Mark::Credentials),
    Does::MarksIfContains("Token", Mark::Credentials),
    Does::MarksIfContains("Key", Mark::Credentials),
];
/// What a cluster keeps: all of it, or a secret by its name.
const KEPT: Use = &[
    Does::MarksIf(&["", "/"], Mark::Credentials),
    Does::MarksIfContains("secret", Mark::Credentials),
    Does::MarksIfContains("password", Mark::Credentials),
    Does::MarksIfContains("token", Mark::Credentials),
];
const GRANT: Use = &[mark(Mark::Privilege)];
const COPIES: Operands =
    sources_and_target(&[Does::Transfers(Purpose::Fetch)], &[Does::Transfers(Purpose::Send)]);

const AWS_FLAGS: &[Flag] = &[
    takes(&["--endpoint-url"], &[SENDS]),
    takes(
        &[
            "--profile",
            "--region",
            "--output",
            "--query",
            "--cli-read-timeout",
            "--exclude",
            "--include",
            "--acl",
            "--storage-class",
            "--bucket",
            "--key",
            "--name",
            "--instance-ids",
            "--filters",
            "--since",
            "--filter-pattern",
            "--stack-name",
            "--table-name",
            "--role-name",
            "--user-name",
            "--policy-arn",
            "--function-name",
            "--log-group-name",
            "--prefix",
            "--max-items",
            "--payload",
            "--parameters",
            "--cluster",
            "--secret-id",
            "--db-instance-identifier",
            "--key-id",
            "--pending-window-in-days",
        ],
        &[],
    ),
    takes(
        &[
            "--cli-input-json",
            "--cli-input-yaml",
            "--ca-bundle",
            "--template-file",
            "--zip-file",
            "--body",
        ],
        &[],
    ),
];

/// Names of operations that only look, as the AWS command line spells them.
const AWS_S3: Model = model(&["s3"]).flags(AWS_FLAGS).subs(&[
    model(&["ls", "presign", "website", "mb"]),
    model(&["rb"]).always(DESTROY),
    model(&["rm"]).flags(&[switch(&["--recursive"], DESTROY)]),
    model(&["cp"]).operands(COPIES),
    model(&["mv"]).operands(COPIES),
    model(&["sync"]).flags(&[switch(&["--delete"], DESTROY)]).operands(COPIES),
]);

pub(crate) const MODELS: &[Model] = &[
    model(&["aws", "awslocal", "aws2"])
        .flags(AWS_FLAGS)
        .subs(&[
            AWS_S3,
            model(&["configure"]).subs(&[
                model(&["list", "list-profiles", "sso", "set", "import"]),
                model(&["export-credentials"]).always(SECRET),
                model(&["get"]).operands(each(&[
                    Does::MarksIfContains("secret", Mark::Credentials),
                    Does::MarksIfContains("token", Mark::Credentials),
                    Does::MarksIfContains("access_key", Mark::Credentials),
                ])),
            ]),
            model(&["s3api"]).subs(&[
                model(&[
                    "delete-bucket",
                    "delete-objects",
                    "delete-object",
                    "put-bucket-lifecycle-configuration",
                ])
                .always(DESTROY),
                model(&[
                    "put-bucket-policy",
                    "put-bucket-acl",
                    "put-object-acl",
                    "delete-public-access-block",
                ])
                .always(GRANT),
            ]),
            model(&["ec2"]).subs(&[
                model(&[
                    "terminate-instances",
                    "delete-volume",
                    "delete-vpc",
                    "delete-snapshot",
                    "delete-security-group",
                    "delete-subnet",
                    "deregister-image",
                    "delete-key-pair",
                ])
                .always(DESTROY),
                model(&["authorize-security-group-ingress"]).always(&[mark(Mark::Guard)]),
                model(&["get-password-data"]).always(SECRET),
                model(&["run-instances"]).flags(&[takes(&["--user-data"], &[Does::RemoteShell])]),
                model(&["modify-image-attribute"]).flags(&[takes(
                    &["--launch-permission", "--user-ids", "--user-groups"],
                    GRANT,
                )]),
                model(&["import-key-pair"]),
            ]),
            model(&["ec2-instance-connect"]).subs(&[model(&[
                "send-ssh-public-key",
                "send-serial-console-ssh-public-key",
            ])
            .always(&[mark(Mark::Accounts)])]),
            model(&["rds", "redshift", "docdb", "neptune", "elasticache"]).subs(&[model(&[
                "delete-db-instance",
                "delete-db-cluster",
                "delete-db-snapshot",
                "delete-cluster",
                "delete-replication-group",
                "delete-cache-cluster",
            ])
            .always(DESTROY)]),
            model(&["dynamodb"]).subs(&[model(&["delete-table", "delete-backup"]).always(DESTROY)]),
            model(&["cloudformation"])
                .subs(&[model(&["delete-stack", "delete-stack-set"]).always(DESTROY)]),
            model(&[
                "eks",
                "ecs",
                "ecr",
                "lambda",
                "sqs",
                "sns",
                "kinesis",
                "opensearch",
                "es",
                "efs",
                "glue",
                "batch",
                "apigateway",
                "apigatewayv2",
                "elbv2",
                "elb",
                "autoscaling",
                "emr",
                "kafka",
                "backup",
                "codecommit",
            ])
            .subs(&[model(&[
                "delete-cluster",
                "delete-service",
                "delete-repository",
                "delete-function",
                "delete-queue",
                "purge-queue",
                "delete-topic",
                "delete-stream",
                "delete-domain",
                "delete-file-system",
                "delete-database",
                "delete-rest-api",
                "delete-api",
                "delete-load-balancer",
                "delete-auto-scaling-group",
                "terminate-job-flows",
                "delete-nodegroup",
                "batch-delete-image",
                "delete-backup-vault",
            ])
            .always(DESTROY)]),
            model(&["iam"]).subs(&[
                model(&[
                    "attach-user-policy",
                    "attach-role-policy",
                    "attach-group-policy",
                    "put-user-policy",
                    "put-role-policy",
                    "create-policy-version",
                    "add-user-to-group",
                    "create-login-profile",
                    "update-assume-role-policy",
                    "create-user",
                    "update-login-profile",
                    "create-access-key",
                ])
                .always(GRANT),
                model(&["delete-user", "delete-role", "delete-policy"]).always(DESTROY),
            ]),
            model(&["secretsmanager"]).subs(&[
                model(&["get-secret-value", "batch-get-secret-value"]).always(SECRET),
                model(&["delete-secret"]).always(DESTROY),
            ]),
            model(&["ssm"]).subs(&[
                model(&["get-parameter", "get-parameters", "get-parameters-by-path"])
                    .flags(&[switch(&["--with-decryption"], SECRET)]),
                model(&["start-session", "send-command"]).always(&[Does::Hides]),
            ]),
            model(&["sts"]).subs(&[model(&[
                "get-session-token",
                "assume-role",
                "get-federation-token",
                "assume-role-with-web-identity",
            ])
            .always(SECRET)]),
            model(&["kms"])
                .subs(&[model(&["schedule-key-deletion", "disable-key"]).always(DESTROY)]),
            model(&["route53"]).subs(&[model(&[
                "delete-hosted-zone",
                "change-resource-record-sets",
            ])
            .always(DESTROY)]),
            model(&["cloudtrail", "guardduty", "config", "securityhub"]).subs(&[model(&[
                "delete-trail",
                "stop-logging",
                "delete-detector",
                "stop-configuration-recorder",
                "disable-security-hub",
            ])
            .always(&[mark(Mark::Guard)])]),
            model(&["organizations"])
                .subs(&[model(&["close-account", "leave-organization"]).always(DESTROY)]),
        ])
        .examples(&[
            ("aws s3 ls x", &[]),
            ("aws s3 rb x --force", &["marks infrastructure"]),
            ("aws s3 rm x --recursive", &["marks infrastructure"]),
            ("aws ec2 describe-instances", &[]),
            (
                "aws --profile p ec2 terminate-instances --instance-ids i-1",
                &["marks infrastructure"],
            ),
            ("aws secretsmanager get-secret-value --secret-id x", &["marks credentials"]),
            ("aws iam create-access-key --user-name x", &["marks privilege"]),
            ("aws s3 rb x --endpoint-url=http://localhost:4566", &[]),
            ("awslocal s3 rb x --force", &[]),
            (
                "aws s3 rb x --endpoint-url http://127.0.0.1.h.example",
                &["sends 127.0.0.1.h.example:80", "marks infrastructure"],
            ),
            (
                "aws s3 rb x --endpoint-url https://h.example",
                &["sends h.example:443", "marks infrastructure"],
            ),
        ]),
    model(&["gcloud"])
        .flags(&[
            takes(
                &[
                    "--project",
                    "--account",
                    "--region",
                    "--zone",
                    "--format",
                    "--filter",
                    "--limit",
                    "--verbosity",
                    "--configuration",
                    "--member",
                    "--role",
                    "--impersonate-service-account",
                ],
                &[],
            ),
            takes(&["--flags-file", "--key-file"], &[READS]),
        ])
        .subs(&[
            model(&["auth"]).subs(&[
                model(&["print-access-token", "print-identity-token"]).always(SECRET),
                model(&["application-default"]).subs(&[
                    model(&["print-access-token"]).always(SECRET),
                    model(&["login", "revoke", "set-quota-project"]),
                ]),
                model(&["list", "login", "configure-docker", "activate-service-account", "revoke"]),
            ]),
            model(&["projects", "organizations", "resource-manager"]).subs(&[
                model(&["delete"]).always(DESTROY),
                model(&["add-iam-policy-binding", "set-iam-policy"]).always(GRANT),
                model(&["list", "describe", "get-iam-policy"]),
            ]),
            model(&["iam"]).subs(&[model(&["service-accounts"]).subs(&[
                model(&["keys"]).subs(&[
                    model(&["create"]).operands(leading(&[&[WRITES]], &[])).always(SECRET),
                    model(&["list", "delete"]),
                ]),
                model(&["delete"]).always(DESTROY),
            ])]),
            model(&["secrets"]).subs(&[
                model(&["versions"]).subs(&[model(&["access"]).always(SECRET)]),
                model(&["delete"]).always(DESTROY),
            ]),
            model(&["compute"]).subs(&[
                model(&["ssh"]).flags(&[takes(&["--command"], &[Does::RemoteShell])]),
                model(&[
                    "instances",
                    "disks",
                    "networks",
                    "snapshots",
                    "firewall-rules",
                    "instance-groups",
                    "images",
                    "addresses",
                ])
                .subs(&[model(&["delete"]).always(DESTROY)]),
                model(&["scp"]).operands(COPIES),
            ]),
            model(&[
                "sql",
                "container",
                "spanner",
                "bigtable",
                "redis",
                "dns",
                "pubsub",
                "run",
                "functions",
                "artifacts",
                "filestore",
                "dataproc",
                "firestore",
                "alloydb",
            ])
            .subs(&[
                model(&[
                    "instances",
                    "clusters",
                    "databases",
                    "managed-zones",
                    "topics",
                    "services",
                    "repositories",
                    "tables",
                    "subscriptions",
                    "jobs",
                    "node-pools",
                ])
                .subs(&[model(&["delete"]).always(DESTROY)]),
                model(&["delete"]).always(DESTROY),
            ]),
            model(&["app"]).subs(&[
                model(&["versions", "services"]).subs(&[model(&["delete"]).always(DESTROY)])
            ]),
            model(&["storage"]).subs(&[
                model(&["rm"]).flags(&[switch(&["--recursive", "-r", "-R"], DESTROY)]),
                model(&["buckets"]).subs(&[model(&["delete"]).always(DESTROY)]),
                model(&["cp", "mv", "rsync"]).operands(COPIES),
                model(&["ls", "cat", "du"]),
            ]),
            model(&["kms"]).subs(&[model(&["keys"])
                .subs(&[model(&["versions"]).subs(&[model(&["destroy"]).always(DESTROY)])])]),
        ])
        .examples(&[
            ("gcloud config list", &[]),
            ("gcloud compute instances list", &[]),
            ("gcloud projects delete x", &["marks infrastructure"]),
            ("gcloud compute instances delete x -q", &["marks infrastructure"]),
            ("gcloud auth print-access-token", &["marks credentials"]),
            ("gcloud projects add-iam-policy-binding p --member=m --role=r", &["marks privilege"]),
        ]),
    model(&["gsutil"])
        .flags(&[takes(&["-o", "-h"], &[])])
        .subs(&[
            model(&["ls", "du", "stat", "cat", "version", "hash", "mb"]),
            model(&["cp", "mv", "rsync"]).operands(COPIES),
            model(&["rm"])
                .flags(&[switch(&["-r", "-R"], DESTROY)])
                .operands(each(&[Does::MarksIfContains("*", Mark::Infrastructure)])),
            model(&["rb"]).always(DESTROY),
            model(&["acl", "iam", "defacl"])
                .subs(&[model(&["get"]), model(&["set", "ch"]).always(GRANT)]),
        ])
        .examples(&[
            ("gsutil ls x", &[]),
            ("gsutil -m rm -r x", &["marks infrastructure"]),
            ("gsutil iam get x", &[]),
            ("gsutil acl ch -u AllUsers:R x", &["marks privilege"]),
        ]),
    model(&["bq"])
        .flags(&[takes(&["--project_id", "--dataset_id", "--location", "--format"], &[])])
        .subs(&[
            model(&["rm"]).always(DESTROY),
            model(&["query"])
                .flags(&[joined(&["--use_legacy_sql", "--destination_table"], &[])])
                .operands(each(&[Does::Sql])),
            model(&["ls", "show", "head", "version", "mk", "load", "extract", "cp"]),
        ])
        .examples(&[
            ("bq ls", &[]),
            ("bq rm -r x", &["marks infrastructure"]),
            ("bq query 'SELECT 1'", &["sql SELECT 1"]),
        ]),
    model(&["az"])
        .flags(&[
            takes(
                &[
                    "--name",
                    "-n",
                    "--resource-group",
                    "-g",
                    "--subscription",
                    "--output",
                    "-o",
                    "--query",
                    "--location",
                    "-l",
                    "--ids",
                ],
                &[],
            ),
            takes(&["--file", "-f", "--template-file"], &[READS]),
        ])
        .subs(&[
            model(&[
                "group",
                "vm",
                "disk",
                "snapshot",
                "vmss",
                "aks",
                "acr",
                "functionapp",
                "webapp",
                "cosmosdb",
                "redis",
                "eventhubs",
                "servicebus",
                "container",
                "sql",
                "postgres",
                "mysql",
                "network",
                "mariadb",
                "batch",
            ])
            .subs(&[
                model(&["delete", "purge"]).always(DESTROY),
                model(&[
                    "db",
                    "server",
                    "vnet",
                    "nsg",
                    "database",
                    "mi",
                    "flexible-server",
                    "namespace",
                    "sql",
                ])
                .subs(&[
                    model(&["delete"]).always(DESTROY),
                    model(&["database"]).subs(&[model(&["delete"]).always(DESTROY)]),
                ]),
                model(&["run-command"]).always(&[Does::Hides]),
                model(&[
                    "list",
                    "show",
                    "create",
                    "update",
                    "start",
                    "stop",
                    "restart",
                    "wait",
                    "get-credentials",
                ]),
            ]),
            model(&["storage"]).subs(&[
                model(&["account", "container", "share", "fs"]).subs(&[
                    model(&["delete"]).always(DESTROY),
                    model(&["keys"]).always(SECRET),
                    model(&["list", "show", "create"]),
                ]),
                model(&["blob", "file"]).subs(&[
                    model(&["upload", "upload-batch"])
                        .flags(&[takes(&["--file", "-f", "--source", "-s"], &[READS])])
                        .always(&[Does::ConnectsTo("blob.core.windows.net:443", Purpose::Send)]),
                    model(&["delete-batch"]).always(DESTROY),
                    model(&["list", "show", "download", "exists", "delete"]),
                ]),
            ]),
            model(&["keyvault"]).subs(&[
                model(&["secret"])
                    .subs(&[model(&["show", "download"]).always(SECRET), model(&["list"])]),
                // Only their public parts come out.
                model(&["key", "certificate"]).flags(&[takes(&["--file", "-f"], &[WRITES])]).subs(
                    &[
                        model(&["show", "download", "list"]),
                        model(&["delete", "purge"]).always(DESTROY),
                    ],
                ),
                model(&["delete", "purge"]).always(DESTROY),
            ]),
            model(&["account"]).subs(&[
                model(&["get-access-token"]).always(SECRET),
                model(&["show", "list", "set"]),
            ]),
            model(&["role"]).subs(&[model(&["assignment"])
                .subs(&[model(&["create"]).always(GRANT), model(&["list", "delete"])])]),
            model(&["ad"]).operands(each(&[Does::MarksIf(
                &[
                    "create",
                    "create-for-rbac",
                    "add",
                    "update",
                    "delete",
                    "remove",
                    "reset",
                    "set",
                    "admin-consent",
                    "grant",
                    "restore",
                ],
                Mark::Privilege,
            )])),
        ])
        .examples(&[
            ("az vm list", &[]),
            ("az group delete -n x", &["marks infrastructure"]),
            ("az ad sp list", &[]),
            ("az ad group member add -g x", &["marks privilege"]),
            ("az keyvault key show -n x", &[]),
            ("az keyvault secret show -n x", &["marks credentials"]),
            ("az keyvault secret show -n x --query attributes.expires", &[]),
            ("az account get-access-token", &["marks credentials"]),
        ]),
    model(&["terraform", "tofu", "terragrunt"])
        .style(Style::SingleDash)
        .flags(&[
            takes(&["-chdir"], &[FOLDER]),
            takes(
                &[
                    "-var",
                    "-target",
                    "-lock-timeout",
                    "-parallelism",
                    "-backend-config",
                    "-state",
                    "-replace",
                    "--terragrunt-working-dir",
                ],
                &[],
            ),
            takes(&["-var-file"], &[LISTS]),
        ])
        .subs(&[
            model(&["console"]).always(&[Does::RunsInput(Language::Expression)]),
            model(&[
                "plan",
                "validate",
                "show",
                "fmt",
                "providers",
                "version",
                "graph",
                "output",
                "get",
                "metadata",
                "test",
                "import",
                "refresh",
                "untaint",
                "login",
                "logout",
                "hclfmt",
                "render-json",
            ])
            .flags(&[takes(&["-out"], &[WRITES])]),
            model(&["init"]).flags(&[
                takes(&["-from-module"], &[Does::Repository(Purpose::Execute)]),
                takes(&["-plugin-dir"], &[READS_TREE]),
                switch(&["-force-copy"], DESTROY),
            ]),
            // What is tainted is destroyed by the next `apply`.
            model(&["destroy", "taint"]).always(DESTROY),
            model(&["apply"])
                .flags(&[switch(&["-destroy"], DESTROY), joined(&["-replace"], DESTROY)]),
            model(&["state"]).subs(&[
                model(&["rm", "push", "mv", "replace-provider"]).always(DESTROY),
                model(&["list", "show", "pull"]),
            ]),
            model(&["workspace"]).subs(&[
                model(&["delete"]).always(DESTROY),
                model(&["list", "show", "new", "select"]),
            ]),
            model(&["force-unlock"]).always(&[mark(Mark::Guard)]),
            model(&["run-all"]).subs(&[
                model(&["destroy"]).always(DESTROY),
                model(&["apply", "plan", "validate", "init", "output"]),
            ]),
        ])
        .examples(&[
            ("terraform plan -out=x", &["writes x"]),
            (
                "terraform -chdir=prod destroy -auto-approve",
                &["reads prod/main.tf", "marks infrastructure"],
            ),
            ("terraform apply -destroy", &["marks infrastructure"]),
            ("terraform state list", &[]),
            ("terragrunt run-all destroy", &["marks infrastructure"]),
        ]),
    model(&[
        "pulumi",
        "cdk",
        "cdktf",
        "sst",
        "serverless",
        "sls",
        "sam",
        "amplify",
        "chalice",
        "zappa",
        "eb",
        "crossplane",
    ])
    .flags(&[
        takes(&["--stack", "-s", "--stage", "--region", "--profile", "--cwd", "-C"], &[]),
        takes(&["--app", "-a"], &[SHELL]),
    ])
    .subs(&[
        model(&["destroy", "remove", "delete", "down", "undeploy", "terminate"]).always(DESTROY),
        model(&["config"]).subs(&[model(&["get"]).operands(each(SECRET_NAMES))]),
        model(&["stack"]).subs(&[
            model(&["rm"]).always(DESTROY),
            model(&["ls", "select", "init", "output", "export"]),
        ]),
        model(&[
            "preview",
            "diff",
            "synth",
            "ls",
            "list",
            "deploy",
            "up",
            "logs",
            "info",
            "print",
            "package",
            "build",
            "validate",
            "local",
            "invoke",
            "init",
            "bootstrap",
            "watch",
            "status",
            "doctor",
            "version",
            "whoami",
            "refresh",
            "new",
        ]),
    ])
    .examples(&[
        ("pulumi preview", &[]),
        ("pulumi destroy --yes", &["marks infrastructure"]),
        ("cdk destroy --all", &["marks infrastructure"]),
    ]),
    model(&[
        "heroku",
        "fly",
        "flyctl",
        "vercel",
        "netlify",
        "railway",
        "render",
        "doctl",
        "linode-cli",
        "hcloud",
        "scw",
        "ibmcloud",
        "oci",
        "supabase",
        "firebase",
        "wrangler",
        "planetscale",
        "pscale",
        "neonctl",
        "turso",
        "convex",
        "eas",
        "deployctl",
        "surge",
        "now",
        "cf",
        "upcloud",
        "ovh",
        "vultr-cli",
        "civo",
        "exo",
    ])
    .flags(&[
        takes(
            &[
                "--app",
                "-a",
                "--org",
                "--team",
                "--confirm",
                "--project",
                "--scope",
                "--token",
                "--env",
                "--name",
            ],
            &[],
        ),
        takes(&["--config", "-c"], &[LISTS]),
    ])
    .subs(&[
        model(&[
            "apps:destroy",
            "pg:reset",
            "addons:destroy",
            "sites:delete",
            "firestore:delete",
            "database:remove",
            "functions:delete",
            "hosting:disable",
            "projects:delete",
            "destroy",
            "delete",
            "remove",
            "rm",
            "down",
            "teardown",
            "unpublish",
        ])
        .always(DESTROY),
        model(&["config:get", "config", "auth:token", "secrets:get", "env"]).always(&[]),
        model(&["auth"]).subs(&[model(&["token"]).always(SECRET)]),
        model(&[
            "apps",
            "volumes",
            "machine",
            "machines",
            "postgres",
            "pg",
            "sites",
            "projects",
            "project",
            "compute",
            "droplet",
            "server",
            "volume",
            "databases",
            "database",
            "branch",
            "kubernetes",
            "domains",
            "registry",
            "d1",
            "kv",
            "r2",
            "kv:namespace",
            "pages",
            "queues",
            "functions",
            "namespace",
            "bucket",
            "cluster",
            "instance",
            "db",
            "storage",
            "group",
            "load-balancer",
            "secrets",
        ])
        .subs(&[
            model(&["destroy", "delete", "rm", "remove"]).always(DESTROY),
            model(&["run"]).operands(leading(&[&[], &[Does::RemoteCommand]], &[])),
            // The database of this machine, unless it says that it is another one.
            model(&["reset"]).flags(&[
                switch(&["--linked"], DESTROY),
                takes(&["--db-url", "--app", "-a"], DESTROY),
            ]),
            model(&[
                "droplet",
                "volume",
                "cluster",
                "deployment",
                "bucket",
                "object",
                "instance",
                "key",
                "namespace",
                "server",
            ])
            .subs(&[
                model(&["delete", "rm", "destroy"]).always(DESTROY),
                model(&["list", "get", "create", "info"]),
            ]),
            model(&["execute"])
                .flags(&[takes(&["--command"], &[Does::Sql]), takes(&["--file"], &[READS])]),
            model(&["list", "ls", "status", "show", "get", "create", "info", "logs"]),
        ]),
        model(&["ssh", "console"])
            .flags(&[takes(&["--command", "-C"], &[Does::RemoteShell])])
            .subs(&[model(&["console"]), model(&["issue", "sftp", "log", "establish"])]),
        model(&["run", "exec", "run:detached", "run:inside"]).operands(each(&[Does::RemoteShell])),
    ])
    .examples(&[
        ("fly machine run alpine cat a", &["runs cat a", "reads a"]),
        ("heroku logs --tail", &[]),
        ("heroku apps:destroy x", &["marks infrastructure"]),
        ("heroku run -a x printenv", &["runs printenv", "marks credentials"]),
        ("fly ssh console -C 'cat a'", &["runs cat a", "reads a"]),
        ("fly tokens create deploy", &["marks credentials"]),
        ("fly apps destroy x", &["marks infrastructure"]),
        ("doctl compute droplet delete 1", &["marks infrastructure"]),
        ("wrangler d1 execute db --command 'SELECT 1'", &["sql SELECT 1"]),
    ]),
    model(&["ansible", "ansible-console"])
        .flags(&[
            // What they do is decided by the module.
            takes(&["--args", "-a"], &[]),
            takes(&["--inventory", "-i", "--vault-password-file", "--private-key"], &[READS]),
            takes(
                &["--module-name", "-m", "--user", "-u", "--limit", "-l", "--extra-vars", "-e"],
                &[],
            ),
            switch(&["--list-hosts", "--version"], &[]),
        ])
        .operands(each(&[]))
        .examples(&[
            ("ansible --version", &[]),
            ("ansible all -m shell -a 'rm x'", &["opaque language"]),
            ("ansible all -a 'rm x'", &["opaque language"]),
            ("ansible all -m setup -a filter=x", &[]),
            ("ansible localhost -m template -a 'src=a dest=b'", &["reads a", "writes b"]),
        ]),
    model(&["ansible-playbook"])
        .flags(&[
            takes(&["--inventory", "-i", "--vault-password-file", "--private-key"], &[READS]),
            takes(
                &[
                    "--limit",
                    "-l",
                    "--tags",
                    "-t",
                    "--extra-vars",
                    "-e",
                    "--user",
                    "-u",
                    "--skip-tags",
                ],
                &[],
            ),
            switch(&["--check", "-C", "--syntax-check", "--list-tasks", "--list-hosts"], &[])
                .operands(each(&[READS])),
        ])
        .operands(each(&[Does::Recipe]))
        .examples(&[("ansible-playbook --check site.yml", &["reads site.yml"])]),
    model(&["ansible-pull"])
        .flags(&[
            takes(&["--url", "-U"], &[Does::Repository(Purpose::Execute)]),
            takes(&["-i", "-d", "-C"], &[]),
        ])
        .operands(each(&[Does::Recipe])),
    model(&[
        "ansible-galaxy",
        "ansible-lint",
        "ansible-doc",
        "ansible-inventory",
        "ansible-config",
        "packer",
        "nomad",
        "consul-template",
        "salt-call",
        "puppet",
        "chef-client",
        "knife",
    ])
    .subs(&[
        model(&["install"]).operands(each(&[Does::Package(Registry::Other)])),
        model(&["ssh"]).operands(leading(&[&[]], &[Does::RemoteShell])),
        model(&["collection", "role"])
            .subs(&[model(&["install"]).operands(each(&[Does::Package(Registry::Other)]))]),
        model(&["stop", "purge"]).always(DESTROY),
        model(&["exec", "apply", "cmd.run"]).always(&[Does::Hides]),
        model(&["build"]).operands(each(&[Does::Recipe])),
        model(&["filebucket"]).operands(each(&[READS])),
    ])
    .examples(&[
        ("ansible-lint", &[]),
        ("puppet filebucket -l diff a", &["reads diff", "reads a"]),
    ]),
    // A pattern of hosts, a function, and what it gets.
    model(&["salt"])
        .flags(&[switch(&["-b", "-t", "-v", "-G", "-E", "-L", "-N"], &[])])
        .operands(leading(&[&[], &[]], &[Does::RemoteShell]))
        .examples(&[
            ("salt '*' test.ping", &[]),
            ("salt '*' cmd.run reboot", &["runs reboot", "marks power"]),
        ]),
    model(&["vault", "bao"])
        .style(Style::SingleDash)
        .flags(&[takes(&["-address", "-namespace", "-format", "-field", "-mount"], &[])])
        .subs(&[
            model(&["read", "print", "unwrap"]).always(SECRET),
            model(&["kv"]).subs(&[
                model(&["get"]).always(SECRET),
                model(&["delete", "destroy"]).always(DESTROY),
                model(&["metadata"]).subs(&[
                    model(&["delete"]).always(DESTROY),
                    model(&["get", "put", "patch", "list"]),
                ]),
                model(&["list", "put", "patch"]),
            ]),
            model(&["operator"]).operands(each(DESTROY)).bare(DESTROY).subs(&[
                model(&["members", "diagnose", "key-status", "usage", "metrics"]),
                model(&["raft"]).operands(each(DESTROY)).subs(&[
                    model(&["list-peers"]),
                    model(&["autopilot"]).subs(&[model(&["get-config", "state"])]),
                ]),
            ]),
            model(&["delete"]).always(DESTROY),
            // Most of them show the token itself.
            model(&["token"]).operands(each(SECRET)).bare(SECRET).subs(&[
                model(&["lookup", "create", "renew"]).always(SECRET),
                model(&["capabilities", "revoke"]),
            ]),
            model(&[
                "status",
                "list",
                "version",
                "login",
                "write",
                "auth",
                "secrets",
                "path-help",
                "lease",
            ]),
            model(&["policy"]).subs(&[
                model(&["write"]).always(GRANT),
                model(&["delete"]).always(&[mark(Mark::Guard)]),
                model(&["read", "list", "fmt"]),
            ]),
            model(&["audit"]).subs(&[
                model(&["disable"]).always(&[mark(Mark::Guard)]),
                model(&["list", "enable"]),
            ]),
        ])
        .examples(&[
            ("vault status", &[]),
            ("vault kv get secret/x", &["marks credentials"]),
            ("vault kv metadata get secret/x", &[]),
            ("vault kv metadata delete secret/x", &["marks infrastructure"]),
            ("vault operator seal", &["marks infrastructure"]),
            ("vault operator raft list-peers", &[]),
            ("vault token lookup", &["marks credentials"]),
            ("vault token capabilities secret/x", &[]),
            ("vault read sys/mounts", &[]),
            ("vault read secret/x", &["marks credentials"]),
        ]),
    model(&["consul", "etcdctl", "zkCli.sh", "nats"])
        .flags(&[takes(&["--endpoints", "-http-addr", "--cert", "--key", "--cacert"], &[])])
        .subs(&[
            model(&["kv"]).subs(&[
                model(&["delete"]).always(DESTROY),
                model(&["get", "export"]).operands(each(SECRET_NAMES)),
                model(&["put", "import"]),
            ]),
            model(&["del", "deleteall", "rmr"]).always(DESTROY),
            // With `--prefix`, all that a cluster keeps.
            model(&["get"])
                .operands(each(KEPT))
                .flags(&[joined(&["/registry"], &[mark(Mark::Credentials)])]),
            model(&[
                "member", "members", "endpoint", "status", "catalog", "info", "put", "watch", "ls",
            ]),
        ])
        .examples(&[
            ("etcdctl get x", &[]),
            ("etcdctl get /registry/secrets --prefix", &["marks credentials"]),
            ("etcdctl get /registry/secrets --prefix --keys-only", &[]),
            ("consul kv get prod/db/password", &["marks credentials"]),
            ("consul kv delete -recurse x", &["marks infrastructure"]),
        ]),
    model(&["cloud-init"])
        .subs(&[
            model(&["query"]).always(&[Does::ConnectsTo("169.254.169.254:80", Purpose::Fetch)]),
            model(&["status", "analyze", "schema", "features", "collect-logs"]),
        ])
        .examples(&[
            ("cloud-init status --wait", &[]),
            ("cloud-init query userdata", &["fetches 169.254.169.254:80"]),
        ]),
    model(&["ec2-metadata", "cloud-id"])
        .always(&[Does::ConnectsTo("169.254.169.254:80", Purpose::Fetch)])
        .examples(&[("ec2-metadata --all", &["fetches 169.254.169.254:80"])]),
    model(&["s3cmd", "mc", "s5cmd", "b2", "azcopy", "s4cmd"])
        .flags(&[
            takes(&["--config", "-c"], &[READS]),
            takes(&["--host", "--endpoint-url"], &[SENDS]),
        ])
        .subs(&[
            model(&["put", "get", "cp", "sync", "mirror", "copy", "mv", "download-file"])
                .operands(COPIES),
            model(&["upload-file", "upload"])
                .operands(leading(&[&[]], &[READS]))
                .always(&[Does::ConnectsTo("backblazeb2.com", Purpose::Send)]),
            model(&["del", "rm", "rb", "remove", "delete-bucket"]).always(DESTROY),
            model(&["ls", "la", "du", "info", "stat", "cat", "list", "jobs", "alias", "version"]),
        ])
        .examples(&[("s3cmd ls x", &[]), ("mc rb --force x/y", &["marks infrastructure"])]),
];
