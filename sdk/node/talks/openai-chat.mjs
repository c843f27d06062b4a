// OpenAI Chat Completions.

import { openaiAt } from '../shared.mjs';
import { GO_ON, SCHEMA, resultOf } from './talk.mjs';

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

export const CLIENTS = {
  'openai-node stream()': openai(true),
  'openai-node create()': openai(false),
};
