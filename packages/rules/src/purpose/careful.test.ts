import type { Authority } from '@purser/contract/authority';
import type { Action } from '@purser/contract/decisions';
import { describe, expect, it, test } from 'vitest';
import { NO_FACTS } from '../domain/spend-facts.ts';
import { assessBuiltIn, conflictsFound } from './built-in-assessor.ts';
import { showReading } from './shown-reading.ts';

const under = (objective: string, constraints: string[] = [], context = ''): Authority => ({
  purpose: { objective, constraints, context },
  currency: 'EUR',
});

function judged(
  authority: Authority,
  merchant: string,
  description: string,
  more: Partial<Action> = {},
  facts = NO_FACTS,
) {
  const action = { type: 'purchase', merchant, amount_minor: 4_200, currency: 'EUR', description, ...more };
  return assessBuiltIn(authority, { action }, facts);
}
const verdict = (...args: Parameters<typeof judged>) => judged(...args).assessment;
const chosen = (merchant: string) => ({
  ...NO_FACTS,
  listed: [
    {
      entry_id: 'mer_1',
      merchant,
      payee_ids: [],
      verdict: 'ALLOWED' as const,
      listed_by: 'user:ada',
      listed_at: '2026-11-03T08:00:00.000Z',
    },
  ],
});

const OFFICE = under('Order gloves, syringes and printer paper.', [], 'Sellers: Medline, Antalis.');

describe('a merchant that is only named does not vouch for any account that its name stands over', () => {
  it.each([
    ['no account at all', undefined, 'PURPOSE_ALIGNED'],
    ['an id that bears its name', 'payee:medline-eu', 'PURPOSE_ALIGNED'],
    ["a card processor's token", 'card:tok_8841', 'PURPOSE_ALIGNED'],
    ['an id that bears another name', 'payee:vk-trading-7731', 'PURPOSE_UNCLEAR'],
    ['a bank account, where the purpose names none', 'iban:DE02120300000000202051', 'PURPOSE_ALIGNED'],
  ] as const)('%s', (_, payee_id, expected) => {
    expect(verdict(OFFICE, 'Medline', 'gloves', payee_id === undefined ? {} : { payee_id })).toBe(expected);
  });

  it('where the purpose names accounts, a bank account that it does not name is for a person to look at', () => {
    const authority = under('Order gloves.', [], 'Sellers: Medline, Antalis DE12500105170648489890.');
    const payee_id = 'iban:DE02120300000000202051';
    expect(verdict(authority, 'Medline', 'gloves', { payee_id })).toBe('PURPOSE_UNCLEAR');
  });

  it('a person who chose the merchant chose what it is paid by, and so did one who allowed that payee', () => {
    const payee_id = 'payee:vk-trading-7731';
    expect(verdict(OFFICE, 'Medline', 'gloves', { payee_id }, chosen('Medline'))).toBe('PURPOSE_ALIGNED');
    const allowed = {
      merchant: 'medline',
      payee_id,
      said_by_people: { allowed: 1, refused: 0 },
      settled_by_rail: 0,
      words: new Map(),
      usual_minor: new Map([['EUR', { low: 1, high: 10 }]]),
      last_at: '2026-11-03T08:00:00.000Z',
    };
    const facts = {
      ...NO_FACTS,
      precedents: { by_merchant: new Map([['medline', [allowed]]]), by_payee: new Map() },
    };
    expect(verdict(OFFICE, 'Medline', 'gloves', { payee_id }, facts)).toBe('PURPOSE_ALIGNED');
  });
});

it('a merchant that is listed in two spellings is vouched for by the one with the payee', () => {
  const [one] = chosen('Nordhandel').listed as [ReturnType<typeof chosen>['listed'][number]];
  const facts = {
    ...NO_FACTS,
    listed: [
      { ...one, payee_ids: ['iban:DE1'] as never[] },
      { ...one, entry_id: 'mer_2', merchant: 'NORDHANDEL GmbH', payee_ids: ['iban:DE2'] as never[] },
    ],
  };
  for (const [payee_id, entry_id] of [
    ['iban:DE1', 'mer_1'],
    ['iban:DE2', 'mer_2'],
    ['iban:DE3', undefined],
  ] as const) {
    const { assessment, vouched_by } = judged(OFFICE, 'Nordhandel', 'gloves', { payee_id }, facts);
    expect(assessment === 'PURPOSE_ALIGNED' ? vouched_by?.entry_id : undefined).toBe(entry_id);
  }
});

