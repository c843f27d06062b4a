// Conversations with tools, held by the official Node clients. Protocol: ../README.md.

import { clean, inTime, workOff } from './shared.mjs';
import { CLIENTS as anthropic } from './talks/anthropic-messages.mjs';
import { CLIENTS as gemini } from './talks/gemini.mjs';
import { CLIENTS as ollama } from './talks/ollama.mjs';
import { CLIENTS as chat } from './talks/openai-chat.mjs';
import { CLIENTS as responses } from './talks/openai-responses.mjs';
import { CLIENTS as vercel } from './talks/vercel.mjs';

// Each client takes one turn the way its documentation shows: asks, adds what it got to the messages, answers the calls
// it got, or says a word if it got none.
const CLIENTS = { ...anthropic, ...chat, ...responses, ...gemini, ...ollama, ...vercel };

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
