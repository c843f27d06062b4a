// What the official Node clients make of a response body. Protocol: ../README.md.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';

import { generateText, jsonSchema, streamText, tool } from 'ai';

import {
  TIMEOUT,
  anthropicAt,
  clean,
  inTime,
  openaiAt,
  vercelAnthropic,
  vercelCompatible,
  vercelOpenai,
  version,
  workOff,
} from './shared.mjs';

const TOOLS = ['evil', 'safe', 'ok']; // known to Vercel when the job names none
const ask = (job) => ({ model: job.model, messages: [{ role: 'user', content: 'hi' }] });
const askAnthropic = (job) => ({ ...ask(job), max_tokens: 64 });

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

async function anthropicStream(messages, seen, job) {
  const stream = messages.stream(askAnthropic(job));
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

async function anthropicWhole(messages, seen, job) {
  const message = await messages.create(askAnthropic(job));
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

async function openaiStream(client, seen, job) {
  const stream = client.chat.completions.stream(ask(job));
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

async function openaiWhole(client, seen, job) {
  const completion = await client.chat.completions.create(ask(job));
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

const A = `anthropic-typescript % ${await version('@anthropic-ai/sdk')}`;
const O = `openai-node chat % ${await version('openai')}`;
const V = `vercel ai ${await version('ai')}`;
const named = (name, method) => name.replace('%', method);

const CLIENTS = {
  'anthropic stream': {
    [named(A, 'stream()')]: (url, seen, job) => anthropicStream(anthropicAt(url).messages, seen, job),
    [named(A, 'beta.stream()')]: (url, seen, job) => anthropicStream(anthropicAt(url).beta.messages, seen, job),
    [V]: (url, seen, job) => vercelStream(vercelAnthropic(url, job.model), seen, job),
  },
  'anthropic whole': {
    [named(A, 'create()')]: (url, seen, job) => anthropicWhole(anthropicAt(url).messages, seen, job),
    [`${V} generateText`]: (url, seen, job) => vercelWhole(vercelAnthropic(url, job.model), seen, job),
  },
  'openai-chat stream': {
    [named(O, 'stream()')]: (url, seen, job) => openaiStream(openaiAt(url), seen, job),
    [`${V} openai.chat`]: (url, seen, job) => vercelStream(vercelOpenai(url, job.model), seen, job),
    [`${V} openai-compatible`]: (url, seen, job) => vercelStream(vercelCompatible(url, job.model), seen, job),
  },
  'openai-chat whole': {
    [named(O, 'create()')]: (url, seen, job) => openaiWhole(openaiAt(url), seen, job),
    [`${V} openai.chat generateText`]: (url, seen, job) => vercelWhole(vercelOpenai(url, job.model), seen, job),
    [`${V} openai-compatible generateText`]: (url, seen, job) => vercelWhole(vercelCompatible(url, job.model), seen, job),
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
  try {
    await inTime(run(url, seen, job));
  } catch (error) {
    seen.fail(error);
  }
  return seen.report();
}

await workOff(async (number, line) => {
  const result = { id: null, clients: {} };
  try {
    const job = { model: 'any', ...JSON.parse(line) };
    result.id = job.id;
    const runs = CLIENTS[`${job.dialect} ${job.mode}`];
    if (!runs) throw new Error(`no clients for ${job.dialect} ${job.mode}`);
    if (!job.base_url) bodies.set(number, { contentType: job.content_type, body: await readFile(job.body_file) });
    for (const [name, run] of Object.entries(runs)) {
      result.clients[name] = await read(run, job.base_url ?? `${base}/${number}`, job);
    }
  } catch (error) {
    // A bad job, not a client's error.
    result.error = `${error.constructor.name}: ${error.message}`;
  }
  bodies.delete(number);
  return result;
});