describe('what only a list or a request outside the purpose could show is unclear until a person chose the merchant', () => {
  it.each([
    'Only titles on the approved list',
    'Only these three branches',
    'Nur Artikel aus der Liste',
    'Buy exactly what is asked for',
  ])('%s', (constraint) => {
    const authority = under('Order gloves and printer paper.', [constraint], 'Sellers: Medline, Antalis.');
    const found = judged(authority, 'Antalis', 'printer paper');
    expect([found.assessment, found.rationale]).toEqual([
      'PURPOSE_UNCLEAR',
      expect.stringContaining(constraint),
    ]);
    expect(verdict(authority, 'Antalis', 'printer paper', {}, chosen('Antalis'))).toBe('PURPOSE_ALIGNED');
  });

  it('"only named sellers" is kept by a seller that the purpose names, and by none that only the tables know', () => {
    const authority = under(
      'Pay for cloud servers and hosting.',
      ['Only from listed suppliers'],
      'Suppliers: Contabo.',
    );
    expect(verdict(authority, 'Contabo', 'cloud server')).toBe('PURPOSE_ALIGNED');
    expect(verdict(authority, 'Hetzner Online', 'cloud server')).toBe('PURPOSE_UNCLEAR');
  });
});

it.each([
  ['a title', 'Ask Dr Whitcombe.', 'Dr Whitcombe'],
  ['a role', 'The treasurer is Helen Marsh.', 'Helen Marsh'],
  ['a list of people', 'Staff: Ana Ruiz, Wei Chen.', 'Ana Ruiz'],
  ['a role in German', 'Geschäftsführerin ist Ida Brandt.', 'Ida Brandt'],
])('a person of the house is no seller: %s', (_, context, name) => {
  const authority = under('Order gloves.', [], `Sellers: Medline. ${context}`);
  const { people, merchants } = showReading(authority);
  expect(people.map((one) => one.name)).toContain(name);
  expect(merchants.map((one) => one.name)).not.toContain(name);
  expect(verdict(authority, name, 'gloves')).toBe('PURPOSE_UNCLEAR');
  expect(verdict(authority, 'Medline', 'gloves')).toBe('PURPOSE_ALIGNED');
});

test('every name that the reading shows as a merchant vouches, and no name that it shows as a person does', () => {
  const authority = under(
    'Order gloves and printer paper from Medline and Antalis for the clinic in Ghent.',
    [],
    'Paper also from papier-direkt.de. Manager: Priya Nair. Masks are made by Van Uden & Zoon.',
  );
  const { merchants, people } = showReading(authority);
  const is_vouched = (name: string) => judged(authority, name, 'gloves').vouched_by !== null;
  expect(merchants.length).toBeGreaterThan(3);
  expect(merchants.filter(({ name }) => !is_vouched(name))).toEqual([]);
  expect(people.map(({ name }) => name)).toContain('Priya Nair');
  expect(people.filter(({ name }) => is_vouched(name))).toEqual([]);
});

describe('a sum over one that a constraint names', () => {
  it.each([
    ['Bills above 400 euros are shown to Ruth first', 40_000, 40_100],
    ['Nothing over €1,000', 100_000, 100_001],
    ['Keine Bestellung über 1.500 Euro', 150_000, 150_001],
  ])('%s', (constraint, within, beyond) => {
    const authority = under('Order gloves.', [constraint], 'Sellers: Medline.');
    const found = (amount_minor: number) => {
      const action = {
        type: 'purchase',
        merchant: 'Medline',
        amount_minor,
        currency: 'EUR',
        description: 'gloves',
      };
      return conflictsFound(authority, { action }).map(({ kind, severity }) => [kind, severity]);
    };
    expect(found(within)).toEqual([]);
    expect(found(beyond)).toEqual([['over_mark', 'unclear']]);
    expect(verdict(authority, 'Medline', 'gloves', { amount_minor: beyond })).toBe('PURPOSE_UNCLEAR');
  });

  it('not where the sum is for a piece, an hour or a kilo, nor in another currency', () => {
    const authority = under(
      'Order gloves.',
      ['Nothing over 40 euros a box', 'Nothing over 90 euros'],
      'Sellers: Medline.',
    );
    expect(verdict(authority, 'Medline', 'gloves', { amount_minor: 5_000 })).toBe('PURPOSE_ALIGNED');
    const action = { type: 'purchase', merchant: 'Medline', amount_minor: 99_000, currency: 'JPY' };
    expect(conflictsFound(authority, { action })).toEqual([]);
  });
});

