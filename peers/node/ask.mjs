// Asks callgate, as an MCP server, what it knows, with an official TypeScript client.
//
//   node ask.mjs v1|v2 '["command", "argument", ...]' or '["http://..."]'
//
// Both lines of the SDK check results against the schemas of the tools.

const [line, server] = [process.argv[2], JSON.parse(process.argv[3])];

const { Client, StdioClientTransport, StreamableHTTPClientTransport } =
  line === "v1" ? await ofVersion1() : await ofVersion2();

const options = line === "v1" ? {} : { versionNegotiation: { mode: "auto" } };
const client = new Client({ name: "callgate-peer", version: "1" }, options);
const [program, ...args] = server;
const transport = program.startsWith("http:")
  ? new StreamableHTTPClientTransport(new URL(program))
  : new StdioClientTransport({ command: program, args, stderr: "inherit" });
await client.connect(transport);

const call = async (name, given) => client.callTool({ name, arguments: given });
const tools = (await client.listTools()).tools.map((tool) => tool.name);
const told = {
  revision: client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? "2025-11-25",
  tools,
  resources: (await client.listResources()).resources.map((resource) => resource.uri),
  evaluated: (await call("evaluate", { tool: "send_email" })).structuredContent,
  explained: (await call("explain", { tool: "Bash" })).structuredContent,
  recent: (await call("recent_decisions", { limit: 5 })).structuredContent,
  failed: (await call("recent_decisions", { since: "never" })).isError,
  rules: (await client.readResource({ uri: "config://rules" })).contents[0].text,
};
await client.close();
console.log(JSON.stringify(told));

async function ofVersion1() {
  return {
    ...(await import("@modelcontextprotocol/sdk/client/index.js")),
    ...(await import("@modelcontextprotocol/sdk/client/stdio.js")),
    ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
  };
}

async function ofVersion2() {
  return {
    ...(await import("@modelcontextprotocol/client")),
    ...(await import("@modelcontextprotocol/client/stdio")),
  };
}
