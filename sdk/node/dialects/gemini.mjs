// Gemini generateContent. The clients never ask for the array form: they always add `alt=sse`.

import { geminiAt, vercelGoogle, version } from '../shared.mjs';
import { VERCEL, vercelStream, vercelWhole } from './vercel.mjs';

const ask = (job) => ({ model: job.model, contents: 'hi' });

function take(seen, response) {
  for (const candidate of response.candidates ?? []) {
    seen.stop = candidate.finishReason ?? seen.stop;
    for (const part of candidate.content?.parts ?? []) {
      if (part.functionCall) seen.call(seen.final, null, part.functionCall.name, part.functionCall.args);
      if (part.text && !part.thought) seen.say(part.text);
    }
  }
}

async function stream(url, seen, job) {
  for await (const chunk of await geminiAt(url).models.generateContentStream(ask(job))) take(seen, chunk);
}

async function whole(url, seen, job) {
  take(seen, await geminiAt(url).models.generateContent(ask(job)));
}

const SDK = await version('@google/genai');

export const CLIENTS = {
  'gemini stream': {
    [`google-genai js ${SDK}`]: stream,
    [`${VERCEL} google`]: vercelStream(vercelGoogle),
  },
  'gemini whole': {
    [`google-genai js generateContent() ${SDK}`]: whole,
    [`${VERCEL} google generateText`]: vercelWhole(vercelGoogle),
  },
};
