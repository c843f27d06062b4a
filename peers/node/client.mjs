// A session of an official TypeScript client with each server it is given, one after the other.
//
//   node client.mjs v1|v2 '[{ "command": [...] } or { "url": "...", "transport": "http" or "sse" }, "calls": [...] }]'
//
// Prints what the client made of each: what was agreed, the tools, and the results of the calls.

const [line, targets] = [process.argv[2], JSON.parse(process.argv[3])];

const { Client, StdioClientTransport, StreamableHTTPClientTransport, SSEClientTransport } =
  line === "v1" ? await ofVersion1() : await ofVersion2();

// The first line of the SDK knows only the older revisions; the second is asked to look for the newest.
const options = line === "v1" ? {} : { versionNegotiation: { mode: "auto" } };

const sessions = [];
for (const target of targets) sessions.push(await session(target));
console.log(JSON.stringify(sessions));

async function session(target) {
  const client = new Client({ name: "callgate-peer", version: "1" }, options);
  await client.connect(transport(target));
  const told = {
    server: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    instructions: client.getInstructions(),
    revision: client.getNegotiatedProtocolVersion?.(),
    tools: (await client.listTools()).tools,
    calls: [],
  };
  for (const call of target.calls) {
    told.calls.push(await client.callTool(call).catch((error) => ({ thrown: String(error) })));
  }
  await client.close();
  return told;
}

function transport({ command, url, transport }) {
  if (command) {
    const [program, ...args] = command;
    return new StdioClientTransport({ command: program, args, stderr: "ignore" });
  }
  const Transport = transport === "sse" ? SSEClientTransport : StreamableHTTPClientTransport;
  return new Transport(new URL(url));
}

async function ofVersion1() {
  return {
    ...(await import("@modelcontextprotocol/sdk/client/index.js")),
    ...(await import("@modelcontextprotocol/sdk/client/stdio.js")),
    ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
    ...(await import("@modelcontextprotocol/sdk/client/sse.js")),
  };
}

async function ofVersion2() {
  return {
    ...(await import("@modelcontextprotocol/client")),
    ...(await import("@modelcontextprotocol/client/stdio")),
  };
}
