// OpenAI Chat Completions.

import { openaiAt, vercelCompatible, vercelOpenai, version } from '../shared.mjs';
import { VERCEL, vercelStream, vercelWhole } from './vercel.mjs';

const ask = (job) => ({ model: job.model, messages: [{ role: 'user', content: 'hi' }] });

function takeCompletion(seen, completion) {
  for (const choice of completion.choices) {
    seen.stop ??= choice?.finish_reason ?? null;
    seen.text += choice?.message?.content ?? '';
  }
}

function takeFinalCompletion(seen, completion) {
  for (const { message } of completion.choices) {
    message.tool_calls?.forEach(({ function: called, custom }, position) => {
      if (called) seen.call(seen.final, position, called.name, called.arguments);
      else if (custom) seen.call(seen.final, position, custom.name, custom.input);
    });
    const legacy = message.function_call;
    if (legacy) seen.call(seen.final, null, legacy.name, legacy.arguments);
  }
}

async function stream(url, seen, job) {
  const events = openaiAt(url).chat.completions.stream(ask(job));
  events.on('tool_calls.function.arguments.done', (done) => {
    seen.call(seen.early, done.index, done.name, done.arguments);
  });
  let completion;
  events.on('chunk', (chunk, snapshot) => (completion = snapshot));
  try {
    takeFinalCompletion(seen, await events.finalChatCompletion());
  } finally {
    if (completion) takeCompletion(seen, completion);
  }
}

async function whole(url, seen, job) {
  const completion = await openaiAt(url).chat.completions.create(ask(job));
  takeFinalCompletion(seen, completion);
  takeCompletion(seen, completion);
}

const SDK = await version('openai');

export const CLIENTS = {
  'openai-chat stream': {
    [`openai-node chat stream() ${SDK}`]: stream,
    [`${VERCEL} openai.chat`]: vercelStream(vercelOpenai),
    [`${VERCEL} openai-compatible`]: vercelStream(vercelCompatible),
  },
  'openai-chat whole': {
    [`openai-node chat create() ${SDK}`]: whole,
    [`${VERCEL} openai.chat generateText`]: vercelWhole(vercelOpenai),
    [`${VERCEL} openai-compatible generateText`]: vercelWhole(vercelCompatible),
  },
};
