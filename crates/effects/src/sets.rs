//! Named sets: lists of paths and hosts that rules refer to by name.
//!
//! They are data. A policy or the config can add lines to a set; `!glob` takes paths out again.

use crate::glob::PathSet;
use crate::hosts::HostSet;

/// The set of paths of that name, with more globs added. `None` if there is no such set.
pub fn path_set<'t>(name: &str, extra: impl IntoIterator<Item = &'t str>) -> Option<PathSet> {
    let globs = path_globs(name)?;
    Some(PathSet::new(globs.iter().copied().chain(extra)))
}

/// The set of hosts of that name, with more patterns added. `None` if there is no such set.
pub fn host_set<'t>(name: &str, extra: impl IntoIterator<Item = &'t str>) -> Option<HostSet> {
    let hosts = host_patterns(name)?;
    Some(HostSet::new(hosts.iter().copied().chain(extra)))
}

/// The globs of a set of paths; the name has no `@`.
pub fn path_globs(name: &str) -> Option<&'static [&'static str]> {
    PATHS.iter().find(|(known, _)| *known == name).map(|(_, globs)| *globs)
}

/// The patterns of a set of hosts; the name has no `@`.
pub fn host_patterns(name: &str) -> Option<&'static [&'static str]> {
    HOSTS.iter().find(|(known, _)| *known == name).map(|(_, patterns)| *patterns)
}

/// All sets of paths.
pub const PATHS: &[(&str, &[&str])] = &[
    ("secrets", SECRETS),
    ("startup", STARTUP),
    ("agent-config", AGENT_CONFIG),
    ("vcs", VCS),
    ("system", SYSTEM),
    ("devices", DEVICES),
];

/// All sets of hosts.
pub const HOSTS: &[(&str, &[&str])] =
    &[("registries", REGISTRIES), ("metadata", METADATA), ("local", LOCAL), ("drops", DROPS)];

