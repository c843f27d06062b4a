"""Gemini Interactions."""

from google.genai import version

from common import Pieces, field

from .gemini import at


def ask(job):
    return {"model": job.get("model", "any"), "input": "hi"}


def take_text(seen, content):
    for part in content or []:
        if field(part, "type") == "text":
            seen.say(field(part, "text"))


async def stream(root, seen, job):
    """Steps put together by hand: the client hands over events."""
    pieces = Pieces()
    try:
        async for event in await at(root).aio.interactions.create(**ask(job), stream=True):
            take_event(seen, pieces, event)
    finally:
        pieces.tell(seen)


def take_event(seen, pieces, event):
    kind, index = field(event, "event_type"), field(event, "index")
    if kind == "step.start":
        step = field(event, "step")
        if field(step, "type") == "function_call":
            # Arguments are whole here, or `{}` and then come as text.
            pieces.start(index, field(step, "name"), field(step, "arguments") or "")
        take_text(seen, field(step, "content"))
    elif kind == "step.delta":
        delta = field(event, "delta")
        pieces.add(index, field(delta, "arguments"))
        if field(delta, "type") == "text":
            seen.say(field(delta, "text"))
    elif kind in ("interaction.completed", "interaction.status_update"):
        seen.stop = field(field(event, "interaction") or event, "status")
    elif kind == "error":
        raise RuntimeError(f"error event: {field(event, 'error')}")


async def whole(root, seen, job):
    interaction = await at(root).aio.interactions.create(**ask(job))
    seen.stop = interaction.status
    for position, step in enumerate(interaction.steps or []):
        if field(step, "type") == "function_call":
            seen.call(seen.final, position, field(step, "name"), field(step, "arguments"))
        elif field(step, "type") == "model_output":
            take_text(seen, field(step, "content"))


NAME = f"google-genai python interactions.create({{}}) {version.__version__}"
CLIENTS = {
    ("gemini-interactions", "stream"): {NAME.format("stream"): stream},
    ("gemini-interactions", "whole"): {NAME.format(""): whole},
}
