//! Tools that a request offers, before the policies.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use callgate_audit::{Kind, Tool};
use callgate_call::{
    Arguments, CallId, NameError, Origin, OriginFields, Surface, ToolCall, ToolName,
};
use callgate_policy::{Denial, Judgement, Policies};

use crate::clock::now;
use crate::decider::{Context, Decider};
use crate::record;

/// A tool that a request offers.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'a> {
    /// Its name.
    pub name: &'a str,
    /// Names that mean the same with any provider. Only rules that restrict look at them.
    pub also: &'a [String],
    /// Its definition, as the request has it.
    pub definition: &'a str,
    /// Where it is all that a server has (`mcp__server__*`): the tools that are left out.
    pub except: &'a [String],
}

/// What was recorded of late. Agents offer the same tools with every request.
#[derive(Debug, Default)]
pub(crate) struct Told(HashSet<u64>);

impl Told {
    /// More would only be remembered for clients that never ask again.
    const MAX: usize = 4096;

    /// Whether this was not recorded of late.
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
    /// Whether any policy speaks of the tools in a request.
    pub fn judges_offers(&self) -> bool {
        self.policies().is_some_and(|policies| policies.concern(Surface::Inbound))
    }

    /// Judges the tools of a request. Answers which of them are denied. What a rule says about a tool
    /// is recorded when it is offered first, and again for another client, session or rule.
    pub fn offers(&self, context: &Context, offers: &[Offer<'_>]) -> Vec<(usize, Denial)> {
        let Some(policies) = self.policies() else { return Vec::new() };
        let origin =
            Origin::new(OriginFields { surface: Surface::Inbound, ..(*context.origin).clone() });
        let mut denied = Vec::new();
        for (place, offer) in offers.iter().enumerate() {
            denied.extend(
                self.offer(&policies, context, &origin, offer).map(|denial| (place, denial)),
            );
        }
        denied
    }

    fn offer(
        &self,
        policies: &Policies,
        context: &Context,
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
            // No rule can read it.
            Err(why) => return Some(Denial::refused(offer.name, &why.to_string())),
        };
        let also: Vec<ToolCall> = offer.also.iter().filter_map(|name| called(name).ok()).collect();
        let judgement = policies.judge_offer(&call, &also, offer.except, &now());
        let mut denial = judgement.denial(&call);
        let noted = !judgement.audits.is_empty() || !judgement.shadows.is_empty();
        if denial.is_some() || noted {
            let record = self.tell_offer(context, &call, &judgement, offer);
            if let Some(denial) = &mut denial {
                denial.record = record;
            }
        }
        denial
    }

    /// Records what was said of a tool; answers the record, if there is a new one.
    fn tell_offer(
        &self,
        context: &Context,
        call: &ToolCall,
        judgement: &Judgement,
        offer: &Offer<'_>,
    ) -> Option<String> {
        let facts = &*call.origin;
        let mut hash = DefaultHasher::new();
        (facts.who.identity(), &facts.session, &facts.agent, &facts.provider).hash(&mut hash);
        (call.name.folded(), &judgement.policy, &judgement.rule, offer.definition).hash(&mut hash);
        if !self.told(|told| told.is_new(hash.finish())) {
            return None;
        }
        let mut record = record::begin(Kind::ToolAdvertised, context, facts);
        record.tool = Some(Tool { name: call.name.raw().to_owned(), ..Tool::default() });
        record.verdict = Some(record::verdict(judgement));
        let id = record.id.to_string();
        self.write(record);
        Some(id)
    }
}
