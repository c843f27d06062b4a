//! Removes tools from a request, with everything that would become invalid.

use std::collections::{HashMap, HashSet};

use super::groups::Item;
use super::{Advertised, Choice, Mention, Tool, history};
use crate::json::{document, elements, member};

/// Why a tool cannot be removed from a request: the provider would reject the rest, or it would
/// mean something else than the client wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CannotRemove {
    /// A message, or the whole input, contained only the offer.
    #[error("a message would be left empty")]
    Empty,
    /// The client allowed only these tools, and others are offered too.
    #[error("its choice of tools allows nothing else")]
    Choice,
    /// Calls in the history need a list of tools.
    #[error("its messages contain tool calls, and no tool would be left")]
    Calls,
    /// The history names the tool.
    #[error("its messages refer to the tool")]
    Referenced,
    /// Another tool may only be called by the removed one.
    #[error("another tool can only be called by this tool")]
    Caller,
    /// The remaining tools are only loaded by a search.
    #[error("the remaining tools can only be found by a tool search")]
    Deferred,
    /// A container belongs to the tool that runs code.
    #[error("its `container` belongs to the tool")]
    Container,
    /// A tool search in the history would lose its result.
    #[error("a tool search in its input would lose its result")]
    Answer,
    /// The model uses the tool regardless of the request.
    #[error("its model uses the tool on its own")]
    Model,
    /// The provider stores what it names.
    #[error("it is stored by the provider, so its tools cannot be seen")]
    Kept,
    /// The tools are all that a list leaves on, and without the list all tools are on.
    #[error("without its list of tools, every tool of the model would be on")]
    AllOn,
}

impl Advertised {
    /// The request without the tools at these indices.
    pub fn without(mut self, request: &str, places: &[usize]) -> Result<String, CannotRemove> {
        if let Some((_, why)) = self.fixed.iter().find(|(place, _)| places.contains(place)) {
            return Err(*why);
        }
        self.take(places);
        self.take_mentions();
        self.groups.take_emptied();
        self.take_choices()?;
        self.groups.take_emptied();
        self.is_clean(request)?;
        Ok(self.groups.edits().apply(request))
    }

    /// Marks these tools as removed. A server is removed everywhere: its entries need each other.
    fn take(&mut self, places: &[usize]) {
        let mut servers: HashSet<String> = HashSet::new();
        for tool in places.iter().filter_map(|place| self.tools.get(*place)) {
            self.groups.take(tool.item);
            servers.extend(tool.server.clone());
        }
        let known = self.tools.iter().filter_map(|tool| Some((tool.server.as_ref()?, tool.item)));
        let silent = self.servers.iter().map(|(server, item)| (server, *item));
        let named = |mention: &Mention| Some((mention.server.clone()?, mention.item));
        let named: Vec<(String, Item)> = self.mentions.iter().filter_map(named).collect();
        let named = named.iter().map(|(server, item)| (server, *item));
        for (_, item) in
            known.chain(silent).chain(named).filter(|(server, _)| servers.contains(*server))
        {
            self.groups.take(item);
        }
    }

    /// Removes mentions of tools of which none is left.
    fn take_mentions(&mut self) {
        // For every name: whether anything with it is left.
        let mut left: HashMap<&str, bool> = HashMap::new();
        for tool in &self.tools {
            let stays = !self.groups.is_gone(tool.item);
            let own = tool.name.get(tool.prefix..).unwrap_or_default();
            for name in [tool.name.as_str(), own] {
                *left.entry(name).or_default() |= stays;
            }
        }
        let is_gone = |name: &String| left.get(name.as_str()) == Some(&false);
        let gone = self.mentions.iter().filter(|mention| mention.names.iter().any(is_gone));
        gone.for_each(|mention| self.groups.take(mention.item));
    }

    /// Removes choices among tools of which none is left.
    fn take_choices(&mut self) -> Result<(), CannotRemove> {
        let mut lists: HashMap<usize, bool> = HashMap::new();
        for tool in &self.tools {
            let stays = !self.groups.is_gone(tool.item);
            for list in [tool.list, Choice::ALL] {
                *lists.entry(list).or_default() |= stays;
            }
        }
        let is_empty = |list: usize| lists.get(&list) == Some(&false);
        for choice in &self.choices {
            let nothing_left = is_empty(choice.list) || is_empty(Choice::ALL);
            if choice.limits && self.groups.is_gone(choice.item) && !nothing_left {
                return Err(CannotRemove::Choice);
            }
            if nothing_left {
                self.groups.take(choice.item);
            }
        }
        Ok(())
    }

    fn is_clean(&self, request: &str) -> Result<(), CannotRemove> {
        if let Some((_, why)) = self.needed.iter().find(|(item, _)| self.groups.is_gone(*item)) {
            return Err(*why);
        }
        let (gone, left): (Vec<&Tool>, Vec<&Tool>) =
            self.tools.iter().partition(|tool| self.groups.is_gone(tool.item));
        let gone: HashSet<&str> = gone.iter().map(|tool| tool.name.as_str()).collect();
        if left.is_empty() && self.needs_tools() && history::has_calls(request) {
            return Err(CannotRemove::Calls);
        }
        if history::referenced(request).iter().any(|name| gone.contains(name.as_str())) {
            return Err(CannotRemove::Referenced);
        }
        let runs_code = gone.iter().any(|name| name.starts_with("code_execution"));
        if runs_code && self.keeps_container(request) {
            return Err(CannotRemove::Container);
        }
        left_over(request, &gone, &left)
    }

    /// Whether a container is left. One that contained only skills may be removed.
    fn keeps_container(&self, request: &str) -> bool {
        let top = self.groups.of_object(document(request));
        let container = top.map_or(Ok(None), |top| self.groups.one(top, &["container"]));
        container
            .ok()
            .flatten()
            .is_some_and(|(item, value)| value.of(request) != "null" && !self.groups.is_gone(item))
    }

    /// Whether the API accepts calls in messages only together with tools.
    fn needs_tools(&self) -> bool {
        self.dialect.spec().tools.calls_need_tools
    }
}

/// Whether the rest works without what was removed.
fn left_over(request: &str, gone: &HashSet<&str>, left: &[&Tool]) -> Result<(), CannotRemove> {
    let is_called_by_gone = |tool: &&Tool| {
        let callers = member(request, tool.definition, "allowed_callers");
        let callers = callers.map(|list| elements(request, list)).unwrap_or_default();
        callers.iter().any(|caller| gone.contains(caller.of(request).trim_matches('"')))
    };
    if left.iter().any(is_called_by_gone) {
        return Err(CannotRemove::Caller);
    }
    let is_deferred = |tool: &&Tool| {
        let configured = member(request, tool.definition, "default_config");
        [Some(tool.definition), configured].into_iter().flatten().any(|object| {
            member(request, object, "defer_loading")
                .is_some_and(|value| value.of(request) == "true")
        })
    };
    let searched = gone.iter().any(|name| name.starts_with("tool_search"));
    let (deferred, at_once): (Vec<&&Tool>, Vec<&&Tool>) =
        left.iter().partition(|tool| is_deferred(tool));
    if !deferred.is_empty() && (searched || at_once.is_empty()) {
        return Err(CannotRemove::Deferred);
    }
    Ok(())
}
