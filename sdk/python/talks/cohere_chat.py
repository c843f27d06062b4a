"""Cohere, version 2."""

from dialects.cohere_chat import at

from .talk import Talk, result_of, schema


class Cohere(Talk):
    def tool(self, name):
        return {"type": "function", "function": {"name": name, "parameters": schema()}}

    async def turn(self, root):
        if self.streams:
            message = await self.streamed(root)
        else:
            response = await at(root).chat(**self.options())
            message = {
                "tool_plan": response.message.tool_plan or "",
                "tool_calls": response.message.tool_calls or [],
                "texts": [part.text for part in response.message.content or []],
                "stop": response.finish_reason,
            }
        calls, texts = message["tool_calls"], message["texts"]
        content = [{"type": "text", "text": text} for text in texts]
        plan = {"tool_calls": calls, "tool_plan": message["tool_plan"]}
        said = plan if calls else {"content": content}
        self.messages.append({"role": "assistant", **said})
        results = [
            {"role": "tool", "tool_call_id": call.id, "content": result_of(call.function.name)}
            for call in calls
        ]
        self.go_on(calls, results)
        called = [[call.function.name, call.function.arguments] for call in calls]
        return {"calls": called, "text": "".join(texts), "stop": message["stop"]}

    async def streamed(self, root):
        message = {"tool_plan": "", "tool_calls": [], "texts": [], "stop": None}
        async for event in at(root).chat_stream(**self.options()):
            said = getattr(getattr(event, "delta", None), "message", None)
            if event.type == "tool-plan-delta":
                message["tool_plan"] += said.tool_plan
            elif event.type == "tool-call-start":
                message["tool_calls"].append(said.tool_calls)
            elif event.type == "tool-call-delta":
                message["tool_calls"][-1].function.arguments += said.tool_calls.function.arguments
            elif event.type == "content-start":
                message["texts"].append(said.content.text or "")
            elif event.type == "content-delta":
                message["texts"][-1] += said.content.text
            elif event.type == "message-end":
                message["stop"] = event.delta.finish_reason
        return message


CLIENTS = {"cohere-python chat_stream()": Cohere, "cohere-python chat()": Cohere}
