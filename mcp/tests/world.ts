/** A service with agents and keys, and clients of the protocol's own library in both of its eras. */
import {
  type CallToolResult,
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import {
  AUTHORITY,
  makeKey,
  type RunningService,
  startTestService,
} from '../../server/tests/support/running-service.ts';
import { serviceTest } from '../../server/tests/support/service-test.ts';

export { makeKey, type RunningService, startTestService };

/** A service for the tests of a file, in which agents may be in ENFORCE. */
export const mcpTest = () => serviceTest({ plan: 'enterprise' });

export const ERAS = { '2025-11-25': 'legacy', '2026-07-28': { pin: '2026-07-28' } } as const;
export type Era = keyof typeof ERAS;

/** The blocklist and the threshold are what a model must not learn. */
export const LIMITS = {
  ...AUTHORITY,
  per_transaction_limit_minor: 50_000,
  review_threshold_minor: 10_237,
  monthly_budget_minor: 200_000,
  blocked_merchants: ['Evil Corporation'],
};

let agents = 0;

/** An agent with a key of its own. */
export async function makeAgent(
  s: RunningService,
  { mode = 'ENFORCE', authority = LIMITS }: { mode?: string; authority?: object | null } = {},
): Promise<{ slug: string; id: string; key: string; key_id: string }> {
  const slug = `mcp-${++agents}`;
  const body = { slug, mode, ...(authority === null ? {} : { authority }) };
  const { id } = (await s.call('POST', '/v1/agents', { body })).body;
  const made = await makeKey(s, { agent_id: id });
  return { slug, id, key: made.key, key_id: made.id };
}

/** A client of an era on a transport. */
export async function connect(era: Era, transport: Transport, options: ClientOptions = {}): Promise<Client> {
  const negotiation = { versionNegotiation: { mode: ERAS[era] } } as ClientOptions;
  const client = new Client({ name: 'test', version: '1.0.0' }, { ...negotiation, ...options });
  await client.connect(transport);
  return client;
}

/** A client at `/mcp` with a key. */
export function connectHttp(
  s: Pick<RunningService, 'url'>,
  key: string,
  era: Era = '2026-07-28',
  options: ClientOptions = {},
): Promise<Client> {
  const headers = { authorization: `Bearer ${key}` };
  const transport = new StreamableHTTPClientTransport(new URL(`${s.url}/mcp`), { requestInit: { headers } });
  return connect(era, transport, options);
}

/** Returns a tool's data; throws its message if it refused. */
export async function use(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  const result = (await client.callTool({ name, arguments: args })) as CallToolResult;
  if (result.isError) throw new Error(textOf(result));
  return result.structuredContent as Record<string, unknown>;
}

/** The words of a result. */
export function textOf({ content }: CallToolResult): string {
  return content.map((each) => (each.type === 'text' ? each.text : `(${each.type})`)).join('\n');
}

/** Returns the message of a refused tool call. */
export async function refused(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const result = (await client.callTool({ name, arguments: args })) as CallToolResult;
  if (result.isError !== true || result.structuredContent !== undefined)
    throw new Error(`it was not refused: ${textOf(result)}`);
  return textOf(result);
}

let purchases = 0;
/** A purchase that serves the purpose, under a name of its own. */
export const purchase = (amount: string, more: object = {}) => ({
  name: `order ${++purchases}`,
  merchant: 'Hetzner Online',
  amount,
  currency: 'EUR',
  type: 'purchase',
  description: 'A server for staging',
  ...more,
});
