// Gemini generateContent.

import { geminiAt } from '../shared.mjs';
import { SAY, resultOf } from './talk.mjs';

const SCHEMA = { type: 'object', properties: {} };

const gemini = (isStream) =>
  async function turn(talk, root) {
    talk.contents ??= talk.messages.map(({ content }) => ({ role: 'user', parts: [{ text: content }] }));
    const { models } = geminiAt(root);
    const functionDeclarations = talk.tools.map((name) => ({ name, parametersJsonSchema: SCHEMA }));
    const request = { model: talk.model, contents: talk.contents, config: { tools: [{ functionDeclarations }] } };
    const parts = [];
    let stop = null;
    const take = ({ candidates: [candidate] }) => {
      parts.push(...(candidate.content?.parts ?? []));
      stop = candidate.finishReason ?? stop;
    };
    if (isStream) for await (const chunk of await models.generateContentStream(request)) take(chunk);
    else take(await models.generateContent(request));
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
    const results = calls.map(({ id, name }) => {
      return { functionResponse: { id, name, response: { result: resultOf(name) } } };
    });
    talk.contents.push({ role: 'model', parts });
    talk.contents.push({ role: 'user', parts: calls.length ? results : [{ text: SAY }] });
    return {
      calls: calls.map(({ name, args }) => [name, args]),
      text: parts.map(({ text, thought }) => (thought ? '' : (text ?? ''))).join(''),
      stop,
    };
  };

export const CLIENTS = {
  'google-genai js generateContentStream()': gemini(true),
  'google-genai js generateContent()': gemini(false),
};
