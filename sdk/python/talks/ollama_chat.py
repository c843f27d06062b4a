"""Ollama's own chat."""

from dialects.ollama_chat import at

from .talk import Talk, result_of, schema


class Ollama(Talk):
    def tool(self, name):
        return {"type": "function", "function": {"name": name, "parameters": schema()}}

    async def turn(self, root):
        text, calls, stop = "", [], None
        if self.streams:
            async for response in await at(root).chat(**self.options(), stream=True):
                text += response.message.content or ""
                calls += response.message.tool_calls or []
                stop = response.done_reason or stop
        else:
            response = await at(root).chat(**self.options())
            text, calls = response.message.content or "", response.message.tool_calls or []
            stop = response.done_reason
        self.messages.append({"role": "assistant", "content": text, "tool_calls": calls or None})
        results = [
            {"role": "tool", "tool_name": call.function.name, "content": result_of(call.function.name)}
            for call in calls
        ]
        self.go_on(calls, results)
        called = [[call.function.name, call.function.arguments] for call in calls]
        return {"calls": called, "text": text, "stop": stop}


CLIENTS = {"ollama-python chat(stream)": Ollama, "ollama-python chat()": Ollama}
