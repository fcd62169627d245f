import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeReference } from '../../src/service/openapi/docs-page.ts';
import type { OpenApi } from '../../src/service/openapi/document-types.ts';
import { exampleOf } from '../../src/service/openapi/schema-words.ts';
import { freshKey, type RunningService, startTestService } from '../support/running-service.ts';

/** Routes that ask for a password, a token or a session. */
const PROOF = /^\/v1\/(auth|me)(\/|$)|\/(endorse|statement)$/;

let s: RunningService;
let document: OpenApi;
beforeAll(async () => {
  s = await startTestService();
  document = (await s.call('GET', '/openapi.json', { key: null })).body;
});
afterAll(() => s.stop());

describe('the reference page', () => {
  it('the page’s requests are taken by the service as they stand, with a key that may do all', async () => {
    const agent = exampleOf(document.components.schemas.Agent ?? {}, document, true) as { slug: string };
    await s.call('POST', '/v1/agents', { body: { slug: agent.slug } });
    const scopes = ['admin', 'review', 'read', 'authorize', 'consume'];
    const { key } = (await s.call('POST', '/v1/api-keys', { body: { name: 'all', scopes } })).body;
    const refused: string[] = [];
    let tried = 0;
    for (const [path, operations] of Object.entries(document.paths)) {
      // It speaks a protocol of its own, to clients of that, and not with a key that may do all.
      if (path === '/mcp') continue;
      // No example can be signed by an issuer of this workspace.
      if (path === '/v1/allowances/present') continue;
      for (const [method, operation] of Object.entries(operations)) {
        const schema = operation.requestBody?.content['application/json']?.schema;
        if (schema === undefined) continue;
        tried += 1;
        const reply = await s.call(method.toUpperCase(), path.replace('{id}', agent.slug), {
          key,
          body: exampleOf(schema, document, true),
          idempotency_key: freshKey(),
        });
        // A conflict with what is there is no fault of the request, nor that no example can prove who somebody is.
        const good = PROOF.test(path) ? [200, 202, 204, 401, 403, 409] : [200, 201, 404, 409];
        if (!good.includes(reply.status)) refused.push(`${method} ${path}: ${reply.text}`);
      }
    }
    expect(refused).toEqual([]);
    expect(tried).toBeGreaterThan(4);
  });

  it('the page’s answers are those of a creation, not of a replay', () => {
    const { body: page } = makeReference(document);
    const article = /<article id="createDecision">.*?<\/article>/s.exec(page)?.[0];
    expect(article).toContain('Answer 201');
    expect(article).not.toContain('Answer 200');
  });
});
