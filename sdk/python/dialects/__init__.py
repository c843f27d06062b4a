"""The clients of each dialect.

A module has `CLIENTS`: by dialect and mode, the clients by name. A client is an async function that
asks the server at a root and tells what it saw: `run(root, seen, job)`.
"""

from . import (
    anthropic_messages,
    bedrock,
    cohere_chat,
    gemini,
    interactions,
    mistral,
    ollama_chat,
    openai_chat,
    openai_responses,
)

CLIENTS = {}
for module in (
    anthropic_messages,
    openai_chat,
    mistral,
    openai_responses,
    gemini,
    interactions,
    ollama_chat,
    cohere_chat,
    bedrock,
):
    for key, clients in module.CLIENTS.items():
        CLIENTS.setdefault(key, {}).update(clients)
