//! The origin of a call, from the command-line flags.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use callgate_call::{
    Conversation, HiddenConversation, Origin, OriginFields, Principal, Surface, ValueOrigins,
};
use callgate_control::{CallDefaults, current_dir, home_dir};
use callgate_dialect::request;

use crate::args;
use crate::render::hinted;

/// The fields of a call that its JSON does not set. What the operator types counts as proven.
pub(crate) fn call_defaults(flags: &args::CallArgs) -> Result<CallDefaults> {
    let context = &flags.context;
    Ok(CallDefaults {
        surface: flags.surface,
        server: flags.server.clone(),
        agent: context.agent.clone(),
        who: who(context),
        session: context.session.clone(),
        cwd: context.cwd.clone().or_else(current_dir),
        home: flags.home.clone().or_else(home_dir),
        provider: context.provider.clone(),
        model: context.model.clone(),
        values: match &flags.conversation {
            Some(file) => conversation(file)?,
            None => ValueOrigins::Unknown,
        },
    })
}

/// The conversation in the body of a request.
fn conversation(file: &Path) -> Result<ValueOrigins> {
    let text = fs::read_to_string(file);
    let text = text.with_context(|| format!("cannot read `{}`", file.display()))?;
    let found = request::passages(&text);
    if let Err(HiddenConversation::Unreadable) = found {
        let hint = "it must be the body of a request to a model, as one JSON object";
        return Err(hinted(format!("`{}` is not a conversation", file.display()), hint));
    }
    Ok(ValueOrigins::Conversation(Arc::new(Conversation::new(|| found))))
}

/// Where a response that is filtered comes from.
pub(crate) fn response_origin(context: &args::ContextArgs) -> Origin {
    let mut facts = OriginFields::at(Surface::Response);
    facts.who = who(context);
    facts.agent = context.agent.clone();
    facts.agent_proven = context.agent.is_some();
    facts.session = context.session.clone();
    facts.cwd = context.cwd.clone();
    facts.home = home_dir();
    facts.provider = context.provider.clone();
    facts.model = context.model.clone();
    Origin::new(facts)
}

/// The user who runs the agent, as far as the flags say.
fn who(context: &args::ContextArgs) -> Principal {
    Principal {
        org: context.org.clone(),
        team: context.team.clone(),
        user: context.user.clone(),
        key: context.key.clone(),
    }
}
