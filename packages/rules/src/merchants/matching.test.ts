import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { blockedBy } from './blocklist.ts';
import { isDescriptorOf } from './descriptors.ts';
import { merchantKey, payeeKey } from './keys.ts';
import { bindingOf, boundPayees } from './matching.ts';

const HETZNER = 'sepa:DE44500105175407324931';
const bindingIn = (merchant: string, ...entries: [merchant: string, payee_id: string][]) => {
  const binding = bindingOf(merchant, [
    boundPayees(entries.map(([name, payee_id]) => ({ merchant: name, payee_id }))),
  ]);
  return { payees: [...binding.payees], is_named: binding.is_named };
};

describe('a merchant that is bound to its payees', () => {
  test.each([
    'Hetzner Online 4711',
    'Hetzner Online, Gunzenhausen',
    'Hetzner Online GmbH Invoice',
    'Hetzner  Online Server',
    'Hetzner Online Berlin',
    'hetzner.online',
    'Hetzner Onlіne',
    'Hetzner 0nline',
    'HetznerOnline',
    'Hetzner-Online AG & Co. KG',
    'PAYPAL *HETZNER ONLINE',
    'SP HETZNER ONLINE',
    'Hetzner Online (new account)',
    'New account of Hetzner Online',
    'ООО Hetzner Online',
  ])('is bound to them as %s too', (merchant) => {
    expect(bindingIn(merchant, ['Hetzner Online', HETZNER]).payees).toEqual([HETZNER]);
  });

  test.each(['Hetzner', 'Online', 'Hetz Online', 'Contabo', 'Hetzner Cloud'])('is not %s', (merchant) => {
    expect(bindingIn(merchant, ['Hetzner Online', HETZNER])).toEqual({ payees: [], is_named: false });
  });

  test('is itself before it is another whose name it holds, and otherwise any that it might be', () => {
    const entries: [string, string][] = [
      ['Acme', 'x:1'],
      ['Acme Refunds', 'x:2'],
      ['ACME Refunds, Inc.', 'x:3'],
    ];
    expect(bindingIn('Acme', ...entries)).toEqual({ payees: ['x:1'], is_named: true });
    expect(bindingIn('acme refunds', ...entries)).toEqual({ payees: ['x:2', 'x:3'], is_named: true });
    expect(bindingIn('My Acme Refunds Shop', ...entries)).toEqual({
      payees: ['x:1', 'x:2', 'x:3'],
      is_named: false,
    });
  });
});

const name = fc.oneof(
  fc.constantFrom(
    'Acme',
    'Hetzner Online',
    'acme.com',
    'Studio 540',
    'ООО Ромашка',
    'リコー',
    'Ångström & Co',
    'Acme SIA',
    'Vi SA',
  ),
  fc
    .array(fc.constantFrom('Acme', 'Blau', 'GmbH', '4711', 'SIA', 'Nord', 'é', 'О', '.', 'I1l', ','), {
      minLength: 1,
      maxLength: 5,
    })
    .map((words) => words.join(' ')),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }),
);
const added = fc.constantFrom(
  '',
  ' GmbH',
  ', Berlin',
  ' 4711',
  ' #12',
  '  Berlin',
  ' GmbH Berlin',
  ' SIA',
  ', SIA, Riga',
  ' 20391 Berlin DE',
);
const prefix = fc.constantFrom('', 'SQ *', 'PAYPAL *', 'https://', 'ООО ');

test('whatever a capability for a merchant pays, the binding of the merchant takes for it', () => {
  let paid = 0;
  fc.assert(
    fc.property(name, name, added, prefix, fc.boolean(), (merchant, other, tail, head, same) => {
      const descriptor = `${head}${same ? merchant.toUpperCase() : other}${tail}`;
      if (!isDescriptorOf(descriptor, merchant)) return;
      paid += 1;
      expect(bindingIn(descriptor, [merchant, HETZNER]).payees).toEqual([HETZNER]);
    }),
    { numRuns: 5_000 },
  );
  expect(paid).toBeGreaterThan(500);
});

test('whatever a block list takes for a merchant, the binding takes for it too', () => {
  fc.assert(
    fc.property(name, name, added, prefix, (merchant, other, tail, head) => {
      const written = `${head}${other} ${merchant}${tail}`;
      if (blockedBy(written, [merchant]) === null) return;
      expect(bindingIn(written, [merchant, HETZNER]).payees).toEqual([HETZNER]);
    }),
    { numRuns: 3_000 },
  );
});

