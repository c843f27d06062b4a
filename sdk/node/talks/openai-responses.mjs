// OpenAI Responses: with the history in every request, or kept by the provider.

import { openaiAt } from '../shared.mjs';
import { GO_ON, SCHEMA, resultOf } from './talk.mjs';

const responses = (isStream, isStored) =>
  async function turn(talk, root) {
    const { responses } = openaiAt(root);
    const request = {
      model: talk.model,
      input: talk.messages,
      tools: talk.tools.map((name) => ({ type: 'function', name, parameters: SCHEMA, strict: false })),
      ...(isStored ? {} : { store: false, include: ['reasoning.encrypted_content'] }),
      ...(talk.before ? { previous_response_id: talk.before } : {}),
    };
    const response = isStream ? await responses.stream(request).finalResponse() : await responses.create(request);
    if (isStored) {
      talk.before = response.id;
      talk.messages = [];
    } else talk.messages.push(...response.output);
    const calls = response.output.filter((item) => item.type === 'function_call');
    for (const { call_id, name } of calls) {
      talk.messages.push({ type: 'function_call_output', call_id, output: resultOf(name) });
    }
    if (!calls.length) talk.messages.push(GO_ON);
    return {
      calls: calls.map(({ name, arguments: input }) => [name, input]),
      text: response.output_text,
      stop: response.status,
    };
  };

export const CLIENTS = {
  'openai-node responses.stream()': responses(true, false),
  'openai-node responses.create()': responses(false, false),
  'openai-node responses.stream() stored': responses(true, true),
  'openai-node responses.create() stored': responses(false, true),
};
