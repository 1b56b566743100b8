"""client_python.py URL TOOL ARGUMENTS MODE ANSWER: the official Python SDK 2.x. Prints {asked, result}."""
import asyncio
import json
import sys

import mcp_types as types
from answer import content
from mcp import Client

url, tool, arguments, mode, answer = sys.argv[1:6]
asked = 0


async def handler(context, params):
    global asked
    asked += 1
    if answer in ("decline", "cancel"):
        return types.ElicitResult(action=answer)
    schema = params.requested_schema
    schema = schema if isinstance(schema, dict) else schema.model_dump(by_alias=True, exclude_none=True)
    return types.ElicitResult(action="accept", content=content(answer, schema))


async def main():
    options = {} if answer == "nobody" else {"elicitation_callback": handler}
    async with Client(url, mode=mode, **options) as client:
        result = await client.call_tool(tool, json.loads(arguments))
        data = json.loads(result.model_dump_json(by_alias=True, exclude_none=True))
        print(json.dumps({"asked": asked, "isError": data.get("isError"), "result": data.get("structuredContent")}))


asyncio.run(main())
