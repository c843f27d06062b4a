"""Asks callgate, as an MCP server, what it knows, with the official Python client.

    python ask.py auto|legacy '["command", "argument", ...]' or '["http://..."]'

The client checks results against the schemas of the tools.
"""

import asyncio
import json
import logging
import sys

from mcp import Client, StdioServerParameters

# Deprecations are not what is looked at.
logging.disable(logging.CRITICAL)


async def main():
    mode, (program, *arguments) = sys.argv[1], json.loads(sys.argv[2])
    server = program if program.startswith("http:") else StdioServerParameters(command=program, args=arguments)
    async with Client(server, mode=mode) as client:

        async def call(name, **given):
            return await client.call_tool(name, given)

        tools = (await client.list_tools()).tools
        resources = (await client.list_resources()).resources
        told = {
            "revision": client.protocol_version,
            "tools": [tool.name for tool in tools],
            "resources": [str(resource.uri) for resource in resources],
            "evaluated": (await call("evaluate", tool="send_email")).structured_content,
            "explained": (await call("explain", tool="Bash")).structured_content,
            "recent": (await call("recent_decisions", limit=5)).structured_content,
            "failed": (await call("recent_decisions", since="never")).is_error,
            "rules": (await client.read_resource("config://rules")).contents[0].text,
        }
    print(json.dumps(told))


asyncio.run(main())
