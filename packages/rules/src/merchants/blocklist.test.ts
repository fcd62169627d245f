import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowedBy } from './allowlist.ts';
import { blockedBy, compileBlocklist } from './blocklist.ts';
import { normaliseMerchant } from './names.ts';

/** Returns true if `merchant` falls under the one entry `entry`. */
function blocks(entry: string, merchant: string): boolean {
  return compileBlocklist([entry])(merchant) === entry;
}

describe('a blocked name', () => {
  it.each([
    ['Evil', 'Evil'],
    ['evil', 'EVIL'],
    ['Evil Corp', 'evil corp'],
    ['Evil', 'Evil Inc'],
    ['Evil, Inc.', 'EVIL'],
    ['Evil Ltd', 'Evil GmbH & Co. KG'],
    ['Evil S.A.', 'Evil B.V.'],
    ['Evil SpA', 'evil s.p.a.'],
    ['Evil', 'Evil S.A. de C.V.'],
    ['Evil sp. z o.o.', 'Evil'],
    ['Evil', 'SQ *EVIL'],
    ['Evil', 'PAYPAL *EVIL 4029357733'],
    ['Evil', 'Stripe* evil'],
    ['Evil', 'TST*EVIL SHOP'],
    ['Evil', 'SP * Evil'],
    ['Evil', 'PAYPAL *SQ *EVIL'],
    ['SQ *Evil', 'Evil'],
    ['Evil', 'The Evil Empire'],
    ['Evil Shop', 'Berlin Evil-Shop 24'],
    ['Evil', 'evil.example'],
    ['Evil', 'Evil™ Store'],
    ['Evil', 'Evil®'],
    ["McDonald's", 'MCDONALDS 1234'],
    ['McDonalds', 'McDonald’s'],
    ['Café Noir', 'CAFE NOIR'],
    ['Straße', 'STRASSE'],
    ['STRAẞE', 'straße'],
    ['Łódź', 'Lodz'],
    ['İstanbul', 'istanbul'],
    ['ΟΔΟΣ', 'οδος'],
    ['Νίκη', 'ΝΙΚΗ'],
    ['Новости', 'НОВОСТИ 24'],
    ['Яндекс', 'ООО яндекс'],
    ['邪悪', '邪悪商店'],
    ['ガス', 'カ\u3099ス'],
    ['مَدْرَسَة', 'مدرسة'],
  ])('%j blocks %j', (entry, merchant) => {
    expect(blocks(entry, merchant)).toBe(true);
  });

  it.each([
    ['Evil', 'Devil'],
    ['Evil', 'Evilution'],
    ['Evil', 'Medieval Times'],
    ['Evil Corp Europe', 'Evil Corp'],
    ['Delta', 'Deltoid'],
    ['PayPal', 'PAYPAL *HONEST SHOP'],
    ['Stripe', 'STRIPE* HONEST'],
    ['Square', 'SQ *HONEST'],
    ['ガス', 'カス'],
    ['की', 'का'],
    ['Куна', 'Кућа'],
    ['Bar', 'Вера'],
  ])('%j does not block %j', (entry, merchant) => {
    expect(blocks(entry, merchant)).toBe(false);
  });

  it.each([
    ['Google', 'GOOGLE *ADS'],
    ['Shopify', 'SHOPIFY* 123456'],
  ])('%j blocks %j: it bills for itself in the form of a processor', (entry, merchant) => {
    expect(blocks(entry, merchant)).toBe(true);
  });
});

