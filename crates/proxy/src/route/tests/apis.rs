//! The paths of every API: the provider, the path there, the dialect.

use super::*;

fn all() -> Routes {
    let table = [
        ("anthropic", "https://api.anthropic.com", Dialect::Anthropic),
        ("openai", "https://api.openai.com/v1", Dialect::OpenAiChat),
        ("gemini", "https://generativelanguage.googleapis.com", Dialect::Gemini),
        ("vertex", "https://aiplatform.googleapis.com", Dialect::Gemini),
        ("code-assist", "https://cloudcode-pa.googleapis.com", Dialect::Gemini),
        ("mistral", "https://api.mistral.ai/v1", Dialect::OpenAiChat),
        ("cohere", "https://api.cohere.com", Dialect::Cohere),
        ("deepseek", "https://api.deepseek.com", Dialect::OpenAiChat),
        ("groq", "https://api.groq.com/openai/v1", Dialect::OpenAiChat),
        ("openrouter", "https://openrouter.ai/api/v1", Dialect::OpenAiChat),
        ("ollama", "http://127.0.0.1:11434", Dialect::Ollama),
        ("azure", "https://r.openai.azure.com", Dialect::OpenAiChat),
        ("zai", "https://api.z.ai/api/paas/v4", Dialect::OpenAiChat),
        ("aws", "https://bedrock-runtime.eu-central-1.amazonaws.com", Dialect::Converse),
    ];
    let table = table.map(|(name, base_url, dialect)| provider(name, base_url, dialect));
    routes_of(table.to_vec(), &[])
}

/// Where a POST to a path goes: provider, path there, dialect.
fn inspected(requested: &str) -> Result<(String, String, Dialect), NoRoute> {
    match goes_with(&all(), "POST", requested, false)? {
        (name, path, Treatment::Inspect(dialect)) => Ok((name, path, dialect)),
        other => panic!("{requested}: {other:?}"),
    }
}

