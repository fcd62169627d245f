import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished } from 'vitest';
import { SNIPPETS } from '../../console/src/lib/samples/snippets.ts';
import { connect, ERAS, type Era, makeAgent, mcpTest, purchase, use } from './world.ts';

const { test, s } = mcpTest();

const REQUEST = {
  type: 'purchase',
  merchant: 'Hetzner Online',
  amount_minor: 1_000,
  currency: 'EUR',
  description: 'A server for staging',
};

test.each(Object.keys(ERAS) as Era[])(
  'a client of %s that starts by the console’s snippet alone gets a spend allowed',
  async (era) => {
    const { key, slug } = await makeAgent(s);
    const snippet = SNIPPETS.find(({ name }) => name === 'MCP');
    const code = snippet?.code({ url: s.url, key, request: REQUEST, packages: new Map() }) ?? '';
    const { type, url, headers } = JSON.parse(code).mcpServers.purser;
    expect(type).toBe('http');
    const client = await connect(
      era,
      new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
    );
    onTestFinished(() => client.close());
    expect(await use(client, 'request_spend', purchase('10.00'))).toMatchObject({ status: 'ALLOWED' });
    const { data } = (await s.call('GET', `/v1/decisions?agent=${slug}`)).body;
    expect(data).toEqual([expect.objectContaining({ decision: 'ALLOW' })]);
  },
);
