//! From the config as written to the settings of each crate. After it no `Option` means "default"
//! and nothing is checked again.

mod mcp;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use callgate_call::Surface;
use callgate_control::Listen;
use callgate_decide::mcp::McpSettings;
use callgate_document::{At, Diagnostic, Problems, Source, SourceSpan};
use callgate_proxy::{ApiKey, ProviderSettings};
use callgate_store::Location;
use url::Url;

use crate::aws;
use crate::env;
use crate::error::{ConfigError, Rejected};
use crate::file::{self, WrittenConfig, WrittenListen, WrittenProvider, WrittenStore};
use crate::find;
use crate::policies::{Gathered, PolicySet, no_rules, relative_to};
use crate::protect::{self, Protect};
use crate::providers::KNOWN;
use crate::values::SettingValues;
use crate::watch::Watched;
use crate::words::RequestSigning;
pub use mcp::McpServer;

/// Every setting, and the policies.
#[derive(Debug)]
pub struct ResolvedConfig {
    /// The file it comes from; `None` if there is no file and the defaults apply.
    pub path: Option<PathBuf>,
    /// The gateway.
    pub proxy: callgate_proxy::Settings,
    /// The records.
    pub audit: callgate_store::Settings,
    /// Where the API listens.
    pub api: Listen,
    /// Whether callgate protects itself.
    pub protect: Protect,
    /// The decisions.
    pub decide: callgate_decide::Settings,
    /// What MCP servers may do.
    pub mcp: McpSettings,
    /// How the declared MCP servers are started or reached.
    pub mcp_servers: Vec<McpServer>,
    /// How long an MCP server may take to list its tools before a call.
    pub mcp_list_timeout: Duration,
    /// The maximum size of a message to or from an MCP server, in bytes.
    pub mcp_message_limit: usize,
    /// How many sessions with MCP servers on the network are remembered.
    pub mcp_conversations: usize,
    /// The policies.
    pub policies: PolicySet,
    /// Variables that the file names and that are not set. If there are any, the gateway must not
    /// start.
    pub missing: Vec<MissingVariable>,
    /// The value of each setting that is one value, for comparison with another version of the file.
    pub(crate) set: BTreeMap<&'static str, String>,
}

/// An environment variable that should contain a provider's key or a server's token.
#[derive(Debug, Clone)]
pub struct MissingVariable {
    /// Its name.
    pub name: String,
    /// Its place in the config.
    pub problem: Diagnostic,
}

/// Finds the config, reads it and resolves it. `named` is the file of `--config`; `served` are the
/// surfaces this process serves, for the policies' warnings.
pub fn load(named: Option<&Path>, served: &[Surface]) -> Result<ResolvedConfig, ConfigError> {
    match find::find(named) {
        Some(path) => load_file(&path, served),
        None => defaults(served),
    }
}

/// The settings without the policies, for use while those are rejected.
pub fn settings(named: Option<&Path>) -> Result<ResolvedConfig, ConfigError> {
    let policies = Gathered::default().compile(&[]).map_err(rejected("policy"))?;
    let Some(path) = find::find(named) else {
        return resolve(WrittenConfig::default(), None, policies, Vec::new());
    };
    let source = find::read(&path, "config")?;
    let mut problems = Problems::new(&source);
    let written = file::read(&source, &mut problems);
    let problems = problems.into_list();
    match written {
        Some(written) if problems.is_empty() => {
            let missing = missing_variables(&written, &source);
            resolve(written, Some(&path), policies, missing)
        }
        _ => Err(rejected("config")((vec![source], problems))),
    }
}

/// The settings of the record store alone, for commands that only read records: they work even if
/// the policies are invalid.
pub fn audit_settings(named: Option<&Path>) -> Result<callgate_store::Settings, ConfigError> {
    let (written, path) = written(named)?;
    Ok(audit(&written, path.as_deref()))
}

/// The same, and where the API of a gateway with this store listens.
pub fn record_settings(
    named: Option<&Path>,
) -> Result<(callgate_store::Settings, Listen), ConfigError> {
    let (written, path) = written(named)?;
    Ok((audit(&written, path.as_deref()), api(&written, path.as_deref())))
}

