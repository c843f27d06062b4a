//! Metrics for Prometheus.

use std::sync::Arc;

use callgate_decide::{Decider, PolicyState, TextHit, WriteHealth};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// All metrics. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Metrics(Arc<MetricFamilies>);

struct MetricFamilies {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    allowed: Counter,
    denied: Counter,
    texts: Family<TextMatchLabels, Counter>,
    refused: Counter,
    restored: Counter,
    open: Gauge,
    records_fail: Gauge,
    policy_rejected: Gauge,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    provider: String,
    status: u16,
}

/// The decision about a call, as a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CountedVerdict {
    Allowed,
    Denied,
}

/// An open response. Counted until it is dropped.
pub(crate) struct OpenStream(Metrics);

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.0.open.dec();
    }
}

/// The labels of a text rule's match.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct TextMatchLabels {
    action: &'static str,
    direction: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct VerdictLabel {
    verdict: &'static str,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("callgate");
        let requests = Family::<RequestLabels, Counter>::default();
        let calls = Family::<VerdictLabel, Counter>::default();
        let texts = Family::<TextMatchLabels, Counter>::default();
        let (refused, restored) = (Counter::default(), Counter::default());
        let (open, records_fail, policy_rejected) =
            (Gauge::default(), Gauge::default(), Gauge::default());
        registry.register("requests", "Requests sent to providers", requests.clone());
        registry.register("calls", "Tool calls judged", calls.clone());
        registry.register("guardrail_hits", "Matches of text rules", texts.clone());
        registry.register(
            "refusals",
            "Requests and responses that callgate refused",
            refused.clone(),
        );
        registry.register(
            "restored_calls",
            "Denied calls put back into requests",
            restored.clone(),
        );
        registry.register("open_responses", "Responses in progress", open.clone());
        let what = "1 while records cannot be written";
        registry.register("records_failing", what, records_fail.clone());
        let what = "1 while the last version of the policies was rejected";
        registry.register("policy_rejected", what, policy_rejected.clone());
        let allowed = calls.get_or_create(&VerdictLabel { verdict: "allow" }).clone();
        let denied = calls.get_or_create(&VerdictLabel { verdict: "deny" }).clone();
        Self(Arc::new(MetricFamilies {
            registry,
            requests,
            allowed,
            denied,
            texts,
            refused,
            restored,
            open,
            records_fail,
            policy_rejected,
        }))
    }

    pub(crate) fn count_response(&self, provider: &str, status: u16) {
        let of = RequestLabels { provider: provider.to_owned(), status };
        self.0.requests.get_or_create(&of).inc();
    }

    pub(crate) fn count_call(&self, verdict: CountedVerdict) {
        match verdict {
            CountedVerdict::Allowed => self.0.allowed.inc(),
            CountedVerdict::Denied => self.0.denied.inc(),
        };
    }

    pub(crate) fn count_text_match(&self, hit: &TextHit, direction: &'static str) {
        let found = TextMatchLabels { action: hit.action.as_str(), direction };
        self.0.texts.get_or_create(&found).inc();
    }

    pub(crate) fn count_refusal(&self) {
        self.0.refused.inc();
    }

    pub(crate) fn count_restored(&self, calls: usize) {
        self.0.restored.inc_by(calls as u64);
    }

    pub(crate) fn open(&self) -> OpenStream {
        self.0.open.inc();
        OpenStream(self.clone())
    }

    /// The page that Prometheus scrapes.
    pub(crate) fn page(&self, decider: &Decider) -> String {
        let failing = !matches!(decider.audit_health(), WriteHealth::Ok);
        self.0.records_fail.set(failing.into());
        let rejected = decider.policy_state() != PolicyState::Current;
        self.0.policy_rejected.set(rejected.into());
        let mut page = String::new();
        // Writing to a string does not fail.
        encode(&mut page, &self.0.registry).ok();
        page
    }
}
