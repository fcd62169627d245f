import { describe, expect, test } from 'vitest';
import { renderOpenApi } from '../../documents.ts';
import { breakingChanges, promisesOf } from './breaking-changes.ts';
import type { OpenApi } from './document-types.ts';

// biome-ignore lint/suspicious/noExplicitAny: the tests change a document anywhere.
type Anything = any;

const document = JSON.stringify(renderOpenApi());
const released = promisesOf(JSON.parse(document));

/** Returns the breaking changes that `change` makes to the present document. */
function found(change: (document: Anything) => void): string[] {
  const changed = JSON.parse(document);
  change(changed);
  return breakingChanges(released, promisesOf(changed as OpenApi));
}

const schemas = (document: Anything) => document.components.schemas;
const createAgent = (document: Anything) => {
  const { schema } = document.paths['/v1/agents'].post.requestBody.content['application/json'];
  return schema.$ref === undefined ? schema : schemas(document)[schema.$ref.split('/').at(-1)];
};
const queryOf = (document: Anything, name: string) =>
  document.paths['/v1/decisions'].get.parameters.find((each: { name: string }) => each.name === name);

describe('a change that can break a client is found', () => {
  test.each<[string, (document: Anything) => void, string]>([
    ['a route that is gone', (d) => delete d.paths['/v1/budgets'].get, 'in GET /v1/budgets is gone'],
    [
      'a scope that is no longer enough',
      (d) => d.paths['/v1/decisions'].get.security.shift(),
      'in GET /v1/decisions as no longer accepts ApiKey read',
    ],
    [
      'a status that is gone',
      (d) => delete d.paths['/v1/decisions'].post.responses['200'],
      'out POST /v1/decisions 200 is gone',
    ],
    [
      'a field that is gone from an answer',
      (d) => delete schemas(d).Agent.properties.slug,
      'out Agent.slug is gone',
    ],
    [
      'a field of an answer that may be absent',
      (d) => schemas(d).Agent.required.splice(schemas(d).Agent.required.indexOf('slug'), 1),
      'out Agent.slug may now be absent',
    ],
    [
      'a field of an answer that may be null',
      (d) => {
        schemas(d).Agent.properties.slug = { anyOf: [schemas(d).Agent.properties.slug, { type: 'null' }] };
      },
      'out Agent.slug may now be null',
    ],
    [
      'another type in an answer',
      (d) => {
        schemas(d).Agent.properties.slug = { type: 'integer' };
      },
      'out Agent.slug may now be integer',
    ],
    [
      'an error that is gone',
      (d) => schemas(d).ErrorCode.enum.shift(),
      'out ErrorCode no longer has invalid_request',
    ],
    [
      'an event that is gone',
      (d) => delete d.webhooks['decision.created'],
      'out event decision.created is gone',
    ],
    [
      'a field that a request may no longer hold',
      (d) => delete schemas(d).Action.properties.category,
      'in Action.category is gone',
    ],
    [
      'a value that is no longer accepted',
      (d) => schemas(d).OutcomeRequest.properties.type.enum.shift(),
      'in OutcomeRequest.type no longer accepts SPEND_EXECUTED',
    ],
    [
      'a field that is now required',
      (d) => schemas(d).Action.required.push('category'),
      'in Action.category is now required',
    ],
    [
      'a new field that is required',
      (d) => {
        schemas(d).Action.properties.country = { type: 'string' };
        schemas(d).Action.required.push('country');
      },
      'in Action.country is new and required',
    ],
    [
      'a lower maximum in a request',
      (d) => {
        schemas(d).Action.properties.merchant.maxLength = 100;
      },
      'in Action.merchant has a narrower maxLength: 200 to 100',
    ],
    [
      'fewer items in a request',
      (d) => {
        schemas(d).AuthorityTestRequest.properties.steps.maxItems = 1;
      },
      'in AuthorityTestRequest.steps has a narrower maxItems',
    ],
    [
      'another pattern in a request',
      (d) => {
        schemas(d).Action.properties.currency.pattern = '^EUR$';
      },
      'in Action.currency has a narrower pattern',
    ],
    [
      'a query that accepts less',
      (d) => {
        queryOf(d, 'limit').schema.maximum = 10;
      },
      'in GET /v1/decisions query:limit has a narrower maximum',
    ],
    [
      'a query that is required',
      (d) => {
        queryOf(d, 'agent').required = true;
      },
      'in GET /v1/decisions query:agent is now required',
    ],
    [
      'a new header that is required',
      (d) =>
        d.paths['/v1/agents'].post.parameters.push({
          name: 'if-match',
          in: 'header',
          required: true,
          schema: { type: 'string' },
        }),
      'in POST /v1/agents header:if-match is new and required',
    ],
  ])('%s', (_name, change, words) => {
    const changes = found((each) => {
      each.paths['/v1/agents'].post.parameters ??= [];
      change(each);
    });
    expect(changes.filter((each) => each.startsWith(words))).toHaveLength(1);
  });
});

describe('a change that breaks no client is not reported', () => {
  test.each<[string, (document: Anything) => void]>([
    ['no change', () => {}],
    [
      'a new route with a required field',
      (d) => {
        const post = structuredClone(d.paths['/v1/agents'].post);
        d.paths['/v1/agencies'] = { post };
      },
    ],
    [
      'a new field of an answer',
      (d) => {
        schemas(d).Agent.properties.country = { type: 'string' };
        schemas(d).Agent.required.push('country');
      },
    ],
    [
      'a new optional field of a request',
      (d) => {
        createAgent(d).properties.country = { type: 'string' };
      },
    ],
    [
      'a new value of an answer and of a request',
      (d) => schemas(d).OutcomeRequest.properties.type.enum.push('LOST'),
    ],
    [
      'a new error and a new event',
      (d) => {
        schemas(d).ErrorCode.enum.push('teapot');
        d.webhooks['agent.created'] = structuredClone(d.webhooks['decision.created']);
      },
    ],
    [
      'a wider limit',
      (d) => {
        schemas(d).Action.properties.merchant.maxLength = 300;
        delete schemas(d).Action.properties.currency.pattern;
      },
    ],
    [
      'other words and examples',
      (d) => {
        schemas(d).Action.properties.merchant.description = 'Other words.';
        schemas(d).Action.properties.merchant.examples = ['x'];
        d.paths['/v1/agents'].post.summary = 'Other words.';
      },
    ],
  ])('%s', (_name, change) => {
    expect(found(change)).toEqual([]);
  });
});

test('every field of every schema is a promise', () => {
  const { components } = JSON.parse(document) as OpenApi;
  const places = new Set(released.map((line) => line.split('\t')[0]));
  for (const [name, schema] of Object.entries(components.schemas))
    for (const field of Object.keys((schema.properties ?? {}) as object))
      expect(
        places.has(`in ${name}.${field}`) || places.has(`out ${name}.${field}`),
        `${name}.${field}`,
      ).toBe(true);
});
