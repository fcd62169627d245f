import { x402Client } from '@x402/core/client';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { guardX402, type UnsettledPayment } from '../src/x402.ts';
import { purserBehindFaults } from './purser-away.ts';

const NETWORK = 'eip155:8453';
const TOKEN = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const SELLER = '0xAbCdEf1111111111111111111111111111111111';
const ONE_EURO = '1000000';

interface Authorization {
  to: unknown;
  value: unknown;
  validBefore: unknown;
}
type Forge = (payload: { authorization: Authorization }) => object;

let runs = 0;
let signatures = 0;

/** A seller that asks for anything, a wallet that signs as `@x402/evm` does, and Purser between them. */
function open(wasSettled?: (payment: UnsettledPayment) => Promise<boolean>) {
  const purser = purserBehindFaults();
  const clock = { ms: 1_795_000_000_000 };
  const state = { forge: ((payload) => payload) as Forge, beforeSigning: async () => {} };
  const lines: string[] = [];
  const scheme = {
    scheme: 'exact',
    async createPaymentPayload(
      x402Version: number,
      asked: { amount: unknown; payTo: unknown; maxTimeoutSeconds: number },
    ) {
      const { amount: value, payTo: to, maxTimeoutSeconds } = asked;
      await state.beforeSigning();
      // A text is joined here and not added, as by the real one.
      const validBefore = (Math.floor(clock.ms / 1000) + maxTimeoutSeconds).toString();
      const authorization = {
        from: '0x1',
        to,
        value,
        validAfter: '0',
        validBefore,
        nonce: `0x${++signatures}`,
      };
      return { x402Version, payload: state.forge({ authorization }) };
    },
  };
  const client = new x402Client().register(NETWORK, scheme as never).setSpendControls(false);
  const rail = guardX402(client, {
    purser: purser.agent,
    adapter: purser.adapter,
    assets: { [`${NETWORK}:${TOKEN}`]: { currency: 'EUR', exponent: 2, decimals: 6 } },
    topUp: 100,
    name: `seller-${++runs}`,
    now: () => clock.ms,
    log: (line) => lines.push(line),
    wasSettled,
  });
  const requirements = (more: object = {}) => ({
    scheme: 'exact',
    network: NETWORK,
    asset: TOKEN,
    amount: ONE_EURO,
    payTo: SELLER,
    maxTimeoutSeconds: 60,
    extra: {},
    ...more,
  });
  const asked = (more: object = {}) => {
    const resource = { url: 'http://seller.example/', description: '', mimeType: '' };
    return JSON.parse(JSON.stringify({ x402Version: 2, resource, accepts: [requirements(more)] }));
  };
  /** The signed payment as the seller gets it, or null. */
  const pay = (more: object = {}, required = asked(more)) =>
    client.createPaymentPayload(required).catch(() => null) as Promise<{
      payload: { authorization: Authorization };
    } | null>;
  return { ...purser, rail, pay, asked, clock, state, lines };
}

const never = async () => false;

describe('a field of the seller of another type', () => {
  const WRONG: [string, unknown[]][] = [
    ['maxTimeoutSeconds', ['60', -100_000, 0, 1.5, 1e12, 86_401, null, undefined, [60], {}, true]],
    ['amount', [1_000_000, ['1000000'], '0', '01', '-1', '1e6', '1.0', '', null, undefined, {}]],
    ['payTo', [7, [SELLER], '', 'a\nb', null, undefined, {}]],
    ['asset', [[TOKEN], 7, null, undefined]],
    ['network', [[NETWORK], 7, null, undefined]],
  ];
  test.each(WRONG)('%s is refused before anything is asked or signed', async (field, values) => {
    for (const value of values) {
      const { pay, fake, lines } = open(never);
      const before = signatures;
      expect([value, await pay({ [field]: value })]).toEqual([value, null]);
      expect([signatures - before, fake.decisions]).toEqual([0, []]);
      // A requirement that names no network of the wallet is turned away by x402 itself.
      if (field === 'network') continue;
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain(`requirements.${field}`);
    }
  });
});

describe('what is signed', () => {
  test('for as long as its own end allows it may be settled, whatever the seller asked for', async () => {
    const { pay, rail, state, clock } = open(never);
    state.forge = ({ authorization }) => ({
      authorization: { ...authorization, validBefore: `${authorization.validBefore}60` },
    });
    expect(await pay()).not.toBeNull();
    clock.ms += 3_600_000;
    expect(await rail.close()).toBe(1);
  });

  test.each<[string, Forge]>([
    ['no authorization', () => ({ transaction: 'AQAB' })],
    ['both forms at once', ({ authorization }) => ({ authorization, permit2Authorization: {} })],
    ['a list', ({ authorization }) => [authorization]],
    ['no end', ({ authorization: { to, value } }) => ({ authorization: { to, value } })],
    ['no payee', ({ authorization: a }) => ({ authorization: { ...a, to: [a.to] } })],
    ['no value', ({ authorization: a }) => ({ authorization: { ...a, value: '1e6' } })],
  ])('with %s it cannot be read, and is kept for ever', async (_, forge) => {
    const wasSettled = vi.fn(never);
    const { pay, rail, state, clock, fake } = open(wasSettled);
    state.forge = forge;
    expect(await pay()).not.toBeNull();
    clock.ms += 10 * 365 * 86_400_000;
    expect([await rail.close(), wasSettled.mock.calls, fake.outcomes]).toEqual([1, [], []]);
  });

  test.each<[string, Forge]>([
    ['another payee', ({ authorization: a }) => ({ authorization: { ...a, to: '0xdead' } })],
    ['a higher value', ({ authorization: a }) => ({ authorization: { ...a, value: '2000000' } })],
    ['another payee and no end', () => ({ authorization: { to: '0xdead', value: ONE_EURO } })],
    [
      'another token of Permit2',
      () => ({
        permit2Authorization: {
          permitted: { token: '0xdead', amount: ONE_EURO },
          witness: { to: SELLER },
          deadline: '1795000060',
        },
      }),
    ],
  ])('for %s is kept back, and counts all the same', async (_, forge) => {
    const { pay, rail, state, lines } = open(never);
    state.forge = forge;
    expect(await pay()).toBeNull();
    expect(lines.at(-1)).toContain('withheld');
    expect(await rail.close()).toBe(1);
  });

  test('with Permit2 is read as well, and its payee’s address in either case', async () => {
    const { pay, rail, state, clock } = open(never);
    state.forge = ({ authorization: { to, value, validBefore } }) => ({
      permit2Authorization: {
        permitted: { token: TOKEN.toLowerCase(), amount: value },
        witness: { to: String(to).toLowerCase() },
        deadline: validBefore,
      },
    });
    expect(await pay()).not.toBeNull();
    clock.ms += 95_000;
    expect(await rail.close()).toBe(0);
  });

  test('after its reservation was let go is kept back', async () => {
    const { pay, rail, state, clock, fake } = open(never);
    state.beforeSigning = async () => {
      clock.ms += 95_000;
      expect(await rail.close()).toBe(0);
    };
    expect(await pay()).toBeNull();
    expect(fake.outcomes.map(({ type }) => type)).toEqual(['SPEND_FAILED']);
  });
});

