//! Tools that a request advertises: found, and taken out.
//!
//! [`advertised`] finds every tool a request offers to the model, those the provider runs itself and
//! the MCP servers it is told to use among them. [`Advertised::without`] splices some of them out, and
//! with them whatever else names them: a list that is left empty, a choice of a tool that is gone.

mod entry;
mod groups;

use callgate_call::json::{Error, Kind, Problem, Reader, Span};

use crate::Dialect;
use crate::event::Host;
use crate::json::{document, elements, member};
use groups::{Groups, Item};

/// What a request offers to the model.
#[derive(Debug)]
pub struct Advertised {
    tools: Vec<Tool>,
    groups: Groups,
    /// Who chooses among tools: useless once none is left.
    choices: Vec<Item>,
    /// Places that name a tool without offering it.
    mentions: Vec<(String, Item)>,
}

/// A tool that a request offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Its name: `server.tool` or `mcp__server__tool` where it has a server, and `mcp__server__*` for
    /// all that a server has.
    pub name: String,
    /// Who would run it.
    pub host: Host,
    /// Its definition.
    pub definition: Span,
    item: Item,
}

/// Finds what `request` offers. A request that is no JSON, or says `tools` twice, is an error: what it
/// offers cannot be told.
pub fn advertised(dialect: Dialect, request: &str) -> Result<Advertised, Error> {
    let mut reader = Reader::new(request);
    let is_object = reader.kind()? == Kind::Object;
    reader.skip()?;
    reader.end()?;
    let mut found = Finder { data: request, all: Advertised::empty() };
    if is_object {
        found.request(dialect)?;
    }
    Ok(found.all)
}

impl Advertised {
    fn empty() -> Self {
        let (tools, choices, mentions) = (Vec::new(), Vec::new(), Vec::new());
        Self { tools, groups: Groups::default(), choices, mentions }
    }

    /// The tools, in the order they stand.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The request without the tools at these places.
    pub fn without(mut self, request: &str, places: &[usize]) -> String {
        let gone: Vec<&Tool> = places.iter().filter_map(|place| self.tools.get(*place)).collect();
        let items: Vec<Item> = gone.iter().map(|tool| tool.item).collect();
        for item in &items {
            self.groups.take(*item);
        }
        // A server or a namespace is one item with several names: all of them are gone with it.
        let is_gone = |name: &str| {
            let by_name =
                |tool: &&Tool| tool.name == name || tool.name.ends_with(&format!(".{name}"));
            let mut named = self.tools.iter().filter(by_name).peekable();
            named.peek().is_some() && named.all(|tool| items.contains(&tool.item))
        };
        let named: Vec<Item> =
            self.mentions.iter().filter(|(name, _)| is_gone(name)).map(|(_, item)| *item).collect();
        named.into_iter().for_each(|item| self.groups.take(item));
        self.groups.take_emptied();
        if self.tools.iter().all(|tool| self.groups.is_gone(tool.item)) {
            for item in std::mem::take(&mut self.choices) {
                self.groups.take(item);
            }
            self.groups.take_emptied();
        }
        self.groups.edits().apply(request)
    }
}

/// Walks one request.
struct Finder<'a> {
    data: &'a str,
    all: Advertised,
}

