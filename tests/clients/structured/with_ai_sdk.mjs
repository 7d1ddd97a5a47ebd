// The AI SDK: objects by a Zod schema, whole and streamed, with OpenAI's provider and with the one for compatible servers.

import assert from 'node:assert/strict';

import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, NoObjectGeneratedError, Output, generateObject, generateText, streamObject, streamText } from 'ai';
import { z } from 'zod';

const baseURL = process.env.SERVICE;
const openai = createOpenAI({ baseURL, apiKey: 'any' });
const compatible = createOpenAICompatible({ name: 'shell', baseURL, apiKey: 'any', supportsStructuredOutputs: true });

const person = z.object({ name: z.string(), email: z.string().nullable() });
const schema = z.object({
  title: z.string(),
  priority: z.enum(['low', 'high']),
  kind: z.union([z.literal('bug'), z.literal('task')]),
  labels: z.array(z.string()),
  estimate: z.number().nullable(),
  reporter: person,
  watchers: z.array(person),
});
const ticket = {
  title: 'Früh "am" Morgen',
  priority: 'high',
  kind: 'bug',
  labels: ['ui', 'login'],
  estimate: 2.5,
  reporter: { name: 'Ann', email: null },
  watchers: [{ name: 'Bob', email: 'bob@example.com' }],
};

// With what JSON Schemas of Zod have beside the usual.
const tree = z.object({
  name: z.string(),
  get children() {
    return z.array(tree);
  },
});
const form = z.object({
  id: z.uuid(),
  mail: z.email(),
  site: z.url(),
  at: z.iso.datetime(),
  day: z.iso.date(),
  price: z.string().regex(/^(?!0\d)\d+\.\d\d$/),
  count: z.int().positive().max(10),
  pair: z.tuple([z.string(), z.int()]),
  scores: z.record(z.string(), z.int()),
  shape: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('circle'), radius: z.number() }),
    z.object({ kind: z.literal('square'), side: z.number() }),
  ]),
  tree,
});
const filled = {
  id: '123e4567-e89b-42d3-a456-426614174000',
  mail: 'ann@example.com',
  site: 'https://example.com/a?b=c',
  at: '2026-11-25T04:41:53Z',
  day: '2026-11-25',
  price: '12.50',
  count: 3,
  pair: ['a', 1],
  scores: { a: 1, b: 2 },
  shape: { kind: 'circle', radius: 1.5 },
  tree: { name: 'root', children: [{ name: 'leaf', children: [] }] },
};

async function collected(stream) {
  const items = [];
  for await (const item of stream) items.push(item);
  return items;
}

/** The object of a stream, whose last part it is, too. */
async function streamed(asked) {
  const { partialObjectStream, object } = streamObject(asked);
  const parts = await collected(partialObjectStream);
  assert.deepEqual(parts.at(-1), await object);
  return object;
}

for (const name of ['tools', 'json', 'text']) {
  for (const model of [openai.chat(name), compatible(name)]) {
    const asked = (text) => ({ model, maxRetries: 0, schema, prompt: `${text} It is urgent.` });
    const { object, usage, finishReason } = await generateObject(asked('Write a ticket.'));
    assert.deepEqual([object, usage.totalTokens, finishReason], [ticket, 5, 'stop']);
    assert.deepEqual(await streamed(asked('Write a ticket.')), ticket);

    const { schema: _, ...unshaped } = asked('Write a ticket.');
    const shaped = { ...unshaped, output: Output.object({ schema }) };
    assert.deepEqual((await generateText(shaped)).output, ticket);
    assert.deepEqual(await streamText(shaped).output, ticket);

    for (const [text, schema, value] of [
      ['Fill a form.', form, filled],
      ['Plant a tree.', tree, filled.tree],
    ]) {
      assert.deepEqual((await generateObject({ ...asked(text), schema })).object, value);
    }

    const listed = { ...asked('List tickets.'), output: 'array' };
    assert.deepEqual((await generateObject(listed)).object, [ticket, ticket]);
    assert.deepEqual(await collected(streamObject(listed).elementStream), [ticket, ticket]);

    // The first answer does not fit the schema, and the model corrects it.
    const repaired = await generateObject(asked('Err once.'));
    assert.deepEqual([repaired.object, repaired.usage.totalTokens], [ticket, 10]);
    assert.deepEqual(await streamed(asked('Err once.')), ticket);
    await assert.rejects(generateObject(asked('Err always.')), (error) => {
      assert.ok(APICallError.isInstance(error), error);
      assert.deepEqual([error.statusCode, error.isRetryable, error.data.error.code], [422, false, 'solution_invalid']);
      return true;
    });

    for (const [text, finish] of [
      ['Refuse.', 'content-filter'],
      ['Be cut.', 'length'],
    ]) {
      await assert.rejects(generateObject(asked(text)), (error) => {
        assert.ok(NoObjectGeneratedError.isInstance(error), error);
        assert.equal(error.finishReason, finish);
        return true;
      });
    }
  }
}
