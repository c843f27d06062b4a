// Ollama's own chat.

import { ollamaAt, version } from '../shared.mjs';

const ask = (job) => ({ model: job.model, messages: [{ role: 'user', content: 'hi' }] });

function take(seen, response) {
  seen.stop = response.done_reason ?? seen.stop;
  seen.say(response.message?.content);
  for (const call of response.message?.tool_calls ?? []) {
    seen.call(seen.final, null, call?.function?.name, call?.function?.arguments);
  }
}

async function stream(url, seen, job) {
  for await (const response of await ollamaAt(url).chat({ ...ask(job), stream: true })) take(seen, response);
}

async function whole(url, seen, job) {
  take(seen, await ollamaAt(url).chat(ask(job)));
}

const SDK = await version('ollama');

export const CLIENTS = {
  'ollama stream': { [`ollama-js chat(stream) ${SDK}`]: stream },
  'ollama whole': { [`ollama-js chat() ${SDK}`]: whole },
};