#[test]
fn calls_are_read_at_every_path_that_has_them() {
    use Dialect::{
        Anthropic, Cohere, Converse, Gemini, Interactions, Invoke, Ollama, OpenAiChat, Responses,
    };
    let table = [
        ("/anthropic/v1/chat/completions", "anthropic", "/v1/chat/completions", OpenAiChat),
        ("/v1/responses", "openai", "/v1/responses", Responses),
        ("/openai/responses/compact", "openai", "/v1/responses/compact", Responses),
        ("/v1/responses/resp_1/cancel", "openai", "/v1/responses/resp_1/cancel", Responses),
        ("/v1/conversations/conv_1", "openai", "/v1/conversations/conv_1", Responses),
        ("/v1/conversations/c/items", "openai", "/v1/conversations/c/items", Responses),
        (
            "/v1beta/models/gemini-3:generateContent",
            "gemini",
            "/v1beta/models/gemini-3:generateContent",
            Gemini,
        ),
        (
            "/v1/models/gemini-3:streamGenerateContent",
            "gemini",
            "/v1/models/gemini-3:streamGenerateContent",
            Gemini,
        ),
        (
            "/v1beta/models/gemini-3%3AgenerateContent",
            "gemini",
            "/v1beta/models/gemini-3%3AgenerateContent",
            Gemini,
        ),
        (
            "/gemini/v1beta/models/gemini-3:generateContent",
            "gemini",
            "/v1beta/models/gemini-3:generateContent",
            Gemini,
        ),
        ("/v1beta/interactions", "gemini", "/v1beta/interactions", Interactions),
        ("/v1/interactions/i/cancel", "gemini", "/v1/interactions/i/cancel", Interactions),
        (
            "/v1beta/openai/chat/completions",
            "gemini",
            "/v1beta/openai/chat/completions",
            OpenAiChat,
        ),
        (
            "/v1/projects/p/locations/l/publishers/google/models/m:streamGenerateContent",
            "vertex",
            "/v1/projects/p/locations/l/publishers/google/models/m:streamGenerateContent",
            Gemini,
        ),
        (
            "/v1/projects/p/locations/l/publishers/anthropic/models/m@1:streamRawPredict",
            "vertex",
            "/v1/projects/p/locations/l/publishers/anthropic/models/m@1:streamRawPredict",
            Anthropic,
        ),
        (
            "/v1beta1/projects/p/locations/l/endpoints/openapi/chat/completions",
            "vertex",
            "/v1beta1/projects/p/locations/l/endpoints/openapi/chat/completions",
            OpenAiChat,
        ),
        (
            "/v1internal:streamGenerateContent",
            "code-assist",
            "/v1internal:streamGenerateContent",
            Gemini,
        ),
        ("/mistral/v1/fim/completions", "mistral", "/v1/fim/completions", OpenAiChat),
        ("/mistral/v1/agents/completions", "mistral", "/v1/agents/completions", OpenAiChat),
        ("/v2/chat", "cohere", "/v2/chat", Cohere),
        (
            "/cohere/compatibility/v1/chat/completions",
            "cohere",
            "/compatibility/v1/chat/completions",
            OpenAiChat,
        ),
        ("/deepseek/chat/completions", "deepseek", "/chat/completions", OpenAiChat),
        ("/deepseek/anthropic/v1/messages", "deepseek", "/anthropic/v1/messages", Anthropic),
        ("/groq/openai/v1/chat/completions", "groq", "/openai/v1/chat/completions", OpenAiChat),
        ("/groq/chat/completions", "groq", "/openai/v1/chat/completions", OpenAiChat),
        ("/api/v1/chat/completions", "openrouter", "/api/v1/chat/completions", OpenAiChat),
        ("/openrouter/messages", "openrouter", "/api/v1/messages", Anthropic),
        ("/openrouter/api/v1/responses", "openrouter", "/api/v1/responses", Responses),
        ("/api/chat", "ollama", "/api/chat", Ollama),
        ("/ollama/api/generate", "ollama", "/api/generate", Ollama),
        ("/ollama/v1/chat/completions", "ollama", "/v1/chat/completions", OpenAiChat),
        ("/ollama/v1/responses", "ollama", "/v1/responses", Responses),
        ("/ollama/v1/messages", "ollama", "/v1/messages", Anthropic),
        (
            "/azure/openai/deployments/gpt/chat/completions",
            "azure",
            "/openai/deployments/gpt/chat/completions",
            OpenAiChat,
        ),
        ("/azure/openai/v1/responses", "azure", "/openai/v1/responses", Responses),
        ("/azure/anthropic/v1/messages", "azure", "/anthropic/v1/messages", Anthropic),
        ("/azure/models/chat/completions", "azure", "/models/chat/completions", OpenAiChat),
        ("/zai/chat/completions", "zai", "/api/paas/v4/chat/completions", OpenAiChat),
        ("/model/a.b-v1%3A0/converse", "aws", "/model/a.b-v1%3A0/converse", Converse),
        ("/model/m/converse-stream", "aws", "/model/m/converse-stream", Converse),
        ("/aws/model/m/invoke", "aws", "/model/m/invoke", Invoke),
        (
            "/model/arn%3Aaws%3Abedrock%3Ax%3A1%3Ay%2Fz/invoke-with-response-stream",
            "aws",
            "/model/arn%3Aaws%3Abedrock%3Ax%3A1%3Ay%2Fz/invoke-with-response-stream",
            Invoke,
        ),
    ];
    for (requested, name, path, dialect) in table {
        let expected = Ok((name.to_owned(), path.to_owned(), dialect));
        assert_eq!(inspected(requested), expected, "{requested}");
    }
}

