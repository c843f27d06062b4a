// A server of the revision 2026-07-28, on the second line of the official SDK: no sessions, results
// that ask for input, change notices for subscribers, tasks. Prints where it listens.

import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { Readable } from "node:stream";

import {
  createMcpHandler,
  createRequestStateCodec,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  McpServer,
  MissingRequiredClientCapabilityError,
  originValidationResponse,
  ProtocolError,
  ResourceNotFoundError,
  Server,
} from "@modelcontextprotocol/server";

import * as fixtures from "./fixtures.mjs";
import * as tasks from "./tasks.mjs";

const { said, tool } = fixtures;

const state = createRequestStateCodec({ key: randomBytes(32) });

const elicit = (message, name, type = "string") => ({
  method: "elicitation/create",
  params: {
    message,
    requestedSchema: { type: "object", properties: { [name]: { type } }, required: [name] },
  },
});

const sample = (words, maxTokens) => ({
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: fixtures.text(words) }], maxTokens },
});

const ROOTS = { method: "roots/list", params: {} };
const NAME = elicit("What is your name?", "name");

/// What a tool asks for in each of its rounds, and what it says to the last answers.
const ROUNDS = {
  test_input_required_result_elicitation: {
    asks: [{ user_name: NAME }],
    says: ({ user_name }) => `Hello, ${user_name.content.name}!`,
  },
  test_input_required_result_sampling: {
    asks: [{ capital_question: sample("What is the capital of France?", 100) }],
    says: ({ capital_question }) => capital_question.content.text,
  },
  test_input_required_result_list_roots: {
    asks: [{ client_roots: ROOTS }],
    says: ({ client_roots }) => client_roots.roots.map(({ uri }) => uri).join(" "),
  },
  test_input_required_result_request_state: {
    asks: [{ confirm: elicit("Please confirm", "ok", "boolean") }],
    remembers: true,
    says: () => "state-ok",
  },
  test_input_required_result_multiple_inputs: {
    asks: [{ user_name: NAME, greeting: sample("Generate a greeting", 50), client_roots: ROOTS }],
    remembers: true,
    says: ({ user_name }) => `All of it, ${user_name.content.name}.`,
  },
  test_input_required_result_multi_round: {
    asks: [
      { step1: elicit("Step 1: What is your name?", "name") },
      { step2: elicit("Step 2: What is your favorite color?", "color") },
    ],
    remembers: true,
    says: ({ step2 }) => `So it is ${step2.content.color}.`,
  },
  test_input_required_result_tampered_state: {
    asks: [{ confirm: elicit("Please confirm", "ok", "boolean") }],
    remembers: true,
    says: () => "Unchanged.",
  },
  test_streaming_elicitation: {
    asks: [{ user_name: NAME }],
    says: ({ user_name }) => `Hello, ${user_name.content.name}!`,
  },
};

const PROMPT = { user_context: elicit("What context should the prompt use?", "context") };

const TOOLS = [
  ...fixtures.TOOLS,
  ...Object.keys(ROUNDS).map((name) => tool(name, "Asks before it answers")),
  tool("test_input_required_result_capabilities", "Asks what the client can answer"),
  tool("test_missing_capability", "Needs a client with a model"),
  tool("test_logging_tool", "Writes to the log"),
  tool("test_trigger_tool_change", "Says that the tools have changed"),
  tool("test_trigger_prompt_change", "Says that the prompts have changed"),
  tool("test_x_mcp_header", "Wants an argument in a header too", {
    type: "object",
    properties: { region: { type: "string", "x-mcp-header": "Region" } },
    required: ["region"],
  }),
  ...tasks.TOOLS,
];

/// What a round of a tool answers: it asks until it has everything, then it speaks.
async function round({ asks, remembers, says }, { mcpReq }) {
  const done = mcpReq.requestState()?.done ?? 0;
  const answers = mcpReq.inputResponses ?? {};
  const complete = Object.entries(asks[done]).every(([key, { method }]) => fits(method, answers[key]));
  const next = complete && (!remembers || mcpReq.requestState()) ? done + 1 : done;
  if (next === asks.length) return said(says(answers));
  const requestState = remembers ? await state.mint({ done: next }) : undefined;
  return { resultType: "input_required", inputRequests: asks[next], requestState };
}

/// Whether an answer is one to a request of this method.
function fits(method, answer) {
  switch (method) {
    case "elicitation/create":
      return answer?.action === "accept" && typeof answer.content === "object";
    case "sampling/createMessage":
      return typeof answer?.content === "object";
    default:
      return Array.isArray(answer?.roots);
  }
}

function capabilities({ mcpReq }) {
  return mcpReq.envelope?.["io.modelcontextprotocol/clientCapabilities"] ?? {};
}

