"""What the official Python clients make of a response body. Protocol: ../README.md."""

import asyncio
import json
import math
import sys

import anthropic
import openai

TIMEOUT = 10  # seconds; the server is on this machine, so a client that waits longer hangs
AT_ONCE = 16
MAX_DEPTH = 100  # of arguments in results; common JSON readers stop at 128


def ask(job):
    return {"model": job.get("model", "any"), "messages": [{"role": "user", "content": "hi"}]}


def ask_anthropic(job):
    return {**ask(job), "max_tokens": 64}


def clean(value, depth=0):
    """A copy that any strict JSON reader takes: no NaN, lone surrogate, huge number or deep nesting."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if value.bit_length() < 1000 else hex(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if depth == MAX_DEPTH:
        return "<too deep>"
    if isinstance(value, dict):
        return {clean(str(key)): clean(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(item, depth + 1) for item in value]
    return clean(repr(value))


class Seen:
    """What one client saw.

    A program may run a call as soon as the client says it is complete, so calls seen early count
    when the stream breaks afterwards, and are told apart when the final message has them otherwise.
    """

    def __init__(self):
        self.final, self.early = [], []
        self.text, self.stop, self.error = "", None, None

    def call(self, into, position, name, arguments):
        # A copy: the client may go on changing the arguments.
        entry = (position, [clean(name), clean(arguments)])
        if into is self.final or entry not in into:
            into.append(entry)

    def say(self, text):
        # Not always a string in a hostile body, and that must not end the reading of calls.
        self.text += "" if text is None else str(text)

    def report(self):
        calls, early = self.final, [entry for entry in self.early if entry not in self.final]
        if self.error is not None:
            calls, early = calls + early, []
        stop = self.stop if self.stop is None else str(self.stop)
        return {
            "calls": [call for _, call in calls],
            "early": [call for _, call in early],
            "text": clean(self.text),
            "stop": clean(stop),
            "error": clean(self.error),
        }


# Anthropic Messages


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


async def anthropic_stream(messages, seen, job):
    async with messages.stream(**ask_anthropic(job)) as stream:
        try:
            async for event in stream:
                if event.type == "content_block_stop" and hasattr(event, "content_block"):
                    position = event.index % len(stream.current_message_snapshot.content)
                    take_block(seen, seen.early, position, event.content_block)
                elif event.type == "content_block_start":
                    # The start of a block also says that the one before is complete.
                    before = snapshot_of(stream, "current_message_snapshot")
                    if before and len(before.content) > 1:
                        take_block(seen, seen.early, len(before.content) - 2, before.content[-2])
            take_final_message(seen, await stream.get_final_message())
        finally:
            if message := snapshot_of(stream, "current_message_snapshot"):
                take_message(seen, message)


async def anthropic_whole(messages, seen, job):
    message = await messages.create(**ask_anthropic(job))
    take_final_message(seen, message)
    take_message(seen, message)


# OpenAI Chat Completions


def called(tool_call):
    """Name and arguments of a tool call, or of a fragment of one; of a function or a custom tool."""

    def field(thing, name):  # what a model does not declare, the client leaves as a dict
        return thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None)

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


async def openai_stream(client, seen, job):
    async with client.chat.completions.stream(**ask(job)) as stream:
        try:
            async for event in stream:
                if event.type == "tool_calls.function.arguments.done":
                    seen.call(seen.early, event.index, event.name, event.arguments)
            take_final_completion(seen, await stream.get_final_completion())
        finally:
            if completion := snapshot_of(stream, "current_completion_snapshot"):
                take_completion(seen, completion)


async def openai_chunks(client, seen, job):
    """Chunks read by hand, leniently, as many programs do.

    Programs differ in how they join fragments, so each fragment with a name is its own call here.
    """
    async for chunk in await client.chat.completions.create(**ask(job), stream=True):
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


async def openai_whole(client, seen, job):
    completion = await client.chat.completions.create(**ask(job))
    take_final_completion(seen, completion)
    take_completion(seen, completion)


def snapshot_of(stream, name):
    """The message so far; the clients assert that there is one."""
    try:
        return getattr(stream, name)
    except AssertionError:
        return None


A = f"anthropic-python {{}} {anthropic.__version__}"
O = f"openai-python chat {{}} {openai.__version__}"
CLIENTS = {
    ("anthropic", "stream"): {
        A.format("stream()"): lambda client, *rest: anthropic_stream(client.messages, *rest),
        A.format("beta.stream()"): lambda client, *rest: anthropic_stream(client.beta.messages, *rest),
    },
    ("anthropic", "whole"): {
        A.format("create()"): lambda client, *rest: anthropic_whole(client.messages, *rest),
    },
    ("openai-chat", "stream"): {
        O.format("stream()"): openai_stream,
        O.format("create(stream)"): openai_chunks,
    },
    ("openai-chat", "whole"): {O.format("create()"): openai_whole},
}


def make_clients():
    options = {"api_key": "none", "max_retries": 0, "timeout": TIMEOUT}
    # trust_env off: a proxy named in the environment must not come between us and the server.
    return {
        "anthropic": anthropic.AsyncAnthropic(
            http_client=anthropic.DefaultAsyncHttpxClient(trust_env=False), **options
        ),
        "openai-chat": openai.AsyncOpenAI(
            http_client=openai.DefaultAsyncHttpxClient(trust_env=False), **options
        ),
    }


def at(client, dialect, root):
    """The client for a server, as its documentation says: OpenAI's base URL has the version in it."""
    return client.with_options(base_url=root if dialect == "anthropic" else f"{root}/v1")


