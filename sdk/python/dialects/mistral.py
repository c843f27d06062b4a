"""Mistral, whose API is Chat Completions with differences."""

from importlib.metadata import version

import httpx2
from mistralai.client import Mistral

from common import TIMEOUT, Pieces, field

# trust_env off: a proxy named in the environment must not come between us and the server.
HTTP = {
    "client": httpx2.Client(trust_env=False, timeout=TIMEOUT),
    "async_client": httpx2.AsyncClient(trust_env=False, timeout=TIMEOUT),
}


def at(root):
    return Mistral(api_key="none", server_url=root, timeout_ms=TIMEOUT * 1000, **HTTP)


def ask(job):
    return {"model": job.get("model", "any"), "messages": [{"role": "user", "content": "hi"}]}


def take_content(seen, content):
    if isinstance(content, list):
        for part in content:
            seen.say(field(part, "text"))
    elif isinstance(content, str):
        seen.say(content)


async def stream(root, seen, job):
    """Calls put together by hand: a piece with a name begins one, others go by their index."""
    pieces = Pieces()
    try:
        async for event in await at(root).chat.stream_async(**ask(job)):
            for choice in event.data.choices:
                seen.stop = choice.finish_reason or seen.stop
                take_content(seen, choice.delta.content)
                for call in choice.delta.tool_calls or []:
                    place = (choice.index, call.index)
                    if call.function.name:
                        pieces.start(place, call.function.name, call.function.arguments)
                    else:
                        pieces.add(place, call.function.arguments)
    finally:
        pieces.tell(seen)


async def whole(root, seen, job):
    response = await at(root).chat.complete_async(**ask(job))
    for choice in response.choices:
        seen.stop = seen.stop or choice.finish_reason
        take_content(seen, choice.message.content)
        for position, call in enumerate(choice.message.tool_calls or []):
            seen.call(seen.final, position, call.function.name, call.function.arguments)


NAME = f"mistralai-python chat.{{}} {version('mistralai')}"
CLIENTS = {
    ("openai-chat", "stream"): {NAME.format("stream()"): stream},
    ("openai-chat", "whole"): {NAME.format("complete()"): whole},
}