async function call({ name, arguments: given = {} }, context) {
  const { mcpReq } = context;
  if (ROUNDS[name]) return round(ROUNDS[name], context);
  if (tasks.has(name)) return tasks.call(name, given, context, capabilities(context));
  switch (name) {
    case "test_tool_with_progress":
      return fixtures.progress(mcpReq._meta?.progressToken, mcpReq.notify);
    case "test_input_required_result_capabilities": {
      if (mcpReq.inputResponses) return said("Thank you.");
      const can = capabilities(context);
      const all = { elicitation: NAME, sampling: sample("Say something", 10), roots: ROOTS };
      const inputRequests = Object.fromEntries(Object.entries(all).filter(([what]) => can[what]));
      return { resultType: "input_required", inputRequests };
    }
    case "test_missing_capability":
      if (!capabilities(context).sampling) {
        throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
      }
      return said("It has one.");
    case "test_logging_tool":
      await mcpReq.log("info", "Something happened");
      return said("Logged.");
    case "test_trigger_tool_change":
      handler.notify.toolsChanged();
      return said("Changed.");
    case "test_trigger_prompt_change":
      handler.notify.promptsChanged();
      return said("Changed.");
    case "test_x_mcp_header":
      return said("In", given.region);
  }
  const result = fixtures.RESULTS[name];
  if (!result) throw new ProtocolError(-32602, `no tool ${name}`);
  return result;
}

function prompt(params, { mcpReq }) {
  if (params.name !== "test_input_required_result_prompt") {
    const found = fixtures.prompt(params);
    if (!found) throw new ProtocolError(-32602, `no prompt ${params.name}`);
    return found;
  }
  const answer = mcpReq.inputResponses?.user_context;
  if (!fits("elicitation/create", answer)) return { resultType: "input_required", inputRequests: PROMPT };
  return { messages: [{ role: "user", content: fixtures.text(`In this context: ${answer.content.context}`) }] };
}

const OPTIONS = {
  capabilities: {
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    completions: {},
    logging: {},
    extensions: { [tasks.EXTENSION]: {} },
  },
  requestState: { verify: state.verify },
  cacheHints: { "tools/list": { ttlMs: 1000, cacheScope: "public" } },
};

/// The SDK takes a result with no content for a mistake. A task has none yet.
class WithTasks extends Server {
  _wrapHandler(method, handler) {
    const checked = super._wrapHandler(method, handler);
    if (method !== "tools/call") return checked;
    return (request, context) => (tasks.has(request.params.name) ? handler : checked)(request, context);
  }
}

/// Tools by their schemas as they stand here. The SDK asks for them, to check headers against arguments.
class Fixture extends McpServer {
  constructor() {
    super(fixtures.INFO);
    this.server = serving(new WithTasks(fixtures.INFO, OPTIONS));
  }

  toolInputSchemaJson(name) {
    return TOOLS.find((tool) => tool.name === name)?.inputSchema;
  }
}

function serving(server) {
  const prompts = [...fixtures.PROMPTS, { name: "test_input_required_result_prompt", description: "Asks first" }];
  server.setRequestHandler("tools/list", () => ({ tools: TOOLS }));
  server.setRequestHandler("tools/call", ({ params }, context) => call(params, context));
  server.setRequestHandler("prompts/list", () => ({ prompts }));
  server.setRequestHandler("prompts/get", ({ params }, context) => prompt(params, context));
  server.setRequestHandler("resources/list", () => ({ resources: fixtures.RESOURCES }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: fixtures.TEMPLATES }));
  server.setRequestHandler("resources/read", ({ params }) => {
    const found = fixtures.read(params.uri);
    if (!found) throw new ResourceNotFoundError(params.uri);
    return found;
  });
  server.setRequestHandler("completion/complete", () => fixtures.COMPLETION);
  tasks.serve(server, capabilities);
  return server;
}

const handler = createMcpHandler(() => new Fixture(), { legacy: "reject" });

const listener = createServer(async (request, response) => {
  const answer = await answered(webRequest(request, response));
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (!answer.body) return response.end();
  response.flushHeaders();
  Readable.fromWeb(answer.body).on("error", () => response.destroy()).pipe(response);
});

async function answered(request) {
  const refused =
    hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
    originValidationResponse(request, localhostAllowedOrigins());
  return refused ?? handler.fetch(request);
}

/// A request as the SDK wants it. A client that hangs up calls it off.
function webRequest(request, response) {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const { method, headers, url } = request;
  const body = method === "POST" ? Readable.toWeb(request) : undefined;
  return new Request(`http://${headers.host}${url}`, { method, headers, body, duplex: "half", signal: gone.signal });
}

listener.listen(0, "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${listener.address().port}/mcp`);
});
