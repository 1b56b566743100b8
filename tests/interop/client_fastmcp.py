"""client_fastmcp.py URL TOOL ARGUMENTS MODE ANSWER: FastMCP, both eras, with the bearer token in INTEROP_TOKEN
if there is one. Prints {asked, result}."""
import asyncio
import json
import os
import sys

from answer import content
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult

url, tool, arguments, mode, answer = sys.argv[1:6]
asked = 0
token = os.environ.get("INTEROP_TOKEN")


async def handler(message, response_type, params, context):
    global asked
    asked += 1
    if answer in ("decline", "cancel"):
        return ElicitResult(action=answer)
    return ElicitResult(action="accept", content=content(answer, params.requested_schema))


async def main():
    client = Client(url, mode=mode, elicitation_handler=None if answer == "nobody" else handler, auth=token)
    async with client:
        result = await client.call_tool(tool, json.loads(arguments), raise_on_error=False)
        print(json.dumps({"asked": asked, "isError": result.is_error, "result": result.structured_content}))


asyncio.run(main())
