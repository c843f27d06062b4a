//! The tools that a request advertises: finds and removes them.
//!
//! [`advertised`] finds every tool that a request offers to the model, including those that the
//! provider runs itself and the MCP servers that it should use. [`Advertised::without`] removes
//! some of them, and everything else that names them: a list that becomes empty, a choice of a
//! removed tool.

mod choice;
mod common;
mod entry;
mod features;
mod gemini;
mod groups;
mod history;
mod server;
mod strip;

use std::collections::HashSet;

use callgate_json::{Error, Kind, Problem, Reader, Span};

use crate::Dialect;
use crate::event::Host;
use crate::json::{document, elements, member, members};
use common::common;
use groups::{Groups, Item};

pub(crate) use features::FeatureGroup;
pub use strip::CannotRemove;

/// Where the requests of an API have tools, and what removing some of them needs.
pub(crate) struct ToolPlaces {
    /// The places, in order.
    pub(crate) walks: &'static [ToolWalk],
    /// What its providers run because of other members.
    pub(crate) features: &'static [FeatureGroup],
    /// Whether the API accepts calls in messages only together with tools.
    pub(crate) calls_need_tools: bool,
}

/// A place with tools.
pub(crate) enum ToolWalk {
    /// Lists at the top level, and the members with which a request chooses among the first of
    /// them.
    Lists(&'static [&'static str], &'static [&'static str]),
    /// Content of messages that adds tools.
    Messages,
    /// Items of the input that add tools.
    Input,
    /// Gemini's `generation_config`.
    GenerationConfig,
    /// Converse's `toolConfig`.
    Converse,
    /// Gemini's tools, in any envelope.
    Gemini,
}

impl ToolWalk {
    /// The usual lists.
    pub(crate) const LISTS: Self = Self::Lists(&["tools", SERVERS], &["tool_choice"]);
    /// The usual lists, where two settings make no sense without tools.
    pub(crate) const STRICT_LISTS: Self =
        Self::Lists(&["tools", SERVERS], &["tool_choice", "parallel_tool_calls", "strict_tools"]);
    /// The list of before 2024.
    pub(crate) const LEGACY: Self = Self::Lists(&["functions"], &["function_call"]);
}

/// The tools that a request offers to the model.
#[derive(Debug)]
pub struct Advertised {
    dialect: Dialect,
    tools: Vec<Tool>,
    groups: Groups,
    choices: Vec<Choice>,
    mentions: Vec<Mention>,
    /// Entries that offer nothing by themselves, with their server.
    servers: Vec<(String, Item)>,
    /// Items that must not be removed, and why.
    needed: Vec<(Item, CannotRemove)>,
    /// Indices of tools that cannot be removed, and why.
    fixed: Vec<(usize, CannotRemove)>,
}

/// A choice among tools: useless once none of them is left.
#[derive(Debug)]
struct Choice {
    item: Item,
    /// The list that it chooses from.
    list: usize,
    /// Whether it allows only some of them.
    limits: bool,
}

/// A place that names a tool or a server without offering it.
#[derive(Debug)]
struct Mention {
    names: Vec<String>,
    server: Option<String>,
    item: Item,
}

/// A tool that a request offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Its name: `server.tool` or `mcp__server__tool` if it has a server, and `mcp__server__*` for
    /// all tools of a server.
    pub name: String,
    /// Names that mean the same with any provider, like `web_search`. A rule that restricts one of
    /// them restricts this tool; a rule that allows must name the tool itself.
    pub also: Vec<String>,
    /// Who would run it.
    pub host: Host,
    /// Its definition.
    pub definition: Span,
    /// Of all tools of a server, those that the request excludes.
    pub except: Vec<String>,
    item: Item,
    /// Which of the request's lists it is in.
    list: usize,
    /// The length of the namespace before its own name.
    prefix: usize,
    /// The MCP server that the provider should use for it.
    server: Option<String>,
}