describe('misaligned is only what a person would say in one sentence', () => {
  it('what is ruled out from something is not ruled out', () => {
    const authority = under('Refund the customers.', [
      'Made-to-measure pieces are excluded from change of mind',
    ]);
    expect(verdict(authority, 'Dev', 'made-to-measure pieces, damaged')).toBe('PURPOSE_UNCLEAR');
    const outright = under('Refund the customers.', ['Made-to-measure pieces are excluded']);
    expect(verdict(outright, 'Dev', 'made-to-measure pieces, damaged')).toBe('PURPOSE_MISALIGNED');
  });

  it('another account is for a person to look at where the operator says how accounts change', () => {
    const context = 'Cleaning: Blitz Service DE12500105170648489890.';
    const bill = [
      'Blitz Service',
      'cleaning, April',
      { type: 'bill', payee_id: 'iban:DE02120300000000202051' },
    ] as const;
    expect(verdict(under('Pay for cleaning.', [], context), ...bill)).toBe('PURPOSE_MISALIGNED');
    const foreseen = under(
      'Pay for cleaning.',
      ['A new IBAN counts once Ruth has called the firm back'],
      context,
    );
    expect(verdict(foreseen, ...bill)).toBe('PURPOSE_UNCLEAR');
  });

  it('a word that the operator also wants is not plainly forbidden', () => {
    const authority = under('Buy cleaning things.', ['No glass'], 'Glass cleaner comes from Kiehl.');
    expect(verdict(authority, 'Kiehl', 'glass cleaner')).toBe('PURPOSE_UNCLEAR');
    const action = {
      type: 'purchase',
      merchant: 'Kiehl',
      amount_minor: 1,
      currency: 'EUR',
      description: 'glass',
    };
    expect(conflictsFound(authority, { action })).toEqual([{ kind: 'prohibited', severity: 'unclear' }]);
  });
});