describe('disguises', () => {
  it.each([
    ['Evil', 'Ev\u00adil'],
    ['Evil', 'E\u200bv\u200ci\u200dl'],
    ['Evil', 'Evil\ufe0f'],
    ['Evil', '\u2066Evil\u2069'],
    ['Evil', 'E\u3164vil'],
    ['Evil', 'Ｅｖｉｌ'],
    ['Evil', '𝐄𝐯𝐢𝐥'],
    ['Evil', 'ⓔⓥⓘⓛ'],
    ['Evil', '🅴🆅🅸🅻'],
    ['Evil', 'ᴇᴠɪʟ'],
    ['Evil', 'Évíl'],
    ['Evil', 'E̷v̸i̶l̵'],
    ['Evil', 'Еvіl'],
    ['EVIL NET', 'ΕVΙL ΝΕΤ'],
    ['Apple', 'аррӏе'],
    ['PayPal', 'РауРаl'],
    ['PayPal', 'PayPaI'],
    ['PayPal', 'paypa1'],
    ['PayPal', 'PayPa|'],
    ['Google', 'g00gle'],
    ['Google', 'G00GLE LLC'],
    ['Microsoft', 'M1crosoft'],
    ['Evil', 'Ev1l'],
    ['Evil', 'ev!l'],
    ['Cash', 'Ca$h'],
    ['Paypal', 'P@ypal'],
    ['Fill Mill', 'F1lӏ M|ll'],
    ['Tiger Pixel', 'tIger pixeӏ'],
  ])('%j blocks %j', (entry, merchant) => {
    expect(blocks(entry, merchant)).toBe(true);
  });

  it.each([
    ['Mall', 'Mail'],
    ['Ali', 'All'],
    ['AI', 'A1'],
    ['Fl', 'F1'],
    ['Lo', 'L0'],
    ['Yahoo', 'Yaho'],
    ['Bum', 'Burn'],
    ['Io', '10'],
    ['OpenAI', 'OpenAl1ance'],
    ['Google', 'G00g1e2'],
    ['Lena', 'Iena'],
  ])('honest names stay apart: %j does not block %j', (entry, merchant) => {
    expect(blocks(entry, merchant)).toBe(false);
  });

  it('are undone in the merchant only: to block "G00gle" does not block Google', () => {
    expect(blocks('G00gle', 'Google')).toBe(false);
    expect(blocks('G00gle', 'g00gle')).toBe(true);
    expect(blocks('PayPaI', 'PayPal')).toBe(false);
  });
});

describe('blanks', () => {
  it.each([
    ['EvilCorp', 'Evil Corp'],
    ['Evil Corp', 'EvilCorp'],
    ['Evil Corp', 'E v i l  C o r p'],
    ['Evil', 'E v i l Online'],
    ['Evil', 'E.V.I.L.'],
    ['Evil', 'E-v-i-l Online'],
    ['EvilCorp', 'Evil Corp Online'],
    ['Open Table', 'OPENTABLE.COM'],
    ['GoDaddy', 'Go Daddy Domains'],
    ['H&M', 'H & M'],
    ['HM', 'H&M Berlin'],
    ['Visa', 'V isa'],
  ])('do not count: %j blocks %j', (entry, merchant) => {
    expect(blocks(entry, merchant)).toBe(true);
  });

  it.each([
    ['Visa', 'Vis A Vis Restaurant'],
    ['Meat', 'Me At Home'],
    ['Visa', 'Vi S.A.'],
    ['Visa', 'Vi Sa'],
    ['Evil', 'Evi Lamps'],
    ['Evil Corp', 'Devil Corp'],
  ])('count where honest names would run together: %j does not block %j', (entry, merchant) => {
    expect(blocks(entry, merchant)).toBe(false);
  });
});

describe('a blocked host', () => {
  it.each([
    'evil.example',
    'EVIL.Example.',
    'shop.evil.example',
    'a.b.evil.example',
    'https://shop.evil.example/x',
    'HTTPS://SHOP.EVIL.EXAMPLE:8443/x?y=z#w',
    'https://user:secret@evil.example/',
    'http:\\\\evil.example',
    'evil.example!',
    'pay@evil.example',
    'mailto:pay@shop.evil.example',
    'PAYPAL *EVIL.EXAMPLE',
    'Evil Shop (shop.evil.example), Berlin',
    'ev\u00adil.exam\u200bple',
    'еvіl.example',
    'ｅｖｉｌ。ｅｘａｍｐｌｅ',
    'xn--evl-khd.example',
    'Evil Example',
    'evil.example/shop',
    '//evil.example',
  ])('blocks %j', (merchant) => {
    for (const entry of ['evil.example', 'https://www.Evil.example/', '*.evil.example', '.evil.example.']) {
      expect(blocks(entry, merchant)).toBe(true);
    }
  });

  it.each([
    'notevil.example',
    'not-evil.example',
    'evil.example.com',
    'evil.example.honest.test',
    'https://honest.test/evil.example',
    'https://evil.example@honest.test/',
    'evil-example.test',
    'evilexample.test',
    'my.evil-example.test',
    'Example',
    'Evil',
    'example',
  ])('does not block %j', (merchant) => {
    expect(blocks('evil.example', merchant)).toBe(false);
  });

  it.each([
    ['münchen.example', 'xn--mnchen-3ya.example'],
    ['xn--mnchen-3ya.example', 'https://shop.MÜNCHEN.example'],
    ['xn--mnchen-3ya.example', 'mu\u0308nchen.example'],
    ['παράδειγμα.example', 'ΠΑΡΆΔΕΙΓΜΑ.EXAMPLE'],
  ])('is the same in punycode: %j blocks %j', (entry, merchant) => {
    expect(blocks(entry, merchant)).toBe(true);
  });

  it('is not meant by every name that contains periods', () => {
    expect(blocks('Booking.com', 'BOOKING.COM Amsterdam')).toBe(true);
    expect(blocks('Booking.com', 'Booking com B.V.')).toBe(true);
    expect(blocks('Dr.Oetker', 'Dr. Oetker GmbH')).toBe(true);
    expect(blocks('Amazon.com, Inc.', 'smile.amazon.com')).toBe(true);
    expect(blocks('Amazon.com, Inc.', 'notamazon.com')).toBe(false);
    expect(blocks('evil.co', 'Evil Twin')).toBe(false);
  });

  it('of an e-mail address is not blocked as a whole', () => {
    expect(blocks('crook@mail.example', 'honest@mail.example')).toBe(false);
    expect(blocks('crook@mail.example', 'CROOK@mail.example')).toBe(true);
  });
});