impl Tool {
    /// A tool that the provider runs.
    fn hosted(name: String, definition: Span, item: Item, list: usize) -> Self {
        Self {
            name,
            also: Vec::new(),
            host: Host::Provider,
            definition,
            except: Vec::new(),
            item,
            list,
            prefix: 0,
            server: None,
        }
    }
}

/// Finds the tools in `request`, and the built-in tools of the model in its path. A request that is
/// not JSON, or has `tools` twice, is an error: its tools are unknown.
pub fn advertised(
    dialect: Dialect,
    request: &str,
    model: Option<&str>,
) -> Result<Advertised, Error> {
    let mut reader = Reader::new(request);
    let is_object = reader.kind()? == Kind::Object;
    reader.skip()?;
    reader.end()?;
    let all = Advertised::empty(dialect);
    let mut found = Finder { data: request, list: 0, toolsets: HashSet::new(), all };
    if is_object {
        found.request(dialect)?;
    }
    if let Some(model) = model {
        let (span, item) = (Span { start: 0, end: 0 }, Item::NONE);
        found.model(model, span, item, None);
    }
    Ok(found.all)
}

impl Advertised {
    fn empty(dialect: Dialect) -> Self {
        Self {
            dialect,
            tools: Vec::new(),
            groups: Groups::default(),
            choices: Vec::new(),
            mentions: Vec::new(),
            servers: Vec::new(),
            needed: Vec::new(),
            fixed: Vec::new(),
        }
    }

    /// The tools, in order.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }
}

/// Goes through one request.
struct Finder<'a> {
    data: &'a str,
    /// The current list.
    list: usize,
    /// Servers for which a toolset selects the tools.
    toolsets: HashSet<String>,
    all: Advertised,
}

