// The clients of each dialect and mode, by name. A client asks the server at a URL and tells what it saw:
// `run(url, seen, job)`. Cohere and Bedrock are read by their Python clients only.

import { CLIENTS as anthropic } from './anthropic-messages.mjs';
import { CLIENTS as gemini } from './gemini.mjs';
import { CLIENTS as interactions } from './interactions.mjs';
import { CLIENTS as ollama } from './ollama.mjs';
import { CLIENTS as chat } from './openai-chat.mjs';
import { CLIENTS as responses } from './openai-responses.mjs';

const NONE = {
  'cohere stream': {},
  'cohere whole': {},
  'bedrock-converse stream': {},
  'bedrock-converse whole': {},
  'bedrock-invoke stream': {},
  'bedrock-invoke whole': {},
};

export const CLIENTS = { ...anthropic, ...chat, ...responses, ...gemini, ...interactions, ...ollama, ...NONE };
