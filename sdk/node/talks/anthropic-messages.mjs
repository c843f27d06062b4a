// Anthropic Messages.

import { anthropicAt } from '../shared.mjs';
import { GO_ON, ROOM, SCHEMA, resultOf } from './talk.mjs';

const THINKING = { type: 'enabled', budget_tokens: 1024 };

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

export const CLIENTS = {
  'anthropic-typescript stream()': anthropic(true),
  'anthropic-typescript create()': anthropic(false),
};
