// A server of the older revisions, on the first line of the official SDK: sessions, streams that
// can be resumed, and requests from the server to the client. Prints where it listens.

import { randomUUID } from "node:crypto";

import { InMemoryEventStore } from "@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import * as types from "@modelcontextprotocol/sdk/types.js";

import * as fixtures from "./fixtures.mjs";

const { pause, said, tool } = fixtures;

const string = { type: "string" };
const wanted = (name) => ({ type: "object", properties: { [name]: string }, required: [name] });

const TOOLS = [
  ...fixtures.TOOLS,
  tool("test_tool_with_logging", "Writes to the log"),
  tool("test_sampling", "Asks the client's model", wanted("prompt")),
  tool("test_elicitation", "Asks the client's user", wanted("message")),
  tool("test_elicitation_sep1034_defaults", "Asks with answers that are filled in"),
  tool("test_elicitation_sep1330_enums", "Asks with answers to choose from"),
  tool("test_reconnection", "Hangs up, and answers a client that comes back"),
];

const DEFAULTS = {
  name: { type: "string", default: "John Doe" },
  age: { type: "integer", default: 30 },
  score: { type: "number", default: 95.5 },
  status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
  verified: { type: "boolean", default: true },
};

const options = ["option1", "option2", "option3"];
const titled = (word) => ["First", "Second", "Third"].map((nth, i) => ({ const: `value${i + 1}`, title: `${nth} ${word}` }));

const ENUMS = {
  untitledSingle: { type: "string", enum: options },
  titledSingle: { type: "string", oneOf: titled("Option") },
  legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["Option One", "Option Two", "Option Three"] },
  untitledMulti: { type: "array", items: { type: "string", enum: options } },
  titledMulti: { type: "array", items: { anyOf: titled("Choice") } },
};

async function call({ name, arguments: given = {} }, { _meta, sendNotification, sendRequest, closeSSEStream }) {
  const elicit = async (message, properties, required = []) => {
    const requestedSchema = { type: "object", properties, required };
    const params = { message, requestedSchema };
    const { action, content } = await sendRequest({ method: "elicitation/create", params }, types.ElicitResultSchema);
    return said(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`);
  };
  switch (name) {
    case "test_tool_with_progress":
      return fixtures.progress(_meta?.progressToken, sendNotification);
    case "test_tool_with_logging":
      for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
        await sendNotification({ method: "notifications/message", params: { level: "info", data } });
        await pause(20);
      }
      return said("Logged.");
    case "test_sampling": {
      const messages = [{ role: "user", content: fixtures.text(given.prompt) }];
      const request = { method: "sampling/createMessage", params: { messages, maxTokens: 100 } };
      const { content } = await sendRequest(request, types.CreateMessageResultSchema);
      return said("LLM response:", content.text);
    }
    case "test_elicitation":
      return elicit(given.message, { username: string, email: string }, ["username", "email"]);
    case "test_elicitation_sep1034_defaults":
      return elicit("Please look through it.", DEFAULTS);
    case "test_elicitation_sep1330_enums":
      return elicit("Please choose.", ENUMS);
    case "test_reconnection":
      closeSSEStream?.();
      await pause(100);
      return said("Welcome back.");
  }
  const result = fixtures.RESULTS[name];
  if (!result) throw new types.McpError(types.ErrorCode.InvalidParams, `no tool ${name}`);
  return result;
}

function server() {
  const server = new Server(fixtures.INFO, {
    capabilities: {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      completions: {},
      logging: {},
    },
  });
  server.setRequestHandler(types.ListToolsRequestSchema, () => ({ tools: TOOLS }));
  server.setRequestHandler(types.CallToolRequestSchema, ({ params }, extra) => call(params, extra));
  server.setRequestHandler(types.ListPromptsRequestSchema, () => ({ prompts: fixtures.PROMPTS }));
  server.setRequestHandler(types.GetPromptRequestSchema, ({ params }) => fixtures.prompt(params));
  server.setRequestHandler(types.ListResourcesRequestSchema, () => ({ resources: fixtures.RESOURCES }));
  server.setRequestHandler(types.ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: fixtures.TEMPLATES }));
  server.setRequestHandler(types.ReadResourceRequestSchema, ({ params }) => {
    const found = fixtures.read(params.uri);
    if (!found) throw new types.McpError(-32002, `no resource ${params.uri}`);
    return found;
  });
  server.setRequestHandler(types.SubscribeRequestSchema, () => ({}));
  server.setRequestHandler(types.UnsubscribeRequestSchema, () => ({}));
  server.setRequestHandler(types.CompleteRequestSchema, () => fixtures.COMPLETION);
  return server;
}

const sessions = new Map();

async function opened() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    eventStore: new InMemoryEventStore(),
    retryInterval: 500,
    onsessioninitialized: (id) => sessions.set(id, transport),
    onsessionclosed: (id) => sessions.delete(id),
  });
  await server().connect(transport);
  return transport;
}

const failed = (code, message) => ({ jsonrpc: "2.0", id: null, error: { code, message } });

const app = createMcpExpressApp();
app.all("/mcp", async (request, response) => {
  const id = request.headers["mcp-session-id"];
  if (id && !sessions.has(id)) return response.status(404).json(failed(-32001, "Session not found"));
  if (!id && !types.isInitializeRequest(request.body)) {
    return response.status(400).json(failed(-32000, "Bad Request: no session"));
  }
  const transport = sessions.get(id) ?? (await opened());
  await transport.handleRequest(request, response, request.body);
});

const listener = app.listen(0, "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${listener.address().port}/mcp`);
});