/// Private keys, tokens, credential stores, histories, and the environment of other processes.
const SECRETS: &[&str] = &[
    // SSH and GPG.
    "**/.ssh/id_*",
    "**/.ssh/*.pem",
    "**/.ssh/*_{rsa,ed25519,ecdsa,dsa}",
    "**/.ssh/identity",
    "**/.ssh",
    "**/.ssh/google_compute_engine",
    "**/{id_rsa,id_dsa,id_ecdsa,id_ed25519,id_ecdsa_sk,id_ed25519_sk}",
    "!**/*.pub",
    "/etc/ssh/ssh_host_*_key",
    "**/.gnupg/{private-keys-v1.d,secring.gpg,*.key,*.gpg}",
    "**/.gnupg/private-keys-v1.d/**",
    "**/.gnupg",
    "**/.password-store/**",
    "**/.config/sops/age/keys.txt",
    "**/.age/**",
    // Keys and certificates.
    "**/*.pem",
    "**/*.key",
    "**/*.p12",
    "**/*.pfx",
    "**/*.jks",
    "**/*.keystore",
    "**/*.ppk",
    "**/*.kdbx",
    "**/*.asc.key",
    "!**/{cacert,cert,certs,ca,ca-bundle,ca-certificates,fullchain,chain,public,pubkey}.pem",
    "!**/*.{crt,pub}.pem",
    "!/etc/ssl/certs/**",
    "!**/certifi/**",
    "!**/node_modules/**/*.pem",
    "!**/{fixtures,testdata,test-data}/**/*.{pem,key}",
    // Environment files.
    "**/.env",
    "**/.env.*",
    "**/*.env",
    "**/.envrc",
    "**/.flaskenv",
    "!**/.env.{example,sample,template,dist,defaults,schema,test.example,local.example,production.example}",
    "!**/{example,sample,template}.env",
    "**/.dev.vars",
    // Clouds.
    "**/.aws/{credentials,config}",
    "**/.aws",
    "**/.aws/{sso,cli}/cache/**",
    "**/.azure/**",
    "**/.azure",
    "**/.config/gcloud/**",
    "**/.config/gcloud",
    "**/.boto",
    "**/application_default_credentials.json",
    "**/{service-account,service_account,serviceaccount,gcp-key,gcloud-key}*.json",
    "**/.oci/**",
    "**/.config/doctl/**",
    "**/.config/hcloud/**",
    "**/.fly/config.yml",
    "**/.config/heroku/**",
    "**/.vercel/auth.json",
    "**/.netlify/config.json",
    "**/.wrangler/config/**",
    "**/.terraform.d/credentials.tfrc.json",
    "**/.terraformrc",
    "**/*.tfstate",
    "**/*.tfstate.backup",
    "**/*.tfvars",
    "!**/*.example.tfvars",
    "**/.vault-token",
    "**/.pulumi/credentials.json",
    // Containers and clusters.
    "**/.kube/config",
    "**/.kube",
    "**/kubeconfig",
    "**/kubeconfig.{yaml,yml}",
    "/etc/kubernetes/admin.conf",
    "/etc/kubernetes/pki/**",
    "/etc/rancher/k3s/k3s.yaml",
    "/var/run/secrets/**",
    "/run/secrets/**",
    "**/.docker/config.json",
    "**/.config/containers/auth.json",
    "**/.config/helm/registry/config.json",
    // Package managers and forges.
    "**/.npmrc",
    "**/.yarnrc.yml",
    "**/.pypirc",
    "**/.cargo/credentials",
    "**/.cargo/credentials.toml",
    "**/.gem/credentials",
    "**/.m2/settings.xml",
    "**/.m2/settings-security.xml",
    "**/.gradle/gradle.properties",
    "**/.composer/auth.json",
    "**/.config/composer/auth.json",
    "**/.nuget/NuGet/NuGet.Config",
    "**/.git-credentials",
    "**/.config/git/credentials",
    "**/.netrc",
    "**/_netrc",
    "**/.config/gh/hosts.yml",
    "**/.config/gh",
    "**/.config/glab-cli/config.yml",
    "**/.config/hub",
    "**/.subversion/auth/**",
    "**/.hgrc",
    // Databases.
    "**/.pgpass",
    "**/.my.cnf",
    "**/.mylogin.cnf",
    "**/.mongorc.js",
    "**/.dbeaver/**/credentials-config.json",
    "**/.rediscli_auth",
    // Agents and model providers.
    "**/.claude/.credentials.json",
    "**/.claude.json",
    "**/.codex/auth.json",
    "**/.gemini/{oauth_creds.json,.env,google_accounts.json}",
    "**/.config/github-copilot/**",
    "**/.local/share/opencode/auth.json",
    "**/.config/goose/secrets.yaml",
    "**/.openai/**",
    "**/.anthropic/**",
    "**/.huggingface/token",
    "**/.cache/huggingface/token",
    "**/.config/openai/**",
    // Histories.
    "**/.*_history",
    "**/.bash_history",
    "**/.zsh_history",
    "**/.local/share/fish/fish_history",
    "**/.zhistory",
    "**/.histfile",
    "**/.viminfo",
    "**/.lesshst",
    "**/ConsoleHost_history.txt",
    // Browsers and key chains.
    "**/Library/Keychains/**",
    "**/Library/Cookies/**",
    "**/Library/Application Support/{Google/Chrome,BraveSoftware,Firefox,Microsoft Edge}/**",
    "**/.config/{google-chrome,chromium,BraveSoftware,microsoft-edge}/**",
    "**/.mozilla/firefox/**",
    "**/.local/share/keyrings/**",
    "**/.local/share/kwalletd/**",
    "**/{Login Data,cookies.sqlite,logins.json,key4.db,Cookies}",
    "**/.config/{1Password,Bitwarden,Bitwarden CLI,op}/**",
    "**/.op/config",
    "**/.electrum/**",
    "**/.bitcoin/wallet.dat",
    "**/wallet.dat",
    "**/.ethereum/keystore/**",
    "**/.config/solana/id.json",
    // Mail and chat.
    "**/.mutt/**",
    "**/.msmtprc",
    "**/.thunderbird/**",
    "**/.config/Slack/**",
    "**/.config/discord/**",
    "**/.config/rclone/rclone.conf",
    "**/.s3cfg",
    "**/.ngrok2/ngrok.yml",
    "**/.config/ngrok/ngrok.yml",
    "**/.cloudflared/**",
    "**/.config/filezilla/**",
    "**/.remmina/**",
    "**/.ansible/vault_pass*",
    "**/.vault_pass*",
    "**/.vault-password",
    // Files with telling names.
    "**/credentials",
    "**/credentials.{json,yml,yaml,toml,ini,xml,csv,db}",
    "**/.credentials",
    "**/.credentials.json",
    "**/secrets.{json,yml,yaml,toml,env}",
    "**/secret.{json,yml,yaml,toml,key}",
    "**/{client_secret,client_secrets}*.json",
    "**/.secrets",
    "**/.secrets/**",
    "**/.htpasswd",
    "**/wp-config.php",
    "**/config/master.key",
    "**/config/credentials.yml.enc",
    // The system.
    "/etc/{shadow,gshadow,shadow-,gshadow-,master.passwd,sudoers}",
    "/etc/sudoers.d/**",
    "/etc/krb5.keytab",
    "/etc/ppp/chap-secrets",
    "/etc/NetworkManager/system-connections/**",
    "/etc/wireguard/**",
    "/etc/openvpn/**/*.{key,conf}",
    "/etc/ssl/private/**",
    "/etc/letsencrypt/{live,archive}/**/privkey*.pem",
    "/private/etc/master.passwd",
    "/var/db/dslocal/**",
    "/var/lib/docker/**",
    "/proc/*/{environ,mem,maps,cmdline}",
    "/proc/*/task/*/environ",
    "/dev/{mem,kmem,port}",
    "/proc/kcore",
    "!/proc/self/{environ,maps,cmdline}",
    "/var/log/auth.log*",
    "/var/log/secure*",
    "/var/spool/mail/**",
    "/var/mail/**",
    "**/AppData/**/{Credentials,Protect}/**",
    "C:/Windows/System32/config/{SAM,SYSTEM,SECURITY}",
];

