// What the official Node clients make of a response body. Protocol: ../README.md.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';

import { CLIENTS } from './dialects/index.mjs';
import { Seen } from './seen.mjs';
import { inTime, workOff } from './shared.mjs';

const bodies = new Map(); // number of the job -> its content type and body
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    const { contentType, body } = bodies.get(Number(request.url.split('/')[1]));
    const headers = { 'content-length': body.length };
    if (contentType) headers['content-type'] = contentType;
    response.writeHead(200, headers).end(body);
  });
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const base = `http://127.0.0.1:${server.address().port}`;

async function read(run, url, job) {
  const seen = new Seen();
  try {
    await inTime(run(url, seen, job));
  } catch (error) {
    seen.fail(error);
  }
  return seen.report();
}

await workOff(async (number, line) => {
  const result = { id: null, clients: {} };
  try {
    const job = { model: 'any', ...JSON.parse(line) };
    result.id = job.id;
    const runs = CLIENTS[`${job.dialect} ${job.mode}`];
    if (!runs) throw new Error(`no clients for ${job.dialect} ${job.mode}`);
    if (!job.base_url) bodies.set(number, { contentType: job.content_type, body: await readFile(job.body_file) });
    for (const [name, run] of Object.entries(runs)) {
      result.clients[name] = await read(run, job.base_url ?? `${base}/${number}`, job);
    }
  } catch (error) {
    // A bad job, not a client's error.
    result.error = `${error.constructor.name}: ${error.message}`;
  }
  bodies.delete(number);
  return result;
});
