import type { AuthorityRequest } from '@purser/sdk';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type FakeProvider, startFakeProvider } from './fake-provider.ts';
import { type ServedPurser, serveFakePurser } from './fake-purser.ts';
import { startTestGateway, type TestGateway } from './gateway.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into records of every kind.
type Shown = any;

/** The parts of a test of one gateway. */
export interface GatewayTest {
  readonly provider: FakeProvider;
  readonly purser: ServedPurser;
  readonly gateway: TestGateway;
  /** The records of a kind in the journal of `gateway`, oldest first. */
  records(kind: 'ask' | 'lease' | 'reserve' | 'settle' | 'close'): Shown[];
  /** A gateway with other settings before the same provider and Purser, until the end of the test. */
  another(env: Record<string, string>, provider?: Pick<FakeProvider, 'url'>): Promise<TestGateway>;
}

/** Gives the tests of a file one provider, and each of them a Purser with this authority and a gateway. */
export function gatewayTest(
  authority: Partial<AuthorityRequest>,
  env: Record<string, string> = {},
): GatewayTest {
  const parts = {} as { provider: FakeProvider; purser: ServedPurser; gateway: TestGateway };
  const gateways: TestGateway[] = [];
  beforeAll(async () => {
    parts.provider = await startFakeProvider();
  });
  afterAll(() => parts.provider.stop());
  beforeEach(async () => {
    parts.provider.calls.length = 0;
    parts.purser = await serveFakePurser(authority);
    parts.gateway = await startTestGateway(parts.purser.url, parts.provider, env);
    gateways.push(parts.gateway);
    return async () => {
      // They report what they hold, so Purser stops last.
      await Promise.all(gateways.splice(0).map((each) => each.remove()));
      await parts.purser.stop();
    };
  });
  return {
    get provider() {
      return parts.provider;
    },
    get purser() {
      return parts.purser;
    },
    get gateway() {
      return parts.gateway;
    },
    records: (kind) =>
      parts.gateway
        .journal()
        .split('\n')
        .filter((line) => line.includes(`"t":"${kind}"`))
        .map((line) => JSON.parse(line)),
    async another(other, provider = parts.provider) {
      const gateway = await startTestGateway(parts.purser.url, provider, other);
      gateways.push(gateway);
      return gateway;
    },
  };
}