/// Checks the settings in the text of a config file. Policies in other files are not read.
pub fn check_text(source: Source) -> Result<(), ConfigError> {
    let mut problems = Problems::new(&source);
    let _ = file::read(&source, &mut problems);
    let problems = problems.into_list();
    match problems.is_empty() {
        true => Ok(()),
        false => Err(rejected("config")((vec![source], problems))),
    }
}

/// The settings about MCP servers, and how the declared servers are started or reached, for
/// commands that need nothing else.
pub fn mcp_settings(named: Option<&Path>) -> Result<(McpSettings, Vec<McpServer>), ConfigError> {
    let (written, path) = written(named)?;
    Ok((
        mcp::settings(&written.mcp, &written.values.mcp),
        mcp::servers(&written.mcp, path.as_deref()),
    ))
}

/// The config as written, if nothing is wrong with it; and its file, if there is one.
fn written(named: Option<&Path>) -> Result<(WrittenConfig, Option<PathBuf>), ConfigError> {
    let Some(path) = find::find(named) else { return Ok((WrittenConfig::default(), None)) };
    let source = find::read(&path, "config")?;
    let mut problems = Problems::new(&source);
    let written = file::read(&source, &mut problems);
    let problems = problems.into_list();
    match written {
        Some(written) if problems.is_empty() => Ok((written, Some(path))),
        _ => Err(rejected("config")((vec![source], problems))),
    }
}

fn defaults(served: &[Surface]) -> Result<ResolvedConfig, ConfigError> {
    let mut gathered = Gathered::default();
    gathered.starter();
    let mut policies = gathered.compile(served).map_err(rejected("policy"))?;
    // If the file is created later, it applies from then on.
    policies.watched.extend(find::candidates().iter().map(|path| Watched::file(path)));
    resolve(WrittenConfig::default(), None, policies, Vec::new())
}

fn load_file(path: &Path, served: &[Surface]) -> Result<ResolvedConfig, ConfigError> {
    let source = find::read(path, "config")?;
    let mut problems = Problems::new(&source);
    let written = file::read(&source, &mut problems);
    let mut gathered = Gathered::default();
    gathered.config(source.clone(), path);
    if let Some(written) = &written {
        gather(written, path, &mut gathered, &mut problems);
    }
    let own = problems.into_list();
    let watched = [gathered.watched(), &[Watched::file(path)]].concat();
    let policies = gathered.compile(served);
    // Problems in settings and policies are reported together.
    match (written, policies) {
        (Some(written), Ok(policies)) if own.is_empty() => {
            let missing = missing_variables(&written, &source);
            resolve(written, Some(path), policies, missing)
        }
        (_, Ok(policies)) => Err(rejected_of("config", watched)((policies.sources, own))),
        (_, Err((sources, found))) => {
            let what = if own.is_empty() { "policy" } else { "config" };
            Err(rejected_of(what, watched)((sources, in_order(own, found))))
        }
    }
}

/// Gathers the policies that the config lists, the one that it contains, or the starter policy.
fn gather(
    written: &WrittenConfig,
    path: &Path,
    gathered: &mut Gathered,
    problems: &mut Problems<'_>,
) {
    gathered.tools(&written.tools);
    match (&written.policies, &written.own_policy) {
        (Some(list), _) => gathered.listed(&list.value, path, problems),
        (None, Some(own)) => gathered.inline(vec![own.clone()]),
        (None, None) => gathered.starter(),
    }
}

/// The same, with the files that it names.
fn rejected_of(
    what: &'static str,
    watched: Vec<Watched>,
) -> impl Fn((Vec<Source>, Vec<Diagnostic>)) -> ConfigError {
    move |(sources, problems)| Rejected { what, sources, problems, watched: watched.clone() }.into()
}

fn rejected(what: &'static str) -> impl Fn((Vec<Source>, Vec<Diagnostic>)) -> ConfigError {
    rejected_of(what, Vec::new())
}

/// The problems of the config file in the order of its text, then those of other files.
fn in_order(own: Vec<Diagnostic>, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let Some(config) = own.first().map(|problem| problem.source.clone()) else { return found };
    let mut all = own;
    all.extend(found);
    all.sort_by_key(|problem| {
        let elsewhere = problem.source != config;
        (elsewhere, if elsewhere { 0 } else { problem.span.start })
    });
    all
}