#[test]
fn responses_stored_at_the_provider_are_inspected_when_fetched() {
    for (path, dialect) in [
        ("/v1/responses/resp_1", Dialect::Responses),
        ("/v1/responses/resp_1/input_items", Dialect::Responses),
        ("/v1/conversations/conv_1/items/msg_1", Dialect::Responses),
        ("/v1beta/interactions/i_1", Dialect::Interactions),
    ] {
        let (_, _, treatment) = goes_with(&all(), "GET", path, false).expect(path);
        assert_eq!(treatment, Treatment::Inspect(dialect), "{path}");
    }
    let (_, _, gone) = goes_with(&all(), "DELETE", "/v1/responses/resp_1", false).unwrap();
    assert_eq!(gone, Treatment::Pass);
}

#[test]
fn unreadable_apis_are_refused_at_every_provider() {
    for path in [
        "/v1beta/models/m:batchGenerateContent",
        "/v1beta/batches/b",
        "/v1beta/files/f:download",
        "/cohere/v1/chat",
        "/mistral/v1/conversations",
        "/mistral/v1/conversations/c",
        "/azure/openai/threads/t/runs",
        "/azure/openai/realtime",
        "/model/m/invoke-with-bidirectional-stream",
        "/aws/async-invoke",
        "/deepseek/anthropic/v1/messages/batches",
    ] {
        let went = goes_with(&all(), "POST", path, false);
        assert!(matches!(went, Err(NoRoute::Unreadable(_))), "{path}: {went:?}");
    }
    for path in [
        "/v1beta/models/m:predict",
        "/v1beta/models/m:generateContent:countTokens",
        "/v1beta/models/:generateContent",
        "/v1beta/models/m%3Aunknown",
        "/v1/projects/p/locations/l/publishers/meta/models/m:rawPredict",
        "/model/m",
        "/api/Chat",
    ] {
        let went = goes_with(&all(), "POST", path, false);
        assert!(matches!(went, Err(NoRoute::Unreadable(_) | NoRoute::Unknown)), "{path}: {went:?}");
    }
}

#[test]
fn paths_without_calls_pass() {
    for (method, path, name) in [
        ("GET", "/v1beta/models", "gemini"),
        ("GET", "/v1beta/models/gemini-3", "gemini"),
        ("POST", "/v1beta/models/e:embedContent", "gemini"),
        ("POST", "/upload/v1beta/files", "gemini"),
        ("GET", "/v1beta/files", "gemini"),
        ("GET", "/api/tags", "ollama"),
        ("POST", "/api/show", "ollama"),
        ("POST", "/v2/embed", "cohere"),
        ("POST", "/v1internal:loadCodeAssist", "code-assist"),
        ("GET", "/mistral/v1/models", "mistral"),
        ("GET", "/azure/openai/models", "azure"),
    ] {
        let (went, _, treatment) = goes_with(&all(), method, path, false).expect(path);
        assert_eq!(went, name, "{path}");
        assert!(matches!(treatment, Treatment::Pass | Treatment::PassText(_)), "{path}");
    }
}

/// It contains the request whose tokens it counts.
#[test]
fn a_request_whose_tokens_are_counted_is_read() {
    let (_, _, treatment) = goes_with(&all(), "POST", "/model/m/count-tokens", false).unwrap();
    assert_eq!(treatment, Treatment::PassRestored(Dialect::Converse));
}

#[test]
fn a_path_of_an_unserved_api_is_reported_as_such() {
    assert_eq!(goes("POST", "/model/m/converse"), Err(NoRoute::NoProvider));
    assert_eq!(goes("POST", "/api/chat"), Err(NoRoute::NoProvider));
}

#[test]
fn mistral_is_known_by_its_host() {
    for (host, api) in [
        ("https://api.mistral.ai/v1", &crate::route::apis::openai::MISTRAL),
        ("https://mistral.ai", &crate::route::apis::openai::MISTRAL),
        ("https://notmistral.ai", &crate::route::apis::openai::API),
    ] {
        assert_eq!(Api::of(&provider("x", host, Dialect::OpenAiChat)), api, "{host}");
    }
}

#[test]
fn every_dialect_has_an_api() {
    for dialect in Dialect::ALL {
        assert!(Api::of_dialect(dialect).dialects.contains(&dialect), "{dialect:?}");
    }
}
