"""Amazon Bedrock Converse."""

import asyncio
import json

from dialects.bedrock import at

from .talk import GO_ON, Talk, result_of, schema


class Converse(Talk):
    def __init__(self, job):
        super().__init__(job)
        self.messages = [{"role": "user", "content": [{"text": job["say"]}]}]

    def tool(self, name):
        return {"toolSpec": {"name": name, "inputSchema": {"json": schema()}}}

    async def turn(self, root):
        return await asyncio.to_thread(self.take_turn, root)

    def take_turn(self, root):
        options = {"modelId": self.model, "messages": self.messages, "toolConfig": {"tools": self.tools}}
        if self.streams:
            message, stop = self.streamed(at(root).converse_stream(**options)["stream"])
        else:
            response = at(root).converse(**options)
            message, stop = response["output"]["message"]["content"], response["stopReason"]
        self.messages.append({"role": "assistant", "content": message})
        calls = [block["toolUse"] for block in message if "toolUse" in block]
        results = [
            {"toolResult": {"toolUseId": call["toolUseId"], "content": [{"text": result_of(call["name"])}]}}
            for call in calls
        ]
        self.messages.append({"role": "user", "content": results or [{"text": GO_ON}]})
        texts = [block["text"] for block in message if "text" in block]
        called = [[call["name"], json.dumps(call["input"])] for call in calls]
        return {"calls": called, "text": "".join(texts), "stop": stop}

    def streamed(self, events):
        """The blocks of a message, put together by their index as applications do it."""
        blocks, stop = {}, None
        for event in events:
            if start := event.get("contentBlockStart"):
                blocks[start["contentBlockIndex"]] = {"toolUse": {**start["start"]["toolUse"], "input": ""}}
            elif piece := event.get("contentBlockDelta"):
                self.add(blocks, piece["contentBlockIndex"], piece["delta"])
            elif end := event.get("messageStop"):
                stop = end["stopReason"]
        for block in blocks.values():
            if call := block.get("toolUse"):
                call["input"] = json.loads(call["input"] or "{}")
        return [blocks[index] for index in sorted(blocks)], stop

    def add(self, blocks, index, delta):
        if "text" in delta:
            blocks.setdefault(index, {"text": ""})["text"] += delta["text"]
        elif "toolUse" in delta:
            blocks[index]["toolUse"]["input"] += delta["toolUse"]["input"]
        elif thought := delta.get("reasoningContent"):
            begun = {"reasoningContent": {"reasoningText": {"text": ""}}}
            text = blocks.setdefault(index, begun)["reasoningContent"]["reasoningText"]
            for key in ("text", "signature"):
                if key in thought:
                    text[key] = text.get(key, "") + thought[key]


CLIENTS = {"boto3 converse_stream()": Converse, "boto3 converse()": Converse}
