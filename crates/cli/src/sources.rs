//! Which policies apply, and what they compile to.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use callgate_call::Surface;
use callgate_config::{ConfigError, PolicySet};
use callgate_decide::mcp::McpSettings;
use callgate_policy::{DenialText, Policies};

use crate::render::hinted;

/// Reads and compiles the given files or, without any, the policies of the config.
pub(crate) fn compile(files: &[PathBuf], config: Option<&Path>) -> Result<PolicySet, ConfigError> {
    if files.is_empty() {
        // Any surface may be asked about here, whether something serves it or not.
        callgate_config::load(config, &Surface::ALL).map(|resolved| resolved.policies)
    } else {
        callgate_config::load_policies(files)
    }
}

/// The same, where only the policies matter.
pub(crate) fn load(files: &[PathBuf], config: Option<&Path>) -> Result<Policies> {
    Ok(compile(files, config)?.compiled.unwrap_or_else(Policies::none))
}

/// The wording of denials: from the config, unless policies are given without one.
pub(crate) fn denial_text(files: &[PathBuf], config: Option<&Path>) -> Result<Arc<DenialText>> {
    if !files.is_empty() && config.is_none() {
        return Ok(Arc::default());
    }
    Ok(callgate_config::settings(config)?.decide.denial)
}

/// The lists of servers and tools in force: from the config, unless policies are given.
pub(crate) fn mcp_lists(files: &[PathBuf], config: Option<&Path>) -> Result<McpSettings> {
    match files.is_empty() {
        true => Ok(callgate_config::mcp_settings(config)?.0),
        false => Ok(McpSettings::default()),
    }
}

/// The user's config folder for callgate.
pub(crate) fn user_folder() -> Result<PathBuf> {
    callgate_config::user_folder().ok_or_else(|| {
        hinted("your home folder is unknown".to_owned(), "set HOME, or XDG_CONFIG_HOME")
    })
}
