"""client_python_v1.py URL TOOL ARGUMENTS MODE ANSWER: the official Python SDK 1.x, older protocols only."""
import asyncio
import json
import sys

from answer import content
from mcp import ClientSession, types
from mcp.client.streamable_http import streamable_http_client

url, tool, arguments, _mode, answer = sys.argv[1:6]
asked = 0


async def handler(context, params):
    global asked
    asked += 1
    if answer in ("decline", "cancel"):
        return types.ElicitResult(action=answer)
    return types.ElicitResult(action="accept", content=content(answer, params.requestedSchema))


async def main():
    options = {} if answer == "nobody" else {"elicitation_callback": handler}
    async with streamable_http_client(url) as (read, write, _), ClientSession(read, write, **options) as session:
        await session.initialize()
        result = await session.call_tool(tool, json.loads(arguments))
        print(json.dumps({"asked": asked, "isError": result.isError, "result": result.structuredContent}))


asyncio.run(main())