/// A key must not silently be left out: clients would send their gateway key to the provider.
fn missing_variables(written: &WrittenConfig, source: &Source) -> Vec<MissingVariable> {
    let providers = &written.providers;
    let is_missing = |variable: &&At<String>| key_from(&variable.value).is_none();
    let problem = |name: &str, span: SourceSpan, hint: &str| Diagnostic {
        source: source.name.clone(),
        span,
        message: format!("the variable {name} is not set"),
        label: String::new(),
        hint: Some(hint.to_owned()),
    };
    let keys = providers.iter().filter_map(|provider| provider.api_key_env.as_ref());
    let tokens = written.mcp.servers.iter().filter_map(|server| server.bearer_env.as_ref());
    let unsigned = providers.iter().filter_map(|provider| {
        let sign = provider.sign.as_ref()?;
        let names = aws::access(base_url_of(provider)?, aws::variable).err()?;
        Some(names.into_iter().map(|name| (name.to_owned(), sign.span, aws::HINT)))
    });
    let with_hint = |hint: &'static str| move |at: &At<String>| (at.value.clone(), at.span, hint);
    let of_provider = with_hint("set it to the provider's key where the gateway starts");
    let of_server = with_hint("set it to the server's token where the gateway starts");
    keys.filter(is_missing)
        .map(of_provider)
        .chain(unsigned.flatten())
        .chain(tokens.filter(is_missing).map(of_server))
        .map(|(name, span, hint)| MissingVariable { problem: problem(&name, span, hint), name })
        .collect()
}

/// The provider's URL according to the file. Built-in providers need no signatures.
fn base_url_of(provider: &WrittenProvider) -> Option<&Url> {
    provider.base_url.as_ref().map(|at| &at.value)
}

/// The credentials sent to the provider instead of the clients' keys.
fn own_key(provider: &WrittenProvider) -> Option<ApiKey> {
    match &provider.sign {
        Some(At { value: RequestSigning::Aws, .. }) => {
            aws::access(base_url_of(provider)?, aws::variable).ok().map(ApiKey::aws)
        }
        None => key_from(&provider.api_key_env.as_ref()?.value),
    }
}

fn key_from(variable: &str) -> Option<ApiKey> {
    let key = std::env::var(variable).ok()?;
    let key = key.trim();
    (!key.is_empty()).then(|| ApiKey::new(key.to_owned()))
}

fn resolve(
    written: WrittenConfig,
    path: Option<&Path>,
    mut policies: PolicySet,
    missing: Vec<MissingVariable>,
) -> Result<ResolvedConfig, ConfigError> {
    if let Some(path) = path {
        policies.watched.push(Watched::file(path));
    }
    let declared: Vec<String> =
        written.mcp.servers.iter().map(|server| server.id.value.clone()).collect();
    let (audit, api) = (audit(&written, path), api(&written, path));
    let mcp = mcp::settings(&written.mcp, &written.values.mcp);
    let mcp_servers = mcp::servers(&written.mcp, path);
    let SettingValues { mut proxy, mut decide, protect, set, .. } = written.values;
    proxy.listen = listen_of_environment()?.unwrap_or(proxy.listen);
    proxy.providers = providers(written.providers);
    decide.denial = Arc::new(written.denial.resolved());
    let mut resolved = ResolvedConfig {
        path: path.map(Path::to_owned),
        audit,
        api,
        protect,
        decide,
        mcp,
        mcp_servers,
        mcp_list_timeout: written.values.mcp_list_timeout,
        mcp_message_limit: written.values.mcp_message_limit,
        mcp_conversations: written.values.mcp_conversations,
        proxy,
        policies,
        missing,
        set,
    };
    if protect == Protect::On {
        resolved.protect_itself()?;
    }
    let compiled = resolved.policies.compiled.take();
    resolved.policies.compiled = compiled.map(|compiled| compiled.with_servers(declared));
    Ok(resolved)
}

