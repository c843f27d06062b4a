//! Programs that manage a site or an application: its users, its plugins, its data.

use crate::effect::Purpose;
use crate::marks::Mark;
use crate::model::*;

const DROPS: Use = &[mark(Mark::Database)];
const DESTROY: Use = &[mark(Mark::Infrastructure)];
const ACCOUNT: Use = &[mark(Mark::Accounts)];
const SECRET: Use = &[mark(Mark::Credentials)];
/// Plugins that guard a site.
const GATE: Use = &[Does::Stops];
/// Roles that may do anything.
const ADMIN: Use = &[Does::MarksIf(
    &["administrator", "admin", "super_admin", "superadmin", "owner", "editor"],
    Mark::Accounts,
)];

pub(crate) const MODELS: &[Model] = &[
    model(&["wp", "wp-cli", "wp-cli.phar"])
        .flags(&[
            // The site that an alias names: `@staging`.
            joined(&["@"], &[]),
            takes(&["--path", "--url", "--user", "--context"], &[]),
            takes(&["--require"], &[Does::Script(Language::Php)]),
            takes(&["--exec"], &[Does::Code(Language::Php)]),
            takes(&["--ssh"], &[Does::Connects(Purpose::Remote)]),
        ])
        .subs(&[
            model(&["db"]).subs(&[
                model(&["reset", "drop", "clean"]).always(DROPS),
                model(&["query"]).operands(each(&[Does::Sql])),
                model(&["export", "import", "check", "list", "size", "tables"]),
            ]),
            model(&["site"]).subs(&[
                model(&["empty", "delete"]).always(DROPS),
                model(&["list", "option", "create"]),
            ]),
            model(&["user"]).subs(&[
                model(&["create"]).flags(&[
                    takes(&["--role"], ADMIN),
                    takes(&["--user_pass", "--display_name", "--first_name", "--last_name"], &[]),
                ]),
                model(&["set-role", "add-role"]).operands(leading(&[&[]], ADMIN)),
                model(&["update"])
                    .flags(&[takes(&["--user_pass"], ACCOUNT), takes(&["--role"], ADMIN)]),
                model(&["add-cap"]).always(ACCOUNT),
                model(&["delete", "remove-role", "spam"]).always(DESTROY),
                model(&["application-password"])
                    .subs(&[model(&["create"]).always(SECRET), model(&["list", "delete"])]),
                model(&["list", "get", "meta", "list-caps", "session"]),
            ]),
            model(&["super-admin"])
                .subs(&[model(&["add"]).always(ACCOUNT), model(&["list", "remove"])]),
            model(&["post", "comment", "term"]).subs(&[
                model(&["delete"]).flags(&[switch(&["--force"], DESTROY)]),
                model(&["list", "get", "create", "update", "meta"]),
            ]),
            model(&["plugin", "theme"]).subs(&[
                model(&["install"]).operands(each(&[Does::Package(Registry::Other)])),
                model(&["deactivate", "delete", "uninstall"])
                    .flags(&[switch(&["--all"], &[mark(Mark::Guard)])])
                    .operands(each(GATE)),
                model(&["list", "status", "activate", "update", "search", "get", "is-installed"]),
            ]),
            model(&["package"]).subs(&[
                model(&["install"]).operands(each(&[Does::Package(Registry::Other)])),
                model(&["list", "update", "browse"]),
            ]),
            model(&["option"]).subs(&[
                model(&["update", "add", "set", "patch"]).operands(leading(
                    &[&[Does::MarksIf(
                        &["users_can_register", "default_role", "admin_email"],
                        Mark::Accounts,
                    )]],
                    &[],
                )),
                model(&["get", "list", "pluck"]),
            ]),
            model(&["config"]).subs(&[
                model(&["get"]).operands(each(&[
                    Does::MarksIfContains("PASSWORD", Mark::Credentials),
                    Does::MarksIfContains("KEY", Mark::Credentials),
                    Does::MarksIfContains("SALT", Mark::Credentials),
                    Does::MarksIfContains("SECRET", Mark::Credentials),
                ])),
                model(&["list"]).always(SECRET),
                model(&["set", "create", "path", "has", "shuffle-salts", "is-true"]),
            ]),
            model(&["eval"]).operands(each(&[Does::Code(Language::Php)])),
            model(&["eval-file"]).operands(leading(&[&[Does::Script(Language::Php)]], &[])),
            model(&["core", "cache", "transient", "rewrite", "cron", "i18n", "media", "menu"]),
        ])
        .examples(&[
            ("wp db reset --yes", &["marks database"]),
            ("wp plugin list", &[]),
            ("wp plugin install https://h.example/x.zip", &["executes h.example:443"]),
            ("wp plugin deactivate wordfence", &["marks guard"]),
            ("wp plugin deactivate hello", &[]),
            ("wp @staging user create a a@h.example --role=administrator", &["marks accounts"]),
            ("wp user create a a@h.example --role=author", &[]),
            ("wp config get DB_PASSWORD", &["marks credentials"]),
            ("wp config get DB_NAME", &[]),
        ]),
    model(&["drush"])
        .flags(&[joined(&["@"], &[]), takes(&["--uri", "--root", "-r", "-l"], &[])])
        .subs(&[
            model(&["sql-drop", "sql:drop", "site-install", "site:install", "si"]).always(DROPS),
            model(&["sql-query", "sqlq", "sql:query"]).operands(each(&[Does::Sql])),
            model(&["php:eval", "php-eval", "ev", "eval"])
                .operands(each(&[Does::Code(Language::Php)])),
            model(&["php:script", "php-script", "scr"])
                .operands(leading(&[&[Does::Script(Language::Php)]], &[])),
            model(&["user:role:add", "user-add-role", "urol"]).operands(each(ADMIN)),
            model(&["user:password", "user-password", "upwd"]).always(ACCOUNT),
            model(&["user:cancel", "entity:delete", "ucan", "edel"]).always(DESTROY),
            model(&["pm:uninstall", "pm-uninstall", "pmu"]).operands(each(GATE)),
            model(&["cr", "cache:rebuild", "status", "updb", "cim", "cex", "en", "ws"]),
        ])
        .examples(&[
            ("drush sql-drop -y", &["marks database"]),
            ("drush cr", &[]),
            ("drush urol administrator a", &["marks accounts"]),
            ("drush php:eval 'unlink(\"a\");'", &["deletes a"]),
        ]),
    model(&["magento", "n98-magerun2", "n98-magerun", "magerun2"])
        .subs(&[
            model(&["admin:user:create", "admin:user:change-password"]).always(ACCOUNT),
            model(&["admin:user:delete"]).always(DESTROY),
            model(&["setup:uninstall", "setup:rollback", "db:drop"]).always(DROPS),
            model(&["module:disable", "module:uninstall"]).operands(each(GATE)),
            model(&["db:query"]).operands(each(&[Does::Sql])),
            model(&["cache:flush", "cache:clean", "setup:upgrade", "indexer:reindex"]),
        ])
        .examples(&[
            ("magento cache:flush", &[]),
            ("magento setup:uninstall -n", &["marks database"]),
        ]),
    model(&["craft", "strapi", "ghost", "occ", "moosh", "payload", "directus", "keystone"])
        .subs(&[
            model(&["db/drop-all-tables", "db/restore"]).always(DROPS),
            model(&["users/create", "users/set-password"]).always(ACCOUNT),
            model(&[
                "admin:create-user",
                "admin:create",
                "admin:reset-user-password",
                "admin:reset",
                "user:resetpassword",
                "group:adduser",
                "user-mod",
            ])
            .always(ACCOUNT),
            model(&["user:delete", "uninstall"]).always(DESTROY),
            model(&["app:disable"]).operands(each(GATE)),
            model(&["plugin/install"]).operands(each(&[Does::Package(Registry::Other)])),
        ])
        .examples(&[
            ("strapi admin:reset-user-password -e a -p b", &["marks accounts"]),
            ("strapi develop", &[]),
        ]),
    model(&["grafana-cli", "grafana"])
        .flags(&[
            takes(&["--pluginUrl", "--repo"], &[Does::Package(Registry::Other)]),
            takes(&["--homepath", "--config", "--pluginsDir"], &[]),
        ])
        .subs(&[
            model(&["admin"]).subs(&[model(&["reset-admin-password"]).always(ACCOUNT)]),
            model(&["cli"]).subs(&[
                model(&["admin"]).subs(&[model(&["reset-admin-password"]).always(ACCOUNT)])
            ]),
            model(&["plugins", "server"]),
        ])
        .examples(&[
            ("grafana-cli plugins install x", &[]),
            ("grafana-cli admin reset-admin-password x", &["marks accounts"]),
        ]),
];
