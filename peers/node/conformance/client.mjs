// A client for the suite's own servers: it looks at everything a server has and calls every tool.
//
//   node client.mjs [callgate] URL
//
// With the path of callgate, a gateway is started before the server, and the client speaks to that.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const url = process.argv.at(-1);
const binary = process.argv.length > 3 ? process.argv[2] : undefined;
const { toolCalls = [] } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const newest = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION === "2026-07-28";

const gateway = binary && (await started(binary));
try {
  await session(gateway ? `${gateway.root}/mcp/suite` : url);
} finally {
  gateway?.stop();
}

async function session(url) {
  const client = new Client(
    { name: "callgate-peer", version: "1" },
    {
      versionNegotiation: { mode: newest ? "auto" : "legacy" },
      capabilities: { elicitation: { form: { applyDefaults: true } }, sampling: {}, roots: {} },
    },
  );
  client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: {} }));
  client.setRequestHandler("sampling/createMessage", () => ({
    role: "assistant",
    model: "none",
    content: { type: "text", text: "Nothing." },
  }));
  client.setRequestHandler("roots/list", () => ({ roots: [] }));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const has = client.getServerCapabilities() ?? {};
  const { tools } = await client.listTools();
  const calls = toolCalls.length ? toolCalls : tools.map(({ name, inputSchema }) => ({ name, arguments: filled(inputSchema, tools) }));
  // What a server answers to a call is for the suite to judge.
  for (const call of calls) await client.callTool(call).catch(() => {});
  if (has.resources) {
    const { resources } = await client.listResources();
    for (const { uri } of resources) await client.readResource({ uri });
  }
  if (has.prompts) {
    const { prompts } = await client.listPrompts();
    for (const { name } of prompts) await client.getPrompt({ name });
  }
  await client.close();
}

/// Something for every argument that is needed; where a schema is wanted, the first one that was listed.
function filled({ properties = {}, required = [] }, [first]) {
  const some = { string: "text", number: 1, integer: 1, boolean: true, array: [], object: first.inputSchema };
  return Object.fromEntries(required.map((name) => [name, some[properties[name]?.type] ?? null]));
}

async function started(binary) {
  const folder = mkdtempSync(join(tmpdir(), "callgate-suite-"));
  writeFileSync(join(folder, "rules.yaml"), "policy: p\nrules: []\n");
  const ask = "sampling: allow, elicitation: allow, roots: allow";
  const servers = `servers: { suite: { type: http, url: "${url}" } }`;
  const config = `store: "sqlite:${folder}/callgate.db"\npolicies: [rules.yaml]\nmcp: { ${ask}, ${servers} }\n`;
  writeFileSync(join(folder, "callgate.yaml"), config);
  const words = ["serve", "--listen", "127.0.0.1:0", "--config", join(folder, "callgate.yaml")];
  const child = spawn(binary, words, { stdio: ["ignore", "ignore", "pipe"] });
  const stop = () => {
    // It has nothing to bring to an end.
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  let said = "";
  for await (const piece of child.stderr) {
    said += piece;
    const [, root] = /listening on (http:\/\/[\d.:]+)\n/.exec(said) ?? [];
    if (root) {
      child.stderr.resume();
      return { root, stop };
    }
  }
  throw new Error(`callgate did not start: ${said}`);
}
