// The Vercel AI SDK, which speaks several dialects.

import { generateText, jsonSchema, streamText, tool } from 'ai';

import { vercelAnthropic, vercelCompatible, vercelGoogle, vercelOpenai, vercelResponses } from '../shared.mjs';
import { GO_ON, ROOM, SCHEMA, resultOf } from './talk.mjs';

const OPTIONS = {
  anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } },
  // Nothing is kept by the provider, so that the whole history goes back.
  openai: { store: false, include: ['reasoning.encrypted_content'] },
};

const vercel = (model, isStream) =>
  async function turn(talk, root) {
    const request = {
      model: model(root, talk.model),
      messages: talk.messages,
      // No execute: calls surface and nothing runs.
      tools: Object.fromEntries(talk.tools.map((name) => [name, tool({ inputSchema: jsonSchema(SCHEMA) })])),
      providerOptions: OPTIONS,
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

const MODELS = {
  anthropic: vercelAnthropic,
  openai: vercelOpenai,
  'openai-compatible': vercelCompatible,
  'openai.responses': vercelResponses,
  google: vercelGoogle,
};

export const CLIENTS = Object.fromEntries(
  Object.entries(MODELS).flatMap(([name, model]) => [
    [`vercel ${name} streamText`, vercel(model, true)],
    [`vercel ${name} generateText`, vercel(model, false)],
  ]),
);
