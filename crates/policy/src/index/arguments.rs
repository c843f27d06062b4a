//! Finds rules by what they search for in the arguments. Each argument path has one automaton for
//! `contains`, a set of regular expressions for `matches`, a set of globs for `glob`, hash maps for
//! `equals` and `in`, and a sorted list for `starts_with`.

use std::collections::{BTreeMap, HashMap};

use aho_corasick::{AhoCorasick, MatchKind};
use callgate_call::{Arguments, EmbeddedJson};
use callgate_json::Value;
use globset::{Glob, GlobSet, GlobSetBuilder};
use regex::{RegexSet, RegexSetBuilder};

use crate::condition::Condition;
use crate::operator::{LiteralValue, Operator, Scalar};
use crate::path::{ArgumentPath, PathItem, everything};
use crate::rule::{Question, Rule};
use crate::tri::Tri;

/// The rules with index hints, by argument path.
#[derive(Debug)]
pub(super) struct ArgumentIndex {
    paths: Vec<(ArgumentPath, PathIndex)>,
    /// One more than the highest position of a rule.
    rules: usize,
}

impl ArgumentIndex {
    pub(super) fn new(rules: &[(u32, &Rule)]) -> Self {
        let mut builders: HashMap<&ArgumentPath, PathIndexBuilder> = HashMap::new();
        let mut highest = 0;
        for (at, rule) in rules {
            let hints = rule.when.as_ref().and_then(Condition::index_hints);
            for hint in hints.into_iter().flatten() {
                builders.entry(hint.path).or_default().add(*at, hint.operator);
                highest = highest.max(index(*at) + 1);
            }
        }
        let paths = builders.into_iter().map(|(path, builder)| (path.clone(), builder.build()));
        Self { paths: paths.collect(), rules: highest }
    }

    /// Every rule with a hint that may hold, each once.
    pub(super) fn find(
        &self,
        input: &Arguments,
        root: &Value,
        question: &Question<'_>,
    ) -> Vec<u32> {
        let mut hits = FoundRules { seen: Vec::new(), list: Vec::new(), rules: self.rules };
        for (path, path_index) in &self.paths {
            if let ArgumentPath::Role(role) = path {
                let carriers = question.effects.carriers(*role, &question.name);
                for carrier in carriers.iter().filter(|_| std::ptr::eq(input, question.input())) {
                    for text in carrier.commands() {
                        path_index.find_scalar(Scalar::Text(text), &mut hits);
                    }
                    if let Some(value) = carrier.value(root) {
                        path_index.find_in(PathItem::Value(value), input, &mut hits);
                    }
                }
                continue;
            }
            path.each(root, &mut |found| path_index.find_in(found, input, &mut hits));
        }
        hits.list
    }
}

/// Rules found so far. The bitmap is allocated at the first hit, because most calls have none.
#[derive(Debug)]
struct FoundRules {
    seen: Vec<bool>,
    list: Vec<u32>,
    rules: usize,
}

impl FoundRules {
    fn add(&mut self, rules: &[u32]) {
        if self.seen.is_empty() {
            self.seen.resize(self.rules, false);
        }
        for rule in rules {
            if let Some(seen) = self.seen.get_mut(index(*rule))
                && !std::mem::replace(seen, true)
            {
                self.list.push(*rule);
            }
        }
    }
}

type RulesByText = BTreeMap<String, Vec<u32>>;

/// The operators of one path, while they are collected.
#[derive(Debug, Default)]
struct PathIndexBuilder {
    all: Vec<u32>,
    equals: HashMap<String, Vec<u32>>,
    /// By [`Number::bits`].
    numbers: HashMap<u64, Vec<u32>>,
    bools: HashMap<bool, Vec<u32>>,
    contains: RulesByText,
    starts: RulesByText,
    regexes: RulesByText,
    globs: HashMap<Glob, Vec<u32>>,
}

impl PathIndexBuilder {
    fn add(&mut self, rule: u32, operator: &Operator) {
        self.all.push(rule);
        let literals = match operator {
            Operator::Equals(literal) => std::slice::from_ref(literal),
            Operator::In(literals) => literals,
            _ => &[],
        };
        for literal in literals {
            self.equals.entry(literal.text.clone()).or_default().push(rule);
            match &literal.value {
                LiteralValue::Text => {}
                LiteralValue::Number(number) => {
                    self.numbers.entry(number.bits()).or_default().push(rule);
                }
                LiteralValue::Bool(value) => self.bools.entry(*value).or_default().push(rule),
            }
        }
        match operator {
            Operator::Contains(text) => push(&mut self.contains, text, rule),
            Operator::StartsWith(text) => push(&mut self.starts, text, rule),
            Operator::Matches(regex) => push(&mut self.regexes, regex.as_str(), rule),
            Operator::Glob(glob) => {
                self.globs.entry(glob.glob().clone()).or_default().push(rule);
            }
            Operator::Equals(_) | Operator::In(_) => {}
            Operator::Exists(_) | Operator::Compare(..) => {}
        }
    }

