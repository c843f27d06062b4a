"""A session of a Python client with each server it is given, one after the other.

    python client.py mcp|fastmcp '[{ "command": [...] } or { "url": "...", "transport": "http" or "sse" }, "calls": [...] }]'

Prints what the client made of each: what was agreed, the tools, and the results of the calls.
"""

import asyncio
import json
import logging
import sys

# Deprecations and the servers' chatter are not what is compared.
logging.disable(logging.CRITICAL)


def plain(model):
    """What a client read, as it stood on the wire."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


async def official(target):
    from mcp import Client, StdioServerParameters
    from mcp.client.sse import sse_client

    if "command" in target:
        program, *arguments = target["command"]
        client = Client(StdioServerParameters(command=program, args=arguments))
    elif target["transport"] == "sse":
        client = Client(sse_client(target["url"]), mode="legacy")
    else:
        client = Client(target["url"])
    async with client:
        tools = await client.list_tools()
        calls = [await result(client.call_tool, call) for call in target["calls"]]
        return told(client, tools.tools, calls)


async def fast(target):
    from fastmcp import Client
    from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport

    if "command" in target:
        program, *arguments = target["command"]
        transport = StdioTransport(command=program, args=arguments, keep_alive=False)
    elif target["transport"] == "sse":
        transport = SSETransport(target["url"])
    else:
        transport = StreamableHttpTransport(target["url"])
    async with Client(transport) as client:
        tools = await client.list_tools()
        calls = [await result(client.call_tool_mcp, call) for call in target["calls"]]
        return told(client, tools, calls)


def told(client, tools, calls):
    return {
        "server": plain(client.server_info),
        "capabilities": plain(client.server_capabilities),
        "instructions": client.instructions,
        "revision": client.protocol_version,
        "tools": [plain(tool) for tool in tools],
        "calls": calls,
    }


async def result(call_tool, call):
    try:
        return plain(await call_tool(call["name"], call["arguments"]))
    except Exception as error:  # what a client throws is what its user sees
        return {"thrown": f"{type(error).__name__}: {error}"}


async def main():
    session = {"mcp": official, "fastmcp": fast}[sys.argv[1]]
    print(json.dumps([await session(target) for target in json.loads(sys.argv[2])]))


asyncio.run(main())
