// What programs do with openai-node: `node - TOPIC < check.mjs`.
//
// SERVICE and UPSTREAM are the base URLs of the service and of the upstream behind it. Where both are asked, the
// service must make no difference.

import assert from 'node:assert/strict';
import process from 'node:process';
import OpenAI from 'openai';
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';

const apiKey = 'any-words-will-do';
const greeting = [{ role: 'user', content: 'Hello' }];
const service = new OpenAI({ baseURL: process.env.SERVICE, apiKey });
const upstream = new OpenAI({ baseURL: process.env.UPSTREAM, apiKey });

/** The error of exactly this class that the call rejects with. */
async function thrown(kind, call) {
  const error = await call().then(
    (answer) => assert.fail(`${kind.name} was not thrown: ${JSON.stringify(answer)}`),
    (error) => error,
  );
  assert.equal(error.constructor, kind, error);
  return error;
}

async function collected(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

function textOf(chunks) {
  return chunks.map((chunk) => chunk.choices[0].delta.content ?? '').join('');
}

const topics = {
  async chat() {
    const ask = (client) =>
      client.chat.completions.create({
        model: 'chat',
        messages: greeting,
        temperature: 0,
        seed: 7,
        stop: null,
        x_ratio: 1.5,
        x_null: null,
        x_big: 2 ** 70,
        x_nested: { z: [1e-7, 'ü\n'], a: {} },
      });
    const through = await ask(service);
    assert.deepEqual(through, await ask(upstream));
    assert.equal(through.choices[0].message.content, 'Hello, wörld');
    assert.deepEqual(through.choices[0].message.x_thoughts, ['first', { then: null }]);
    assert.deepEqual(through.x_vendor, { ratio: 0.1, nothing: null });
    assert.equal(through.usage.total_tokens, 5);
  },

  async prompts() {
    const variables = { name: 'Zoë', times: 2 };
    for (const more of [
      { messages: [], variables },
      { messages: [], metadata: { variables: JSON.stringify(variables), kept: 'yes' } },
      { messages: greeting, prompt: { id: 'team.hello', variables } },
    ]) {
      const answer = await service.chat.completions.create({ model: 'prompt:team.hello', temperature: 0.5, ...more });
      assert.equal(answer.choices[0].message.content, 'Hello, wörld');
    }
    const ask = { model: 'prompt:team.hello', messages: [], variables, stream: true };
    const chunks = await collected(await service.chat.completions.create(ask));
    assert.equal(textOf(chunks), 'Hello, wörld');
  },

  async missing() {
    const ask = (prompt) => () => service.chat.completions.create({ model: `prompt:${prompt}`, messages: [] });
    assert.equal((await thrown(OpenAI.NotFoundError, ask('team.absent'))).code, 'prompt_not_found');
    const lacking = await thrown(OpenAI.BadRequestError, ask('team.hello'));
    assert.equal(lacking.code, 'missing_variables');
    assert.match(lacking.message, /name/);
  },

  async streaming() {
    const ask = async (client) =>
      collected(await client.chat.completions.create({ model: 'chat', messages: greeting, stream: true }));
    const through = await ask(service);
    assert.equal(textOf(through), 'Hello, wörld');
    assert.equal(through.at(-1).choices[0].finish_reason, 'stop');
    const straight = await ask(upstream);
    assert.deepEqual(
      through,
      straight.filter((chunk) => chunk.choices.length > 0),
    );
  },

  async usage() {
    const ask = async (more) =>
      collected(await service.chat.completions.create({ model: 'chat', messages: greeting, stream: true, ...more }));
    for (const unwanted of [{}, { stream_options: { include_usage: false } }]) {
      const chunks = await ask(unwanted);
      assert.ok(chunks.every((chunk) => !chunk.usage && chunk.choices.length > 0));
    }
    const chunks = await ask({ stream_options: { include_usage: true } });
    const last = chunks.pop();
    assert.equal(textOf(chunks), 'Hello, wörld');
    assert.deepEqual([last.choices, last.usage.total_tokens], [[], 5]);
  },

  async tools() {
    const tools = [
      zodFunction({ name: 'get_weather', parameters: z.object({ city: z.string() }) }),
      zodFunction({ name: 'get_time', parameters: z.object({ zone: z.string() }) }),
    ];
    const ask = async (client) => {
      const done = [];
      const stream = client.chat.completions
        .stream({ model: 'tools', messages: greeting, tools })
        .on('tool_calls.function.arguments.done', (call) => done.push(call.name));
      return [done, await stream.finalChatCompletion()];
    };
    const [done, through] = await ask(service);
    const calls = through.choices[0].message.tool_calls;
    assert.deepEqual(done, ['get_weather', 'get_time']);
    assert.deepEqual(
      calls.map((call) => [call.id, call.function.parsed_arguments]),
      [
        ['call_0', { city: 'Zürich' }],
        ['call_1', { zone: 'UTC' }],
      ],
    );
    assert.equal(through.choices[0].finish_reason, 'tool_calls');
    const [, straight] = await ask(upstream);
    assert.deepEqual(through, straight);
  },

  async parse() {
    const event = z.object({ name: z.string(), participants: z.array(z.string()) });
    const response_format = zodResponseFormat(event, 'event');
    const ask = (client) => client.chat.completions.parse({ model: 'calendar', messages: greeting, response_format });
    const through = await ask(service);
    await ask(upstream);
    assert.deepEqual(through.choices[0].message.parsed, { name: 'Fair', participants: ['Ann', 'Bob'] });
  },

  async embeddings() {
    for (const how of [{}, { encoding_format: 'float' }]) {
      const ask = { model: 'vectors', input: ['a', 'four'], dimensions: 3, ...how };
      const through = await service.embeddings.create(ask);
      assert.deepEqual(through, await upstream.embeddings.create(ask));
      const vectors = through.data.map((item) => [...item.embedding]);
      assert.deepEqual(vectors, [
        [1, 0.5, -0.25],
        [4, 0.5, -0.25],
      ]);
    }
  },

  async models() {
    const listed = await collected(service.models.list());
    const names = listed.map((model) => model.id);
    assert.deepEqual(names.toSorted(), ['echo', 'large', 'prompt:team.hello', 'small']);
    assert.equal(listed.find((model) => model.id === 'small').x_context, 8192);
    for (const model of listed) {
      assert.deepEqual(await service.models.retrieve(model.id), model);
    }
    const error = await thrown(OpenAI.NotFoundError, () => service.models.retrieve('absent'));
    assert.equal(error.code, 'model_not_found');
  },

  async refusals() {
    for (const [status, kind] of [
      [400, OpenAI.BadRequestError],
      [401, OpenAI.AuthenticationError],
      [403, OpenAI.PermissionDeniedError],
      [404, OpenAI.NotFoundError],
      [422, OpenAI.UnprocessableEntityError],
    ]) {
      for (const stream of [false, true]) {
        const ask = { model: `status-${status}`, messages: greeting, stream };
        const through = await thrown(kind, () => service.chat.completions.create(ask));
        const straight = await thrown(kind, () => upstream.chat.completions.create(ask));
        assert.equal(through.message, straight.message);
        assert.match(through.message, new RegExp(`the upstream says ${status}`));
        assert.deepEqual([through.status, through.code, through.param], [status, `${status}`, 'model']);
      }
    }
  },

  async failures() {
    const lost = [OpenAI.InternalServerError, 502, 'llm_unavailable'];
    const limited = [OpenAI.RateLimitError, 429, 'llm_rate_limited'];
    for (const [status, stream, [kind, ...expected]] of [
      [409, false, lost],
      [429, false, limited],
      [500, false, lost],
      [503, true, lost],
    ]) {
      const ask = { model: `status-${status}`, messages: greeting, stream };
      const error = await thrown(kind, () => service.chat.completions.create(ask));
      assert.deepEqual([error.status, error.code], expected);
      assert.equal(error.headers.get('x-should-retry'), 'false');
      assert.match(JSON.stringify(error.error.details), new RegExp(`the upstream says ${status}`));
    }
    const answer = await service.chat.completions.create({ model: 'recovering', messages: greeting });
    assert.equal(answer.choices[0].message.content, 'Better now');
  },

  async broken_streams() {
    for (const [model, code] of [
      ['error-in-stream', 'overloaded'],
      ['cut-in-stream', 'llm_unavailable'],
    ]) {
      const heard = [];
      const error = await thrown(OpenAI.APIError, async () => {
        const stream = await service.chat.completions.create({ model, messages: greeting, stream: true });
        for await (const chunk of stream) heard.push(chunk);
      });
      assert.deepEqual([textOf(heard), error.code], ['Hello', code]);
    }
  },

  async timeouts() {
    const ask = (timeout, model) =>
      service.chat.completions.create({ model, messages: greeting }, { timeout, maxRetries: 0 });
    assert.equal((await ask(900, 'slow')).choices[0].message.content, 'At last');
    await assert.rejects(
      ask(500, 'silent'),
      (error) => error instanceof OpenAI.APIConnectionTimeoutError || error instanceof OpenAI.InternalServerError,
    );
  },

  async leaving() {
    const stream = await service.chat.completions.create({ model: 'endless', messages: greeting, stream: true });
    for await (const chunk of stream) {
      assert.equal(chunk.choices[0].delta.content, 'Hello');
      break;
    }
  },

  async crowd() {
    const begun = Array.from({ length: 20 }, () =>
      service.chat.completions.create({ model: 'chat', messages: greeting, stream: true }),
    );
    const streams = await Promise.all(begun);
    const texts = await Promise.all(streams.map(async (stream) => textOf(await collected(stream))));
    assert.deepEqual(texts, Array(20).fill('Hello, wörld'));
  },
};

await topics[process.argv[2]]();
