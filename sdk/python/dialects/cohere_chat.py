"""Cohere, version 2."""

from importlib.metadata import version

import cohere
import httpx

from common import TIMEOUT, Pieces, field

# trust_env off: a proxy named in the environment must not come between us and the server.
HTTP = httpx.AsyncClient(trust_env=False, timeout=TIMEOUT)


def at(root):
    return cohere.AsyncClientV2(api_key="none", base_url=root, httpx_client=HTTP, max_retries=0)


def ask(job):
    return {"model": job.get("model", "any"), "messages": [{"role": "user", "content": "hi"}]}


async def stream(root, seen, job):
    """Calls put together by hand: the client hands over events."""
    pieces = Pieces()
    try:
        async for event in at(root).chat_stream(**ask(job)):
            take_event(seen, pieces, event)
    finally:
        pieces.tell(seen)


def take_event(seen, pieces, event):
    kind, index = field(event, "type"), field(event, "index")
    delta = field(event, "delta")
    message = field(delta, "message")
    function = field(field(message, "tool_calls"), "function")
    if kind == "tool-call-start":
        pieces.start(index, field(function, "name"), field(function, "arguments") or "")
    elif kind == "tool-call-delta":
        pieces.add(index, field(function, "arguments"))
    elif kind == "content-delta":
        seen.say(field(field(message, "content"), "text"))
    elif kind == "message-end":
        seen.stop = field(delta, "finish_reason")


async def whole(root, seen, job):
    response = await at(root).chat(**ask(job))
    seen.stop = response.finish_reason
    for position, call in enumerate(response.message.tool_calls or []):
        seen.call(seen.final, position, call.function.name, call.function.arguments)
    for part in response.message.content or []:
        seen.say(field(part, "text"))


NAME = f"cohere-python {{}} {version('cohere')}"
CLIENTS = {
    ("cohere", "stream"): {NAME.format("chat_stream()"): stream},
    ("cohere", "whole"): {NAME.format("chat()"): whole},
}
