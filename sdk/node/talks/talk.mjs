// What all conversations have in common.

export const SCHEMA = { type: 'object', properties: {}, additionalProperties: true };
export const SAY = 'Go on.';
export const GO_ON = { role: 'user', content: SAY };
export const ROOM = 2048; // tokens; more than the budget for thinking, or the API of Anthropic refuses
export const resultOf = (name) => `result of ${name}`;