describe('what operators write in other languages', () => {
  it.each([
    [
      'German',
      'Einkauf für die Rösterei',
      'Kein Kauf von Hardware',
      'Verpackung kommt von Swiss Pac',
      'Swiss Pac',
      'Hardware für das Büro',
    ],
    [
      'Spanish',
      'Compras de la clínica',
      'Nada de tabaco',
      'Proveedor: Casa Lobo',
      'Casa Lobo',
      'tabaco, 2 cajas',
    ],
    ['French', "Achats de l'atelier", 'Pas de tabac', 'Cuirs chez Relma', 'Relma', 'tabac à rouler'],
    ['Japanese', '和菓子店の仕入れ', 'たばこの購入は禁止', '仕入先は富澤商店', '富澤商店', 'たばこ 3箱'],
  ])(
    '%s: names vouch and prohibitions bind, and the reading shows both',
    (_, objective, constraint, context, seller, wrong) => {
      const authority = under(
        objective,
        [constraint],
        `${context}。`.replace('。', seller === '富澤商店' ? '。' : '.'),
      );
      const { forbidden, merchants, not_understood } = showReading(authority);
      expect(forbidden.length).toBeGreaterThan(0);
      expect(merchants.map(({ name }) => name)).toContain(seller);
      expect(not_understood.filter(({ from }) => from.field === 'purpose.constraints')).toEqual([]);
      expect(verdict(authority, seller, wrong)).not.toBe('PURPOSE_ALIGNED');
      expect(verdict(authority, 'Kontor 9', wrong)).not.toBe('PURPOSE_ALIGNED');
    },
  );

  it.each([
    ['German', 'Bitte stets freundlich zu den Nachbarn'],
    ['Spanish', 'Siempre con cariño a los vecinos'],
    ['French', 'Soyez aimables avec les voisins'],
    ['Japanese', '近所の方に親切にすること'],
    ['Finnish', 'Ostot hyväksytetään kuukausittain'],
  ])('%s: a sentence that gives no rule is shown, and it asks nothing', (_, constraint) => {
    const authority = under('Cloud servers.', [constraint], 'Seller: Hetzner.');
    expect(showReading(authority).not_understood.map(({ text }) => text)).toEqual([constraint]);
    expect(verdict(authority, 'Hetzner', 'cloud server')).toBe('PURPOSE_ALIGNED');
  });

  it.each([
    ['German', 'Elfenbein darf nicht gekauft werden', 'Elfenbein, zwei Platten'],
    ['German', 'Auf Schweinefleisch verzichten', 'Schweinefleisch'],
    ['German', 'Lösungsmittel bitte vermeiden', 'Lösungsmittel'],
    ['German', 'Es dürfen keine Arzneimittel bestellt werden', 'Arzneimittel'],
    ['German', 'Möbel gehören nicht dazu', 'Möbel'],
    ['German', 'Finger weg von Glyphosat', 'Glyphosat'],
    ['Spanish', 'Queda terminantemente prohibido el amianto', 'amianto en placas'],
    ['Spanish', 'El azúcar no se compra', 'azúcar'],
    ['Spanish', 'Sin pesticidas', 'pesticidas'],
    ['Spanish', 'Tampoco herramientas eléctricas', 'herramientas eléctricas'],
    ['Spanish', 'Criptomonedas: no.', 'criptomonedas'],
    ['French', 'Le porc est exclu', 'porc'],
    ['French', 'Hors de question de payer du carburant', 'carburant'],
    ['French', "La publicité n'est pas autorisée", 'publicité'],
    ['French', 'Ni peinture ni vernis', 'vernis'],
    ['French', 'On évite les sodas', 'sodas'],
    ['Japanese', '酒類は買ってはいけません', '酒類'],
    ['Japanese', '広告費は認めない', '広告費'],
    ['Japanese', '年間契約は除く', '年間契約'],
    ['Japanese', '除草剤を購入してはならない', '除草剤'],
    ['Japanese', 'ピーナッツを含むものは避ける', 'ピーナッツ'],
  ])('%s: "%s" forbids it at a merchant that is named, and makes nobody a seller', (_, constraint, goods) => {
    const authority = under('Everyday supplies from Nordwerk', [constraint]);
    const { forbidden, merchants, not_understood } = showReading(authority);
    expect(forbidden.map(({ from }) => from.field)).toContain('purpose.constraints');
    expect(not_understood.filter(({ from }) => from.field === 'purpose.constraints')).toEqual([]);
    expect(merchants.filter(({ from }) => from.field === 'purpose.constraints')).toEqual([]);
    expect(verdict(authority, 'Nordwerk', goods)).toBe('PURPOSE_MISALIGNED');
    expect(verdict(authority, 'Nordwerk', 'NW-4711')).toBe('PURPOSE_ALIGNED');
  });

  it.each([
    ['German', 'Keine Zahlung ohne Freigabe', 'Zahlung im März'],
    ['German', 'Verträge länger als 12 Monate sind nicht erlaubt', 'Vertrag'],
    ['Spanish', 'No se permiten hoteles sin aprobación', 'hoteles'],
    ['French', "Rien que des serveurs d'Europe", 'serveurs'],
    ['Japanese', '承認なしの購入は禁止', '承認なし'],
  ])('%s: "%s" forbids only at times, which nobody is told to have broken', (_, constraint, goods) => {
    expect(verdict(under('Supplies from Nordwerk', [constraint]), 'Nordwerk', goods)).not.toBe(
      'PURPOSE_MISALIGNED',
    );
  });

  it.each([
    ['Werkzeug und Schrauben von Würth nachbestellen', ['Würth'], ['Werkzeug', 'Schrauben']],
    [
      'Papier bei Antalis, Igepa und Berberich für das Büro kaufen',
      ['Antalis', 'Igepa', 'Berberich'],
      ['Papier'],
    ],
    ['園の食材をオイシックスとモリタから購入する', ['オイシックス', 'モリタ'], ['食材', '購入']],
    ['サーバー費用を「さくらインターネット」に支払う', ['さくらインターネット'], ['サーバー費用']],
  ])('of "%s" only the sellers vouch, and no goods', (objective, sellers, goods) => {
    const names = showReading(under(objective)).merchants.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(sellers));
    for (const one of goods) {
      expect(names).not.toContain(one);
      expect(verdict(under(objective), one, 'X-1')).toBe('PURPOSE_UNCLEAR');
    }
  });
});
