// Calls that go on after their first answer: the tasks extension of the revision 2026-07-28. The
// SDK knows nothing of it, so here is as much of it as the conformance suite asks for.

import { randomUUID } from "node:crypto";

import { MissingRequiredClientCapabilityError, ProtocolError } from "@modelcontextprotocol/server";
import * as z from "zod/v4";

import { pause, said, tool } from "./fixtures.mjs";

export const EXTENSION = "io.modelcontextprotocol/tasks";

const wants = (properties) => ({ type: "object", properties, required: Object.keys(properties) });

const elicit = (message, name) => ({
  method: "elicitation/create",
  params: { message, requestedSchema: { type: "object", properties: { [name]: { type: "string" } }, required: [name] } },
});

const USER = { user_name: elicit("What is your name?", "name") };

export const TOOLS = [
  tool("greet", "Greets", wants({ name: { type: "string" } })),
  tool("slow_compute", "Takes its time", wants({ seconds: { type: "number" } })),
  tool("failing_job", "Fails after a while"),
  tool("protocol_error_job", "Breaks"),
  tool("confirm_delete", "Asks before it goes on"),
  tool("multi_input", "Asks two things before it goes on"),
  tool("test_tool_with_task", "Asks, then goes on by itself"),
];

/// What a task does: it may ask by `task.ask`, and ends with a result or an error.
const WORK = {
  slow_compute: async (task, { seconds }) => {
    await Promise.race([pause(seconds * 1000), task.cancelled]);
    return said(`Computed for ${seconds}s.`);
  },
  failing_job: async () => {
    await pause(200);
    return { ...said("It did not work out."), isError: true };
  },
  protocol_error_job: async () => {
    throw new ProtocolError(-32603, "broken");
  },
  confirm_delete: async (task) => {
    const { confirm } = await task.ask({ confirm: elicit("Really?", "answer") });
    return said(`Confirmed: ${confirm.action}.`);
  },
  multi_input: async (task) => {
    await task.ask({ first: elicit("The first?", "one"), second: elicit("The second?", "two") });
    return said("Both.");
  },
  test_tool_with_task: async (_, { user }) => said(`Hello, ${user}!`),
};

const tasks = new Map();

class Task {
  id = randomUUID();
  created = new Date().toISOString();
  status = "working";
  asks = {};
  answers = {};
  cancelled = new Promise((resolve) => (this.cancel = resolve));

  constructor(name, given) {
    tasks.set(this.id, this);
    this.cancelled.then(() => this.end({ status: "cancelled" }));
    WORK[name](this, given).then(
      (result) => this.end({ status: "completed", result: { resultType: "complete", ...result } }),
      ({ code, message }) => this.end({ status: "failed", error: { code, message } }),
    );
  }

  end(how) {
    if (!["completed", "failed", "cancelled"].includes(this.status)) Object.assign(this, how);
  }

  ask(asks) {
    Object.assign(this, { asks, status: "input_required" });
    return new Promise((resolve) => (this.resume = resolve));
  }

  answer(answers) {
    for (const key of Object.keys(answers)) {
      if (!(key in this.asks)) continue;
      this.answers[key] = answers[key];
      delete this.asks[key];
    }
    if (this.status === "input_required" && Object.keys(this.asks).length === 0) {
      this.status = "working";
      this.resume(this.answers);
    }
  }

  told() {
    const { id: taskId, status, created, result, error } = this;
    const times = { createdAt: created, lastUpdatedAt: created, ttlMs: 60_000, pollIntervalMs: 50 };
    const inputRequests = status === "input_required" ? this.asks : undefined;
    return { taskId, status, ...times, inputRequests, result, error };
  }
}

export const has = (name) => name === "greet" || name in WORK;

export async function call(name, given, { mcpReq }, capabilities) {
  if (name === "greet") return said(`Hello, ${given.name}!`);
  if (name === "test_tool_with_task") {
    const user = mcpReq.inputResponses?.user_name?.content?.name;
    if (!user) return { resultType: "input_required", inputRequests: USER };
    given = { user };
  }
  if (capabilities.extensions?.[EXTENSION]) return { resultType: "task", ...new Task(name, given).told() };
  // A client without tasks gets the result itself if there is one at once.
  if (name === "slow_compute") return WORK[name]({ cancelled: new Promise(() => {}) }, given);
  throw missing();
}

const missing = () =>
  new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [EXTENSION]: {} } } });

export function serve(server, capabilities) {
  const params = z.looseObject({ taskId: z.string() });
  const on = (method, answer) =>
    server.setRequestHandler(method, { params }, (given, context) => {
      if (!capabilities(context).extensions?.[EXTENSION]) {
        throw missing();
      }
      const task = tasks.get(given.taskId);
      if (!task) throw new ProtocolError(-32602, `no task ${given.taskId}`);
      return answer(task, given, context);
    });
  on("tasks/get", (task) => task.told());
  on("tasks/update", (task, given, { mcpReq }) => {
    task.answer(given.inputResponses ?? mcpReq.inputResponses ?? {});
    return {};
  });
  on("tasks/cancel", (task) => {
    task.cancel();
    return {};
  });
}
