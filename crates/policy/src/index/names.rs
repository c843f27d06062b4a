//! Finds rules by the name of a tool: a hash map for whole names, sorted lists for prefixes and
//! suffixes, and one automaton for patterns in the middle.

use std::collections::{BTreeMap, HashMap};

use aho_corasick::{AhoCorasick, MatchKind};
use callgate_call::spell;

use super::{RuleBucket, RuleCandidate};
use crate::names::{CallName, ToolPattern, Tools};
use crate::pattern::Wildcard;
use crate::rule::{NameCheck, Rule};
use crate::spelling::{NameSplit, SplitTrust};

/// Rules by name.
#[derive(Debug, Default)]
pub(super) struct NameIndex {
    /// Rules for every tool.
    any: RuleBucket,
    /// Rules for every tool that has a server.
    any_server: RuleBucket,
    /// By the whole name, or the tool part of any reading.
    tools: TextIndex,
    /// By the server part of any reading.
    servers: TextIndex,
}

impl NameIndex {
    pub(super) fn add(&mut self, at: u32, rule: &Rule, hinted: bool) {
        let entry =
            |name_check| IndexEntry { candidate: RuleCandidate { rule: at, name_check }, hinted };
        let perhaps = entry(NameCheck::Needed);
        let names = &rule.names;
        match (&names.tools, &names.servers) {
            (None, None) => self.any.add(entry(NameCheck::Passed)),
            (None, Some(_)) if names.widened() => self.any.add(perhaps),
            (None, Some(_)) => {
                names.all_servers().for_each(|server| self.servers.add(server, perhaps));
            }
            (Some(tools), servers) => {
                let certain = rule.restricts() && servers.is_none();
                let literal = entry(if certain { NameCheck::Passed } else { NameCheck::Needed });
                for tools in tools.parts() {
                    self.add_tools(tools, literal, perhaps);
                }
                for beginning in names.long.iter().filter_map(|long| spell::beginning(long)) {
                    self.tools.beginnings.entry(beginning.bytes().collect()).add(perhaps);
                }
            }
        }
    }

    fn add_tools(&mut self, tools: &Tools, literal: IndexEntry, perhaps: IndexEntry) {
        for name in &tools.literals {
            self.tools.add_literal(name, literal);
        }
        for pattern in &tools.patterns {
            self.add_pattern(pattern, perhaps);
        }
        if tools.any_server {
            self.any_server.add(perhaps);
        }
    }

    /// A pattern with a server part may match the whole name, or the two parts of a reading. In the
    /// second case it is indexed by one of its parts.
    fn add_pattern(&mut self, pattern: &ToolPattern, entry: IndexEntry) {
        self.tools.add(&pattern.whole, entry);
        for (server, tool) in &pattern.parts {
            if tool.is_any() {
                self.servers.add(server, entry);
            } else {
                self.tools.add(tool, entry);
            }
        }
    }

    pub(super) fn finish(&mut self) {
        self.tools.finish();
        self.servers.finish();
    }

