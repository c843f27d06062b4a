// What one client saw of a response.

import { clean } from './shared.mjs';

/**
 * A program may run a call as soon as the client says it is complete, so calls seen early count when
 * the stream breaks afterwards, and are counted separately when the final message has them otherwise.
 */
export class Seen {
  final = [];
  early = [];
  text = '';
  stop = null;
  error = null;

  call(into, position, name, input, ...marks) {
    // A copy: the client may go on changing the input.
    const call = [clean(name), clean(input), ...marks];
    const key = JSON.stringify([position, call]);
    if (into === this.final || !into.some((entry) => entry.key === key)) into.push({ key, call });
  }

  /** A call that a program reads by hand and may get twice, in the same words. */
  callOnce(position, name, input) {
    const key = JSON.stringify([position, [clean(name), clean(input)]]);
    if (!this.final.some((entry) => entry.key === key)) this.call(this.final, position, name, input);
  }

  say(text) {
    // Not always a string in a hostile body, and that must not end the reading of calls.
    this.text += text ?? '';
  }

  fail(error) {
    // The first error is the cause; anything can be thrown or reported, null too.
    const isError = error instanceof Error;
    this.error ??= (isError ? `${error.constructor.name}: ${error.message}` : `no Error: ${error}`).slice(0, 500);
  }

  report() {
    const known = new Set(this.final.map(({ key }) => key));
    const early = this.early.filter(({ key }) => !known.has(key)).map(({ call }) => call);
    const calls = this.final.map(({ call }) => call);
    const rest = { text: clean(this.text), stop: clean(this.stop), error: clean(this.error) };
    // After an error there is no final message: what was seen is all there is.
    return this.error === null ? { calls, early, ...rest } : { calls: [...calls, ...early], early: [], ...rest };
  }
}
