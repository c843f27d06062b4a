// The Vercel AI SDK, which reads several dialects.

import { generateText, jsonSchema, streamText, tool } from 'ai';

import { TIMEOUT, version } from '../shared.mjs';

const TOOLS = ['evil', 'safe', 'ok']; // known when the job names none
export const VERCEL = `vercel ai ${await version('ai')}`;

function ask(model, job) {
  const any = tool({ inputSchema: jsonSchema({}) }); // no execute: calls surface and nothing runs
  return {
    model,
    prompt: 'hi',
    tools: Object.fromEntries((job.tools ?? TOOLS).map((name) => [name, any])),
    maxRetries: 0,
    abortSignal: AbortSignal.timeout(TIMEOUT),
  };
}

function takeCall(seen, { toolName, input, invalid, providerExecuted }) {
  if (providerExecuted) return;
  seen.call(seen.final, null, toolName, input, ...(invalid ? ['invalid'] : []));
}

export const vercelStream = (model) =>
  async function read(url, seen, job) {
    const { stream } = streamText({ ...ask(model(url, job.model), job), onError() {} });
    for await (const part of stream) {
      if (part.type === 'tool-call') takeCall(seen, part);
      else if (part.type === 'text-delta') seen.text += part.text;
      else if (part.type === 'finish') seen.stop = part.finishReason;
      else if (part.type === 'error') seen.fail(part.error);
      else if (part.type === 'abort') seen.fail(new Error('aborted'));
    }
  };

export const vercelWhole = (model) =>
  async function read(url, seen, job) {
    const { toolCalls, text, finishReason } = await generateText(ask(model(url, job.model), job));
    toolCalls.forEach((call) => takeCall(seen, call));
    Object.assign(seen, { text, stop: finishReason });
  };
