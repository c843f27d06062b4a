"""Gemini generateContent. The client never asks for the array form: it always adds `alt=sse`."""

import asyncio
import ssl

import httpx2
from google import genai
from google.genai import types, version

from common import TIMEOUT

HTTP = {
    # trust_env off: a proxy named in the environment must not come between us and the server.
    "httpx_client": httpx2.Client(trust_env=False, timeout=TIMEOUT),
    "httpx_async_client": httpx2.AsyncClient(trust_env=False, timeout=TIMEOUT),
    # Else every client loads all certificates, which takes longer than what it is to do.
    "async_client_args": {"ssl": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)},
}
# Nothing is to be called by the client itself.
CONFIG = types.GenerateContentConfig(
    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True)
)


def at(root):
    options = types.HttpOptions(base_url=root, timeout=TIMEOUT * 1000, **HTTP)
    return genai.Client(api_key="none", http_options=options)


def ask(job):
    return {"model": job.get("model", "any"), "contents": "hi", "config": CONFIG}


def take(seen, response):
    for candidate in response.candidates or []:
        if candidate.finish_reason:
            seen.stop = candidate.finish_reason.value
        for part in (candidate.content and candidate.content.parts) or []:
            if part.function_call:
                seen.call(seen.final, None, part.function_call.name, part.function_call.args)
            if part.text and not part.thought:
                seen.say(part.text)


async def stream(root, seen, job):
    async for chunk in await at(root).aio.models.generate_content_stream(**ask(job)):
        take(seen, chunk)


async def stream_in_thread(root, seen, job):
    def run():
        for chunk in at(root).models.generate_content_stream(**ask(job)):
            take(seen, chunk)

    await asyncio.to_thread(run)


async def whole(root, seen, job):
    take(seen, await at(root).aio.models.generate_content(**ask(job)))


NAME = f"google-genai python {{}}{version.__version__}"
CLIENTS = {
    ("gemini", "stream"): {
        NAME.format(""): stream_in_thread,
        NAME.format("aio "): stream,
    },
    ("gemini", "whole"): {NAME.format("generate_content() "): whole},
}
