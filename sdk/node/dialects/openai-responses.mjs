// OpenAI Responses.

import { openaiAt, vercelResponses, version } from '../shared.mjs';
import { VERCEL, vercelStream, vercelWhole } from './vercel.mjs';

const ask = (job) => ({ model: job.model, input: 'hi' });

// Items the provider runs itself. Anything else that is named `..._call`, or has a call id, is for the client to run.
const AT_PROVIDER = new Set([
  'mcp_call',
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'program',
]);

function isCall(item) {
  const type = String(item?.type);
  if (AT_PROVIDER.has(type) || type.endsWith('_output')) return false;
  if (type === 'tool_search_call') return item.execution !== 'server';
  if (type === 'shell_call') return !String(item.environment?.type).startsWith('container');
  return Boolean(item?.call_id) || type.endsWith('_call') || type === 'mcp_approval_request';
}

/** Name and arguments of a function or custom call; a built-in one goes by the name of its type. */
function called(item) {
  const name = item.name ?? String(item.type).replace(/_call$/, '');
  return [name, item.arguments ?? item.input ?? item.action ?? item.actions ?? item.operation];
}

function takeResponse(seen, response) {
  seen.stop = response.status ?? null;
  (response.output ?? []).forEach((item, position) => {
    if (isCall(item)) seen.call(seen.final, position, ...called(item));
    if (item?.type === 'message') (item.content ?? []).forEach((part) => seen.say(part?.text ?? part?.refusal));
  });
}

async function stream(url, seen, job) {
  takeResponse(seen, await openaiAt(url).responses.stream(ask(job)).finalResponse());
}

/** Items as Codex reads them: a call is run when its item is done, whatever the last response says. */
async function items(url, seen, job) {
  for await (const event of await openaiAt(url).responses.create({ ...ask(job), stream: true })) {
    if (event.type === 'response.output_item.done' && isCall(event.item)) {
      seen.callOnce(event.item.call_id ?? event.output_index, ...called(event.item));
    } else if (event.type === 'response.output_text.delta') seen.say(event.delta);
    else if (/^response\.(completed|incomplete|failed)$/.test(event.type)) seen.stop = event.response?.status ?? null;
    else if (event.type === 'error') throw new Error(`error event: ${event.message}`);
  }
}

async function whole(url, seen, job) {
  takeResponse(seen, await openaiAt(url).responses.create(ask(job)));
}

const SDK = await version('openai');

export const CLIENTS = {
  'openai-responses stream': {
    [`openai-node responses.stream() ${SDK}`]: stream,
    [`openai-node responses.create(stream), item by item ${SDK}`]: items,
    [`${VERCEL} openai.responses`]: vercelStream(vercelResponses),
  },
  'openai-responses whole': {
    [`openai-node responses.create() ${SDK}`]: whole,
    [`${VERCEL} openai.responses generateText`]: vercelWhole(vercelResponses),
  },
};