    fn build(self) -> PathIndex {
        let mut always = Vec::new();
        let contains = ContainsRules::build(self.contains, &mut always);
        let globs = GlobRules::build(self.globs, &mut always);
        let mut regexes = Vec::new();
        let patterns: Vec<_> = self.regexes.into_iter().collect();
        for chunk in patterns.chunks(REGEXES_PER_SET) {
            build_regexes(chunk, &mut regexes, &mut always);
        }
        let starts = self.starts.into_iter().collect();
        let (equals, numbers, bools) = (self.equals, self.numbers, self.bools);
        PathIndex {
            all: self.all,
            equals,
            numbers,
            bools,
            contains,
            starts,
            regexes,
            globs,
            always,
        }
    }
}

fn push(map: &mut RulesByText, text: &str, rule: u32) {
    map.entry(text.to_owned()).or_default().push(rule);
}

/// The operators of one path, ready to be evaluated together.
#[derive(Debug)]
struct PathIndex {
    all: Vec<u32>,
    equals: HashMap<String, Vec<u32>>,
    /// By [`Number::bits`].
    numbers: HashMap<u64, Vec<u32>>,
    bools: HashMap<bool, Vec<u32>>,
    contains: Option<ContainsRules>,
    /// Sorted, so that a binary search finds each possible prefix.
    starts: Vec<(String, Vec<u32>)>,
    regexes: Vec<RegexRules>,
    globs: Option<GlobRules>,
    /// Rules whose automaton could not be built.
    always: Vec<u32>,
}

impl PathIndex {
    /// The text of an item, and the JSON inside it.
    fn find_in(&self, found: PathItem<'_>, input: &Arguments, hits: &mut FoundRules) {
        self.find_at(found, hits);
        let PathItem::Value(value) = found else { return };
        match input.embedded_json(value) {
            None => {}
            Some((_, EmbeddedJson::Unclear)) => hits.add(&self.all),
            Some((_, EmbeddedJson::Value(inside))) => {
                everything(inside, &mut |found| {
                    self.find_at(found, hits);
                    Tri::False
                });
            }
        }
    }

    fn find_at(&self, found: PathItem<'_>, hits: &mut FoundRules) {
        match found {
            PathItem::Value(value) => self.find(value, hits),
            PathItem::Key(key) => self.find_scalar(Scalar::Text(key), hits),
            PathItem::WrongType => hits.add(&self.all),
        }
    }

    fn find(&self, value: &Value, hits: &mut FoundRules) {
        match value {
            Value::Null => {}
            Value::Object(_) => hits.add(&self.all),
            Value::Array(items) => items.iter().for_each(|item| self.find(item, hits)),
            scalar => {
                if let Some(scalar) = Scalar::of(scalar) {
                    self.find_scalar(scalar, hits);
                }
            }
        }
    }

    fn find_scalar(&self, scalar: Scalar<'_>, hits: &mut FoundRules) {
        if !self.always.is_empty() {
            hits.add(&self.always);
        }
        if !self.numbers.is_empty()
            && let Some(number) = scalar.lax_number()
        {
            hits.add(self.numbers.get(&number.bits()).map_or(&[], Vec::as_slice));
        }
        if !self.bools.is_empty()
            && let Some(value) = scalar.lax_bool()
        {
            hits.add(self.bools.get(&value).map_or(&[], Vec::as_slice));
        }
        scalar.each_text(&mut |text| self.find_text(text, hits));
    }

    fn find_text(&self, text: &str, hits: &mut FoundRules) {
        if !self.equals.is_empty()
            && let Some(rules) = self.equals.get(text)
        {
            hits.add(rules);
        }
        self.find_starts(text, hits);
        if let Some(contains) = &self.contains {
            contains.find(text, hits);
        }
        self.regexes.iter().for_each(|regexes| regexes.find(text, hits));
        if let Some(globs) = &self.globs {
            globs.find(text, hits);
        }
    }