test('payments of one request that is used twice are two payments', async () => {
  const { pay, rail, asked, clock, fake } = open(async ({ payload }) => 'payload' in payload);
  const required = asked({ amount: '400000' });
  await Promise.all([pay({}, required), pay({}, required)]);
  clock.ms += 95_000;
  expect(await rail.close()).toBe(0);
  expect(fake.outcomes.map((each) => each.amount_minor)).toEqual([80]);
});

test('one wallet in two spellings has one top-up', async () => {
  const { pay, fake } = open(never);
  for (const payTo of [SELLER, SELLER.toLowerCase(), SELLER.replace('abcdef', 'ABCDEF')]) {
    expect(await pay({ payTo, amount: '100000' })).not.toBeNull();
  }
  expect(fake.decisions).toHaveLength(1);
});

test('a chain that cannot be asked leaves a top-up open, and says so', async () => {
  const chain = vi.fn(async () => false);
  const { pay, rail, clock, lines } = open(chain);
  await pay();
  clock.ms += 95_000;
  chain.mockRejectedValueOnce(new Error('the node is away'));
  expect(await rail.close()).toBe(1);
  expect(lines.at(-1)).toContain('the node is away');
  expect(await rail.close()).toBe(0);
});

test('whatever a seller asks for and settles, what can be settled is never more than what is held or paid', async () => {
  const odd = <T>(right: T, ...others: unknown[]) =>
    fc.oneof({ weight: 6, arbitrary: fc.constant<unknown>(right) }, fc.constantFrom(...others));
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('ask' as const),
        maxTimeoutSeconds: odd(60, 5, '60', -60, 0, 1e12, 1.5, [60], null),
        amount: odd('500000', ONE_EURO, 500_000, ['500000'], '5e5', '0', '-1'),
        payTo: odd(SELLER, SELLER.toLowerCase(), [SELLER], null),
        forged: fc.constantFrom('no', 'no', 'no', 'end', 'unreadable', 'value'),
      }),
    },
    fc.record({ do: fc.constant('wait' as const), seconds: fc.constantFrom(1, 30, 61, 95, 200) }),
    fc.record({ do: fc.constant('settle' as const), which: fc.nat(20) }),
    fc.record({ do: fc.constant('close' as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const settled = new Set<string>();
      const given: { name: string; value: number; until_s: number }[] = [];
      const { pay, rail, clock, state, fake } = open(async ({ payload }) =>
        settled.has(JSON.stringify(payload)),
      );
      for (const each of steps) {
        if (each.do === 'wait') clock.ms += each.seconds * 1000;
        else if (each.do === 'close') await rail.close();
        else if (each.do === 'settle') {
          const one = given[each.which % Math.max(1, given.length)];
          if (one !== undefined && one.until_s * 1000 > clock.ms) settled.add(one.name);
        } else {
          const { do: _, forged, ...more } = each;
          state.forge = ({ authorization: a }) => {
            if (forged === 'end') return { authorization: { ...a, validBefore: `${a.validBefore}9` } };
            if (forged === 'value') return { authorization: { ...a, value: `${a.value}0` } };
            return forged === 'unreadable' ? { blob: a } : { authorization: a };
          };
          const payment = await pay(more);
          if (payment === null) continue;
          const { authorization = (payment.payload as unknown as { blob: Authorization }).blob } =
            payment.payload;
          const { value, validBefore } = authorization;
          given.push({
            name: JSON.stringify(payment),
            value: Number(value) / 10_000,
            until_s: forged === 'unreadable' ? Number.POSITIVE_INFINITY : Number(validBefore),
          });
        }
        const live = given.filter(({ name, until_s }) => settled.has(name) || until_s * 1000 > clock.ms);
        const counted = fake.consumed.reduce((sum, { decision_id, amount_minor }) => {
          const ended = fake.outcomes.find((outcome) => outcome.decision_id === decision_id);
          return sum + (ended === undefined ? amount_minor : (ended.amount_minor ?? 0));
        }, 0);
        expect(live.reduce((sum, { value }) => sum + value, 0)).toBeLessThanOrEqual(counted);
      }
    }),
    { numRuns: Number(process.env.X402_RUNS ?? 100) },
  );
});
