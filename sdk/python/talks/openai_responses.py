"""OpenAI Responses: with the history in every request, or kept by the provider."""

from dialects.openai_chat import at

from .talk import GO_ON, Talk, result_of, schema


class Responses(Talk):
    """The client keeps the history: every item goes back as it came."""

    stored = False

    def __init__(self, job):
        super().__init__(job)
        self.before = None  # the id of the last response

    def tool(self, name):
        return {"type": "function", "name": name, "parameters": schema(), "strict": False}

    def options(self):
        options = {"model": self.model, "input": self.messages, "tools": self.tools}
        if not self.stored:
            return {**options, "store": False, "include": ["reasoning.encrypted_content"]}
        return {**options, "previous_response_id": self.before} if self.before else options

    async def turn(self, root):
        responses = at(root).responses
        if self.streams:
            async with responses.stream(**self.options()) as stream:
                response = await stream.get_final_response()
        else:
            response = await responses.create(**self.options())
        calls = [item for item in response.output if item.type == "function_call"]
        self.before = response.id
        self.messages = [] if self.stored else [*self.messages, *response.output]
        results = [
            {"type": "function_call_output", "call_id": call.call_id, "output": result_of(call.name)}
            for call in calls
        ]
        self.messages += results if calls else [{"role": "user", "content": GO_ON}]
        return {
            "calls": [[call.name, call.arguments] for call in calls],
            "text": response.output_text,
            "stop": response.status,
        }


class Stored(Responses):
    """The provider keeps the history: a request names the response before it."""

    stored = True


CLIENTS = {
    "openai-python responses.stream()": Responses,
    "openai-python responses.create()": Responses,
    "openai-python responses.stream() stored": Stored,
    "openai-python responses.create() stored": Stored,
}
