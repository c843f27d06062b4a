"""Conversations with tools, held by the official Python clients. Protocol: ../README.md."""

import asyncio
import json
import warnings

from common import TIMEOUT, clean, work_off
from talks import CLIENTS


class Driver:
    def __init__(self):
        self.talks = {}

    async def job(self, number, line):
        result = {"id": None, "calls": [], "text": "", "stop": None, "error": None}
        try:
            job = json.loads(line)
            result["id"] = job["id"]
            if job["id"] not in self.talks:
                self.talks[job["id"]] = CLIENTS[job["client"]](job)
            async with asyncio.timeout(TIMEOUT):
                result.update(await self.talks[job["id"]].turn(job["base_url"]))
        except Exception as error:
            result["error"] = f"{type(error).__name__}: {error}"[:1000]
        print(json.dumps(clean(result)), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # clients warn of members they do not know
    asyncio.run(work_off(Driver().job))
