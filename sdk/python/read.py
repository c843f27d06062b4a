"""What the official Python clients make of a response body. Protocol: ../README.md."""

import asyncio
import json
import warnings

from common import TIMEOUT, Seen, work_off
from dialects import CLIENTS


class Driver:
    def __init__(self):
        self.bodies = {}  # number of the job -> (content type, body)

    async def serve(self, reader, writer):
        """Just enough HTTP/1.1 for the clients: POST /<number of the job>/... gets its body."""
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                lines = head.split("\r\n")
                length = next(line for line in lines if line.lower().startswith("content-length:"))
                await reader.readexactly(int(length.split(":")[1]))
                content_type, body = self.bodies[int(lines[0].split("/")[1])]
                answer = f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\n"
                if content_type:
                    answer += f"content-type: {content_type}\r\n"
                writer.write(f"{answer}\r\n".encode("latin-1") + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass  # the client is done with the connection, or the driver ends
        finally:
            writer.close()

    async def read(self, run, root, job):
        seen = Seen()
        try:
            async with asyncio.timeout(TIMEOUT):
                await run(root, seen, job)
        except Exception as error:
            seen.error = f"{type(error).__name__}: {error}"[:500]
        return seen.report()

    async def job(self, number, line):
        result = {"id": None, "clients": {}}
        try:
            job = json.loads(line)
            result["id"] = job["id"]
            runs = CLIENTS[job["dialect"], job["mode"]]
            root = job.get("base_url")
            if root is None:
                with open(job["body_file"], "rb") as file:
                    self.bodies[number] = (job.get("content_type"), file.read())
                root = f"http://127.0.0.1:{self.port}/{number}"
            for name, run in runs.items():
                result["clients"][name] = await self.read(run, root, job)
        except Exception as error:  # a bad job, not a client's error
            result["error"] = f"{type(error).__name__}: {error}"
        self.bodies.pop(number, None)
        print(json.dumps(result), flush=True)

    async def main(self):
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        await work_off(self.job)
        server.close()


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # clients warn of members they do not know
    asyncio.run(Driver().main())
