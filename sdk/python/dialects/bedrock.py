"""Amazon Bedrock: Converse, and models asked in their own words."""

import asyncio
import json
import threading

import anthropic
import boto3
from botocore.config import Config

from common import TIMEOUT, Pieces

from . import anthropic_messages

KEYS = {"aws_access_key_id": "AKIANONE", "aws_secret_access_key": "none"}
SESSION = boto3.Session(region_name="us-east-1", **KEYS)
MAKING = threading.Lock()  # clients may be used by several threads, but not made by them


def at(root):
    """A client that signs its requests: with an API key it wants HTTPS."""
    config = Config(
        retries={"max_attempts": 0},
        connect_timeout=TIMEOUT,
        read_timeout=TIMEOUT,
        proxies={},
        signature_version="v4",
    )
    with MAKING:
        return SESSION.client("bedrock-runtime", endpoint_url=root, config=config)


def ask(job):
    messages = [{"role": "user", "content": [{"text": "hi"}]}]
    return {"modelId": job.get("model", "any"), "messages": messages}


def ask_model(job):
    body = {"anthropic_version": "bedrock-2023-05-31", **anthropic_messages.ask(job)}
    body.pop("model")
    return {"modelId": job.get("model", "any"), "body": json.dumps(body)}


def in_thread(run):
    async def start(*args):
        await asyncio.to_thread(run, *args)

    return start


def take_converse_event(seen, pieces, event):
    """One event of ConverseStream, or of a Nova model, which has the same ones."""
    if start := event.get("contentBlockStart"):
        use = (start.get("start") or {}).get("toolUse")
        if use and use.get("type") != "server_tool_use":
            pieces.start(start.get("contentBlockIndex"), use.get("name"))
    if piece := event.get("contentBlockDelta"):
        delta = piece.get("delta") or {}
        seen.say(delta.get("text"))
        if use := delta.get("toolUse"):
            pieces.add(piece.get("contentBlockIndex"), use.get("input"))
    if stop := event.get("messageStop"):
        seen.stop = stop.get("stopReason")


def take_converse(seen, response):
    seen.stop = response.get("stopReason")
    for position, block in enumerate(response["output"]["message"]["content"]):
        seen.say(block.get("text"))
        use = block.get("toolUse")
        if use and use.get("type") != "server_tool_use":
            seen.call(seen.final, position, use.get("name"), use.get("input"))


@in_thread
def converse_stream(root, seen, job):
    pieces = Pieces()
    try:
        for event in at(root).converse_stream(**ask(job))["stream"]:
            take_converse_event(seen, pieces, event)
    finally:
        pieces.tell(seen)


@in_thread
def converse(root, seen, job):
    take_converse(seen, at(root).converse(**ask(job)))


def take_message_event(seen, pieces, event):
    """One event of an Anthropic model."""
    kind, index = event.get("type"), event.get("index")
    if kind == "message_start":
        for position, block in enumerate((event.get("message") or {}).get("content") or []):
            take_block(seen, position, block)
    elif kind == "content_block_start":
        block = event.get("content_block") or {}
        if block.get("type") == "tool_use":
            pieces.start(index, block.get("name"), block.get("input") or "")
    elif kind == "content_block_delta":
        delta = event.get("delta") or {}
        seen.say(delta.get("text"))
        pieces.add(index, delta.get("partial_json"))
    elif kind == "message_delta":
        seen.stop = (event.get("delta") or {}).get("stop_reason")


def take_block(seen, position, block):
    if block.get("type") == "text":
        seen.say(block.get("text"))
    elif block.get("type") == "tool_use":
        seen.call(seen.final, position, block.get("name"), block.get("input"))


@in_thread
def invoke_stream(root, seen, job):
    pieces = Pieces()
    try:
        for event in at(root).invoke_model_with_response_stream(**ask_model(job))["body"]:
            inner = json.loads(event.get("chunk", {}).get("bytes") or b"{}")
            take_message_event(seen, pieces, inner)
            take_converse_event(seen, pieces, inner)
    finally:
        pieces.tell(seen)


@in_thread
def invoke(root, seen, job):
    body = json.loads(at(root).invoke_model(**ask_model(job))["body"].read())
    if "output" in body:
        return take_converse(seen, body)
    seen.stop = body.get("stop_reason")
    for position, block in enumerate(body.get("content") or []):
        take_block(seen, position, block)


# Anthropic's own client for Bedrock, with an API key.
ANTHROPIC = anthropic.AsyncAnthropicBedrock(
    api_key="none",
    aws_region="us-east-1",
    max_retries=0,
    timeout=TIMEOUT,
    http_client=anthropic.DefaultAsyncHttpxClient(trust_env=False),
)


def anthropic_at(root):
    return ANTHROPIC.with_options(base_url=root).messages


BOTO = f"boto3 {{}} {boto3.__version__}"
BEDROCK = f"anthropic-python bedrock {{}} {anthropic.__version__}"
CLIENTS = {
    ("bedrock-converse", "stream"): {BOTO.format("converse_stream()"): converse_stream},
    ("bedrock-converse", "whole"): {BOTO.format("converse()"): converse},
    ("bedrock-invoke", "stream"): {
        BOTO.format("invoke_model_with_response_stream()"): invoke_stream,
        BEDROCK.format("stream()"): lambda root, *rest: anthropic_messages.stream(
            anthropic_at(root), *rest
        ),
    },
    ("bedrock-invoke", "whole"): {
        BOTO.format("invoke_model()"): invoke,
        BEDROCK.format("create()"): lambda root, *rest: anthropic_messages.whole(
            anthropic_at(root), *rest
        ),
    },
}
