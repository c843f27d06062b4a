"""Ollama's own chat."""

from importlib.metadata import version

import ollama

from common import TIMEOUT


def at(root):
    # No certificates to load, and no proxy of the environment: the server is on this machine.
    return ollama.AsyncClient(host=root, timeout=TIMEOUT, trust_env=False, verify=False)


def ask(job):
    return {"model": job.get("model", "any"), "messages": [{"role": "user", "content": "hi"}]}


def take(seen, response):
    seen.stop = response.done_reason or seen.stop
    seen.say(response.message.content)
    for call in response.message.tool_calls or []:
        seen.call(seen.final, None, call.function.name, call.function.arguments)


async def stream(root, seen, job):
    async for response in await at(root).chat(**ask(job), stream=True):
        take(seen, response)


async def whole(root, seen, job):
    take(seen, await at(root).chat(**ask(job)))


NAME = f"ollama-python chat({{}}) {version('ollama')}"
CLIENTS = {
    ("ollama", "stream"): {NAME.format("stream"): stream},
    ("ollama", "whole"): {NAME.format(""): whole},
}