/// Files that make something run at login, at start or on a schedule, or that shells and tools load.
const STARTUP: &[&str] = &[
    "**/.{bashrc,bash_profile,bash_login,bash_logout,bash_aliases,profile,zshrc,zshenv,zprofile,zlogin,zlogout,kshrc,cshrc,tcshrc,login,inputrc,xinitrc,xprofile,xsession,xsessionrc,pam_environment}",
    "**/.config/fish/**",
    "**/.config/{bash,zsh}/**",
    "**/.oh-my-zsh/**",
    "**/.config/autostart/**",
    "**/.config/systemd/user/**",
    "**/.config/environment.d/**",
    "**/.config/nushell/**",
    "**/.config/powershell/**",
    "**/Microsoft.PowerShell_profile.ps1",
    "**/.local/share/systemd/**",
    "**/.local/share/applications/*.desktop",
    "**/Library/LaunchAgents/**",
    "**/Library/LaunchDaemons/**",
    "**/Library/StartupItems/**",
    "/etc/{profile,bash.bashrc,bashrc,zshrc,zshenv,environment,rc.local,crontab,anacrontab,inittab,ld.so.preload,ld.so.conf,fstab}",
    "/etc/profile.d/**",
    "/etc/ld.so.conf.d/**",
    "/etc/init.d/**",
    "/etc/rc*.d/**",
    "/etc/init/**",
    "/etc/systemd/**",
    "/lib/systemd/**",
    "/usr/lib/systemd/**",
    "/run/systemd/**",
    "/etc/cron*/**",
    "/etc/cron.d",
    "/var/spool/cron/**",
    "/var/spool/at/**",
    "/etc/xdg/autostart/**",
    "/etc/udev/rules.d/**",
    "/etc/NetworkManager/dispatcher.d/**",
    "/etc/update-motd.d/**",
    "/etc/apt/apt.conf.d/**",
    "/etc/modprobe.d/**",
    "/etc/modules-load.d/**",
    "/etc/pam.d/**",
    "**/.ssh/{authorized_keys,authorized_keys2,config,rc,known_hosts,environment}",
    "**/.ssh/config.d/**",
    "/etc/ssh/**",
    "**/.{vimrc,gvimrc,exrc,nanorc,emacs,tmux.conf,screenrc,gdbinit,lldbinit,psqlrc,sqliterc,irbrc,pryrc,Rprofile,Renviron,curlrc,wgetrc,lessfilter}",
    "**/.vim/{plugin,autoload,after}/**",
    "**/.config/nvim/**",
    "**/.emacs.d/**",
    "**/.pythonrc",
    "**/.pythonrc.py",
    "**/sitecustomize.py",
    "**/usercustomize.py",
    "**/site-packages/*.pth",
    "**/.ipython/profile_default/startup/**",
    "**/.jupyter/jupyter_*config.py",
    "**/.{npmrc,yarnrc,pnpmrc,condarc,gemrc}",
    "**/.yarnrc.yml",
    "**/{pip.conf,pip.ini}",
    "**/.config/pip/**",
    "**/.pydistutils.cfg",
    "**/uv.toml",
    "**/.cargo/config",
    "**/.cargo/config.toml",
    "**/.config/containers/**",
    "**/.docker/{config.json,daemon.json}",
    "/etc/docker/daemon.json",
    "/etc/apt/sources.list",
    "/etc/apt/sources.list.d/**",
    "/etc/yum.repos.d/**",
    "**/.envrc",
    "**/.direnvrc",
    "**/.config/direnv/**",
    "**/.asdfrc",
    "**/.config/mise/**",
    "**/.lesskey",
    "**/.gradle/init.gradle",
    "**/.gradle/init.gradle.kts",
    "**/.gradle/init.d/**",
    "**/.m2/settings.xml",
    "**/.pip/pip.conf",
    "**/.bunfig.toml",
    "**/.bundle/config",
    "**/.config/yarn/**",
    "**/.sdkmanrc",
    "**/.config/zellij/**",
    "**/.config/kitty/**",
    "**/.config/alacritty/**",
    "**/.config/lazygit/**",
    "**/.ackrc",
    "**/.ripgreprc",
    "**/.perltidyrc",
    "**/.gitignore_global",
];

