// client_ts.mjs URL TOOL ARGUMENTS MODE ANSWER: the official TypeScript client 2.x (MODE auto, legacy or a
// version), or with MODE v1 the SDK 1.x. Packages come from INTEROP_DIR. Prints {asked, result}.
import { createRequire } from 'node:module';

const require = createRequire(`${process.env.INTEROP_DIR}/x.js`);
const [url, tool, args, mode, answer] = process.argv.slice(2);
let asked = 0;

function content(schema) {
  const choice = schema.properties.choice;
  if (answer === 'pick') return { choice: choice.oneOf ? choice.oneOf[0].const : choice.enum[0] };
  const words = answer.replace(/^words:/, '');
  return choice ? { choice: 'none', clarification: words } : { clarification: words };
}
const handler = async (request) => {
  asked += 1;
  if (answer === 'decline' || answer === 'cancel') return { action: answer };
  return { action: 'accept', content: content(request.params.requestedSchema) };
};
const capabilities = answer === 'nobody' ? {} : { elicitation: { form: {} } };

let client, transport;
if (mode === 'v1') {
  const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
  const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const { ElicitRequestSchema } = require('@modelcontextprotocol/sdk/types.js');
  client = new Client({ name: 'interop-v1', version: '0' }, { capabilities });
  if (answer !== 'nobody') client.setRequestHandler(ElicitRequestSchema, handler);
  transport = new StreamableHTTPClientTransport(new URL(url));
} else {
  const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');
  const versionNegotiation = { mode: mode === 'auto' || mode === 'legacy' ? mode : { pin: mode } };
  client = new Client({ name: 'interop', version: '0' }, { capabilities, versionNegotiation });
  if (answer !== 'nobody') client.setRequestHandler('elicitation/create', handler);
  transport = new StreamableHTTPClientTransport(new URL(url));
}
await client.connect(transport);
const result = await client.callTool({ name: tool, arguments: JSON.parse(args) });
console.log(JSON.stringify({ asked, isError: result.isError, result: result.structuredContent }));
await client.close();
