"""OpenAI Responses."""

import openai

from common import field

from .openai_chat import at

# Items the provider runs itself. Anything else that is named `..._call`, or has a call id, is for
# the client to run.
AT_PROVIDER = {
    "mcp_call",
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "program",
}


def ask(job):
    return {"model": job.get("model", "any"), "input": "hi"}


def is_call(item):
    kind = str(field(item, "type") or "")
    if kind in AT_PROVIDER or kind.endswith("_output"):
        return False
    if kind == "tool_search_call":
        return field(item, "execution") != "server"
    if kind == "shell_call":
        place = str(field(field(item, "environment"), "type"))
        return not place.startswith("container")
    return bool(field(item, "call_id")) or kind.endswith("_call") or kind == "mcp_approval_request"


def plain(value):
    """A part of an item as JSON has it."""
    return value.model_dump(exclude_unset=True) if hasattr(value, "model_dump") else value


def take_call(seen, position, item, once=False):
    """A function or custom call; a built-in one goes by the name of its type."""
    if not is_call(item):
        return
    name = field(item, "name") or str(field(item, "type")).removesuffix("_call")
    members = ("arguments", "input", "action", "actions", "operation")
    arguments = next((it for it in (field(item, key) for key in members) if it is not None), None)
    if once:
        seen.call_once(field(item, "call_id") or position, name, plain(arguments))
    else:
        seen.call(seen.final, position, name, plain(arguments))


def take_response(seen, response, once=False):
    seen.stop = field(response, "status")
    for position, item in enumerate(field(response, "output") or []):
        take_call(seen, position, item, once)
        for part in field(item, "content") or []:
            if field(item, "type") == "message" and not once:
                seen.say(field(part, "text") or field(part, "refusal"))


async def stream(root, seen, job):
    async with at(root).responses.stream(**ask(job)) as events:
        take_response(seen, await events.get_final_response())


async def events(root, seen, job):
    """Events read by hand: a call is run when its item is done, or when a last response has it."""
    async for event in await at(root).responses.create(**ask(job), stream=True):
        kind = field(event, "type")
        if kind == "response.output_item.done":
            take_call(seen, field(event, "output_index"), field(event, "item"), once=True)
        elif kind == "response.output_text.delta":
            seen.say(field(event, "delta"))
        elif kind in ("response.completed", "response.incomplete", "response.failed"):
            take_response(seen, field(event, "response"), once=True)
        elif kind == "error":
            raise RuntimeError(f"error event: {field(event, 'message')}")


async def whole(root, seen, job):
    take_response(seen, await at(root).responses.create(**ask(job)))


NAME = f"openai-python responses.{{}} {openai.__version__}"
CLIENTS = {
    ("openai-responses", "stream"): {
        NAME.format("stream()"): stream,
        NAME.format("create(stream)"): events,
    },
    ("openai-responses", "whole"): {NAME.format("create()"): whole},
}
