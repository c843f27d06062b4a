"""OpenAI Chat Completions."""

from dialects.openai_chat import at, called

from .talk import Talk, result_of, schema


class Chat(Talk):
    def tool(self, name):
        return {"type": "function", "function": {"name": name, "parameters": schema()}}

    async def turn(self, root):
        completions = at(root).chat.completions
        if self.streams:
            async with completions.stream(**self.options()) as stream:
                completion = await stream.get_final_completion()
        else:
            completion = await completions.create(**self.options())
        choice = completion.choices[0]
        calls = choice.message.tool_calls or []
        self.messages.append(choice.message)
        results = [
            {"role": "tool", "tool_call_id": call.id, "content": result_of(call.function.name)}
            for call in calls
        ]
        self.go_on(calls, results)
        return {
            "calls": [called(call) for call in calls],
            "text": choice.message.content or "",
            "stop": choice.finish_reason,
        }


CLIENTS = {"openai-python stream()": Chat, "openai-python create()": Chat}
