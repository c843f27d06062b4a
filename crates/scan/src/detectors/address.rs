//! Addresses of machines. Often they do not identify a person, so they are in no group.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;

#[cfg(test)]
use crate::detector::Sample;
use crate::detector::{ALONE, Detector, DetectorMatch, Edge};

pub(super) static DETECTORS: &[Detector] = &[Detector {
    name: "ip_address",
    what: "an IPv4 or IPv6 address",
    heads: &["9", "A"],
    pattern: concat!(
        r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}",
        "|[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{0,4}){2,7}",
    ),
    edge: Edge::Word,
    check: ip_address,
    #[cfg(test)]
    hits: &[
        Sample { before: "from ", secret: &["203.0.", "113.7"], after: ":443" },
        Sample { before: "[", secret: &["2001:db8::", "8a2e:370:7334"], after: "]" },
    ],
    #[cfg(test)]
    misses: &[&["version 1.2.3"], &["300.1.2.3"], &["12:34:56"], &["1.2.3.4.5"]],
    ..ALONE
}];

fn ip_address(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    let found = candidate.secret();
    let before = candidate.text.as_bytes().get(..candidate.whole.start)?.last();
    let part = |byte: u8| byte == b'.' || byte == b':';
    let inside = before.is_some_and(|byte| part(*byte));
    let plain = found.parse::<Ipv4Addr>().is_ok() || found.parse::<Ipv6Addr>().is_ok();
    let goes_on = candidate.next_byte() == Some(b'.') && found.contains('.');
    candidate.when(plain && !inside && !goes_on)
}