describe('the key of a merchant', () => {
  test.each([
    [
      'Hetzner Online',
      [
        'HETZNER ONLINE GMBH',
        'hetzner-online',
        'SQ *Hetzner Online',
        'Hetzner Online 4711',
        'Hetzner Online, Berlin',
        'Hetzner Onlіne',
        'Hetzner 0nline',
        'hetzner.online',
        'HetznerOnline',
        '\u202eenilnO renzteH\u202c',
      ],
    ],
    ['Evil', ['Ev1l', 'EviI', 'Ev¡l', 'Ɛvil', 'ООО Evil', 'Evil SIA', '%45vil']],
    ['acme.com', ['www.acme.com', 'https://www.acme.com/pay', 'www.acme.com, Berlin', 'Acme.com #4711']],
    ['Ромашка', ['ООО «Ромашка»', 'РОМАШКА', 'Ромашка, Москва']],
  ] as [string, string[]][])('%s is one, however it is written', (merchant, spellings) => {
    for (const each of spellings) expect(merchantKey(each), each).toBe(merchantKey(merchant));
  });

  test('tells ordinary merchants apart', () => {
    const others = [
      'Acme',
      'Acme Refunds',
      'Amazon',
      'Amazon Web Services',
      'Motel 6',
      'Motel',
      'A1',
      'O2',
      'shop.example',
      'example.com',
      'リコー',
      'ソニー',
      'Лента',
      'Bank of London',
      'Bank of Paris',
    ];
    expect(new Set(others.map(merchantKey)).size).toBe(others.length);
  });

  test('is the same for what a capability for the merchant pays', () => {
    const merchants = fc.constantFrom(
      'Acme',
      'Hetzner Online',
      'Studio 540',
      'Nord & Süd',
      'ООО Ромашка',
      'リコー',
      'acme.com',
      'Acme, Berlin',
    );
    fc.assert(
      fc.property(
        merchants,
        added,
        fc.constantFrom('', 'SQ *', 'PAYPAL *', 'www.'),
        (merchant, tail, head) => {
          const descriptor = `${head}${merchant}${tail}`;
          if (isDescriptorOf(descriptor, merchant) && !descriptor.includes('  '))
            expect(merchantKey(descriptor)).toBe(merchantKey(merchant));
        },
      ),
      { numRuns: 500 },
    );
  });

  test('tells apart what a capability would pay, where one key would join unrelated merchants', () => {
    // Equality is transitive: with "Bank  of London" as the link, the first two would be one merchant.
    const paid: [link: string, one: string, other: string][] = [
      ['Bank  of London', 'Bank', 'Bank of London'],
      ['bbc.co.uk', 'co.uk', 'bbc.co.uk'],
      ['Acme, Berlin', 'Acme', 'Acme Berlin'],
    ];
    for (const [link, one, other] of paid) {
      expect([isDescriptorOf(link, one), isDescriptorOf(link, other)], link).toEqual([true, true]);
      expect(merchantKey(one), link).not.toBe(merchantKey(other));
      expect([merchantKey(one), merchantKey(other)], link).toContain(merchantKey(link));
    }
    expect(isDescriptorOf('Acme Berlin', 'Acme'), 'a city makes another name').toBe(false);
  });

  test('is never empty, and stays short', () => {
    for (const each of ['-', '***', 'GmbH', 'ООО', '\u200b', '🙂', '%', '\u202e'])
      expect(merchantKey(each).length, JSON.stringify(each)).toBeGreaterThan(0);
    expect(merchantKey('\ufdfa'.repeat(200)).length).toBeLessThan(10_000);
  });
});

test('a payee is one account in whatever case and with whatever points and dashes it is written', () => {
  const spellings = [
    'sepa:DE44500105175407324931',
    'SEPA:de44500105175407324931',
    'sepa:DE44-5001-0517-5407-3249-31',
    'Sepa:de44.5001_05175407324931',
  ];
  expect(new Set(spellings.map(payeeKey))).toEqual(new Set(['sepa:de44500105175407324931']));
  expect(payeeKey('x402:0xAbC')).toBe(payeeKey('X402:0xabc'));
  const others = [
    'stripe:acct_1',
    'stripe:acct_2',
    'paypal:acct_1',
    'x:-',
    'x:.',
    'my-rail:1',
    'myrail:1',
    'x:a:b',
    'x:ab',
  ];
  expect(new Set(others.map(payeeKey)).size).toBe(others.length);
});