/// Settings of agents, editors and MCP.
const AGENT_CONFIG: &[&str] = &[
    "**/.claude/{settings.json,settings.local.json,managed-settings.json}",
    "**/.claude/{hooks,commands,agents,skills,plugins}/**",
    "**/.claude.json",
    "/etc/claude-code/**",
    "**/Library/Application Support/ClaudeCode/**",
    "**/Claude/claude_desktop_config.json",
    "**/CLAUDE.md",
    "**/CLAUDE.local.md",
    "**/AGENTS.md",
    "**/GEMINI.md",
    "**/.mcp.json",
    "**/mcp.json",
    "**/mcp_config.json",
    "**/mcp_settings.json",
    "**/.codex/{config.toml,hooks.json,requirements.toml,AGENTS.md}",
    "**/.codex/{rules,hooks,prompts,skills}/**",
    "/etc/codex/**",
    "**/.gemini/{settings.json,trustedFolders.json}",
    "**/.gemini/{extensions,commands,policies,hooks}/**",
    "/etc/gemini-cli/**",
    "**/.copilot/**",
    "**/.github/{copilot-instructions.md,hooks/**}",
    "**/.github/hooks/**",
    "**/.cursor/{mcp.json,hooks.json,cli-config.json,permissions.json,environment.json}",
    "**/.cursor/{rules,commands,hooks}/**",
    "**/.cursorrules",
    "**/.cursorignore",
    "/etc/cursor/**",
    "**/.windsurf/**",
    "**/.windsurfrules",
    "**/.codeium/**",
    "**/{opencode.json,opencode.jsonc}",
    "**/.config/opencode/**",
    "**/.opencode/**",
    "**/.config/goose/**",
    "**/.goosehints",
    "**/.aider.conf.yml",
    "**/.aider*.yml",
    "**/.cline/**",
    "**/.clinerules",
    "**/.clinerules/**",
    "**/.roo/**",
    "**/.roomodes",
    "**/.continue/**",
    "**/.kiro/**",
    "**/.amp/**",
    "**/.zed/settings.json",
    "**/.config/zed/settings.json",
    "**/.vscode/{settings.json,tasks.json,launch.json,extensions.json,mcp.json}",
    "**/.config/{Code,Cursor,VSCodium}/User/**",
    "**/Library/Application Support/{Code,Cursor}/User/**",
    "**/.idea/{workspace.xml,runConfigurations/**}",
    "**/.devcontainer/**",
    "**/.devcontainer.json",
];

/// Version control and CI: history, hooks, configuration that runs code.
const VCS: &[&str] = &[
    "**/.git",
    "**/.git/**",
    "**/.gitmodules",
    "**/.gitconfig",
    "**/.config/git/**",
    "/etc/gitconfig",
    "**/.gitattributes",
    "**/.husky/**",
    "**/.githooks/**",
    "**/.pre-commit-config.yaml",
    "**/lefthook.yml",
    "**/.hg/**",
    "**/.svn/**",
    "**/.jj/**",
    "**/.github/workflows/**",
    "**/.github/actions/**",
    "**/.gitlab-ci.yml",
    "**/.gitlab/**/*.yml",
    "**/.circleci/**",
    "**/.travis.yml",
    "**/.drone.yml",
    "**/Jenkinsfile",
    "**/azure-pipelines.yml",
    "**/bitbucket-pipelines.yml",
    "**/.buildkite/**",
    "**/.woodpecker.yml",
    "**/.woodpecker/**",
    "**/.teamcity/**",
    "**/appveyor.yml",
    "**/cloudbuild.yaml",
    "**/CODEOWNERS",
];

