// Ollama's own chat.

import { ollamaAt } from '../shared.mjs';
import { GO_ON, SCHEMA, resultOf } from './talk.mjs';

const ollama = (isStream) =>
  async function turn(talk, root) {
    const tools = talk.tools.map((name) => ({ type: 'function', function: { name, parameters: SCHEMA } }));
    const request = { model: talk.model, messages: talk.messages, tools };
    const message = { role: 'assistant', content: '', tool_calls: [] };
    let stop = null;
    const take = ({ message: { content, tool_calls: calls }, done_reason: reason }) => {
      message.content += content ?? '';
      message.tool_calls.push(...(calls ?? []));
      stop = reason ?? stop;
    };
    if (isStream) for await (const part of await ollamaAt(root).chat({ ...request, stream: true })) take(part);
    else take(await ollamaAt(root).chat(request));
    talk.messages.push(message);
    for (const { function: called } of message.tool_calls) {
      talk.messages.push({ role: 'tool', tool_name: called.name, content: resultOf(called.name) });
    }
    if (!message.tool_calls.length) talk.messages.push(GO_ON);
    return {
      calls: message.tool_calls.map(({ function: called }) => [called.name, called.arguments]),
      text: message.content,
      stop,
    };
  };

export const CLIENTS = { 'ollama-js chat(stream)': ollama(true), 'ollama-js chat()': ollama(false) };
