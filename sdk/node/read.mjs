// What the official Node clients make of a response body. Protocol: ../README.md.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { generateText, jsonSchema, streamText, tool } from 'ai';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';

const TIMEOUT = 10_000; // the server is in this process, so a client that waits longer hangs
const AT_ONCE = 16;
const MAX_DEPTH = 100; // of arguments in results; common JSON readers stop at 128
const TOOLS = ['evil', 'safe', 'ok']; // known to Vercel when the job names none
const ASK = { model: 'any', messages: [{ role: 'user', content: 'hi' }] };
const ASK_ANTHROPIC = { ...ASK, max_tokens: 64 };

// stdout is for results only.
console.log = console.info = console.debug = console.error;
globalThis.AI_SDK_LOG_WARNINGS = false;
// Clients leave promises nobody waits for; their errors reach us on the stream as well.
process.on('unhandledRejection', () => {});

/** A copy that any strict JSON reader takes: no lone surrogate, infinity or deep nesting. */
function clean(value, depth = 0) {
  if (typeof value === 'string') {
    // Under the flag u a surrogate matches only when it is alone.
    return value.replace(/\p{Surrogate}/gu, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
  }
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (depth === MAX_DEPTH) return '<too deep>';
  if (Array.isArray(value)) return value.map((item) => clean(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [clean(key), clean(item, depth + 1)]));
}

/**
 * What one client saw. A program may run a call as soon as the client says it is complete, so calls seen
 * early count when the stream breaks afterwards, and are told apart when the final message has them otherwise.
 */
class Seen {
  final = [];
  early = [];
  text = '';
  stop = null;
  error = null;

  call(into, position, name, input, ...marks) {
    // A copy: the client may go on changing the input.
    const call = [clean(name), clean(input), ...marks];
    const key = JSON.stringify([position, call]);
    if (into === this.final || !into.some((entry) => entry.key === key)) into.push({ key, call });
  }

  fail(error) {
    // The first error is the cause; anything can be thrown or reported, null too.
    const isError = error instanceof Error;
    this.error ??= (isError ? `${error.constructor.name}: ${error.message}` : `no Error: ${error}`).slice(0, 500);
  }

  report() {
    const known = new Set(this.final.map(({ key }) => key));
    const early = this.early.filter(({ key }) => !known.has(key)).map(({ call }) => call);
    const calls = this.final.map(({ call }) => call);
    const rest = { text: clean(this.text), stop: clean(this.stop), error: clean(this.error) };
    // After an error there is no final message: what was seen is all there is.
    return this.error === null ? { calls, early, ...rest } : { calls: [...calls, ...early], early: [], ...rest };
  }
}

// Anthropic Messages

function takeBlock(seen, into, position, block) {
  // Only `tool_use` is a call the client runs; server tools run at the provider.
  if (block?.type === 'tool_use') seen.call(into, position, block.name, block.input);
}

function takeMessage(seen, message) {
  seen.stop = message.stop_reason;
  seen.text = message.content.map((block) => (block?.type === 'text' ? block.text : '')).join('');
}

function takeFinalMessage(seen, message) {
  message.content.forEach((block, position) => takeBlock(seen, seen.final, position, block));
}

async function anthropicStream(messages, seen) {
  const stream = messages.stream(ASK_ANTHROPIC);
  stream.on('streamEvent', (event, { content }) => {
    // The SDK hands the last block to listeners of `contentBlock` whichever block has stopped, and the
    // start of a block also says that the one before is complete.
    const back = { content_block_stop: 1, content_block_start: 2 }[event.type];
    if (!back) return;
    try {
      takeBlock(seen, seen.early, content.length - back, content.at(-back));
    } catch {
      // Unreadable input. Throwing here would break the stream, which the client may not do by itself.
    }
  });
  let message;
  stream.on('streamEvent', (event, snapshot) => (message = snapshot));
  try {
    takeFinalMessage(seen, await stream.finalMessage());
  } finally {
    if (message) takeMessage(seen, message);
  }
}

async function anthropicWhole(messages, seen) {
  const message = await messages.create(ASK_ANTHROPIC);
  takeFinalMessage(seen, message);
  takeMessage(seen, message);
}

// OpenAI Chat Completions

function takeCompletion(seen, completion) {
  for (const choice of completion.choices) {
    seen.stop ??= choice?.finish_reason ?? null;
    seen.text += choice?.message?.content ?? '';
  }
}

function takeFinalCompletion(seen, completion) {
  for (const { message } of completion.choices) {
    message.tool_calls?.forEach(({ function: called, custom }, position) => {
      if (called) seen.call(seen.final, position, called.name, called.arguments);
      else if (custom) seen.call(seen.final, position, custom.name, custom.input);
    });
    const legacy = message.function_call;
    if (legacy) seen.call(seen.final, null, legacy.name, legacy.arguments);
  }
}

async function openaiStream(client, seen) {
  const stream = client.chat.completions.stream(ASK);
  stream.on('tool_calls.function.arguments.done', (done) => {
    seen.call(seen.early, done.index, done.name, done.arguments);
  });
  let completion;
  stream.on('chunk', (chunk, snapshot) => (completion = snapshot));
  try {
    takeFinalCompletion(seen, await stream.finalChatCompletion());
  } finally {
    if (completion) takeCompletion(seen, completion);
  }
}

async function openaiWhole(client, seen) {
  const completion = await client.chat.completions.create(ASK);
  takeFinalCompletion(seen, completion);
  takeCompletion(seen, completion);
}

// Vercel AI SDK

function vercelAsk(model, job) {
  const any = tool({ inputSchema: jsonSchema({}) }); // no execute: calls surface and nothing runs
  return {
    model,
    prompt: 'hi',
    tools: Object.fromEntries((job.tools ?? TOOLS).map((name) => [name, any])),
    maxRetries: 0,
    abortSignal: AbortSignal.timeout(TIMEOUT),
  };
}

function takeVercelCall(seen, { toolName, input, invalid, providerExecuted }) {
  if (providerExecuted) return;
  seen.call(seen.final, null, toolName, input, ...(invalid ? ['invalid'] : []));
}

async function vercelStream(model, seen, job) {
  const { stream } = streamText({ ...vercelAsk(model, job), onError() {} });
  for await (const part of stream) {
    if (part.type === 'tool-call') takeVercelCall(seen, part);
    else if (part.type === 'text-delta') seen.text += part.text;
    else if (part.type === 'finish') seen.stop = part.finishReason;
    else if (part.type === 'error') seen.fail(part.error);
    else if (part.type === 'abort') seen.fail(new Error('aborted'));
  }
}

async function vercelWhole(model, seen, job) {
  const { toolCalls, text, finishReason } = await generateText(vercelAsk(model, job));
  toolCalls.forEach((call) => takeVercelCall(seen, call));
  Object.assign(seen, { text, stop: finishReason });
}

// Which clients read which jobs

// The version that is loaded, whatever package.json asks for: a name must not lie.
async function version(name) {
  const file = new URL(`node_modules/${name}/package.json`, import.meta.url);
  return JSON.parse(await readFile(file, 'utf8')).version;
}

const A = `anthropic-typescript % ${await version('@anthropic-ai/sdk')}`;
const O = `openai-node chat % ${await version('openai')}`;
const V = `vercel ai ${await version('ai')}`;
const named = (name, method) => name.replace('%', method);

const options = (baseURL) => ({ baseURL, apiKey: 'none', maxRetries: 0, timeout: TIMEOUT, logLevel: 'off' });
const anthropicAt = (url) => new Anthropic(options(url));
const openaiAt = (url) => new OpenAI(options(url));
const vercelAnthropic = (url) => createAnthropic({ baseURL: url, apiKey: 'none' })('any');
const vercelOpenai = (url) => createOpenAI({ baseURL: url, apiKey: 'none' }).chat('any');
const vercelCompatible = (url) => createOpenAICompatible({ name: 'any', baseURL: url, apiKey: 'none' })('any');

const CLIENTS = {
  'anthropic stream': {
    [named(A, 'stream()')]: (url, seen) => anthropicStream(anthropicAt(url).messages, seen),
    [named(A, 'beta.stream()')]: (url, seen) => anthropicStream(anthropicAt(url).beta.messages, seen),
    [V]: (url, seen, job) => vercelStream(vercelAnthropic(url), seen, job),
  },
  'anthropic whole': {
    [named(A, 'create()')]: (url, seen) => anthropicWhole(anthropicAt(url).messages, seen),
    [`${V} generateText`]: (url, seen, job) => vercelWhole(vercelAnthropic(url), seen, job),
  },
  'openai-chat stream': {
    [named(O, 'stream()')]: (url, seen) => openaiStream(openaiAt(url), seen),
    [`${V} openai.chat`]: (url, seen, job) => vercelStream(vercelOpenai(url), seen, job),
    [`${V} openai-compatible`]: (url, seen, job) => vercelStream(vercelCompatible(url), seen, job),
  },
  'openai-chat whole': {
    [named(O, 'create()')]: (url, seen) => openaiWhole(openaiAt(url), seen),
    [`${V} openai.chat generateText`]: (url, seen, job) => vercelWhole(vercelOpenai(url), seen, job),
    [`${V} openai-compatible generateText`]: (url, seen, job) => vercelWhole(vercelCompatible(url), seen, job),
  },
};

// The driver

const bodies = new Map(); // number of the job -> its content type and body
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    const { contentType, body } = bodies.get(Number(request.url.split('/')[1]));
    const headers = { 'content-length': body.length };
    if (contentType) headers['content-type'] = contentType;
    response.writeHead(200, headers).end(body);
  });
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const base = `http://127.0.0.1:${server.address().port}`;