impl ResolvedConfig {
    /// Adds the rules that protect callgate. Without policies, they are the only ones.
    fn protect_itself(&mut self) -> Result<(), ConfigError> {
        let compiled = match self.policies.compiled.take() {
            Some(compiled) => compiled,
            None => no_rules().map_err(rejected("policy"))?,
        };
        let protection = protect::protection(
            self.path.as_deref(),
            &self.policies.files,
            &self.audit.store,
            &self.api,
            self.proxy.listen.port(),
        );
        let compiled = compiled.protected(&protection);
        let compiled = compiled.map_err(|found| rejected("policy")((Vec::new(), found)))?;
        self.policies.compiled = Some(compiled);
        Ok(())
    }

    /// An error that names every variable that is not set, if there is one.
    pub fn check_variables(&self) -> Result<(), ConfigError> {
        if self.missing.is_empty() {
            return Ok(());
        }
        let problems = self.missing.iter().map(|missing| missing.problem.clone()).collect();
        let sources = self.policies.sources.clone();
        let watched = self.policies.watched.clone();
        Err(Rejected { what: "config", sources, problems, watched }.into())
    }
}

impl PolicySet {
    /// An error that names every file that other users can change, if there is one.
    pub fn check_exposed(&self) -> Result<(), ConfigError> {
        match self.exposed.is_empty() {
            true => Ok(()),
            false => {
                let (files, watched) = (self.exposed.clone(), self.watched.clone());
                Err(ConfigError::Exposed { files, watched })
            }
        }
    }
}

fn audit(written: &WrittenConfig, path: Option<&Path>) -> callgate_store::Settings {
    let store = match written.store.as_ref().map(|at| &at.value) {
        Some(WrittenStore::Memory) => Location::Memory,
        Some(WrittenStore::Sqlite(file)) => {
            Location::Sqlite(relative_to(path.unwrap_or(Path::new("")), file))
        }
        None => Location::Sqlite(find::default_store()),
    };
    callgate_store::Settings { store, ..written.values.audit.clone() }
}

fn api(written: &WrittenConfig, path: Option<&Path>) -> Listen {
    let whole = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
    match written.api_listen.as_ref().map(|at| &at.value) {
        Some(WrittenListen::Off) => Listen::Off,
        Some(WrittenListen::Path(file)) => {
            Listen::Chosen(whole(relative_to(path.unwrap_or(Path::new("")), file)))
        }
        None => {
            let runtime = env::XDG_RUNTIME_DIR.get().map(PathBuf::from);
            match Listen::usual(runtime.as_deref(), &audit(written, path).store) {
                Listen::Usual(path) => Listen::Usual(whole(path)),
                other => other,
            }
        }
    }
}

fn listen_of_environment() -> Result<Option<SocketAddr>, ConfigError> {
    let Some(value) = env::LISTEN.get() else { return Ok(None) };
    let value = value.to_string_lossy();
    value.parse().map(Some).map_err(|_| ConfigError::Variable {
        name: env::LISTEN.name,
        value: value.into_owned(),
        expected: "an address like `127.0.0.1:8484`",
    })
}

/// The built-in providers as the file changes them, then the file's own in its order.
fn providers(written: Vec<WrittenProvider>) -> Vec<ProviderSettings> {
    let mut providers: Vec<ProviderSettings> = KNOWN
        .iter()
        .filter_map(|known| {
            let base_url = Url::parse(known.base_url).ok()?;
            let name = known.name.to_owned();
            Some(ProviderSettings { name, base_url, dialect: known.dialect, api_key: None })
        })
        .collect();
    for provider in written {
        let api_key = own_key(&provider);
        let name = provider.name.value;
        match providers.iter_mut().find(|known| known.name == name) {
            Some(known) => {
                known.base_url = or(provider.base_url, known.base_url.clone());
                known.dialect = or(provider.dialect, known.dialect);
                known.api_key = api_key;
            }
            None => {
                if let (Some(base_url), Some(dialect)) = (provider.base_url, provider.dialect) {
                    let (base_url, dialect) = (base_url.value, dialect.value);
                    providers.push(ProviderSettings { name, base_url, dialect, api_key });
                }
            }
        }
    }
    providers
}

fn or<T>(written: Option<At<T>>, standard: T) -> T {
    written.map_or(standard, |at| at.value)
}

#[cfg(test)]
mod tests;
