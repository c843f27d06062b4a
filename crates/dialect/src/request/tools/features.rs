//! What a provider runs because of members outside of the tool lists: a table with one row for each
//! feature.

use callgate_json::{Error, Kind, Problem, Reader, Span, Value};

use super::common::{BuiltIn, CODE_EXECUTION, WEB_FETCH, WEB_SEARCH, common};
use super::groups::Item;
use super::{CannotRemove, Choice, Finder, SERVERS, Tool, server};
use crate::json::{elements, members};

/// A member of a request that makes the provider run something.
struct Feature {
    group: FeatureGroup,
    /// Its path from the top.
    path: &'static [&'static str],
    is: FeatureKind,
}

/// The meaning of its value.
enum FeatureKind {
    /// A tool that is on unless this is `false` or `null`. Its settings are removed with it.
    Switch { common: &'static str, with: &'static [&'static str] },
    /// A tool that is on unless this is `false`, `null` or `"off"`.
    Word { common: &'static str },
    /// A tool that is an object and on unless this is `false`, `null` or `"off"`, and also off if a member of it says so.
    Unless { common: &'static str, key: &'static str, off: &'static str },
    /// A list of tools, as names or as objects with a name.
    Each { prefix: &'static str, key: &'static str, common: Option<&'static str> },
    /// A list of those of the model's own tools that are on. Without it, all of them are.
    Limits { prefix: &'static str },
    /// Something that the provider stores, with tools that are not in the request.
    Kept { prefix: &'static str },
    /// A model, or a list of them. Some have built-in tools.
    Model,
}

/// The features that an API may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FeatureGroup {
    /// The extensions of many providers, for APIs that many serve.
    Extensions,
    /// Tools of models, by name. Not with Ollama, where any tag may follow a colon.
    Models,
    /// A stored prompt.
    StoredPrompt,
    /// A stored agent.
    StoredAgent,
}

const fn of_many(path: &'static [&'static str], is: FeatureKind) -> Feature {
    Feature { group: FeatureGroup::Extensions, path, is }
}

const fn switch(path: &'static [&'static str], with: &'static [&'static str]) -> Feature {
    of_many(path, FeatureKind::Switch { common: WEB_SEARCH, with })
}

const fn word(path: &'static [&'static str], common: &'static str) -> Feature {
    of_many(path, FeatureKind::Word { common })
}

const fn unless(path: &'static [&'static str], key: &'static str, off: &'static str) -> Feature {
    of_many(path, FeatureKind::Unless { common: WEB_SEARCH, key, off })
}

/// The tools are named after the member.
const fn each(path: &'static [&'static str; 1], key: &'static str) -> Feature {
    let [prefix] = *path;
    of_many(path, FeatureKind::Each { prefix, key, common: None })
}

const fn kept(group: FeatureGroup, path: &'static [&'static str], prefix: &'static str) -> Feature {
    Feature { group, path, is: FeatureKind::Kept { prefix } }
}

const fn model(path: &'static [&'static str]) -> Feature {
    Feature { group: FeatureGroup::Models, path, is: FeatureKind::Model }
}

const FEATURES: [Feature; 22] = [
    // OpenAI and Perplexity.
    switch(&["web_search_options"], &[]),
    // Qwen.
    switch(&["enable_search"], &["search_options"]),
    of_many(
        &["enable_code_interpreter"],
        FeatureKind::Switch { common: CODE_EXECUTION, with: &[] },
    ),
    // Hunyuan.
    switch(&["enable_enhancement"], &[]),
    switch(&["force_search_enhancement"], &[]),
    // Venice.
    word(&["venice_parameters", "enable_web_search"], WEB_SEARCH),
    word(&["venice_parameters", "enable_x_search"], WEB_SEARCH),
    word(&["venice_parameters", "enable_web_scraping"], WEB_FETCH),
    // Azure.
    each(&["data_sources"], "type"),
    // Ernie.
    unless(&["web_search"], "enable", "false"),
    // xAI.
    unless(&["search_parameters"], "mode", "\"off\""),
    // OpenRouter, MiniMax.
    each(&["plugins"], "id"),
    // Cohere.
    each(&["connectors"], "id"),
    // Anthropic. Skills are code in a container.
    of_many(
        &["container", "skills"],
        FeatureKind::Each { prefix: "skills", key: "skill_id", common: Some(CODE_EXECUTION) },
    ),
    // Groq.
    of_many(
        &["compound_custom", "tools", "enabled_tools"],
        FeatureKind::Limits { prefix: COMPOUND },
    ),
    // Mistral.
    kept(FeatureGroup::Extensions, &["agent_id"], "agent"),
    // OpenRouter.
    kept(FeatureGroup::Extensions, &["preset"], "preset"),
    kept(FeatureGroup::StoredPrompt, &["prompt"], "prompt"),
    kept(FeatureGroup::StoredAgent, &["agent"], "agent"),
    // After the row that limits the tools of a model.
    model(&["model"]),
    model(&["models"]),
    // LiteLLM.
    model(&["fallbacks"]),
];

