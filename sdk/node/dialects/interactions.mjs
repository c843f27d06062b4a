// Gemini Interactions.

import { geminiAt, vercelInteractions, version } from '../shared.mjs';
import { VERCEL, vercelStream, vercelWhole } from './vercel.mjs';

const ask = (job) => ({ model: job.model, input: 'hi' });

function takeText(seen, content) {
  for (const part of content ?? []) if (part?.type === 'text') seen.say(part.text);
}

/** Steps put together by hand: the client hands over events. */
async function stream(url, seen, job) {
  const calls = [];
  const open = new Map(); // index -> the call begun last under it
  try {
    for await (const event of await geminiAt(url).interactions.create({ ...ask(job), stream: true })) {
      takeEvent(seen, calls, open, event);
    }
  } finally {
    calls.forEach(({ name, input }, position) => seen.call(seen.final, position, name, input));
  }
}

function takeEvent(seen, calls, open, { event_type: type, index, step, delta, ...rest }) {
  if (type === 'step.start') {
    if (step?.type === 'function_call') {
      // Arguments are whole here, or `{}` and then come as text.
      const call = { name: step.name, input: step.arguments };
      calls.push(call);
      open.set(index, call);
    }
    takeText(seen, step?.content);
  } else if (type === 'step.delta') {
    const call = open.get(index);
    if (call && delta?.arguments) call.input = (typeof call.input === 'string' ? call.input : '') + delta.arguments;
    if (delta?.type === 'text') seen.say(delta.text);
  } else if (type === 'interaction.completed' || type === 'interaction.status_update') {
    seen.stop = rest.interaction?.status ?? rest.status ?? seen.stop;
  } else if (type === 'error') throw new Error(`error event: ${rest.error?.message}`);
}

async function whole(url, seen, job) {
  const interaction = await geminiAt(url).interactions.create(ask(job));
  seen.stop = interaction.status ?? null;
  (interaction.steps ?? []).forEach((step, position) => {
    if (step?.type === 'function_call') seen.call(seen.final, position, step.name, step.arguments);
    else if (step?.type === 'model_output') takeText(seen, step.content);
  });
}

const SDK = await version('@google/genai');

export const CLIENTS = {
  'gemini-interactions stream': {
    [`google-genai js interactions.create(stream) ${SDK}`]: stream,
    [`${VERCEL} google.interactions`]: vercelStream(vercelInteractions),
  },
  'gemini-interactions whole': {
    [`google-genai js interactions.create() ${SDK}`]: whole,
    [`${VERCEL} google.interactions generateText`]: vercelWhole(vercelInteractions),
  },
};