impl Finder<'_> {
    fn request(&mut self, dialect: Dialect) -> Result<(), Error> {
        let root = document(self.data);
        dialect.spec().tools.walks.iter().try_for_each(|walk| self.walk(walk, root))?;
        self.features(root)
    }

    fn walk(&mut self, walk: &ToolWalk, root: Span) -> Result<(), Error> {
        match walk {
            ToolWalk::Lists(lists, choices) => self.flat(root, lists, choices),
            ToolWalk::Messages => self.in_messages(root),
            ToolWalk::Input => self.in_input(root),
            ToolWalk::GenerationConfig => self.in_generation_config(root),
            ToolWalk::Converse => self.converse(root),
            ToolWalk::Gemini => self.gemini(root),
        }
    }

    /// Reads the tool lists among the members of `object`, and the choices among those of the
    /// first.
    fn flat(&mut self, object: Span, lists: &[&str], choices: &[&str]) -> Result<(), Error> {
        let root = self.all.groups.members(self.data, object, None);
        let first = self.list + 1;
        for list in lists {
            self.list += 1;
            match self.one(root, &[list])? {
                Some((item, value)) if *list == SERVERS => self.servers(value, item)?,
                Some((item, value)) => self.list(value, item, "")?,
                None => {}
            }
        }
        for choice in choices {
            if let Some((item, value)) = self.one(root, &[choice])? {
                self.choice(value, item, first)?;
            }
        }
        Ok(())
    }

    /// Reads a list of tools. `prefix` is their namespace.
    fn list(&mut self, value: Span, parent: Item, prefix: &str) -> Result<(), Error> {
        for (item, span) in self.items(value, parent)? {
            if is_mark(self.data, span) {
                self.all.groups.set_idle(item);
                continue;
            }
            self.entry(span, item, prefix)?;
        }
        Ok(())
    }

    /// Reads MCP servers that are listed separately: a list, or an object with the name of each as
    /// a key.
    fn servers(&mut self, value: Span, parent: Item) -> Result<(), Error> {
        let kind_of = |span: Span| Reader::at(self.data, span).kind();
        let is_map = kind_of(value)? == Kind::Object
            && members(self.data, value)
                .iter()
                .all(|member| kind_of(member.value).is_ok_and(|kind| kind == Kind::Object));
        if is_map {
            let group = self.all.groups.members(self.data, value, Some(parent));
            for (place, name, span) in self.all.groups.keys(group) {
                self.server(name, span, Item { group, place });
            }
            return Ok(());
        }
        for (item, span) in self.items(value, parent)? {
            let word = |key| entry::word(self.data, span, key);
            match word("name").or(word("server_label")).or(word("url")) {
                Some(name) if word("type").is_none() => self.server(name, span, item),
                _ => self.entry(span, item, "")?,
            }
        }
        Ok(())
    }

    /// Adds all tools of a server.
    fn server(&mut self, name: String, definition: Span, item: Item) {
        let tool = Tool::hosted(server::whole(&name), definition, item, self.list);
        self.all.tools.push(Tool { server: Some(name), ..tool });
    }

    fn entry(&mut self, span: Span, item: Item, prefix: &str) -> Result<(), Error> {
        let entry = entry::read(self.data, span)?;
        self.toolsets.extend(entry::word(self.data, span, "mcp_server_name"));
        if self.is_selected_elsewhere(&entry, span)
            || (entry.names.is_empty() && entry.server.is_some())
        {
            self.all.servers.extend(entry.server.map(|server| (server, item)));
            return Ok(());
        }
        let named = !entry.names.is_empty();
        for name in entry.names {
            let also = match entry.host {
                Host::Provider => common(&name).map(str::to_owned).into_iter().collect(),
                Host::Client => Vec::new(),
            };
            self.all.tools.push(Tool {
                also,
                host: entry.host,
                except: entry.except.clone(),
                prefix: prefix.len(),
                server: entry.server.clone(),
                ..Tool::hosted(format!("{prefix}{name}"), span, item, self.list)
            });
        }
        match entry.inner {
            Some((tools, namespace)) => self.list(tools, item, &format!("{prefix}{namespace}.")),
            // No rule could name it.
            None if !named => Err(Error::new(Problem::Unexpected, span.start)),
            None => Ok(()),
        }
    }

    /// Whether an entry only gives the address of a server, and a toolset selects its tools.
    fn is_selected_elsewhere(&self, entry: &entry::Entry, span: Span) -> bool {
        entry::word(self.data, span, "type").is_some_and(|kind| kind == "url")
            && entry.server.as_ref().is_some_and(|server| self.toolsets.contains(server))
    }

    /// The elements of a list. Some APIs accept a single element instead of a list; anything else
    /// cannot be read.
    fn items(&mut self, value: Span, parent: Item) -> Result<Vec<(Item, Span)>, Error> {
        match Reader::at(self.data, value).kind()? {
            Kind::Null => Ok(Vec::new()),
            Kind::Object => Ok(vec![(parent, value)]),
            Kind::Array => {
                let group = self.all.groups.elements(self.data, value, Some(parent));
                let spans = elements(self.data, value).into_iter().enumerate();
                Ok(spans.map(|(place, span)| (Item { group, place }, span)).collect())
            }
            _ => Err(Error::new(Problem::Unexpected, value.start)),
        }
    }

    /// Reads tools that are added in the middle of an Anthropic conversation.
    fn in_messages(&mut self, root: Span) -> Result<(), Error> {
        let messages = self.one_in(root, None, &["messages"])?;
        let Some((item, messages)) = messages else { return Ok(()) };
        for (_, message) in self.items(messages, item)? {
            if let Some((item, content)) = self.one_in(message, None, &["content"])? {
                self.all.needed.push((item, CannotRemove::Empty));
                self.additions(content, item, &["tool_addition"])?;
            }
        }
        Ok(())
    }

    /// Reads tools that are added in the middle of a Responses conversation.
    fn in_input(&mut self, root: Span) -> Result<(), Error> {
        for key in ["input", "items"] {
            if let Some((item, list)) = self.one_in(root, None, &[key])? {
                self.all.needed.push((item, CannotRemove::Empty));
                self.additions(list, item, &["additional_tools", FOUND_TOOLS])?;
            }
        }
        Ok(())
    }

    /// Reads the tools in items of these types: in `tools`, or one in `tool`.
    fn additions(&mut self, list: Span, holder: Item, kinds: &[&str]) -> Result<(), Error> {
        // A text, most often.
        if !matches!(Reader::at(self.data, list).kind()?, Kind::Array | Kind::Object) {
            return Ok(());
        }
        self.list += 1;
        for (item, span) in self.items(list, holder)? {
            let word = entry::word(self.data, span, "type").unwrap_or_default();
            let brings = kinds.contains(&word.as_str());
            if word == "tool_removal" || (brings && self.is_reference(span)) {
                self.reference(span, item);
                continue;
            }
            if !brings {
                continue;
            }
            if word == FOUND_TOOLS {
                self.all.needed.push((item, CannotRemove::Answer));
            }
            for key in ["tools", "tool"] {
                if let Some((_, tools)) = self.one_in(span, Some(item), &[key])? {
                    self.list(tools, item, "")?;
                }
            }
        }
        Ok(())
    }

    /// Whether a block is about a server that is offered elsewhere.
    fn is_reference(&self, block: Span) -> bool {
        let tool = member(self.data, block, "tool");
        let kind = tool.and_then(|tool| entry::word(self.data, tool, "type")).unwrap_or_default();
        matches!(kind.as_str(), "mcp_tool_reference" | "mcp_toolset_reference")
    }

    /// Adds a block that names a tool that is offered elsewhere.
    fn reference(&mut self, block: Span, item: Item) {
        let Some(tool) = member(self.data, block, "tool") else { return };
        let server = entry::word(self.data, tool, "server_name");
        let names = entry::word(self.data, tool, "name").into_iter().collect();
        self.all.mentions.push(Mention { names, server, item });
    }

    fn converse(&mut self, root: Span) -> Result<(), Error> {
        if let Some((_, more)) = self.one_in(root, None, &["additionalModelRequestFields"])? {
            self.flat(more, &["tools", SERVERS], &["tool_choice"])?;
            self.flat(more, &["functions"], &["function_call"])?;
            self.features(more)?;
        }
        let config = self.one_in(root, None, &["toolConfig"])?;
        let Some((item, config)) = config else { return Ok(()) };
        self.list += 1;
        if let Some((item, tools)) = self.one_in(config, Some(item), &["tools"])? {
            self.list(tools, item, "")?;
        }
        match self.one_in(config, Some(item), &["toolChoice"])? {
            Some((item, choice)) => self.choice(choice, item, self.list),
            None => Ok(()),
        }
    }

    /// The one member of an object with one of these names. The object is removed with `parent`.
    fn one_in(
        &mut self,
        object: Span,
        parent: Option<Item>,
        names: &[&str],
    ) -> Result<Option<(Item, Span)>, Error> {
        let group = self.all.groups.members(self.data, object, parent);
        self.all.groups.one(group, names)
    }

    /// The one member with one of these names.
    fn one(&self, group: usize, names: &[&str]) -> Result<Option<(Item, Span)>, Error> {
        self.all.groups.one(group, names)
    }
}

/// The member in which a request lists MCP servers for the provider to use.
pub(crate) const SERVERS: &str = "mcp_servers";

/// The type of an item that answers a search for tools with their definitions.
const FOUND_TOOLS: &str = "tool_search_output";

/// Whether an entry is not a tool but a cache mark.
fn is_mark(data: &str, span: Span) -> bool {
    let keys = members(data, span);
    matches!(keys.as_slice(), [only] if only.key.is("cachePoint"))
}

#[cfg(test)]
mod tests;
