"""What the drivers need: what a client saw, results as strict JSON, jobs line by line."""

import asyncio
import math
import sys

# Seconds. The server is on this machine, so a client that waits longer hangs, even if the machine is busy.
TIMEOUT = 60
AT_ONCE = 16
MAX_DEPTH = 100  # of arguments in results; common JSON readers stop at 128


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


def field(thing, name):
    """A member; what a model does not declare, clients leave as a dict."""
    return thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None)


def snapshot_of(stream, name):
    """The message so far; the clients assert that there is one."""
    try:
        return getattr(stream, name)
    except AssertionError:
        return None


class Seen:
    """What one client saw.

    A program may run a call as soon as the client says it is complete, so calls seen early count
    when the stream breaks afterwards, and are counted separately when the final message has them otherwise.
    """

    def __init__(self):
        self.final, self.early = [], []
        self.text, self.stop, self.error = "", None, None

    def call(self, into, position, name, arguments):
        # A copy: the client may go on changing the arguments.
        entry = (position, [clean(name), clean(arguments)])
        if into is self.final or entry not in into:
            into.append(entry)

    def call_once(self, position, name, arguments):
        """A call that a program reads by hand and may get twice, in the same words."""
        entry = (position, [clean(name), clean(arguments)])
        if entry not in self.final:
            self.final.append(entry)

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


class Pieces:
    """Calls put together by hand, as programs do for clients that do not: a start begins a call
    under its index, text is added to the call that was begun last under it."""

    def __init__(self):
        self.calls, self.open = [], {}

    def start(self, index, name, arguments=""):
        call = [name, arguments]
        self.calls.append(call)
        self.open[index] = call

    def add(self, index, text):
        if index in self.open and text:
            self.open[index][1] = f"{self.open[index][1] or ''}{text}"

    def tell(self, seen):
        for position, (name, arguments) in enumerate(self.calls):
            seen.call(seen.final, position, name, arguments)


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
