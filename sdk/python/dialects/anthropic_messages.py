"""Anthropic Messages."""

import anthropic

from common import TIMEOUT, snapshot_of

# trust_env off: a proxy named in the environment must not come between us and the server.
CLIENT = anthropic.AsyncAnthropic(
    api_key="none",
    max_retries=0,
    timeout=TIMEOUT,
    http_client=anthropic.DefaultAsyncHttpxClient(trust_env=False),
)


def at(root):
    return CLIENT.with_options(base_url=root)


def ask(job):
    messages = [{"role": "user", "content": "hi"}]
    return {"model": job.get("model", "any"), "messages": messages, "max_tokens": 64}


def take_block(seen, into, position, block):
    # Only `tool_use` is a call the client runs; server tools run at the provider.
    if getattr(block, "type", None) == "tool_use":
        seen.call(into, position, block.name, block.input)


def take_message(seen, message):
    seen.stop = message.stop_reason
    for block in message.content:
        if getattr(block, "type", None) == "text":
            seen.say(block.text)


def take_final_message(seen, message):
    for position, block in enumerate(message.content):
        take_block(seen, seen.final, position, block)


async def stream(messages, seen, job):
    async with messages.stream(**ask(job)) as events:
        try:
            async for event in events:
                if event.type == "content_block_stop" and hasattr(event, "content_block"):
                    position = event.index % len(events.current_message_snapshot.content)
                    take_block(seen, seen.early, position, event.content_block)
                elif event.type == "content_block_start":
                    # The start of a block also says that the one before is complete.
                    before = snapshot_of(events, "current_message_snapshot")
                    if before and len(before.content) > 1:
                        take_block(seen, seen.early, len(before.content) - 2, before.content[-2])
            take_final_message(seen, await events.get_final_message())
        finally:
            if message := snapshot_of(events, "current_message_snapshot"):
                take_message(seen, message)


async def whole(messages, seen, job):
    message = await messages.create(**ask(job))
    take_final_message(seen, message)
    take_message(seen, message)


NAME = f"anthropic-python {{}} {anthropic.__version__}"
CLIENTS = {
    ("anthropic", "stream"): {
        NAME.format("stream()"): lambda root, *rest: stream(at(root).messages, *rest),
        NAME.format("beta.stream()"): lambda root, *rest: stream(at(root).beta.messages, *rest),
    },
    ("anthropic", "whole"): {
        NAME.format("create()"): lambda root, *rest: whole(at(root).messages, *rest),
    },
}