impl Finder<'_> {
    fn request(&mut self, dialect: Dialect) -> Result<(), Error> {
        let root = document(self.data);
        match dialect {
            Dialect::Anthropic => {
                self.flat(root, &["tools", "mcp_servers"], &["tool_choice"])?;
                self.in_messages(root)
            }
            // Whichever model's words the request has.
            Dialect::Invoke => {
                let lists = ["tools", "functions", "mcp_servers"];
                self.flat(root, &lists, &["tool_choice"])?;
                self.converse(root)?;
                self.in_messages(root)
            }
            Dialect::OpenAiChat | Dialect::Ollama | Dialect::Cohere => {
                let choices = ["tool_choice", "parallel_tool_calls", "function_call"];
                self.flat(root, &["tools", "functions", "plugins"], &choices)?;
                self.option(root, "web_search_options", "web_search")
            }
            Dialect::Responses => {
                self.flat(root, &["tools"], &["tool_choice", "parallel_tool_calls"])?;
                self.in_input(root)
            }
            Dialect::Interactions => self.flat(root, &["tools"], &["tool_choice"]),
            Dialect::Converse => self.converse(root),
            Dialect::Gemini => self.gemini(root),
        }
    }

    /// Lists of tools that are members of `object`, and what chooses among them.
    fn flat(&mut self, object: Span, lists: &[&str], choices: &[&str]) -> Result<(), Error> {
        let root = self.all.groups.members(self.data, object, None);
        for list in lists {
            if let Some((item, value)) = self.one(root, &[list])? {
                self.list(value, item, "")?;
            }
        }
        for choice in choices {
            if let Some((item, value)) = self.one(root, &[choice])? {
                self.all.choices.push(item);
                self.choice(value, item)?;
            }
        }
        Ok(())
    }

    /// A tool that is on because a member is there.
    fn option(&mut self, object: Span, key: &str, name: &str) -> Result<(), Error> {
        let root = self.all.groups.of_object(object);
        if let Some((item, value)) = root.map_or(Ok(None), |root| self.one(root, &[key]))?
            && Reader::at(self.data, value).kind()? != Kind::Null
        {
            self.add(name.to_owned(), Host::Provider, value, item);
        }
        Ok(())
    }

    /// A list of tools. `prefix` is the namespace they stand in.
    fn list(&mut self, value: Span, parent: Item, prefix: &str) -> Result<(), Error> {
        for (item, span) in self.items(value, parent)? {
            let entry = entry::read(self.data, span)?;
            let named = !entry.names.is_empty();
            for name in entry.names {
                self.add(format!("{prefix}{name}"), entry.host, span, item);
            }
            match entry.inner {
                Some((tools, namespace)) => {
                    self.list(tools, item, &format!("{prefix}{namespace}."))?;
                }
                // No rule could speak of it.
                None if !named => return Err(Error::new(Problem::Unexpected, span.start)),
                None => {}
            }
        }
        Ok(())
    }

    /// The elements of a list. Some APIs take one thing for a list of it; anything else is none that
    /// can be read.
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

    /// What `tool_choice` names: one tool, or the list it allows.
    fn choice(&mut self, value: Span, item: Item) -> Result<(), Error> {
        if Reader::at(self.data, value).kind()? != Kind::Object {
            return Ok(());
        }
        // `allowed_tools` stands beside its list in one API and around it in another.
        let around = member(self.data, value, "allowed_tools").unwrap_or(value);
        if let Some(tools) = member(self.data, around, "tools") {
            let group = self.all.groups.elements(self.data, tools, Some(item));
            for (place, span) in elements(self.data, tools).into_iter().enumerate() {
                for name in entry::read(self.data, span)?.names {
                    self.all.mentions.push((name, Item { group, place }));
                }
            }
            return Ok(());
        }
        for name in entry::read(self.data, value)?.names {
            self.all.mentions.push((name, item));
        }
        Ok(())
    }

    /// Tools that are added in the middle of an Anthropic conversation.
    fn in_messages(&mut self, root: Span) -> Result<(), Error> {
        let top = self.all.groups.members(self.data, root, None);
        let Some((item, messages)) = self.one(top, &["messages"])? else { return Ok(()) };
        for (_, message) in self.items(messages, item)? {
            let inside = self.all.groups.members(self.data, message, None);
            if let Some((item, content)) = self.one(inside, &["content"])? {
                self.additions(content, item, "tool_addition")?;
            }
        }
        Ok(())
    }

    /// Tools that are added in the middle of a Responses conversation.
    fn in_input(&mut self, root: Span) -> Result<(), Error> {
        let top = self.all.groups.members(self.data, root, None);
        for key in ["input", "items"] {
            if let Some((item, list)) = self.one(top, &[key])? {
                self.additions(list, item, "additional_tools")?;
            }
        }
        Ok(())
    }

    /// Items of this type in a list bring tools: in `tools`, or one in `tool`.
    fn additions(&mut self, list: Span, holder: Item, kind: &str) -> Result<(), Error> {
        // A text, most often.
        if !matches!(Reader::at(self.data, list).kind()?, Kind::Array | Kind::Object) {
            return Ok(());
        }
        for (item, span) in self.items(list, holder)? {
            if entry::word(self.data, span, "type").is_none_or(|word| word != kind) {
                continue;
            }
            let inside = self.all.groups.members(self.data, span, Some(item));
            for key in ["tools", "tool"] {
                if let Some((_, tools)) = self.one(inside, &[key])? {
                    self.list(tools, item, "")?;
                }
            }
        }
        Ok(())
    }

    fn converse(&mut self, root: Span) -> Result<(), Error> {
        let top = self.all.groups.members(self.data, root, None);
        if let Some((_, more)) = self.one(top, &["additionalModelRequestFields"])? {
            self.flat(more, &["tools", "functions", "mcp_servers"], &["tool_choice"])?;
        }
        let Some((item, config)) = self.one(top, &["toolConfig"])? else { return Ok(()) };
        let inside = self.all.groups.members(self.data, config, Some(item));
        if let Some((item, tools)) = self.one(inside, &["tools"])? {
            self.list(tools, item, "")?;
        }
        if let Some((item, choice)) = self.one(inside, &["toolChoice"])? {
            self.all.choices.push(item);
            if let Some(tool) = member(self.data, choice, "tool") {
                for name in entry::read(self.data, tool)?.names {
                    self.all.mentions.push((name, item));
                }
            }
        }
        Ok(())
    }

    /// Code Assist wraps the request.
    fn gemini(&mut self, root: Span) -> Result<(), Error> {
        let top = self.all.groups.members(self.data, root, None);
        for key in ["request", "generateContentRequest"] {
            if let Some((_, inner)) = self.one(top, &[key])? {
                self.gemini_request(inner)?;
            }
        }
        self.gemini_request(root)
    }

    /// Keys come in two spellings.
    fn gemini_request(&mut self, object: Span) -> Result<(), Error> {
        let top = self.all.groups.members(self.data, object, None);
        if let Some((item, tools)) = self.one(top, &["tools"])? {
            for (item, tool) in self.items(tools, item)? {
                self.gemini_tool(tool, item)?;
            }
        }
        let Some((item, config)) = self.one(top, &["toolConfig", "tool_config"])? else {
            return Ok(());
        };
        self.all.choices.push(item);
        let inside = self.all.groups.members(self.data, config, Some(item));
        let calling = ["functionCallingConfig", "function_calling_config"];
        let Some((item, calling)) = self.one(inside, &calling)? else { return Ok(()) };
        let inside = self.all.groups.members(self.data, calling, None);
        let names = ["allowedFunctionNames", "allowed_function_names"];
        if let Some((_, names)) = self.one(inside, &names)? {
            // Without the list its mode would mean something else, so all of it goes.
            let group = self.all.groups.elements(self.data, names, Some(item));
            for (place, span) in elements(self.data, names).into_iter().enumerate() {
                if let Ok(name) =
                    Reader::at(self.data, span).string().and_then(|text| text.decode())
                {
                    self.all.mentions.push((name.into_owned(), Item { group, place }));
                }
            }
        }
        Ok(())
    }

    /// One object holds functions under one key, and a tool of the provider under each other.
    fn gemini_tool(&mut self, tool: Span, parent: Item) -> Result<(), Error> {
        if Reader::at(self.data, tool).kind()? != Kind::Object {
            return Err(Error::new(Problem::Unexpected, tool.start));
        }
        let group = self.all.groups.members(self.data, tool, Some(parent));
        self.one(group, &["functionDeclarations", "function_declarations"])?;
        for (place, key, value) in self.all.groups.keys(self.data, group) {
            let item = Item { group, place };
            match key.as_str() {
                "functionDeclarations" | "function_declarations" => self.list(value, item, "")?,
                "mcpServers" | "mcp_servers" => {
                    for server in elements(self.data, value) {
                        let name = entry::word(self.data, server, "name").unwrap_or_default();
                        self.add(format!("mcp__{name}__*"), Host::Provider, server, item);
                    }
                }
                _ => self.add(entry::camel(&key), Host::Provider, value, item),
            }
        }
        Ok(())
    }

    fn add(&mut self, name: String, host: Host, definition: Span, item: Item) {
        self.all.tools.push(Tool { name, host, definition, item });
    }

    /// The one member of these names.
    fn one(&self, group: usize, names: &[&str]) -> Result<Option<(Item, Span)>, Error> {
        self.all.groups.one(self.data, group, names)
    }
}

#[cfg(test)]
mod tests;
