//! Keys whose form a vendor publishes.

use std::ops::Range;

#[cfg(test)]
use crate::detector::Sample;
use crate::detector::{Detector, DetectorMatch, Edge, SECRET};
use crate::value;

/// The form is enough.
fn as_is(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    candidate.when(true)
}

/// The form is short or consists of words, so the part after the prefix must look random.
fn random(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    let secret = candidate.secret();
    let prefix = secret.find(['-', '_', '.']).map_or(0, |at| at + 1);
    candidate.when(value::is_random(secret.get(prefix..).unwrap_or("")))
}

/// An AWS secret has exactly 40 characters: no more of them may follow.
fn forty(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    let longer = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let whole = candidate.next_byte().is_none_or(|byte| !longer(byte));
    candidate.when(whole && value::is_random(candidate.secret()))
}

pub(super) static DETECTORS: &[Detector] = &[
    Detector {
        name: "aws_access_key_id",
        what: "the id of an AWS access key",
        keywords: &["akia", "asia"],
        pattern: "A[KS]IA[A-Z2-7]{16}",
        edge: Edge::Word,
        check: as_is,
        #[cfg(test)]
        hits: &[
            Sample { before: "id=", secret: &["AKI", "AIOSFODNN7EXAMPLE"], after: "\n" },
            Sample { before: "\\n", secret: &["ASI", "AY34FZKBOKMUTVV7A"], after: "\\n" },
        ],
        #[cfg(test)]
        misses: &[
            &["AKI", "AIOSFODNN7"],
            &["XAKI", "AIOSFODNN7ABCDEFG"],
            &["ASIAN-PACIFIC-REGION"],
        ],
        ..SECRET
    },
    // Only in an assignment: without a name it is any 40 characters.
    Detector {
        name: "aws_secret_access_key",
        what: "an AWS secret access key after its name",
        keywords: &["secret"],
        lead: concat!(
            r#"(?i)secret[_-]?(?:access[_-]?)?key\\{0,3}["']?[ \t]{0,4}(?:[:=]|[ \t])[ \t]{0,4}"#,
            r#"(?:\\{0,3}["'])?"#,
        ),
        pattern: "[A-Za-z0-9/+]{40}",
        edge: Edge::Free,
        check: forty,
        #[cfg(test)]
        hits: &[
            Sample {
                before: "aws_secret_access_key = ",
                secret: &["wJalrXUtnFEMI/K7MDENG", "/bPxRfiCYEXAMPLEKEY"],
                after: "\n",
            },
            Sample {
                before: "\"SecretAccessKey\": \"",
                secret: &["wJalrXUtnFEMI/K7MDENG", "/bPxRfiCYzzAMPLEKEY"],
                after: "\"",
            },
        ],
        #[cfg(test)]
        misses: &[
            &["secret_key: ", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"],
            &["the secret access key of the account"],
        ],
        ..SECRET
    },
    Detector {
        name: "github_token",
        what: "a GitHub token",
        keywords: &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        pattern: "gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{36,}",
        edge: Edge::Word,
        check: random,
        #[cfg(test)]
        hits: &[
            Sample {
                before: "https://x:",
                secret: &["gh", "p_16C7e42F292c6912E7710c838347Ae178B4a"],
                after: "@github.com/a/b",
            },
            Sample {
                before: "",
                secret: &["github_", "pat_11ABCDEFG0abcdefghijkl_MNOPQRstuvwxyz0123456789"],
                after: "",
            },
        ],
        #[cfg(test)]
        misses: &[&["gh", "p_16C7e42F292c6912"], &["gh", "p_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"]],
        ..SECRET
    },
    Detector {
        name: "gitlab_token",
        what: "a GitLab token",
        keywords: &["glpat-", "gldt-", "glrt-", "glptt-", "glcbt-"],
        pattern: r"gl(?:pat|dt|rt|ptt|cbt)-[A-Za-z0-9_-]{20,}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?",
        edge: Edge::Word,
        check: random,
        #[cfg(test)]
        hits: &[Sample {
            before: "PRIVATE-TOKEN: ",
            secret: &["gl", "pat-Zs3x9QmT7uWk_2LpVbNc"],
            after: "'",
        }],
        #[cfg(test)]
        misses: &[&["gl", "pat-your-token-goes-in-here"], &["glpat-short"]],
        ..SECRET
    },
    Detector {
        name: "slack_token",
        what: "a Slack token",
        keywords: &["xox", "xapp-"],
        pattern: "xox[abeprs]-[A-Za-z0-9-]{20,}|xapp-[0-9]-[A-Za-z0-9-]{30,}",
        edge: Edge::Word,
        check: random,
        #[cfg(test)]
        hits: &[
            Sample {
                before: "",
                secret: &["xo", "xb-263594206564-2343594206574-FGqddMF8t08v8N7Oq4i57vs1"],
                after: "",
            },
            Sample {
                before: "",
                secret: &["xa", "pp-1-A0123456789-4567890123456-0f1e2d3c4b5a69788796a5b4"],
                after: "",
            },
        ],
        #[cfg(test)]
        misses: &[&["xo", "xb-your-bot-token-goes-here"], &["xoxo-hugs-and-kisses-2024"]],
        ..SECRET
    },
    Detector {
        name: "slack_webhook",
        what: "the secret path of a Slack webhook",
        keywords: &["hooks.slack.com/services/"],
        lead: "hooks[.]slack[.]com/services/",
        pattern: "T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{18,}",
        edge: Edge::Word,
        check: as_is,
        #[cfg(test)]
        hits: &[Sample {
            before: "https://hooks.slack.com/services/",
            secret: &["T0000", "0001/B00000001/", "q1W2e3R4t5Y6u7I8o9P0aSdF"],
            after: "",
        }],
        #[cfg(test)]
        misses: &[&["https://hooks.slack.com/services/T.../B.../..."]],
        ..SECRET
    },
    Detector {
        name: "stripe_key",
        what: "a Stripe key or webhook secret",
        keywords: &["sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_"],
        pattern: "[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{24,}={0,2}",
        edge: Edge::Word,
        check: random,
        #[cfg(test)]
        hits: &[Sample {
            before: "curl -u ",
            secret: &["sk_", "live_4eC39HqLyjWDarjtT1zdp7dc"],
            after: ":",
        }],
        #[cfg(test)]
        misses: &[&["sk_", "test_xxxxxxxxxxxxxxxxxxxx"], &["sk_live_"]],
        ..SECRET
    },
    Detector {
        name: "anthropic_key",
        what: "an Anthropic API key",
        keywords: &["sk-"],
        pattern: "sk-ant-[A-Za-z0-9_-]{24,}",
        edge: Edge::Word,
        check: anthropic,
        #[cfg(test)]
        hits: &[Sample {
            before: "x-api-key: ",
            secret: &["sk-", "ant-api03-Qm9Zk2Lx7Vb4Nc1Xs8Wd5Ef0_Rg-Th6Yj3Uk9Il2Op4"],
            after: "\"",
        }],
        #[cfg(test)]
        misses: &[
            &["sk-", "ant-api03-your-key-goes-in-here-please"],
            &["sk-", "ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxx"],
        ],
        ..SECRET
    },
    // Also the form that many servers with the same API copied.
    Detector {
        name: "openai_key",
        what: "an OpenAI API key, or one of the same form",
        keywords: &["sk-"],
        pattern: "sk-(?:proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{20,}|sk-[A-Za-z0-9]{32,}",
        edge: Edge::Word,
        check: random,
        #[cfg(test)]
        hits: &[
            Sample {
                before: "OPENAI_API_KEY=",
                secret: &["sk-", "proj-Ab3dEf6hIj9lMn2pQr5tUv8xYz1_-4Gk7Nq0"],
                after: " python",
            },
            Sample {
                before: "",
                secret: &["sk-", "Ab3dEf6hIj9lMn2pQr5tT3BlbkFJUv8xYz1Cw4Gk7Nq0Ts3W"],
                after: "",
            },
        ],
        #[cfg(test)]
        misses: &[
            &["sk-", "proj-my-very-long-project-name"],
            &["task-0123456789abcdefghij0123456789ab"],
        ],
        ..SECRET
    },
    Detector {
        name: "google_api_key",
        what: "a Google API key",
        keywords: &["aiza"],
        pattern: "AIza[A-Za-z0-9_-]{35}",
        edge: Edge::Run,
        check: as_is,
        #[cfg(test)]
        hits: &[Sample {
            before: "?key=",
            secret: &["AI", "zaSyD9tSrke72PouQMnMX-a7eZSW0jkFMBWYx"],
            after: "&q=1",
        }],
        #[cfg(test)]
        misses: &[&["AI", "zaSyD9tSrke72PouQMnMX"]],
        ..SECRET
    },
    Detector {
        name: "google_oauth_token",
        what: "a Google OAuth access token",
        keywords: &["ya29."],
        pattern: r"ya29\.[A-Za-z0-9_.-]{20,}",
        edge: Edge::Word,
        check: random,
        #[cfg(test)]
        hits: &[Sample {
            before: "",
            secret: &["ya", "29.a0AfH6SMBx7Qk3Zp-9Lm_2Vn8Rt5Yw"],
            after: "",
        }],
        #[cfg(test)]
        misses: &[&["ya29.short"]],
        ..SECRET
    },
    Detector {
        name: "google_client_secret",
        what: "a Google OAuth client secret",
        keywords: &["gocspx-"],
        pattern: "GOCSPX-[A-Za-z0-9_-]{28}",
        edge: Edge::Run,
        check: random,
        #[cfg(test)]
        hits: &[Sample {
            before: "",
            secret: &["GOC", "SPX-a1B2c3D4e5F6g7H8i9J0k1L2m3N4"],
            after: "",
        }],
        #[cfg(test)]
        misses: &[&["GOCSPX-your-client-secret"]],
        ..SECRET
    },
    Detector {
        name: "npm_token",
        what: "an npm token",
        keywords: &["npm_"],
        pattern: "npm_[A-Za-z0-9]{36}",
        edge: Edge::Word,
        check: random,
        #[cfg(test)]
        hits: &[Sample {
            before: "_authToken=",
            secret: &["np", "m_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6"],
            after: "",
        }],
        #[cfg(test)]
        misses: &[&["npm_config_registry=x"]],
        ..SECRET
    },
    Detector {
        name: "pypi_token",
        what: "a PyPI token",
        keywords: &["pypi-"],
        pattern: "pypi-AgE[A-Za-z0-9_-]{50,}",
        edge: Edge::Word,
        check: random,
        #[cfg(test)]
        hits: &[Sample {
            before: "",
            secret: &[
                "py",
                "pi-AgEIcHlwaS5vcmcCJDEyMzQ1Njc4LTkwYWItY2RlZi0xMjM0LTU2Nzg5MGFiY2RlZg",
            ],
            after: "",
        }],
        #[cfg(test)]
        misses: &[&["pypi-publish-action-of-the-release-workflow-v1-and-more-of-it"]],
        ..SECRET
    },
    Detector {
        name: "huggingface_token",
        what: "a Hugging Face token",
        keywords: &["hf_", "api_org_"],
        pattern: "(?:hf|api_org)_[A-Za-z0-9]{34,}",
        edge: Edge::Word,
        check: letters,
        #[cfg(test)]
        hits: &[Sample {
            before: "",
            secret: &["h", "f_QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi"],
            after: "",
        }],
        #[cfg(test)]
        misses: &[&["hf_hub_download"], &["hf_", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]],
        ..SECRET
    },
    Detector {
        name: "sendgrid_key",
        what: "a SendGrid API key",
        keywords: &["sg."],
        pattern: r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}",
        edge: Edge::Run,
        check: random,
        #[cfg(test)]
        hits: &[Sample {
            before: "",
            secret: &["S", "G.ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf-09kqeF8tAmbihYzrnopKc-1s5cr"],
            after: "",
        }],
        #[cfg(test)]
        misses: &[&["SG.ngeVfQFYQlKU0ufo8x5d1A"], &["msg.length"]],
        ..SECRET
    },
    Detector {
        name: "twilio_key",
        what: "a Twilio API key",
        // Many words of ordinary text have the first two letters.
        keywords: &[
            "sk0", "sk1", "sk2", "sk3", "sk4", "sk5", "sk6", "sk7", "sk8", "sk9", "ska", "skb",
            "skc", "skd", "ske", "skf",
        ],
        pattern: "SK[0-9a-f]{32}",
        edge: Edge::Word,
        check: as_is,
        #[cfg(test)]
        hits: &[Sample {
            before: "",
            secret: &["S", "K0123456789abcdef0123456789abcdef"],
            after: "",
        }],
        #[cfg(test)]
        misses: &[&["SKU0123456789"], &["ASK0123456789abcdef0123456789abcdef"]],
        ..SECRET
    },
    Detector {
        name: "digitalocean_token",
        what: "a DigitalOcean token",
        keywords: &["dop_v1_", "doo_v1_", "dor_v1_"],
        pattern: "do[opr]_v1_[0-9a-f]{64}",
        edge: Edge::Word,
        check: as_is,
        #[cfg(test)]
        hits: &[Sample {
            before: "",
            secret: &[
                "do",
                "p_v1_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            ],
            after: "",
        }],
        #[cfg(test)]
        misses: &[&["dop_v1_0123456789abcdef"]],
        ..SECRET
    },
    Detector {
        name: "databricks_token",
        what: "a Databricks token",
        keywords: &["dapi"],
        pattern: "dapi[0-9a-f]{32}(?:-[0-9])?",
        edge: Edge::Word,
        check: as_is,
        #[cfg(test)]
        hits: &[Sample {
            before: "",
            secret: &["da", "pi0123456789abcdef0123456789abcdef-2"],
            after: "",
        }],
        #[cfg(test)]
        misses: &[&["dapi0123456789"], &["sandapi0123456789abcdef0123456789abcdef"]],
        ..SECRET
    },
    Detector {
        name: "azure_key",
        what: "an Azure storage or service key after its name",
        keywords: &["accountkey=", "sharedaccesskey="],
        lead: "(?i)(?:account|sharedaccess)key=",
        pattern: "[A-Za-z0-9/+]{40,}={0,2}",
        edge: Edge::Free,
        check: random_whole,
        #[cfg(test)]
        hits: &[Sample {
            before: "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=",
            secret: &[
                "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/",
                "K1SZFPTOtr/KBHBeksoGMGw==",
            ],
            after: ";EndpointSuffix=core.windows.net",
        }],
        #[cfg(test)]
        misses: &[&["AccountName=a;AccountKey=<your account key>"]],
        ..SECRET
    },
    Detector {
        name: "azure_sas_signature",
        what: "the signature of an Azure shared access link",
        keywords: &["sig="],
        lead: "sig=",
        pattern: "(?:[A-Za-z0-9/+]|%2[BbFf]){42,}(?:%3[Dd]|=)?",
        edge: Edge::Word,
        check: random_whole,
        #[cfg(test)]
        hits: &[Sample {
            before: "https://a.blob.core.windows.net/c?sv=2022-11-02&sig=",
            secret: &["Zm9vYmFyYmF6cXV4", "%2Fq1W2e3R4t5Y6u7I8o9P0aSdFgH%3D"],
            after: "&se=2030",
        }],
        #[cfg(test)]
        misses: &[&["sig=SIGTERM"]],
        ..SECRET
    },
    Detector {
        name: "grafana_token",
        what: "a Grafana token",
        keywords: &["glsa_", "glc_"],
        pattern: "glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/]{32,}={0,2}",
        edge: Edge::Word,
        check: random,
        #[cfg(test)]
        hits: &[Sample {
            before: "",
            secret: &["gl", "sa_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF_0123abcd"],
            after: "",
        }],
        #[cfg(test)]
        misses: &[&["glsa_token"]],
        ..SECRET
    },
    Detector {
        name: "vault_token",
        what: "a HashiCorp Vault token",
        keywords: &["hvs.", "hvb."],
        pattern: r"hv[sb]\.[A-Za-z0-9_-]{24,}",
        edge: Edge::Word,
        check: random,
        #[cfg(test)]
        hits: &[Sample {
            before: "",
            secret: &["hv", "s.CAESIJ8mQyZrK3nT5wLdS2hGfPcXeUbR9oVt"],
            after: "",
        }],
        #[cfg(test)]
        misses: &[&["hvs.example"]],
        ..SECRET
    },
    Detector {
        name: "groq_key",
        what: "a Groq API key",
        keywords: &["gsk_"],
        pattern: "gsk_[A-Za-z0-9]{48,}",
        edge: Edge::Word,
        check: random,
        #[cfg(test)]
        hits: &[Sample {
            before: "",
            secret: &["gs", "k_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6kL9nO2qR5tU8wX1z"],
            after: "",
        }],
        #[cfg(test)]
        misses: &[&["gsk_key"]],
        ..SECRET
    },
    Detector {
        name: "xai_key",
        what: "an xAI API key",
        keywords: &["xai-"],
        pattern: "xai-[A-Za-z0-9]{60,}",
        edge: Edge::Word,
        check: random,
        #[cfg(test)]
        hits: &[Sample {
            before: "",
            secret: &[
                "xa",
                "i-aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6kL9nO2qR5tU8wX1zA4cD7fG0iJ3lM6oP9rS2",
            ],
            after: "",
        }],
        #[cfg(test)]
        misses: &[&["xai-grok"]],
        ..SECRET
    },
    Detector {
        name: "shopify_token",
        what: "a Shopify token",
        keywords: &["shpat_", "shpss_", "shpca_", "shppa_"],
        pattern: "shp(?:at|ss|ca|pa)_[0-9a-fA-F]{32}",
        edge: Edge::Word,
        check: random,
        #[cfg(test)]
        hits: &[Sample {
            before: "",
            secret: &["shp", "at_0123456789abcdef0123456789abcdef"],
            after: "",
        }],
        #[cfg(test)]
        misses: &[&["shpat_0123"]],
        ..SECRET
    },
    Detector {
        name: "telegram_bot_token",
        what: "the token of a Telegram bot",
        keywords: &[":aa"],
        form: Some("[0-9]{8,12}:AA[A-Za-z0-9_-]{33}"),
        pattern: ":AA[A-Za-z0-9_-]{33}",
        edge: Edge::Free,
        check: telegram,
        #[cfg(test)]
        hits: &[Sample {
            before: "https://api.telegram.org/bot",
            secret: &["1234567890", ":AAH3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF_-"],
            after: "/getMe",
        }],
        #[cfg(test)]
        misses: &[&["12:AAH3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF_-"], &["1234567890:AAH3dE6gH9"]],
        ..SECRET
    },
    // callgate's own keys.
    Detector {
        name: "callgate_key",
        what: "a gateway key of callgate",
        keywords: &["cg_"],
        pattern: "cg_[A-Za-z0-9_-]{40,}",
        edge: Edge::Word,
        check: random,
        #[cfg(test)]
        hits: &[Sample {
            before: "Bearer ",
            secret: &["c", "g_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6kL9nO2q"],
            after: "",
        }],
        #[cfg(test)]
        misses: &[&["cg_", "a_function_with_a_very_long_name_of_its_own"], &["ecg_aB3dE6gH9jK2m"]],
        ..SECRET
    },
];

/// `sk-ant-api03-` has a digit in its prefix, which must not count.
fn anthropic(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    let body = candidate.secret().trim_start_matches("sk-ant-");
    let body = body.split_once('-').map_or(body, |(_, body)| body);
    candidate.when(value::is_random(body))
}

/// Hugging Face tokens consist of letters only; words in snake case are never this long.
fn letters(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    let upper = candidate.secret().bytes().any(|byte| byte.is_ascii_uppercase());
    candidate.when(upper)
}

/// There is no prefix to skip.
fn random_whole(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    candidate.when(value::is_random(candidate.secret()))
}

/// The number of the bot is before the keyword: 8 to 12 digits.
fn telegram(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    let before = candidate.text.as_bytes().get(..candidate.whole.start)?;
    let digits = before.iter().rev().take(13).take_while(|byte| byte.is_ascii_digit()).count();
    let start = candidate.whole.start - digits;
    (8..=12).contains(&digits).then_some(start..candidate.whole.end)
}
