"""Conversations with tools, held by the official Python clients. Protocol: ../README.md."""

import asyncio
import json

from read import TIMEOUT, at, called, clean, make_clients, work_off

THINKING = {"type": "enabled", "budget_tokens": 1024}
ROOM = 2048  # tokens; more than the budget for thinking, or the API refuses


class Talk:
    """One conversation. A subclass speaks one dialect, the way the client's documentation shows."""

    def __init__(self, client, job):
        self.client, self.model = client, job.get("model", "any")
        self.tools = [self.tool(name) for name in job["tools"]]
        self.messages = [{"role": "user", "content": job["say"]}]
        self.streams = "stream" in job["client"]

    def options(self):
        return {"model": self.model, "messages": self.messages, "tools": self.tools}

    def go_on(self, calls, results):
        """What the program answers: results of the calls it got, or a word if it got none."""
        self.messages += results if calls else [{"role": "user", "content": "Go on."}]


def schema():
    return {"type": "object", "properties": {}, "additionalProperties": True}


class Anthropic(Talk):
    dialect = "anthropic"

    def tool(self, name):
        return {"name": name, "description": name, "input_schema": schema()}

    async def turn(self, root):
        messages = at(self.client, self.dialect, root).messages
        options = {**self.options(), "max_tokens": ROOM, "thinking": THINKING}
        if self.streams:
            async with messages.stream(**options) as stream:
                message = await stream.get_final_message()
        else:
            message = await messages.create(**options)
        uses = [block for block in message.content if block.type == "tool_use"]
        self.messages.append({"role": "assistant", "content": message.content})
        results = [
            {"type": "tool_result", "tool_use_id": use.id, "content": f"result of {use.name}"}
            for use in uses
        ]
        self.go_on(uses, [{"role": "user", "content": results}])
        return {
            "calls": [[use.name, use.input] for use in uses],
            "text": "".join(block.text for block in message.content if block.type == "text"),
            "stop": message.stop_reason,
        }


class OpenAI(Talk):
    dialect = "openai-chat"

    def tool(self, name):
        return {"type": "function", "function": {"name": name, "parameters": schema()}}

    async def turn(self, root):
        completions = at(self.client, self.dialect, root).chat.completions
        if self.streams:
            async with completions.stream(**self.options()) as stream:
                completion = await stream.get_final_completion()
        else:
            completion = await completions.create(**self.options())
        choice = completion.choices[0]
        calls = choice.message.tool_calls or []
        self.messages.append(choice.message)
        results = [
            {"role": "tool", "tool_call_id": call.id, "content": f"result of {call.function.name}"}
            for call in calls
        ]
        self.go_on(calls, results)
        return {
            "calls": [called(call) for call in calls],
            "text": choice.message.content or "",
            "stop": choice.finish_reason,
        }


CLIENTS = {
    "anthropic-python stream()": Anthropic,
    "anthropic-python create()": Anthropic,
    "openai-python stream()": OpenAI,
    "openai-python create()": OpenAI,
}


class Driver:
    def __init__(self):
        self.clients, self.talks = make_clients(), {}

    async def job(self, number, line):
        result = {"id": None, "calls": [], "text": "", "stop": None, "error": None}
        try:
            job = json.loads(line)
            result["id"] = job["id"]
            if job["id"] not in self.talks:
                kind = CLIENTS[job["client"]]
                self.talks[job["id"]] = kind(self.clients[kind.dialect], job)
            async with asyncio.timeout(TIMEOUT):
                result.update(await self.talks[job["id"]].turn(job["base_url"]))
        except Exception as error:
            result["error"] = f"{type(error).__name__}: {error}"[:1000]
        print(json.dumps(clean(result)), flush=True)


if __name__ == "__main__":
    asyncio.run(work_off(Driver().job))