describe('an entry that normalises to nothing', () => {
  it.each(['Inc.', 'Ltd', 'S.A.', 'Co. KG', '***', 'SQ *', 'PAYPAL*', '—', '😈', '\u200b'])(
    '%j blocks itself and nothing else',
    (entry) => {
      expect(blocks(entry, entry)).toBe(true);
      for (const merchant of [
        'Evil',
        'Evil Inc.',
        'Acme S.A.',
        'Acme Co. KG',
        'SQ *Acme',
        'PAYPAL *Acme',
        '!',
        '-',
      ]) {
        expect(compileBlocklist([entry])(merchant)).toBe(null);
      }
    },
  );

  it('also blocks the bare name of a legal form or processor', () => {
    expect(blocks('Inc.', 'INC')).toBe(true);
    expect(blocks('SQ *', 'sq')).toBe(true);
  });

  it('or to one character blocks no more than that name', () => {
    expect(blocks('X Corp', 'X')).toBe(true);
    expect(blocks('X Corp', 'x Inc.')).toBe(true);
    expect(blocks('X Corp', 'XCorp')).toBe(true);
    expect(blocks('X Corp', 'X Ray Clinic')).toBe(false);
    expect(blocks('王', '王')).toBe(true);
    expect(blocks('王', '国王酒店')).toBe(false);
  });
});

describe('the answer', () => {
  it('is the first entry of the list that matches, as it was written', () => {
    const list = ['Acme', ' EVIL, Inc. ', 'evil', 'evil.example'];
    expect(blockedBy('Evil Shop', list)).toBe(' EVIL, Inc. ');
    expect(blockedBy('evil.example', list)).toBe(' EVIL, Inc. ');
    expect(blockedBy('evil.example', ['evil.example', 'Evil'])).toBe('evil.example');
    expect(blockedBy('Honest', list)).toBe(null);
    expect(blockedBy('Honest', [])).toBe(null);
  });

  it('is the same whether the list is compiled or looked up again', () => {
    const list = ['Evil', 'Bad & Co'];
    for (const merchant of ['evil', 'bad', 'good', 'evil']) {
      expect(blockedBy(merchant, list)).toBe(compileBlocklist(list)(merchant));
    }
  });
});

describe('a normalised name', () => {
  it.each([
    ['SQ *Évil   Corp, Inc.', 'evil'],
    ['The Coffee-Shop GmbH & Co. KG', 'the coffee shop'],
    ['McDonald’s', 'mcdonalds'],
    ['ЕVІL', 'evil'],
    ['Inc.', 'inc'],
    ['***', '***'],
    ['S.A.P. SE', 'sap'],
  ])('of %j is %j', (text, name) => {
    expect(normaliseMerchant(text)).toBe(name);
  });

  it('does not change with the case, and not when normalised again', () => {
    const letters = fc.string({ unit: fc.constantFrom(...'abcXYZ éßΣνΗйΙіøæ中ğ1 -'), maxLength: 20 });
    fc.assert(
      fc.property(letters, (text) => {
        const name = normaliseMerchant(text);
        expect(normaliseMerchant(text.toUpperCase())).toBe(name);
        expect(normaliseMerchant(text.toLowerCase())).toBe(name);
        expect(normaliseMerchant(name)).toBe(name);
      }),
    );
  });
});