async def work_off(work):
    """Hands each line of stdin to `work`, with its number.

    Lines are read as they come, so that a caller may keep the driver open and ask again.
    """
    free = asyncio.Semaphore(AT_ONCE)
    loop = asyncio.get_running_loop()
    running, number = set(), 0
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        if not line.strip():
            continue
        await free.acquire()
        number += 1
        task = asyncio.create_task(work(number, line))
        running.add(task)
        task.add_done_callback(lambda task: (running.discard(task), free.release()))
    await asyncio.gather(*running)


class Driver:
    def __init__(self):
        self.bodies = {}  # number of the job -> (content type, body)
        self.clients = make_clients()

    async def serve(self, reader, writer):
        """Just enough HTTP/1.1 for the clients: POST /<number of the job>/... gets its body."""
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                lines = head.split("\r\n")
                length = next(line for line in lines if line.lower().startswith("content-length:"))
                await reader.readexactly(int(length.split(":")[1]))
                content_type, body = self.bodies[int(lines[0].split("/")[1])]
                answer = f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\n"
                if content_type:
                    answer += f"content-type: {content_type}\r\n"
                writer.write(f"{answer}\r\n".encode("latin-1") + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass  # the client is done with the connection, or the driver ends
        finally:
            writer.close()

    async def read(self, run, client, job):
        seen = Seen()
        try:
            async with asyncio.timeout(TIMEOUT):
                await run(client, seen, job)
        except Exception as error:
            seen.error = f"{type(error).__name__}: {error}"[:500]
        return seen.report()

    async def job(self, number, line):
        result = {"id": None, "clients": {}}
        try:
            job = json.loads(line)
            result["id"] = job["id"]
            runs = CLIENTS[job["dialect"], job["mode"]]
            root = job.get("base_url")
            if root is None:
                with open(job["body_file"], "rb") as file:
                    self.bodies[number] = (job.get("content_type"), file.read())
                root = f"http://127.0.0.1:{self.port}/{number}"
            client = at(self.clients[job["dialect"]], job["dialect"], root)
            for name, run in runs.items():
                result["clients"][name] = await self.read(run, client, job)
        except Exception as error:  # a bad job, not a client's error
            result["error"] = f"{type(error).__name__}: {error}"
        self.bodies.pop(number, None)
        print(json.dumps(result), flush=True)

    async def main(self):
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        await work_off(self.job)
        server.close()


if __name__ == "__main__":
    asyncio.run(Driver().main())
