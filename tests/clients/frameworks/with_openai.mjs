// openai-node and the Responses API: answers, streams, structured output, tools and refusals.

import assert from 'node:assert/strict';

import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';

const NAMED = 'prompt:team.trip?city=Z%C3%BCrich&days=2';
const PROMPT = { id: 'team.trip', variables: { city: 'Zürich', days: '2' } };
const WEATHER = {
  type: 'function',
  name: 'get_weather',
  strict: true,
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
};
const TEXT = ['output_item.added', 'content_part.added', 'output_text.delta', 'output_text.done', 'content_part.done'];
const CALL = ['output_item.added', 'function_call_arguments.delta', 'function_call_arguments.done'];
const LEFT_OUT = ['id', 'created_at', 'completed_at', 'call_id', 'output_text', 'parsed', 'parsed_arguments', 'output_parsed'];

const service = new OpenAI({ baseURL: process.env.SERVICE, apiKey: 'any', maxRetries: 0 });

// An answer without its ids and times, and without what the library adds.
const whole = (answer) => JSON.parse(JSON.stringify(answer, (name, value) => (LEFT_OUT.includes(name) ? undefined : value)));

// The types of the events, in their order; several pieces of one text or call are one.
function order(events) {
  assert.deepEqual(events.map((event) => event.sequence_number), [...events.keys()]);
  const types = events.map((event) => event.type.replace(/^response\./, ''));
  return types.filter((type, at) => !(type.endsWith('.delta') && type === types[at - 1]));
}

async function all(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

async function streams(asked, items) {
  const raw = await all(await service.responses.create({ ...asked, stream: true }));
  const inner = items.flatMap((item) => [...item, 'output_item.done']);
  assert.deepEqual(order(raw), ['created', 'in_progress', ...inner, 'completed']);
  const plain = await service.responses.create(asked);
  assert.deepEqual(whole(raw.at(-1).response), whole(plain));
  assert.deepEqual(whole(await service.responses.stream(asked).finalResponse()), whole(plain));
  return plain;
}

async function loop(how, stream) {
  const input = [{ role: 'user', content: 'How is the weather?' }];
  for (let rounds = 1; rounds < 5; rounds += 1) {
    let answer = await service.responses.create({ ...how, input, tools: [WEATHER], stream });
    if (stream) answer = (await all(answer)).at(-1).response;
    const calls = answer.output.filter((item) => item.type === 'function_call');
    if (calls.length === 0) return [rounds, answer.output[0].content[0].text];
    input.push(...answer.output);
    for (const { call_id, arguments: text } of calls) {
      input.push({ type: 'function_call_output', call_id, output: `${JSON.parse(text).city} is wet` });
    }
  }
  throw new Error('no end');
}

for (const how of [{ model: NAMED }, { prompt: PROMPT }]) {
  const greeting = await streams({ ...how, input: 'And then?' }, [TEXT]);
  assert.equal(greeting.output_text, 'Hello, wörld');
  const calls = await streams({ ...how, input: 'How is the weather?', tools: [WEATHER] }, [CALL, CALL]);
  assert.deepEqual(calls.output.map((call) => JSON.parse(call.arguments).city), ['Zürich', 'Oslo']);
  for (const stream of [false, true]) {
    assert.deepEqual(await loop(how, stream), [3, 'Zürich is wet, Oslo is wet, Rome is wet']);
  }
  const format = zodTextFormat(z.object({ city: z.string(), degrees: z.number() }), 'weather');
  const shaped = await service.responses.parse({ ...how, input: 'How is the weather?', text: { format } });
  assert.deepEqual(shaped.output_parsed, { city: 'Zürich', degrees: 7 });
}

for (const name of ['previous_response_id', 'store']) {
  const more = { [name]: name === 'store' ? true : 'resp_0' };
  await assert.rejects(service.responses.create({ model: NAMED, input: 'Hello', ...more }), (error) => {
    assert.ok(error instanceof OpenAI.BadRequestError, error);
    assert.match(error.message, new RegExp(name));
    return true;
  });
}
await assert.rejects(service.responses.create({ model: 'prompt:team.limited', input: 'Hello' }), (error) => {
  assert.ok(error instanceof OpenAI.RateLimitError, error);
  assert.equal(error.code, 'llm_rate_limited');
  assert.equal(error.headers.get('retry-after'), '600');
  return true;
});
