"""What all conversations have in common."""

GO_ON = "Go on."


def schema():
    return {"type": "object", "properties": {}, "additionalProperties": True}


def result_of(name):
    return f"result of {name}"


class Talk:
    """One conversation. A subclass speaks one dialect."""

    def __init__(self, job):
        self.model = job.get("model", "any")
        self.tools = [self.tool(name) for name in job["tools"]]
        self.messages = [{"role": "user", "content": job["say"]}]
        self.client = job["client"]
        self.streams = "stream" in self.client

    def options(self):
        return {"model": self.model, "messages": self.messages, "tools": self.tools}

    def go_on(self, calls, results):
        """What the program answers: results of the calls it got, or a word if it got none."""
        self.messages += results if calls else [{"role": "user", "content": GO_ON}]
