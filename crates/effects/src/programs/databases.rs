//! Clients of databases.

use crate::effect::Purpose;
use crate::marks::Mark;
use crate::model::*;

const DROPS: Use = &[mark(Mark::Database)];
/// A query asks a server; what is piped in, or read from a file, is sent.
const SERVER: Use = &[FETCHES];

pub(crate) const MODELS: &[Model] = &[
    // Commands of Redis, as tools of servers get them.
    model(&["FLUSHALL", "FLUSHDB", "flushall", "flushdb"])
        .always(DROPS)
        .examples(&[("FLUSHDB", &["marks database"])]),
    model(&["psql", "pgcli", "usql", "edgedb", "ysqlsh"])
        .flags(&[
            takes(&["--command", "-c"], &[Does::Sql]),
            takes(&["--file", "-f"], &[READS]),
            takes(&["--output", "-o", "--log-file", "-L"], &[WRITES]),
            takes(&["--host", "-h"], SERVER),
            takes(&["--set", "-v", "--variable"], &[]),
            takes(
                &[
                    "--dbname",
                    "-d",
                    "--username",
                    "-U",
                    "--port",
                    "-p",
                    "--pset",
                    "-P",
                    "--field-separator",
                    "-F",
                    "--record-separator",
                    "-R",
                    "--table-attr",
                    "-T",
                ],
                &[],
            ),
            switch(&["--list", "-l", "--version", "-V"], &[]),
        ])
        .operands(each(&[]))
        .examples(&[
            ("psql -c 'SELECT 1'", &["sql SELECT 1"]),
            (
                "psql -h h.example shop -c 'DROP TABLE x'",
                &["fetches h.example", "sql DROP TABLE x"],
            ),
            ("psql -f a.sql", &["reads a.sql"]),
            ("psql -l", &[]),
        ]),
    model(&["mysql", "mariadb", "mycli"])
        .flags(&[
            takes(&["--execute", "-e"], &[Does::Sql]),
            takes(&["--init-command"], &[Does::Sql]),
            takes(&["--host", "-h"], SERVER),
            takes(&["--tee"], &[WRITES]),
            takes(&["--defaults-file", "--defaults-extra-file"], &[READS]),
            takes(&["--pager"], &[SHELL]),
            takes(
                &["--plugin-dir", "--default-auth"],
                &[Does::MarksIfContains("../", Mark::Privilege)],
            ),
            takes(
                &[
                    "--user",
                    "-u",
                    "--port",
                    "-P",
                    "--database",
                    "-D",
                    "--socket",
                    "-S",
                    "--delimiter",
                ],
                &[],
            ),
            joined(&["--password", "-p"], &[]),
        ])
        .operands(each(&[]))
        .examples(&[
            ("mysql -e 'SHOW TABLES' shop", &["sql SHOW TABLES"]),
            (
                "mysql -h h.example -psecret -e 'DROP DATABASE x'",
                &["fetches h.example", "sql DROP DATABASE x"],
            ),
        ]),
    model(&["mysqladmin", "mariadb-admin"])
        .flags(&[
            takes(&["--host", "-h"], SERVER),
            takes(&["--user", "-u", "--port", "-P", "--socket", "-S"], &[]),
            joined(&["--password", "-p"], &[]),
        ])
        .subs(&[
            model(&["drop"]).always(DROPS),
            model(&["shutdown"]).always(DROPS),
            model(&[
                "status",
                "ping",
                "processlist",
                "version",
                "variables",
                "create",
                "extended-status",
            ]),
        ])
        .examples(&[("mysqladmin -f drop shop", &["marks database"]), ("mysqladmin status", &[])]),
    model(&[
        "mysqldump",
        "mariadb-dump",
        "pg_dump",
        "pg_dumpall",
        "mongodump",
        "pg_basebackup",
        "mydumper",
        "mongoexport",
    ])
    .flags(&[
        takes(&["--host", "-h"], SERVER),
        takes(
            &[
                "--file",
                "-f",
                "--result-file",
                "-r",
                "--out",
                "-o",
                "--pgdata",
                "-D",
                "--tab",
                "-T",
            ],
            &[WRITES],
        ),
        takes(
            &[
                "--user",
                "-u",
                "--username",
                "-U",
                "--port",
                "-P",
                "--dbname",
                "-d",
                "--table",
                "-t",
                "--schema",
                "-n",
                "--format",
                "-F",
                "--jobs",
                "-j",
                "--db",
                "--collection",
                "-c",
                "--exclude-table",
                "--uri",
                "--where",
                "-w",
            ],
            &[],
        ),
        joined(&["--password", "-p"], &[]),
    ])
    .operands(each(&[]))
    .examples(&[
        ("pg_dump -s shop", &[]),
        ("pg_dump -f out shop", &["writes out"]),
        ("mysqldump -h h.example shop", &["fetches h.example"]),
    ]),
    model(&["pg_restore", "mongorestore", "mongoimport", "mysqlimport", "pgloader", "myloader"])
        .flags(&[
            switch(&["--clean", "-c", "--drop"], DROPS),
            takes(&["--host", "-h"], &[SENDS]),
            takes(
                &[
                    "--dbname",
                    "-d",
                    "--username",
                    "-U",
                    "--port",
                    "-p",
                    "--jobs",
                    "-j",
                    "--db",
                    "--collection",
                    "--table",
                    "-t",
                    "--schema",
                    "-n",
                    "--uri",
                ],
                &[],
            ),
            switch(&["--list", "-l"], &[]),
        ])
        .operands(each(&[READS]))
        .examples(&[
            ("pg_restore -l a", &["reads a"]),
            ("pg_restore --clean -l a", &["reads a"]),
            ("mongorestore --drop --dryRun a", &["reads a"]),
            ("pg_restore --clean -d shop a", &["reads a", "marks database"]),
        ]),
    model(&["dropdb", "dropuser"])
        .flags(&[
            takes(&["--host", "-h"], SERVER),
            takes(&["--username", "-U", "--port", "-p", "--maintenance-db"], &[]),
        ])
        .always(DROPS)
        .examples(&[("dropdb --if-exists x", &["marks database"])]),
    model(&[
        "createdb",
        "createuser",
        "pg_isready",
        "vacuumdb",
        "reindexdb",
        "clusterdb",
        "pg_config",
        "pg_amcheck",
        "pg_controldata",
        "pg_lsclusters",
        "pgbench",
        "initdb",
        "mysqlcheck",
        "mysqlshow",
        "redis-benchmark",
    ])
    .flags(&[takes(
        &[
            "--host",
            "-h",
            "--username",
            "-U",
            "--port",
            "-p",
            "--owner",
            "-O",
            "--template",
            "-T",
            "--encoding",
            "-E",
            "--dbname",
            "-d",
            "--pgdata",
            "-D",
        ],
        &[],
    )])
    .examples(&[("createdb x", &[]), ("pg_isready -h localhost", &["fetches localhost"])]),
    model(&["pg_ctl", "pg_ctlcluster", "pg_dropcluster", "pg_resetwal", "pg_upgrade"])
        .flags(&[takes(&["-D", "-l", "-o", "-m"], &[])])
        .subs(&[model(&["status", "start", "reload", "restart", "stop", "init", "promote"])])
        .examples(&[("pg_ctl status", &[])]),
    model(&["sqlite3", "sqlite", "litecli", "duckdb", "sqlcipher", "sqlite-utils"])
        .style(Style::SingleDash)
        .flags(&[
            takes(&["-cmd", "-c", "-s"], &[Does::Sql]),
            takes(&["-init", "-f"], &[READS]),
            takes(&["-separator", "-newline", "-nullvalue", "-maxsize", "-mmap", "-vfs"], &[]),
            switch(&["-readonly"], &[]).operands(leading(&[&[READS]], &[Does::Sql])),
            joined(&[":memory:"], &[]).operands(each(&[Does::Sql])),
        ])
        .operands(leading(&[&[READS, WRITES]], &[Does::Sql]))
        .examples(&[
            ("sqlite3 app.db 'SELECT 1'", &["reads app.db", "writes app.db", "sql SELECT 1"]),
            (
                "sqlite3 app.db 'DROP TABLE x'",
                &["reads app.db", "writes app.db", "sql DROP TABLE x"],
            ),
        ]),
    model(&["cypher-shell"])
        .flags(&[
            takes(&["-a", "--address", "-u", "--username", "-p", "--password", "-d"], &[]),
            takes(&["-f", "--file"], &[READS]),
        ])
        .operands(each(&[Does::MarksIfContains("DETACH DELETE", Mark::Database)]))
        .examples(&[
            ("cypher-shell 'MATCH (n) DETACH DELETE n'", &["marks database"]),
            ("cypher-shell 'MATCH (n) RETURN n'", &[]),
        ]),
    model(&["redis-cli", "valkey-cli", "keydb-cli", "iredis"])
        .style(Style::Posix)
        .flags(&[
            takes(&["-h", "--host"], SERVER),
            takes(&["-u"], SERVER),
            takes(&["--rdb", "--functions-rdb"], &[WRITES]),
            takes(&["--eval"], &[READS]),
            takes(
                &[
                    "-p", "-a", "-n", "-s", "-r", "-i", "--user", "--pass", "--cacert", "--cert",
                    "--key",
                ],
                &[],
            ),
        ])
        .operands(leading(
            &[&[Does::MarksIf(
                &[
                    "FLUSHALL",
                    "flushall",
                    "FLUSHDB",
                    "flushdb",
                    "FlushAll",
                    "Flushall",
                    "SHUTDOWN",
                    "shutdown",
                    "DEBUG",
                    "SLAVEOF",
                    "slaveof",
                    "REPLICAOF",
                    "replicaof",
                    "MODULE",
                    "module",
                ],
                Mark::Database,
            )]],
            // Scripts of the server: `EVAL "redis.call('flushall')" 0`.
            &[
                Does::MarksIfContains("flushall", Mark::Database),
                Does::MarksIfContains("FLUSHALL", Mark::Database),
                Does::MarksIfContains("flushdb", Mark::Database),
                Does::MarksIfContains("call('del'", Mark::Database),
                Does::MarksIfContains("call(\"del\"", Mark::Database),
                Does::MarksIfContains("call('unlink'", Mark::Database),
                Does::MarksIfContains("call('UNLINK'", Mark::Database),
                Does::MarksIfContains("call(\"UNLINK\"", Mark::Database),
                Does::MarksIfContains("call(\"unlink\"", Mark::Database),
                Does::MarksIfContains("call('DEL'", Mark::Database),
                Does::MarksIfContains("call(\"DEL\"", Mark::Database),
                Does::MarksIfContains("os.execute", Mark::Database),
                Does::MarksIfContains("io.popen", Mark::Database),
            ],
        ))
        .examples(&[
            ("redis-cli ping", &[]),
            ("redis-cli EVAL \"return redis.call('flushall')\" 0", &["marks database"]),
            ("redis-cli FLUSHALL", &["marks database"]),
            ("redis-cli CONFIG GET maxmemory", &[]),
            ("redis-cli config resetstat", &[]),
            ("redis-cli MODULE LIST", &[]),
            ("redis-cli MODULE LOAD /a.so", &["marks database"]),
            ("redis-cli config set dir /a", &["makes /a", "marks database"]),
            ("redis-cli -h h.example get x", &["fetches h.example"]),
        ]),
    model(&["mongosh", "mongo"])
        .flags(&[
            takes(&["--eval"], &[Does::Code(Language::Mongo)]),
            takes(&["--file", "-f"], &[Does::Script(Language::Mongo)]),
            takes(&["--host"], SERVER),
            takes(
                &["--port", "--username", "-u", "--password", "-p", "--authenticationDatabase"],
                &[],
            ),
        ])
        .operands(leading(&[&[]], &[Does::Script(Language::Mongo)]))
        .bare(&[Does::RunsInput(Language::Mongo)])
        .examples(&[
            ("mongosh --eval 'db.users.find().limit(5)'", &[]),
            ("mongosh shop --eval 'db.dropDatabase()'", &["marks database"]),
        ]),
    model(&[
        "clickhouse-client",
        "clickhouse",
        "clickhouse-local",
        "cockroach",
        "sqlcmd",
        "osql",
        "mssql-cli",
        "bcp",
        "isql",
        "isql-fb",
        "cqlsh",
        "influx",
        "snowsql",
        "snow",
        "bendsql",
        "mclient",
        "vsql",
        "exaplus",
        "gsql",
        "taos",
        "trino",
        "presto",
        "beeline",
        "hive",
        "impala-shell",
        "spark-sql",
        "tiup",
        "ksql",
        "osqueryi",
        "questdb",
        "surreal",
        "db2",
        "sqlplus",
        "tsql",
        "fisql",
        "steampipe",
        "dolt",
        "crash",
        "athenacli",
    ])
    .flags(&[
        takes(&["--query", "-q", "-Q", "--execute", "-e", "-execute", "--sql"], &[Does::Sql]),
        takes(&["--host", "-h", "-H", "-S", "--server", "-host"], SERVER),
        takes(&["--queries-file", "-i", "-f", "--file"], &[READS]),
        takes(&["-o", "--output"], &[WRITES]),
        takes(
            &[
                "--user",
                "-u",
                "-U",
                "--password",
                "-P",
                "--port",
                "-p",
                "--database",
                "-d",
                "-database",
                "--format",
            ],
            &[],
        ),
    ])
    .operands(each(&[]))
    .examples(&[
        ("clickhouse-client -q 'DROP TABLE x'", &["sql DROP TABLE x"]),
        ("cqlsh -e 'DROP KEYSPACE x'", &["sql DROP KEYSPACE x"]),
    ]),
    model(&[
        "prisma",
        "drizzle-kit",
        "sequelize",
        "sequelize-cli",
        "typeorm",
        "knex",
        "alembic",
        "flyway",
        "liquibase",
        "dbmate",
        "atlas",
        "sqlx",
        "diesel",
        "sea-orm-cli",
        "rails",
        "rake",
        "artisan",
        "mikro-orm",
        "django-admin",
        "migrate",
        "migrate-mongo",
    ])
    .flags(&[
        takes(
            &[
                "--name",
                "--schema",
                "-m",
                "--message",
                "-n",
                "-t",
                "--config",
                "-c",
                "--url",
                "-path",
                "-database",
                "-source",
            ],
            &[],
        ),
        takes(&["--database-url"], SERVER),
    ])
    .subs(&[
        model(&[
            "db:drop",
            "db:reset",
            "db:purge",
            "db:drop:all",
            "db:migrate:reset",
            "migrate:fresh",
            "migrate:reset",
            "db:wipe",
            "drop",
            "reset",
            "clean",
            "schema:drop",
            "db:drop:_unsafe",
            "flush",
        ])
        .always(DROPS),
        model(&["migrate"]).subs(&[
            model(&["reset", "fresh", "refresh"]).always(DROPS),
            model(&["dev", "deploy", "status", "diff", "resolve", "run", "up", "down", "info"]),
        ]),
        model(&["database", "schema"]).subs(&[
            model(&["drop", "reset", "clean"]).always(DROPS),
            model(&["create", "setup", "apply", "inspect", "diff"]),
        ]),
        model(&["db"]).subs(&[model(&["push", "pull", "seed", "execute"])
            .flags(&[switch(&["--force-reset", "--accept-data-loss"], DROPS)])]),
        model(&["push"]).flags(&[switch(&["--force"], DROPS)]),
        model(&["runner", "r"])
            .flags(&[takes(&["--environment", "-e"], &[])])
            .operands(leading(&[&[Does::Code(Language::Ruby)]], &[])),
        model(&["app:template", "new"]).flags(&[
            joined(&["LOCATION="], &[Does::Package(Registry::Other)]),
            takes(&["--template", "-m"], &[Does::Package(Registry::Other)]),
        ]),
        model(&["downgrade"])
            .flags(&[])
            .operands(each(&[Does::MarksIf(&["base"], Mark::Database)])),
    ])
    .examples(&[
        ("alembic upgrade head", &[]),
        ("rails db:migrate", &[]),
        ("rails db:drop", &["marks database"]),
        ("prisma migrate reset --force", &["marks database"]),
        ("prisma generate", &[]),
    ]),
    model(&[
        "kafka-topics",
        "kafka-consumer-groups",
        "kafka-consumer-groups.sh",
        "kafka-configs",
        "kafka-topics.sh",
        "kafka-delete-records",
        "rabbitmqctl",
        "rabbitmqadmin",
        "kafka-console-consumer",
        "kafka-console-producer",
        "pulsar-admin",
    ])
    .flags(&[
        switch(&["--delete", "--reset-offsets", "--delete-offsets"], DROPS),
        switch(&["--to-earliest", "--to-latest", "--all-topics", "--execute"], &[]),
        takes(&["--bootstrap-server", "--topic", "--partitions", "-b", "-t", "-n", "--node"], &[]),
    ])
    .subs(&[
        model(&[
            "reset",
            "force_reset",
            "delete_vhost",
            "purge_queue",
            "delete_queue",
            "delete_user",
        ])
        .always(DROPS),
        model(&["status", "list_queues", "list_users", "cluster_status"]),
    ])
    .examples(&[
        ("kafka-topics --delete --topic x", &["marks database"]),
        ("rabbitmqctl status", &[]),
        ("rabbitmqctl -n rabbit@mq1 force_reset", &["marks database"]),
        ("kafka-consumer-groups --reset-offsets --to-earliest --topic x --dry-run", &[]),
        (
            "kafka-consumer-groups --reset-offsets --to-earliest --topic --dry-run --execute",
            &["marks database"],
        ),
    ]),
    model(&[
        "memcached",
        "redis-server",
        "postgres",
        "mysqld",
        "mongod",
        "etcd",
        "rabbitmq-server",
        "minio",
    ])
    .always(&[Does::ConnectsTo("localhost", Purpose::Listen)]),
];
