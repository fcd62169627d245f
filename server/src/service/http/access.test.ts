import type { Caller } from '@purser/rules/domain/keys';
import { ApiError } from '@purser/rules/errors';
import { expect, test } from 'vitest';
import { authorize } from './access.ts';
import { Exchange } from './exchange.ts';
import type { Route } from './route.ts';

const CALLER: Caller = {
  workspace_id: 'ws_1',
  key_id: 'key_1',
  session: null,
  kind: 'custom',
  scopes: ['read'],
  agent_id: null,
  principal_id: null,
};

/** The result of `authorize` for a request: `passes`, or the status and code of the refusal. */
function outcomeOf(route: Pick<Route, 'scopes' | 'agentKey'> | null, caller: Caller | null): string {
  const exchange = new Exchange({
    request_id: 'req_1',
    trace_id: undefined,
    span: null,
    client_address: '127.0.0.1',
    route: route as Route | null,
    began_ms: 0,
  });
  exchange.caller = caller;
  try {
    authorize({ exchange });
    return 'passes';
  } catch (error) {
    if (error instanceof ApiError) return `${error.status} ${error.code}`;
    throw error;
  }
}

test.each([
  { scopes: ['read'] as const },
  { scopes: [] },
  { scopes: ['read'] as const, agentKey: 'own' as const },
  { scopes: 'public' as const },
  null,
])('a request of %j for which authentication never ran is refused with 401', (route) => {
  expect(outcomeOf(route, null)).toBe('401 unauthenticated');
});

test('a caller passes with one of the scopes that the route asks for, and is refused without', () => {
  expect(outcomeOf({ scopes: ['admin', 'read'] }, CALLER)).toBe('passes');
  expect(outcomeOf({ scopes: ['admin'] }, CALLER)).toBe('403 insufficient_scope');
  expect(outcomeOf({ scopes: [] }, CALLER)).toBe('403 insufficient_scope');
  expect(outcomeOf(null, CALLER)).toBe('403 insufficient_scope');
});

test('an agent key passes without the scope only where the route shows it what is its own', () => {
  const agent: Caller = { ...CALLER, scopes: ['authorize'], agent_id: 'agt_1' };
  expect(outcomeOf({ scopes: ['read'], agentKey: 'own' }, agent)).toBe('passes');
  expect(outcomeOf({ scopes: ['read'], agentKey: 'own' }, { ...CALLER, scopes: [] })).toBe(
    '403 insufficient_scope',
  );
  expect(outcomeOf({ scopes: ['read'] }, agent)).toBe('403 insufficient_scope');
});
