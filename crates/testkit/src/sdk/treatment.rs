//! What is done to a response before the clients read it.

use std::collections::BTreeSet;

use crate::clients;
use crate::corpus::Case;

/// What is done to a response before the clients read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResponseTreatment {
    /// Nothing: as the provider sent it.
    Direct,
    /// All allowed by name.
    Allow,
    /// All allowed once the arguments are there.
    AllowHeld,
    /// Every call denied by its name.
    DenyNames,
    /// Every call denied by its name, without a word.
    DenySilently,
    /// Every call denied by its arguments.
    DenyArguments,
    /// One tool of several denied by its name.
    DenyOne(String),
}

impl ResponseTreatment {
    /// Those that do not depend on the case.
    pub const COMMON: [Self; 6] = [
        Self::Direct,
        Self::Allow,
        Self::AllowHeld,
        Self::DenyArguments,
        Self::DenyNames,
        Self::DenySilently,
    ];

    /// Those that make sense for a case.
    pub fn of(case: &Case) -> Vec<Self> {
        let mut list = vec![Self::Direct, Self::Allow, Self::AllowHeld, Self::DenyArguments];
        let names = every_name(case);
        if !names.is_empty() {
            list.extend([Self::DenyNames, Self::DenySilently]);
        }
        if let (Some(first), Some(calls)) = (names.first(), &case.about.calls)
            && names.len() > 1
            && calls.len() > 1
        {
            list.push(Self::DenyOne(first.clone()));
        }
        list
    }

    /// The policy, where every tool is one of `names`. `None` if nothing is done.
    pub fn policy(&self, names: &[String]) -> Option<String> {
        let rule = match self {
            Self::Direct => return None,
            Self::Allow => return Some("policy: test\nrules: []\n".into()),
            Self::AllowHeld => "when: { arg: absent, equals: never }".into(),
            Self::DenyArguments => "when: { arg: absent, exists: false }".into(),
            Self::DenyNames | Self::DenySilently => {
                format!("tool: {}", serde_json::to_string(names).unwrap())
            }
            Self::DenyOne(name) => format!("tool: {}", serde_json::to_string(&[name]).unwrap()),
        };
        let rule = format!("{{ id: r, {rule}, verdict: deny, reason: no }}");
        Some(format!("policy: test\nrules:\n  - {rule}\n"))
    }

    /// The value of `on_deny`.
    pub fn on_deny(&self) -> &'static str {
        if *self == Self::DenySilently { "silent" } else { "explain" }
    }

    /// Whether no call may be left.
    pub fn denies_all(&self) -> bool {
        matches!(self, Self::DenyNames | Self::DenySilently | Self::DenyArguments)
    }

    /// A name for a job: this treatment of that case.
    pub fn id(&self, case: &Case) -> String {
        format!("{} {self:?}", case.name)
    }
}

/// Every name under which some client may see a call.
pub fn every_name(case: &Case) -> Vec<String> {
    let readings = clients::readings(case.dialect, &case.body);
    let names: BTreeSet<String> = readings.into_values().flatten().map(|(name, _)| name).collect();
    names.into_iter().filter(|name| !name.trim().is_empty()).collect()
}
