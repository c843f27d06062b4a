"""A server on the network, on fastmcp: the newest revision, without sessions. Prints where it listens."""

import asyncio
import logging
import socket

import uvicorn
from fastmcp import Context, FastMCP

logging.disable(logging.CRITICAL)

server = FastMCP("callgate-fast-fixture", instructions="Adds numbers up.")


@server.tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool
async def count(to: int, context: Context) -> str:
    """Counts, and says how far it has come."""
    for progress in range(to):
        await context.report_progress(progress, to)
    return "counted"


@server.tool
def erase(name: str) -> str:
    """Erases something."""
    return f"erased {name}"


@server.prompt
def poem(about: str) -> str:
    """Asks for a poem."""
    return f"Write a poem about {about}."


@server.resource("note://first", description="A note", mime_type="text/plain")
def note() -> str:
    return "Remember the milk."


listener = socket.create_server(("127.0.0.1", 0))
print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
config = uvicorn.Config(server.http_app(path="/mcp"), log_level="critical")
asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))