const WORDS = [
  'Zephyr',
  'Quantum',
  'Bakery',
  'Nordwind',
  'Lumen',
  'Tiger',
  'Harbor',
  'Pixel',
  'Maple',
  'Vector',
];
const HOMOGLYPHS: Record<string, string> = {
  ...{
    a: 'аαａ𝐚',
    b: 'Ьｂ',
    c: 'сϲ',
    d: 'ԁⅾ',
    e: 'еｅℯ',
    g: 'ɡց',
    h: 'һհ',
    i: 'іι',
    k: 'ᴋｋ',
    l: 'ⅼӏ',
    m: 'ⅿｍ',
  },
  ...{
    n: 'ո𝓷',
    o: 'оοօ',
    p: 'рρ',
    r: 'ꭇｒ',
    s: 'ѕꜱ',
    t: 'ｔ𝕥',
    u: 'υս',
    v: 'νѵ',
    w: 'ԝｗ',
    x: 'хｘ',
    y: 'уү',
    z: 'ᴢｚ',
  },
};
const INVISIBLE = [
  '\u00ad',
  '\u200b',
  '\u200c',
  '\u200d',
  '\u2060',
  '\ufeff',
  '\ufe0f',
  '\u180e',
  '\u034f',
  '\u{e0061}',
];
const name = fc
  .uniqueArray(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 })
  .map((words) => words.join(' '));
const prefix = fc.constantFrom(
  '',
  'SQ *',
  'PAYPAL *',
  'STRIPE*',
  'tst* ',
  'Sp * ',
  'PayPal *SQ*',
  'The ',
  'http: ',
);
const suffix = fc.constantFrom(
  ...[
    '',
    ' Inc',
    ', Inc.',
    ' Ltd',
    ' GmbH',
    ' LLC',
    ' S.A.',
    ' B.V.',
    ' Pty Ltd',
    ' AG',
    ' Corp.',
    ' & Co. KG',
    ' PLC',
  ],
  ...[' SARL', ' Oy', ' AB', ' Berlin', ' #123', '™', ' (EU)', '.example'],
);

/** One letter of a name, changed so that a person still reads it. */
const decoration = fc.record({
  upper: fc.boolean(),
  mark: fc.constantFrom('', '', '', '\u0301', '\u0308', '\u0336', '\u0325'),
  look: fc.nat({ max: 9 }),
  hidden: fc.constantFrom('', '', ...INVISIBLE),
});

