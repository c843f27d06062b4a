// Conversations with tools, held by the official Node clients. Protocol: ../README.md.

import { generateText, jsonSchema, streamText, tool } from 'ai';

import {
  anthropicAt,
  clean,
  inTime,
  openaiAt,
  vercelAnthropic,
  vercelCompatible,
  vercelOpenai,
  workOff,
} from './shared.mjs';

const THINKING = { type: 'enabled', budget_tokens: 1024 };
const ROOM = 2048; // tokens; more than the budget for thinking, or the API refuses
const SCHEMA = { type: 'object', properties: {}, additionalProperties: true };
const GO_ON = { role: 'user', content: 'Go on.' };
const resultOf = (name) => `result of ${name}`;

// Each client takes one turn the way its documentation shows: asks, adds what it got to the messages, answers the calls
// it got, or says a word if it got none.

const anthropic = (isStream) =>
  async function turn(talk, root) {
    const { messages } = anthropicAt(root);
    const request = {
      model: talk.model,
      messages: talk.messages,
      tools: talk.tools.map((name) => ({ name, description: name, input_schema: SCHEMA })),
      max_tokens: ROOM,
      thinking: THINKING,
    };
    const message = isStream ? await messages.stream(request).finalMessage() : await messages.create(request);
    const uses = message.content.filter((block) => block.type === 'tool_use');
    const results = uses.map(({ id, name }) => ({ type: 'tool_result', tool_use_id: id, content: resultOf(name) }));
    talk.messages.push({ role: 'assistant', content: message.content });
    talk.messages.push(uses.length ? { role: 'user', content: results } : GO_ON);
    return {
      calls: uses.map(({ name, input }) => [name, input]),
      text: message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      stop: message.stop_reason,
    };
  };

const openai = (isStream) =>
  async function turn(talk, root) {
    const { completions } = openaiAt(root).chat;
    const request = {
      model: talk.model,
      messages: talk.messages,
      tools: talk.tools.map((name) => ({ type: 'function', function: { name, parameters: SCHEMA } })),
    };
    const completion = isStream
      ? await completions.stream(request).finalChatCompletion()
      : await completions.create(request);
    const { message, finish_reason: stop } = completion.choices[0];
    const calls = message.tool_calls ?? [];
    talk.messages.push(message);
    for (const { id, function: called } of calls) {
      talk.messages.push({ role: 'tool', tool_call_id: id, content: resultOf(called.name) });
    }
    if (!calls.length) talk.messages.push(GO_ON);
    return {
      calls: calls.map(({ function: called }) => [called.name, called.arguments]),
      text: message.content ?? '',
      stop,
    };
  };

const vercel = (model, isStream) =>
  async function turn(talk, root) {
    const request = {
      model: model(root, talk.model),
      messages: talk.messages,
      // No execute: calls surface and nothing runs.
      tools: Object.fromEntries(talk.tools.map((name) => [name, tool({ inputSchema: jsonSchema(SCHEMA) })])),
      providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } } },
      maxOutputTokens: ROOM,
      maxRetries: 0,
    };
    let failure;
    const result = isStream
      ? streamText({ ...request, onError: ({ error }) => (failure ??= error) })
      : await generateText(request);
    if (isStream) await result.consumeStream();
    if (failure) throw failure;
    const calls = await result.toolCalls;
    talk.messages.push(...(await result.response).messages);
    const content = calls.map(({ toolCallId, toolName }) => {
      return { type: 'tool-result', toolCallId, toolName, output: { type: 'text', value: resultOf(toolName) } };
    });
    talk.messages.push(calls.length ? { role: 'tool', content } : GO_ON);
    return {
      calls: calls.map(({ toolName, input, invalid }) => [toolName, input, ...(invalid ? ['invalid'] : [])]),
      text: await result.text,
      stop: await result.finishReason,
    };
  };

const CLIENTS = {
  'anthropic-typescript stream()': anthropic(true),
  'anthropic-typescript create()': anthropic(false),
  'openai-node stream()': openai(true),
  'openai-node create()': openai(false),
  'vercel anthropic streamText': vercel(vercelAnthropic, true),
  'vercel anthropic generateText': vercel(vercelAnthropic, false),
  'vercel openai streamText': vercel(vercelOpenai, true),
  'vercel openai generateText': vercel(vercelOpenai, false),
  'vercel openai-compatible streamText': vercel(vercelCompatible, true),
  'vercel openai-compatible generateText': vercel(vercelCompatible, false),
};

const talks = new Map();

await workOff(async (number, line) => {
  const result = { id: null, calls: [], text: '', stop: null, error: null };
  try {
    const job = JSON.parse(line);
    result.id = job.id;
    if (!talks.has(job.id)) {
      const turn = CLIENTS[job.client];
      if (!turn) throw new Error(`no client ${job.client}`);
      const messages = [{ role: 'user', content: job.say }];
      talks.set(job.id, { turn, messages, tools: job.tools, model: job.model ?? 'any' });
    }
    const talk = talks.get(job.id);
    Object.assign(result, await inTime(talk.turn(talk, job.base_url)));
  } catch (error) {
    const said = error?.responseBody ?? error?.message ?? String(error);
    result.error = `${error?.constructor?.name}: ${said}`.slice(0, 1000);
  }
  return clean(result);
});