/// The prefix of the tool names to which a Groq system is limited.
const COMPOUND: &str = "compound_custom";

/// Lists that are not models.
const LISTS: [&str; 6] = ["tools", "functions", SERVERS, "messages", "plugins", "stop"];

/// Objects whose members some servers read as if they were at the top level.
const INSIDE: [&str; 2] = ["extra_body", "parameters"];

impl Finder<'_> {
    /// Adds the features that a request switches on.
    pub(super) fn features(&mut self, object: Span) -> Result<(), Error> {
        self.features_of(object)?;
        for key in INSIDE {
            if let Some((_, inner)) = self.one_in(object, None, &[key])? {
                self.inside(inner)?;
            }
        }
        Ok(())
    }

    /// Adds the tools of an object whose members count as if they were at the top level.
    fn inside(&mut self, object: Span) -> Result<(), Error> {
        self.flat(object, &["tools", SERVERS], &["tool_choice"])?;
        self.flat(object, &["functions"], &["function_call"])?;
        self.features_of(object)
    }

    fn features_of(&mut self, object: Span) -> Result<(), Error> {
        let groups = self.all.dialect.spec().tools.features;
        let before = self.all.tools.len();
        let rows = FEATURES.iter().filter(|row| groups.contains(&row.group));
        for row in rows {
            if let Some((item, value)) = self.at(object, row.path)? {
                self.list += 1;
                self.feature(row, object, item, value, before)?;
            }
        }
        Ok(())
    }

    /// The value at the end of a path, unless it is missing or empty.
    fn at(&mut self, object: Span, path: &[&str]) -> Result<Option<(Item, Span)>, Error> {
        let mut found: Option<(Item, Span)> = None;
        for key in path {
            let (parent, object) = match found {
                Some((item, value)) => (Some(item), value),
                None => (None, object),
            };
            found = self.one_in(object, parent, &[key])?;
            if found.is_none() {
                return Ok(None);
            }
        }
        Ok(found.filter(|(_, value)| !matches!(value.of(self.data), "null" | "false")))
    }

    fn feature(
        &mut self,
        row: &Feature,
        object: Span,
        item: Item,
        value: Span,
        before: usize,
    ) -> Result<(), Error> {
        let name = row.path.join(".");
        match row.is {
            FeatureKind::Switch { common, with } => {
                self.add_as(name, vec![common.to_owned()], value, item);
                for key in with {
                    if let Some((item, _)) = self.one_in(object, None, &[key])? {
                        self.all.choices.push(Choice { item, list: self.list, limits: false });
                    }
                }
            }
            FeatureKind::Word { common } => {
                if value.of(self.data) != "\"off\"" {
                    self.add_as(name, vec![common.to_owned()], value, item);
                }
            }
            FeatureKind::Unless { common, key, off } => {
                let is_off = self.one_in(value, None, &[key])?;
                if is_off.is_none_or(|(_, value)| value.of(self.data) != off) {
                    self.add_as(name, vec![common.to_owned()], value, item);
                }
            }
            FeatureKind::Each { prefix, key, common } => {
                self.each(prefix, key, common, value, item)?
            }
            FeatureKind::Limits { prefix } => {
                self.all.needed.push((item, CannotRemove::AllOn));
                self.each(prefix, "name", None, value, item)?;
            }
            FeatureKind::Kept { prefix } => self.kept(prefix, value, item)?,
            FeatureKind::Model => {
                let mut found = self.all.tools.iter().skip(before);
                let is_listed = found.any(|tool| tool.name.starts_with(COMPOUND));
                let listed = is_listed.then_some(BuiltIn::Compound);
                self.models(value, item, listed)?;
            }
        }
        Ok(())
    }

    /// Adds a list of tools that the provider runs.
    fn each(
        &mut self,
        prefix: &str,
        key: &str,
        fixed: Option<&'static str>,
        list: Span,
        holder: Item,
    ) -> Result<(), Error> {
        for (item, span) in self.items(list, holder)? {
            let Some(name) = self.enabled(span, key)? else { continue };
            let known = fixed.or_else(|| match name.trim() {
                "web" => Some(WEB_SEARCH),
                name => common(name),
            });
            let also = known.map(str::to_owned).into_iter().collect();
            let name = if name.is_empty() { prefix.to_owned() } else { format!("{prefix}.{name}") };
            self.add_as(name, also, span, item);
        }
        Ok(())
    }

    /// The name of an entry, unless it is switched off. An entry that the provider cannot name
    /// either has none.
    fn enabled(&mut self, entry: Span, key: &str) -> Result<Option<String>, Error> {
        let mut reader = Reader::at(self.data, entry);
        if reader.kind()? == Kind::String {
            return Ok(Some(reader.string()?.decode()?.into_owned()));
        }
        // Two equal keys cannot be read.
        drop(Value::parse(entry.of(self.data))?);
        let group = self.all.groups.members(self.data, entry, None);
        let mut name = self.one(group, &[key])?;
        for other in ["id", "name", "type"] {
            let found = self.one(group, &[other])?;
            name = name.or(found);
        }
        let is_off = self.one(group, &["enabled"])?;
        if is_off.is_some_and(|(_, value)| value.of(self.data) == "false") {
            return Ok(None);
        }
        let Some((_, name)) = name else { return Ok(Some(String::new())) };
        Ok(Some(Reader::at(self.data, name).string()?.decode()?.into_owned()))
    }

    /// Adds something that the provider stores: by its id, or as an object with an id. Without an
    /// id there is nothing to find.
    fn kept(&mut self, prefix: &str, value: Span, item: Item) -> Result<(), Error> {
        let mut id = value;
        if Reader::at(self.data, value).kind()? == Kind::Object {
            if members(self.data, value).is_empty() {
                return Ok(());
            }
            let unreadable = || Error::new(Problem::Unexpected, value.start);
            (_, id) = self.one_in(value, None, &["id"])?.ok_or_else(unreadable)?;
        }
        let id = Reader::at(self.data, id).string()?.decode()?.into_owned();
        if !id.trim().is_empty() {
            self.keep(prefix, &id, value, item);
        }
        Ok(())
    }

    fn keep(&mut self, prefix: &str, id: &str, value: Span, item: Item) {
        self.all.fixed.push((self.all.tools.len(), CannotRemove::Kept));
        self.add_as(server::whole(&format!("{prefix}:{id}")), Vec::new(), value, item);
    }

    /// Adds the built-in tools of models: a name, or a list of names and of objects with a name and
    /// settings. The request selects which of the tools of `listed` are on.
    fn models(&mut self, value: Span, item: Item, listed: Option<BuiltIn>) -> Result<(), Error> {
        match Reader::at(self.data, value).kind()? {
            Kind::Array => {
                for element in elements(self.data, value) {
                    self.models(element, item, listed)?;
                }
            }
            Kind::Object => {
                self.inside(value)?;
                // Some requests list the replacements of each model under its name.
                let lists = members(self.data, value).into_iter();
                let lists = lists.filter(|member| !LISTS.iter().any(|list| member.key.is(list)));
                for element in lists.flat_map(|member| elements(self.data, member.value)) {
                    let kind = Reader::at(self.data, element).kind()?;
                    if matches!(kind, Kind::String | Kind::Object) {
                        self.models(element, item, listed)?;
                    }
                }
            }
            _ => {
                let model = Reader::at(self.data, value).string()?.decode()?.into_owned();
                self.model(&model, value, item, listed);
            }
        }
        Ok(())
    }

    pub(super) fn model(&mut self, model: &str, span: Span, item: Item, listed: Option<BuiltIn>) {
        for (mark, prefix) in [("@preset/", "preset"), (":prompt/", "prompt")] {
            if let Some((_, id)) = model.split_once(mark) {
                self.keep(prefix, id, span, item);
            }
        }
        let built_in = BuiltIn::of(model).filter(|found| Some(*found) != listed);
        if let Some(built_in) = built_in {
            self.all.fixed.push((self.all.tools.len(), CannotRemove::Model));
            let name = format!("model:{}", model.trim());
            let also = built_in.tools().iter().map(|name| (*name).to_owned()).collect();
            self.add_as(name, also, span, item);
        }
    }

    /// Adds a tool that the provider runs.
    pub(super) fn add_as(&mut self, name: String, also: Vec<String>, definition: Span, item: Item) {
        self.all.tools.push(Tool { also, ..Tool::hosted(name, definition, item, self.list) });
    }
}