describe('a merchant on the list', () => {
  it('is blocked however it is re-cased and decorated', () => {
    const decorations = fc.array(decoration, { minLength: 40, maxLength: 40 });
    fc.assert(
      fc.property(
        name,
        prefix,
        suffix,
        decorations,
        fc.boolean(),
        (entry, before, after, changes, spaces) => {
          const shown = [...entry]
            .map((letter, i) => {
              const change = changes[i];
              if (change === undefined || letter === ' ') return spaces ? '  ' : letter;
              const looks = [...(HOMOGLYPHS[letter.toLowerCase()] ?? '')];
              // A look-alike of a small letter is re-cased no more: as a capital it looks like another one.
              const look = looks[change.look];
              const seen = look ?? (change.upper ? letter.toUpperCase() : letter.toLowerCase());
              return seen + change.mark + change.hidden;
            })
            .join('');
          const merchant = before + shown + after;
          expect(compileBlocklist(['Other', entry])(merchant)).toBe(entry);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('is blocked when its entry carries the legal form and the prefix', () => {
    const form = fc.constantFrom(
      ' Inc',
      ', Inc.',
      ' Ltd',
      ' GmbH',
      ' LLC',
      ' S.A.',
      ' B.V.',
      ' AG',
      ' & Co. KG',
    );
    fc.assert(
      fc.property(
        name,
        form,
        form,
        fc.constantFrom('', 'SQ *', 'PAYPAL *'),
        (plain, mine, theirs, before) => {
          const entry = before + plain + mine;
          expect(blocks(entry, plain.toUpperCase() + theirs)).toBe(true);
          expect(blocks(entry, plain.replaceAll(' ', ''))).toBe(true);
        },
      ),
    );
  });

  it('is not blocked by names that are unrelated', () => {
    fc.assert(
      fc.property(name, name, prefix, suffix, (entry, other, before, after) => {
        const mine = new Set(entry.split(' '));
        if (other.split(' ').some((word) => mine.has(word))) return;
        expect(blocks(entry, before + other + after)).toBe(false);
        expect(blocks(entry, `${other}${entry}`.replaceAll(' ', ''))).toBe(false);
      }),
    );
  });

  it('is found, and nothing thrown, whatever stands around it', () => {
    const junk = fc.string({ unit: 'binary', maxLength: 60 });
    fc.assert(
      fc.property(junk, junk, (before, after) => {
        const match = compileBlocklist(['Zephyr', before, after]);
        match(`${after}${before}`);
        // A letter, digit or mark at the joint would make it another word; an asterisk or a point, another token.
        expect(match(`${before.replace(/[^\s]/gu, '')} Zephyr / ${after}`)).not.toBe(null);
      }),
    );
  });

  it('is found in a list of thousands as in one of one', () => {
    const list = Array.from({ length: 5000 }, (_, i) => `Merchant Number ${i} GmbH`);
    const match = compileBlocklist([...list, 'Evil', 'evil.example']);
    expect(match('Evil Shop')).toBe('Evil');
    expect(match('merchant number 4321')).toBe('Merchant Number 4321 GmbH');
    expect(match('merchant number 50000')).toBe(null);
    expect(match('shop.evil.example')).toBe('Evil');
  });
});

describe('an allowed name', () => {
  it.each([
    ['Acme', 'ACME'],
    ['Acme', 'Acme GmbH'],
    ['Acme Tools', 'SQ *ACME-TOOLS'],
    ['Café Müller', 'cafe muller'],
    ['acme.example', 'acme.example'],
    ['acme.example', 'https://www.acme.example/shop?x=1'],
    ['www.acme.example', 'acme.example'],
    ['acme.example', 'pay.acme.example'],
    ['Ромашка', 'РОМАШКА'],
    ['Øresund Kaffe', 'øresund kaffe'],
  ])('%j allows %j', (entry, merchant) => {
    expect(allowedBy(merchant, ['Other', entry])).toBe(entry);
  });

  it.each([
    ['Acme', 'Acme Refunds'],
    ['Acme', 'Not Acme'],
    ['Acme', 'Асme'],
    ['Google', 'G00gle'],
    ['acme.example', 'acme.example.evil.example'],
    ['acme.example', 'notacme.example'],
    ['acme.example', 'evil.example acme.example'],
    ['acme.example', 'someone@acme.example'],
    ['acme.example', 'асme.example'],
    ['shop.acme.example', 'acme.example'],
    ['Gmbh', 'Ltd'],
    ['***', '---'],
  ])('%j does not allow %j', (entry, merchant) => {
    expect(allowedBy(merchant, [entry])).toBe(null);
  });

  it('of an empty list allows nobody', () => {
    expect(allowedBy('Acme', [])).toBe(null);
  });

  it('of invisible characters alone matches only itself', () => {
    expect(allowedBy('\u200b', ['\u00ad'])).toBeNull();
    expect(allowedBy('\u00ad', ['\u00ad'])).toBe('\u00ad');
    expect(blockedBy('\u200b', ['\u00ad'])).toBeNull();
  });

  it('is never wider than the same name on a blocklist', () => {
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(text, text, fc.boolean(), (entry, other, same) => {
        const merchant = same ? `SQ *${entry.toUpperCase()} GmbH` : other;
        if (allowedBy(merchant, [entry]) !== null) expect(blockedBy(merchant, [entry])).toBe(entry);
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('the cache of names', () => {
  it('a prepared name is evicted after many others, and the answer stays the same', () => {
    const match = compileBlocklist(['Nasty Corp', 'evil.example']);
    const ask = () => [match('N a s t y Corp GmbH'), match('shop.evil.example'), match('Honest Corp')];
    const before = ask();
    expect(before).toEqual(['Nasty Corp', 'evil.example', null]);
    for (let n = 0; n < 1_200; n++) expect(match(`Shop ${n}`)).toBeNull();
    expect(ask()).toEqual(before);
    expect(compileBlocklist(['Honest Corp'])('Honest Corp')).toBe('Honest Corp');
  });
});
