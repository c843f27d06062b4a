"""Gemini generateContent."""

from google.genai import types

from dialects.gemini import at

from .talk import GO_ON, Talk, result_of


def user(*parts):
    return types.Content(role="user", parts=list(parts))


class Gemini(Talk):
    def __init__(self, job):
        super().__init__(job)
        self.messages = [user(types.Part(text=job["say"]))]

    def tool(self, name):
        return {"name": name, "parameters_json_schema": {"type": "object", "properties": {}}}

    def options(self):
        off = types.AutomaticFunctionCallingConfig(disable=True)
        tools = [types.Tool(function_declarations=self.tools)]
        config = types.GenerateContentConfig(tools=tools, automatic_function_calling=off)
        return {"model": self.model, "contents": self.messages, "config": config}

    async def turn(self, root):
        models = at(root).aio.models
        parts, stop = [], None
        if self.streams:
            async for chunk in await models.generate_content_stream(**self.options()):
                parts += chunk.candidates[0].content.parts or []
                stop = chunk.candidates[0].finish_reason or stop
        else:
            response = await models.generate_content(**self.options())
            parts, stop = response.candidates[0].content.parts, response.candidates[0].finish_reason
        self.messages.append(types.Content(role="model", parts=parts))
        calls = [part.function_call for part in parts if part.function_call]
        results = [
            types.FunctionResponse(id=call.id, name=call.name, response={"result": result_of(call.name)})
            for call in calls
        ]
        answers = [types.Part(function_response=result) for result in results]
        self.messages.append(user(*(answers or [types.Part(text=GO_ON)])))
        return {
            "calls": [[call.name, call.args] for call in calls],
            "text": "".join(part.text or "" for part in parts if not part.thought),
            "stop": stop and stop.value,
        }


CLIENTS = {
    "google-genai python generate_content_stream()": Gemini,
    "google-genai python generate_content()": Gemini,
}
