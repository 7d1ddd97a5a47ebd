// The AI SDK with its default model, which speaks the Responses API.

import assert from 'node:assert/strict';

import { createOpenAI } from '@ai-sdk/openai';
import { APICallError, Output, generateText, isStepCount, streamText, tool } from 'ai';
import { z } from 'zod';

const TRIP = 'prompt:team.trip';
const NAMED = `${TRIP}?city=Z%C3%BCrich&days=2`;
const headers = { 'x-prompt-variables': JSON.stringify({ city: 'Z\u00fcrich', days: 2 }).replace('\u00fc', '\\u00fc') };

const openai = createOpenAI({ baseURL: process.env.SERVICE, apiKey: 'any' });
const get_weather = tool({
  description: 'The weather of a city.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `${city} is wet`,
});
const loop = { tools: { get_weather }, stopWhen: isStepCount(5) };

for (const asked of [
  { model: openai(NAMED), maxRetries: 0, prompt: 'And then?' },
  { model: openai(TRIP), maxRetries: 0, prompt: 'And then?', headers },
]) {
  assert.equal((await generateText(asked)).text, 'Hello, wörld');
  assert.equal(await streamText(asked).text, 'Hello, wörld');
  for (const answer of [await generateText({ ...asked, ...loop }), streamText({ ...asked, ...loop })]) {
    assert.equal(await answer.text, 'Zürich is wet, Oslo is wet, Rome is wet');
    assert.equal((await answer.steps).length, 3);
  }
  // It sends the texts and thoughts of earlier answers as references to them.
  const aloud = { ...asked, ...loop, prompt: 'Think aloud.' };
  for (const answer of [await generateText(aloud), streamText(aloud)]) {
    assert.equal(await answer.text, 'Zürich is wet, Oslo is wet, Rome is wet');
    assert.equal((await answer.steps).length, 3);
  }
  const { prompt, ...more } = asked;
  const first = { role: 'user', content: prompt };
  const { response } = await generateText({ ...more, messages: [first] });
  const messages = [first, ...response.messages, { role: 'user', content: 'And then again?' }];
  assert.equal((await generateText({ ...more, messages })).text, 'Hello, wörld');
  const output = Output.object({ schema: z.object({ city: z.string(), degrees: z.number() }) });
  assert.deepEqual((await generateText({ ...asked, output })).output, { city: 'Zürich', degrees: 7 });
}

const limited = generateText({ model: openai('prompt:team.limited'), maxRetries: 0, prompt: 'Hello' });
await assert.rejects(limited, (error) => {
  assert.ok(APICallError.isInstance(error), error);
  assert.equal(error.statusCode, 429);
  assert.equal(error.isRetryable, true);
  assert.equal(error.responseHeaders['retry-after'], '600');
  return true;
});
