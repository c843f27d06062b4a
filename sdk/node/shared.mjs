// What both drivers need: the clients, results as strict JSON, jobs line by line.

import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';

import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { Ollama } from 'ollama';
import OpenAI from 'openai';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';

// The server is on this machine, so a client that waits longer hangs, even if the machine is busy.
export const TIMEOUT = 60_000;
const AT_ONCE = 16;
const MAX_DEPTH = 100; // of arguments in results; common JSON readers stop at 128

// stdout is for results only.
console.log = console.info = console.debug = console.error;
globalThis.AI_SDK_LOG_WARNINGS = false;
// Clients leave promises nobody waits for; their errors reach us on the stream as well.
process.on('unhandledRejection', () => {});

/** A copy that any strict JSON reader takes: no lone surrogate, infinity or deep nesting. */
export function clean(value, depth = 0) {
  if (typeof value === 'string') {
    // Under the flag u a surrogate matches only when it is alone.
    return value.replace(/\p{Surrogate}/gu, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
  }
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (depth === MAX_DEPTH) return '<too deep>';
  if (Array.isArray(value)) return value.map((item) => clean(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [clean(key), clean(item, depth + 1)]));
}

/** The version that is loaded, whatever package.json asks for: a name must not lie. */
export async function version(name) {
  const file = new URL(`node_modules/${name}/package.json`, import.meta.url);
  return JSON.parse(await readFile(file, 'utf8')).version;
}

// The clients for a server, as their documentation says. Those of OpenAI and Vercel have the API's version in their base URL.
const options = (baseURL) => ({ baseURL, apiKey: 'none', maxRetries: 0, timeout: TIMEOUT, logLevel: 'off' });
const vercel = (root) => ({ baseURL: `${root}/v1`, apiKey: 'none' });
export const anthropicAt = (root) => new Anthropic(options(root));
export const openaiAt = (root) => new OpenAI(options(`${root}/v1`));
export const vercelAnthropic = (root, model) => createAnthropic(vercel(root))(model);
export const geminiAt = (root) => new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: root, timeout: TIMEOUT } });
export const ollamaAt = (root) => new Ollama({ host: root });
export const vercelOpenai = (root, model) => createOpenAI(vercel(root)).chat(model);
export const vercelResponses = (root, model) => createOpenAI(vercel(root)).responses(model);
const vercelGoogleAt = (root) => createGoogle({ ...vercel(root), baseURL: `${root}/v1beta` });
export const vercelGoogle = (root, model) => vercelGoogleAt(root)(model);
export const vercelInteractions = (root, model) => vercelGoogleAt(root).interactions(model);
export const vercelCompatible = (root, model) => createOpenAICompatible({ name: 'any', ...vercel(root) })(model);

/** Waits for a promise, but not for ever. */
export async function inTime(promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('the client hangs')), TIMEOUT + 1000);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Hands each line of stdin to `work`, with its number, and writes what that gives. */
export async function workOff(work) {
  const running = new Set();
  let number = 0;
  const one = async (line) => {
    number += 1;
    const result = await work(number, line);
    await new Promise((written) => process.stdout.write(`${JSON.stringify(result)}\n`, written));
  };
  // Lines are read as they come, so that a caller may keep the driver open and ask again.
  for await (const line of createInterface({ input: process.stdin })) {
    if (!line.trim()) continue;
    const task = one(line).finally(() => running.delete(task));
    running.add(task);
    if (running.size >= AT_ONCE) await Promise.race(running);
  }
  await Promise.all(running);
  process.exit(0); // open keep-alive connections would hold the process for seconds
}