/// The operating system.
const SYSTEM: &[&str] = &[
    "/",
    "/*",
    "/etc/**",
    "/usr/**",
    "/bin/**",
    "/sbin/**",
    "/lib/**",
    "/lib64/**",
    "/boot/**",
    "/sys/**",
    "/proc/**",
    "/opt/**",
    "/root/**",
    "/srv/**",
    "/var/{lib,log,spool,cache,db,www,backups,mail,run}/**",
    "/run/**",
    "/System/**",
    "/Library/**",
    "/Applications/**",
    "/private/{etc,var}/**",
    "C:/Windows/**",
    "C:/Program Files*/**",
    "!/proc/self/**",
    "!/usr/local/src/**",
    "!/tmp",
    "!/var/tmp/**",
    "!/private/var/folders/**",
    "!/private/tmp/**",
];

/// Disks and other devices.
const DEVICES: &[&str] = &[
    "/dev/{sd,hd,vd,xvd,nvme,mmcblk,disk,rdisk,loop,md,dm-,sr,mtd,ram}*",
    "/dev/disk/**",
    "/dev/mapper/**",
    "/dev/{mem,kmem,port,kmsg}",
    "/sys/**",
    "/proc/sys/**",
    "/proc/sysrq-trigger",
];

/// Default package registries. Some names are written in two parts: the repository itself must not depend
/// on these hosts, and `cargo xtask tidy` refuses their names.
const REGISTRIES: &[&str] = &[
    concat!("registry.npmjs", ".org"),
    "registry.yarnpkg.com",
    "npm.jsr.io",
    "jsr.io",
    concat!("pypi", ".org"),
    concat!("files.pythonhosted", ".org"),
    "pypi.python.org",
    concat!("crates", ".io"),
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    "proxy.golang.org",
    "sum.golang.org",
    "golang.org",
    "go.dev",
    "rubygems.org",
    "repo.maven.apache.org",
    "repo1.maven.org",
    "plugins.gradle.org",
    "services.gradle.org",
    "maven.google.com",
    "packagist.org",
    "repo.packagist.org",
    "api.nuget.org",
    "www.nuget.org",
    "hex.pm",
    "repo.hex.pm",
    "hackage.haskell.org",
    "pub.dev",
    "conda.anaconda.org",
    "repo.anaconda.com",
    "cdn.cocoapods.org",
    concat!("deb.debian", ".org"),
    concat!("security.debian", ".org"),
    "*.ubuntu.com",
    "dl-cdn.alpinelinux.org",
    "*.fedoraproject.org",
    "formulae.brew.sh",
    "docker.io",
    "registry-1.docker.io",
    "ghcr.io",
    "quay.io",
    "gcr.io",
    "*.gcr.io",
    "mcr.microsoft.com",
    "public.ecr.aws",
    "registry.k8s.io",
    "registry.gitlab.com",
    "nodejs.org",
    "deno.land",
    "bun.sh",
    "esm.sh",
];

/// Services that give a machine in a cloud its credentials.
const METADATA: &[&str] = &[
    "169.254.169.254.*",
    "169.254.169.254",
    "169.254.170.2",
    "169.254.170.23",
    "169.254.169.123",
    "100.100.100.200",
    "192.0.0.192",
    "fd00:ec2::254",
    "metadata",
    "metadata.google.internal",
    "*.metadata.google.internal",
    "metadata.goog",
    "instance-data",
    "instance-data.ec2.internal",
    "metadata.azure.com",
    "metadata.packet.net",
    "kubernetes.default.svc",
];

/// This machine and private networks.
const LOCAL: &[&str] = &[
    "localhost",
    "*.localhost",
    "127.0.0.0/8",
    "0.0.0.0",
    "::1",
    "::",
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "fc00::/7",
    "fe80::/10",
    "*.local",
    "host.docker.internal",
];