async function read(run, url, job) {
  const seen = new Seen();
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('the client hangs')), TIMEOUT + 1000);
  });
  try {
    await Promise.race([run(url, seen, job), late]);
  } catch (error) {
    seen.fail(error);
  }
  clearTimeout(timer);
  return seen.report();
}

async function work(number, line) {
  const result = { id: null, clients: {} };
  try {
    const job = JSON.parse(line);
    result.id = job.id;
    const runs = CLIENTS[`${job.dialect} ${job.mode}`];
    if (!runs) throw new Error(`no clients for ${job.dialect} ${job.mode}`);
    bodies.set(number, { contentType: job.content_type, body: await readFile(job.body_file) });
    for (const [name, run] of Object.entries(runs)) {
      result.clients[name] = await read(run, `${base}/${number}`, job);
    }
  } catch (error) {
    // A bad job, not a client's error.
    result.error = `${error.constructor.name}: ${error.message}`;
  }
  bodies.delete(number);
  await new Promise((written) => process.stdout.write(`${JSON.stringify(result)}\n`, written));
}

// Lines are read as they come, so that a caller may keep the driver open and ask again.
const running = new Set();
let number = 0;
for await (const line of createInterface({ input: process.stdin })) {
  if (!line.trim()) continue;
  number += 1;
  const task = work(number, line).finally(() => running.delete(task));
  running.add(task);
  if (running.size >= AT_ONCE) await Promise.race(running);
}
await Promise.all(running);
process.exit(0); // open keep-alive connections would hold the process for seconds
