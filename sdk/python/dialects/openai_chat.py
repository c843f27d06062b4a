"""OpenAI Chat Completions."""

import openai

from common import TIMEOUT, field, snapshot_of

# trust_env off: a proxy named in the environment must not come between us and the server.
CLIENT = openai.AsyncOpenAI(
    api_key="none",
    max_retries=0,
    timeout=TIMEOUT,
    http_client=openai.DefaultAsyncHttpxClient(trust_env=False),
)


def at(root):
    """The client for a server; as its documentation says, its base URL has the version in it."""
    return CLIENT.with_options(base_url=f"{root}/v1")


def ask(job):
    return {"model": job.get("model", "any"), "messages": [{"role": "user", "content": "hi"}]}


def called(tool_call):
    """Name and arguments of a tool call, or of a fragment of one; of a function or a custom tool."""
    if function := field(tool_call, "function"):
        return field(function, "name"), field(function, "arguments")
    custom = field(tool_call, "custom")
    return field(custom, "name"), field(custom, "input")


def take_completion(seen, completion):
    for choice in completion.choices:
        seen.stop = seen.stop or choice.finish_reason
        seen.say(choice.message.content)


def take_final_completion(seen, completion):
    for choice in completion.choices:
        for position, tool_call in enumerate(choice.message.tool_calls or []):
            seen.call(seen.final, position, *called(tool_call))
        if legacy := choice.message.function_call:
            seen.call(seen.final, None, legacy.name, legacy.arguments)


async def stream(root, seen, job):
    async with at(root).chat.completions.stream(**ask(job)) as events:
        try:
            async for event in events:
                if event.type == "tool_calls.function.arguments.done":
                    seen.call(seen.early, event.index, event.name, event.arguments)
            take_final_completion(seen, await events.get_final_completion())
        finally:
            if completion := snapshot_of(events, "current_completion_snapshot"):
                take_completion(seen, completion)


async def chunks(root, seen, job):
    """Chunks read by hand, leniently, as many programs do.

    Programs differ in how they join fragments, so each fragment with a name is its own call here.
    """
    async for chunk in await at(root).chat.completions.create(**ask(job), stream=True):
        for choice in getattr(chunk, "choices", None) or []:
            seen.stop = choice.finish_reason or seen.stop
            if not (delta := choice.delta):
                continue
            seen.say(delta.content)
            legacy = {"function": delta.function_call}
            for fragment in [*(delta.tool_calls or []), legacy]:
                name, arguments = called(fragment)
                if name:
                    seen.call(seen.final, None, name, arguments)


async def whole(root, seen, job):
    completion = await at(root).chat.completions.create(**ask(job))
    take_final_completion(seen, completion)
    take_completion(seen, completion)


NAME = f"openai-python chat {{}} {openai.__version__}"
CLIENTS = {
    ("openai-chat", "stream"): {
        NAME.format("stream()"): stream,
        NAME.format("create(stream)"): chunks,
    },
    ("openai-chat", "whole"): {NAME.format("create()"): whole},
}