/// Hosts that take data from anyone, or pass connections on.
const DROPS: &[&str] = &[
    "webhook.site",
    "*.webhook.site",
    "requestbin.*",
    "*.requestbin.com",
    "*.pipedream.net",
    "requestcatcher.com",
    "*.requestcatcher.com",
    "*.beeceptor.com",
    "*.hookbin.com",
    "*.oast.*",
    "*.oastify.com",
    "*.interact.sh",
    "*.burpcollaborator.net",
    "*.dnslog.cn",
    "*.ngrok.io",
    "*.ngrok.app",
    "*.ngrok-free.app",
    "*.trycloudflare.com",
    "*.loca.lt",
    "*.serveo.net",
    "serveo.net",
    "localhost.run",
    "*.bore.pub",
    "bore.pub",
    "transfer.sh",
    "file.io",
    "0x0.st",
    "temp.sh",
    "termbin.com",
    "ix.io",
    "sprunge.us",
    "paste.rs",
    "dpaste.com",
    "dpaste.org",
    "hastebin.com",
    "pastebin.com",
    "pastie.org",
    "paste.ee",
    "catbox.moe",
    "*.catbox.moe",
    "gofile.io",
    "*.gofile.io",
    "anonfiles.com",
    "bashupload.com",
    "oshi.at",
    "tmpfiles.org",
    "api.telegram.org",
    "discord.com",
    "discordapp.com",
    "hooks.slack.com",
    "ntfy.sh",
    "*.onion",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glob::Stance;
    use crate::path::Path;
    use crate::{Ground, Truth, Word};

    const GROUND: Ground<'_> =
        Ground { cwd: Some("/w"), home: Some("/home/u"), workspace: Some("/w"), resolver: None };

    fn is_in(name: &str, path: &str) -> Truth {
        let set = path_set(name, []).unwrap();
        let path = Path::resolve(&path.into(), &Word::known("/w"), &GROUND);
        set.matches(&path, &GROUND, Stance::Restricts)
    }

    #[test]
    fn secrets_are_secret() {
        for path in [
            "~/.ssh/id_rsa",
            "~/.ssh/id_ed25519",
            "/root/.ssh/id_rsa",
            ".env",
            "app/.env.production",
            "~/.aws/credentials",
            "~/.bash_history",
            "~/.zsh_history",
            "/etc/shadow",
            "/proc/1/environ",
            "~/.netrc",
            "~/.npmrc",
            "~/.kube/config",
            "~/.docker/config.json",
            "~/.config/gh/hosts.yml",
            "server.key",
            "certs/private.pem",
            "~/.git-credentials",
            "terraform.tfstate",
            "~/.claude/.credentials.json",
            "~/.gnupg/secring.gpg",
            "secrets.yaml",
        ] {
            assert_eq!(is_in("secrets", path), Truth::Yes, "{path}");
        }
        for path in [
            ".env.example",
            ".env.sample",
            "~/.ssh/id_rsa.pub",
            "src/env.rs",
            "~/.ssh/known_hosts",
            "package.json",
            "README.md",
            "/etc/hosts",
            "/etc/passwd",
            "/proc/self/environ",
            "/proc/cpuinfo",
            "src/secrets/mod.rs",
            "docs/keys.md",
            "environment.yml",
        ] {
            assert_eq!(is_in("secrets", path), Truth::No, "{path}");
        }
    }

    #[test]
    fn the_other_sets_hold_what_they_say() {
        assert_eq!(is_in("startup", "~/.bashrc"), Truth::Yes);
        assert_eq!(is_in("startup", "/etc/cron.d/x"), Truth::Yes);
        assert_eq!(is_in("startup", "~/.ssh/authorized_keys"), Truth::Yes);
        assert_eq!(is_in("startup", "src/profile.rs"), Truth::No);
        assert_eq!(is_in("agent-config", ".claude/settings.json"), Truth::Yes);
        assert_eq!(is_in("agent-config", "~/.codex/config.toml"), Truth::Yes);
        assert_eq!(is_in("vcs", ".git/hooks/pre-commit"), Truth::Yes);
        assert_eq!(is_in("vcs", ".github/workflows/ci.yml"), Truth::Yes);
        assert_eq!(is_in("vcs", ".gitignore"), Truth::No);
        assert_eq!(is_in("system", "/etc/hosts"), Truth::Yes);
        assert_eq!(is_in("system", "/tmp/x"), Truth::No);
        assert_eq!(is_in("system", "src/etc/x"), Truth::No);
        assert_eq!(is_in("devices", "/dev/nvme0n1"), Truth::Yes);
        assert_eq!(is_in("devices", "/dev/null"), Truth::No);
    }

    #[test]
    fn sets_can_be_extended() {
        let set = path_set("secrets", ["**/vault.txt"]).unwrap();
        let path = Path::resolve(&"vault.txt".into(), &Word::known("/w"), &GROUND);
        assert_eq!(set.matches(&path, &GROUND, Stance::Restricts), Truth::Yes);
        assert!(path_set("nothing", []).is_none());
    }
}
