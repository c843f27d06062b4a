"""Conversations with tools, each client the way its documentation shows."""

from . import (
    anthropic_messages,
    bedrock_converse,
    cohere_chat,
    gemini,
    ollama_chat,
    openai_chat,
    openai_responses,
)

CLIENTS = {
    **anthropic_messages.CLIENTS,
    **openai_chat.CLIENTS,
    **openai_responses.CLIENTS,
    **gemini.CLIENTS,
    **ollama_chat.CLIENTS,
    **cohere_chat.CLIENTS,
    **bedrock_converse.CLIENTS,
}
