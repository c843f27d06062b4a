// Anthropic Messages.

import { anthropicAt, vercelAnthropic, version } from '../shared.mjs';
import { VERCEL, vercelStream, vercelWhole } from './vercel.mjs';

const ask = (job) => ({ model: job.model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 64 });

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

async function stream(messages, seen, job) {
  const events = messages.stream(ask(job));
  events.on('streamEvent', (event, { content }) => {
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
  events.on('streamEvent', (event, snapshot) => (message = snapshot));
  try {
    takeFinalMessage(seen, await events.finalMessage());
  } finally {
    if (message) takeMessage(seen, message);
  }
}

async function whole(messages, seen, job) {
  const message = await messages.create(ask(job));
  takeFinalMessage(seen, message);
  takeMessage(seen, message);
}

const SDK = await version('@anthropic-ai/sdk');
const named = (method) => `anthropic-typescript ${method} ${SDK}`;

export const CLIENTS = {
  'anthropic stream': {
    [named('stream()')]: (url, seen, job) => stream(anthropicAt(url).messages, seen, job),
    [named('beta.stream()')]: (url, seen, job) => stream(anthropicAt(url).beta.messages, seen, job),
    [VERCEL]: vercelStream(vercelAnthropic),
  },
  'anthropic whole': {
    [named('create()')]: (url, seen, job) => whole(anthropicAt(url).messages, seen, job),
    [`${VERCEL} generateText`]: vercelWhole(vercelAnthropic),
  },
};