    /// The prefixes of a text are nested: each one found bounds the search for the next shorter
    /// one.
    fn find_starts(&self, text: &str, hits: &mut FoundRules) {
        let mut rest = self.starts.as_slice();
        let mut bound = text;
        loop {
            let end = rest.partition_point(|(start, _)| start.as_str() <= bound);
            rest = rest.get(..end).unwrap_or_default();
            let Some(((start, rules), shorter)) = rest.split_last() else { return };
            if text.starts_with(start.as_str()) {
                hits.add(rules);
            }
            let common = common_length(start, text);
            // Only prefixes of the common part can still be prefixes of the text.
            bound = text.get(..common).unwrap_or_default();
            rest = shorter;
        }
    }
}

fn common_length(a: &str, b: &str) -> usize {
    let equal = a.char_indices().zip(b.chars()).take_while(|((_, x), y)| x == y);
    equal.map(|((at, x), _)| at + x.len_utf8()).last().unwrap_or(0)
}

#[derive(Debug)]
struct ContainsRules {
    automaton: AhoCorasick,
    rules: Vec<Vec<u32>>,
}

impl ContainsRules {
    fn build(texts: RulesByText, always: &mut Vec<u32>) -> Option<Self> {
        let (texts, rules): (Vec<String>, Vec<Vec<u32>>) = texts.into_iter().unzip();
        if texts.is_empty() {
            return None;
        }
        match AhoCorasick::builder().match_kind(MatchKind::Standard).build(&texts) {
            Ok(automaton) => Some(Self { automaton, rules }),
            Err(_) => {
                always.extend(rules.into_iter().flatten());
                None
            }
        }
    }

    /// A text may occur in an argument a million times; its rules are added once.
    fn find(&self, text: &str, hits: &mut FoundRules) {
        let mut seen = Vec::new();
        for found in self.automaton.find_overlapping_iter(text) {
            if seen.is_empty() {
                seen.resize(self.rules.len(), false);
            }
            let pattern = found.pattern().as_usize();
            if let (Some(seen), Some(rules)) = (seen.get_mut(pattern), self.rules.get(pattern))
                && !std::mem::replace(seen, true)
            {
                hits.add(rules);
            }
        }
    }
}

/// With more patterns the lazy automaton of a set outgrows its cache and becomes very slow.
const REGEXES_PER_SET: usize = 500;

/// The most bytes for the program of one set, and as many for the cache of its lazy automaton.
const REGEX_SET_SIZE: usize = 32 << 20;

#[derive(Debug)]
struct RegexRules {
    set: RegexSet,
    rules: Vec<Vec<u32>>,
}

/// Builds one set of these patterns, or two sets of half of them each if one would be too large.
fn build_regexes(
    patterns: &[(String, Vec<u32>)],
    sets: &mut Vec<RegexRules>,
    always: &mut Vec<u32>,
) {
    let texts = patterns.iter().map(|(text, _)| text);
    let built = RegexSetBuilder::new(texts)
        .size_limit(REGEX_SET_SIZE)
        .dfa_size_limit(REGEX_SET_SIZE)
        .build();
    let rules = || patterns.iter().map(|(_, rules)| rules.clone());
    match built {
        Ok(set) => sets.push(RegexRules { set, rules: rules().collect() }),
        Err(_) if patterns.len() > 1 => {
            let (left, right) = patterns.split_at(patterns.len() / 2);
            build_regexes(left, sets, always);
            build_regexes(right, sets, always);
        }
        Err(_) => always.extend(rules().flatten()),
    }
}

impl RegexRules {
    fn find(&self, text: &str, hits: &mut FoundRules) {
        if !self.set.is_match(text) {
            return;
        }
        for found in &self.set.matches(text) {
            hits.add(self.rules.get(found).map_or(&[], Vec::as_slice));
        }
    }
}

#[derive(Debug)]
struct GlobRules {
    set: GlobSet,
    rules: Vec<Vec<u32>>,
}

impl GlobRules {
    fn build(globs: HashMap<Glob, Vec<u32>>, always: &mut Vec<u32>) -> Option<Self> {
        if globs.is_empty() {
            return None;
        }
        let mut builder = GlobSetBuilder::new();
        let mut rules = Vec::new();
        for (glob, of_glob) in globs {
            builder.add(glob);
            rules.push(of_glob);
        }
        match builder.build() {
            Ok(set) => Some(Self { set, rules }),
            Err(_) => {
                always.extend(rules.into_iter().flatten());
                None
            }
        }
    }

    fn find(&self, text: &str, hits: &mut FoundRules) {
        if !self.set.is_match(text) {
            return;
        }
        for found in self.set.matches(text) {
            hits.add(self.rules.get(found).map_or(&[], Vec::as_slice));
        }
    }
}

fn index(rule: u32) -> usize {
    usize::try_from(rule).unwrap_or(usize::MAX)
}