    /// Visits the rules that may apply to a name. With `Needed`, even a rule for exactly this tool
    /// may not apply.
    pub(super) fn find<'i>(
        &'i self,
        name: &CallName<'_>,
        visit: &mut impl FnMut(&'i RuleBucket, NameCheck),
    ) {
        let mut surely = |bucket: &'i RuleBucket| visit(bucket, NameCheck::Passed);
        surely(&self.any);
        self.tools.find(name.folded, &mut surely);
        for text in &name.spellings.texts {
            self.tools.find(text, &mut surely);
        }
        let splits = &name.spellings.splits;
        let spelled = splits.iter().filter(|split| split.trust == SplitTrust::Spelled);
        for reading in name.readings.iter().copied().chain(spelled.map(NameSplit::reading)) {
            self.tools.find(reading.tool, &mut surely);
            self.servers.find(reading.server, &mut surely);
        }
        if !name.readings.is_empty() || !splits.is_empty() {
            surely(&self.any_server);
        }
        let mut perhaps = |bucket: &'i RuleBucket| visit(bucket, NameCheck::Needed);
        for split in splits.iter().filter(|split| split.trust != SplitTrust::Spelled) {
            self.tools.find(&split.tool, &mut perhaps);
            self.servers.find(&split.server, &mut perhaps);
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct IndexEntry {
    candidate: RuleCandidate,
    hinted: bool,
}

impl RuleBucket {
    fn add(&mut self, entry: IndexEntry) {
        let list = if entry.hinted { &mut self.hinted } else { &mut self.plain };
        list.push(entry.candidate);
    }
}

/// Buckets by the longest literal piece of their pattern.
#[derive(Debug, Default)]
struct TextIndex {
    whole: HashMap<String, RuleBucket>,
    beginnings: Affixes,
    /// Reversed.
    ends: Affixes,
    middles: Middles,
    /// Patterns of wildcards only.
    rest: RuleBucket,
}

impl TextIndex {
    fn add(&mut self, pattern: &Wildcard, entry: IndexEntry) {
        if pattern.is_literal() {
            return self.add_literal(pattern.text(), entry);
        }
        let pieces: Vec<&str> = pattern.pieces().collect();
        let longest = pieces.iter().enumerate().rev().max_by_key(|(_, piece)| piece.len());
        let bucket = match longest {
            None | Some((_, &"")) => &mut self.rest,
            Some((0, piece)) => self.beginnings.entry(piece.bytes().collect()),
            Some((at, piece)) if at + 1 == pieces.len() => {
                self.ends.entry(piece.bytes().rev().collect())
            }
            Some((_, piece)) => self.middles.building.entry((*piece).to_owned()).or_default(),
        };
        bucket.add(entry);
    }

    fn add_literal(&mut self, name: &str, entry: IndexEntry) {
        match self.whole.get_mut(name) {
            Some(bucket) => bucket.add(entry),
            None => self.whole.entry(name.to_owned()).or_default().add(entry),
        }
    }

    fn finish(&mut self) {
        self.beginnings.finish();
        self.ends.finish();
        if let Some(bucket) = self.middles.finish() {
            self.rest.plain.extend(bucket.plain);
            self.rest.hinted.extend(bucket.hinted);
        }
    }

    fn find<'i>(&'i self, name: &str, visit: &mut impl FnMut(&'i RuleBucket)) {
        if !self.whole.is_empty()
            && let Some(bucket) = self.whole.get(name)
        {
            visit(bucket);
        }
        self.beginnings.find(name.as_bytes(), visit);
        if !self.ends.is_empty() {
            let reversed: Vec<u8> = name.bytes().rev().collect();
            self.ends.find(&reversed, visit);
        }
        self.middles.find(name, visit);
        visit(&self.rest);
    }
}

/// Sorted prefixes of names. Every prefix of a name in this list is also a prefix of the last entry
/// that does not sort after the name. So one binary search, and then following the links to the
/// next shorter prefix, finds them all.
#[derive(Debug, Default)]
struct Affixes {
    building: BTreeMap<Vec<u8>, RuleBucket>,
    sorted: Vec<Affix>,
}

#[derive(Debug)]
struct Affix {
    text: Vec<u8>,
    /// The position of the next shorter entry that is a prefix of this one.
    shorter: Option<usize>,
    bucket: RuleBucket,
}

impl Affixes {
    fn entry(&mut self, text: Vec<u8>) -> &mut RuleBucket {
        self.building.entry(text).or_default()
    }

    fn finish(&mut self) {
        let mut open: Vec<usize> = Vec::new();
        for (text, bucket) in std::mem::take(&mut self.building) {
            while let Some(last) = open.last().and_then(|at| self.sorted.get(*at))
                && !text.starts_with(&last.text)
            {
                open.pop();
            }
            let shorter = open.last().copied();
            open.push(self.sorted.len());
            self.sorted.push(Affix { text, shorter, bucket });
        }
    }

    fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    fn find<'i>(&'i self, name: &[u8], visit: &mut impl FnMut(&'i RuleBucket)) {
        let end = self.sorted.partition_point(|affix| affix.text.as_slice() <= name);
        let mut at = end.checked_sub(1);
        while let Some(affix) = at.and_then(|at| self.sorted.get(at)) {
            if name.starts_with(&affix.text) {
                visit(&affix.bucket);
            }
            at = affix.shorter;
        }
    }
}

/// Texts that occur anywhere in a name.
#[derive(Debug, Default)]
struct Middles {
    building: BTreeMap<String, RuleBucket>,
    automaton: Option<AhoCorasick>,
    buckets: Vec<RuleBucket>,
}

impl Middles {
    /// Builds the automaton. If that fails, returns all rules, which are then evaluated every time.
    fn finish(&mut self) -> Option<RuleBucket> {
        if self.building.is_empty() {
            return None;
        }
        let (texts, buckets): (Vec<String>, Vec<RuleBucket>) =
            std::mem::take(&mut self.building).into_iter().unzip();
        let automaton = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&texts);
        match automaton {
            Ok(automaton) => {
                (self.automaton, self.buckets) = (Some(automaton), buckets);
                None
            }
            Err(_) => {
                let mut all = RuleBucket::default();
                for bucket in buckets {
                    all.plain.extend(bucket.plain);
                    all.hinted.extend(bucket.hinted);
                }
                Some(all)
            }
        }
    }

    fn find<'i>(&'i self, name: &str, visit: &mut impl FnMut(&'i RuleBucket)) {
        let Some(automaton) = &self.automaton else { return };
        for found in automaton.find_overlapping_iter(name) {
            if let Some(bucket) = self.buckets.get(found.pattern().as_usize()) {
                visit(bucket);
            }
        }
    }
}
