"""Anthropic Messages."""

from dialects.anthropic_messages import at

from .talk import Talk, result_of, schema

THINKING = {"type": "enabled", "budget_tokens": 1024}
ROOM = 2048  # tokens; more than the budget for thinking, or the API refuses


class Messages(Talk):
    def tool(self, name):
        return {"name": name, "description": name, "input_schema": schema()}

    async def turn(self, root):
        messages = at(root).messages
        options = {**self.options(), "max_tokens": ROOM, "thinking": THINKING}
        if self.streams:
            async with messages.stream(**options) as stream:
                message = await stream.get_final_message()
        else:
            message = await messages.create(**options)
        uses = [block for block in message.content if block.type == "tool_use"]
        self.messages.append({"role": "assistant", "content": message.content})
        results = [
            {"type": "tool_result", "tool_use_id": use.id, "content": result_of(use.name)}
            for use in uses
        ]
        self.go_on(uses, [{"role": "user", "content": results}])
        return {
            "calls": [[use.name, use.input] for use in uses],
            "text": "".join(block.text for block in message.content if block.type == "text"),
            "stop": message.stop_reason,
        }


CLIENTS = {"anthropic-python stream()": Messages, "anthropic-python create()": Messages}
