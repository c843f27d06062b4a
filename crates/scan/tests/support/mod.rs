//! Texts with secrets, generated on demand, so that no file contains a whole key.

use proptest::prelude::*;

/// Real forms, each with a part that differs from key to key.
pub(crate) fn secret() -> impl Strategy<Value = String> {
    prop_oneof![
        "[A-Z2-7]{16}".prop_map(|body| format!("AKI{}{body}", "A")),
        "[a-z0-9]{28}".prop_map(|body| format!("gh{}Q7z4Rk2p{body}", "p_")),
        "[A-Za-z0-9_-]{60}".prop_map(|body| format!("sk-{}Q7z4Rk2pXw{body}", "ant-api03-")),
        "[A-Za-z0-9]{40}".prop_map(|body| format!("sk-{}Q7z4Rk2pXw{body}", "proj-")),
        "[A-Za-z0-9]{43}".prop_map(|body| format!("c{}Q7z4Rk2pXw{body}", "g_")),
        "[0-9a-f]{32}".prop_map(|body| format!("da{}{body}", "pi")),
        "[A-Za-z0-9_-]{43}".prop_map(|body| {
            format!("{}IUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxIn0.{body}", "eyJhbGciOiJ")
        }),
        "[A-Za-z0-9+/]{64}".prop_map(|body| {
            let kind = "PRIVATE KEY-----";
            format!("-----BEGIN {kind}\nMIIabc123{body}\n-----END {kind}")
        }),
    ]
}

/// Any text, with many beginnings of matches.
pub(crate) fn noise() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        "[ -~]{0,20}",
        Just("password=".to_owned()),
        Just("\"api_key\": \"".to_owned()),
        Just("://a:b@".to_owned()),
        Just("Authorization: Bearer ".to_owned()),
        Just("sk-ant-".to_owned()),
        Just("-----BEGIN PRIVATE KEY-----\n".to_owned()),
        Just("\\\"".to_owned()),
        Just("\n".to_owned()),
        secret(),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// What may be next to a secret: no letter, digit, `_` or `-`.
pub(crate) fn border() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["", " ", "\n", "\"", "'", "=", ",", "(", ")", "\\n", "<", ";", "é"])
        .prop_map(str::to_owned)
}
