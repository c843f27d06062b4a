//! Judges the tools that a request offers to the model.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use callgate_audit::{RecordKind, RecordedTool};
use callgate_call::{
    Arguments, CallId, NameError, Origin, OriginFields, Surface, ToolCall, ToolName,
};
use callgate_policy::{Denial, Judgement, Policies};

use crate::clock::now;
use crate::decider::{Decider, RequestContext};
use crate::new_record;

/// A tool that a request offers.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'a> {
    /// Its name.
    pub name: &'a str,
    /// Names that mean the same tool at any provider. Only rules that restrict are compared with
    /// them.
    pub also: &'a [String],
    /// Its definition, exactly as in the request.
    pub definition: &'a str,
    /// For an offer of all tools of a server (`mcp__server__*`): the tools that are excluded.
    pub except: &'a [String],
}

/// Hashes of what was recorded recently. Agents offer the same tools with every request.
#[derive(Debug, Default)]
pub(crate) struct RecentlyRecorded(HashSet<u64>);

impl RecentlyRecorded {
    /// The set is cleared at this size, which bounds its memory: most hashes belong to clients that
    /// have gone.
    const MAX: usize = 4096;

    /// Whether this was not recorded recently. Remembers it.
    pub(crate) fn is_new_of(&mut self, what: &impl std::hash::Hash) -> bool {
        let mut hash = DefaultHasher::new();
        what.hash(&mut hash);
        self.is_new(hash.finish())
    }

    fn is_new(&mut self, what: u64) -> bool {
        if self.0.len() >= Self::MAX {
            self.0.clear();
        }
        self.0.insert(what)
    }
}

impl Decider {
    /// Whether any policy has rules for the tools in a request.
    pub fn judges_offers(&self) -> bool {
        self.policies().is_some_and(|policies| policies.concern(Surface::Inbound))
    }

    /// Judges the tools of a request and returns the denied ones with their positions. A rule's
    /// verdict about a tool is recorded the first time, and again for another client, session or
    /// rule.
    pub fn judge_offers(
        &self,
        context: &RequestContext,
        offers: &[Offer<'_>],
    ) -> Vec<(usize, Denial)> {
        let Some(policies) = self.policies() else { return Vec::new() };
        let origin =
            Origin::new(OriginFields { surface: Surface::Inbound, ..(*context.origin).clone() });
        let mut denied = Vec::new();
        for (place, offer) in offers.iter().enumerate() {
            denied.extend(
                self.judge_offer(&policies, context, &origin, offer).map(|denial| (place, denial)),
            );
        }
        denied
    }

    fn judge_offer(
        &self,
        policies: &Policies,
        context: &RequestContext,
        origin: &Origin,
        offer: &Offer<'_>,
    ) -> Option<Denial> {
        let called = |name: &str| {
            let (id, arguments) = (CallId::from(""), Arguments::json(""));
            let name = ToolName::parse(name)?;
            Ok::<_, NameError>(ToolCall {
                id,
                name,
                arguments,
                origin: origin.clone(),
                caller: None,
            })
        };
        let call = match called(offer.name) {
            Ok(call) => call,
            // No rule can match a name that cannot be parsed.
            Err(why) => return Some(Denial::refused(offer.name, &why.to_string())),
        };
        let also: Vec<ToolCall> = offer.also.iter().filter_map(|name| called(name).ok()).collect();
        let judgement = policies.judge_offer(&call, &also, offer.except, &now());
        let mut denial = judgement.denial(&call);
        let noted = !judgement.audits.is_empty() || !judgement.shadows.is_empty();
        if denial.is_some() || noted {
            let record = self.record_offer(context, &call, &judgement, offer);
            if let Some(denial) = &mut denial {
                denial.record = record;
            }
        }
        denial
    }

    /// Records the verdict about a tool. Returns the id of the record, if it wrote one.
    fn record_offer(
        &self,
        context: &RequestContext,
        call: &ToolCall,
        judgement: &Judgement,
        offer: &Offer<'_>,
    ) -> Option<String> {
        let facts = &*call.origin;
        let mut hash = DefaultHasher::new();
        (facts.who.identity(), &facts.session, &facts.agent, &facts.provider).hash(&mut hash);
        (call.name.folded(), &judgement.policy, &judgement.rule, offer.definition).hash(&mut hash);
        if !self.recently_recorded(|recently_recorded| recently_recorded.is_new(hash.finish())) {
            return None;
        }
        let mut record = new_record::begin(RecordKind::ToolAdvertised, context, facts);
        record.tool =
            Some(RecordedTool { name: call.name.raw().to_owned(), ..RecordedTool::default() });
        record.verdict = Some(new_record::verdict(judgement));
        let id = record.id.to_string();
        self.write(record);
        Some(id)
    }
}
