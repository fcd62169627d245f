import { describe, expect, test } from 'vitest';
import { allowedBy } from './allowlist.ts';
import { blockedBy } from './blocklist.ts';

const blocks = (entry: string, merchant: string) => blockedBy(merchant, [entry]) !== null;

describe('a blocked name is found', () => {
  test.each([
    ['Evil Corp', 'Ev1I Corp'],
    ['Evil Corp', 'EvI1 Corp'],
    ['Evil', 'Ev¡l'],
    ['Evil', 'Evi£'],
    ['Evil', '€vil'],
    ['Evil', '🇪🇻🇮🇱'],
    ['Evil', '🇪vil'],
    ['Evil', 'Ꮛvil'],
    ['Evil', 'ꮛvil'],
    ['Evil', 'Ɛvil'],
    ['Evil', 'ɛvil'],
    ['Evil', 'єvil'],
    ['Evil', 'ǝvil'],
    ['Amazon', 'ΛMΛZON'],
    ['Amazon', 'AMAZOИ'],
    ['Evil', '\u202elivE\u202c'],
    ['Evil Corp', '\u202eproC livE'],
    ['Evil Corp', 'Shop \u202eproC livE\u202c Berlin'],
    ['evil.example', 'evil%2eexample'],
    ['evil.example', 'https://evil%2Eexample/pay'],
    ['evil.example', 'evil%252eexample'],
    ['evil.example', '%65vil.example'],
    ['Evil', '%45vil'],
  ])('%s, written as %s', (entry, merchant) => {
    expect(blocks(entry, merchant)).toBe(true);
  });
});

const FORMS: [with_form: string, name: string][] = [
  ['ООО Ромашка', 'Ромашка'],
  ['ООО «Ромашка»', 'Ромашка'],
  ['Ромашка ООО', 'Ромашка'],
  ['АО Альфа', 'Альфа'],
  ['ТОВ Дніпро', 'Дніпро'],
  ['ПрАТ Дніпро', 'Дніпро'],
  ['SIA Rimi', 'Rimi'],
  ['Rimi, SIA', 'Rimi'],
  ['UAB Maxima', 'Maxima'],
  ['UAB "Maxima"', 'Maxima'],
  ['OÜ Kalev', 'Kalev'],
  ['Kalev OÜ', 'Kalev'],
  ['Alfa Shpk', 'Alfa'],
  ['Fonte Lda.', 'Fonte'],
  ['Cogeco Ltée', 'Cogeco'],
  ['Софарма ЕООД', 'Софарма'],
  ['Νίκος Ε.Π.Ε.', 'Νίκος'],
  ['株式会社リコー', 'リコー'],
  ['リコー(株)', 'リコー'],
  ['주식회사 카카오', '카카오'],
  ['华为技术有限公司', '华为技术'],
  ['Rimi SIA, UAB', 'Rimi'],
];

describe('a legal form of ISO 20275', () => {
  test.each(FORMS)('%s: on a block list it also blocks %s, and the other way round', (with_form, name) => {
    expect(blocks(with_form, name)).toBe(true);
    expect(blocks(name, with_form)).toBe(true);
  });

  test.each(FORMS)('%s: on a list of those allowed it is %s', (with_form, name) => {
    expect(allowedBy(name, [with_form])).toBe(with_form);
    expect(allowedBy(with_form, [name])).toBe(name);
  });

  test.each(['SIA', 'ООО', 'UAB OÜ', '株式会社', 'ООО ООО', 'co SIA', 'SIA "  "'])(
    'alone is the name: %s blocks no other merchant',
    (entry) => {
      for (const merchant of ['Rimi', 'Ромашка', 'Rimi SIA', 'ООО Ромашка', 'リコー']) {
        expect(blocks(entry, merchant), merchant).toBe(false);
      }
    },
  );
});

/** Ordinary merchants, among them those whose names hold a legal form, a sign, a digit or another alphabet. */
const ORDINARY = [
  'Too Good To Go',
  'PT Cruiser Parts',
  'AS Roma',
  'AB InBev',
  'AO World',
  'SC Johnson',
  'SE Ranking',
  'SL Green',
  'SA Water',
  'Ou Yang Trading',
  'Pao Dumplings',
  'Pat McGrath Labs',
  'Banque CIC',
  'Tesla EV',
  'Beer Keg',
  'Lexington KY',
  'Me Too',
  'Trust Bank',
  'Day Spa',
  'H&M',
  'C&A',
  'A1 Telekom',
  'O2',
  'Motel 6',
  '7-Eleven',
  '3M',
  'Yahoo!',
  'Yum! Brands',
  '¡Hola!',
  'Ke$ha Store',
  'Poundland £1 Shop',
  '€uro Shop',
  'Boots',
  'Aldi Süd',
  'L’Oréal',
  'Ben & Jerry’s',
  'Nestlé',
  'Škoda',
  'Ørsted',
  'Łódź Airport',
  'Яндекс',
  'Сбербанк',
  'ИКЕА',
  'Лента',
  'Эльдорадо',
  'Αθήνα',
  'Λάμδα',
  'Ελλάδα',
  'Ελ Γκρέκο',
  'Kɔfi Ɛkua',
  'ソニー',
  '無印良品',
  '华为',
  '카카오',
  'مكتبة جرير',
  'स्टेट बैंक',
  'ไทยพาณิชย์',
  'Zalando 🇩🇪',
  '🇫🇷 Bistro',
  '100% Pure',
  '50%25 Off',
  'Five%',
  'Café 2e',
  'example.com',
  'shop.example.co.uk',
  'booking.com',
  'Mail Boxes',
  'The Mall',
  'Maxi',
  'Max1',
  'Sia Fashion',
  'Amazon',
  'Evil',
  'Alfa',
  'Rimi',
  'Maxima',
  'Kalev',
  'Ромашка',
];

test('no ordinary merchant is blocked by the name of another, and each by its own', () => {
  for (const entry of ORDINARY) {
    const found = ORDINARY.filter((merchant) => merchant !== entry && blocks(entry, merchant));
    expect(found, entry).toEqual([]);
    expect(blocks(entry, entry), entry).toBe(true);
  }
});

test('no allowed name lets another ordinary merchant through', () => {
  for (const entry of ORDINARY) {
    const found = ORDINARY.filter((merchant) => merchant !== entry && allowedBy(merchant, [entry]) !== null);
    expect(found, entry).toEqual([]);
  }
});

test('what only a disguise makes equal is on no list of those allowed', () => {
  for (const merchant of ['Ev1I', 'Ev¡l', 'Evi£', 'Ɛvil', 'Ꮛvil', '\u202elivE', 'Аmazon']) {
    expect(allowedBy(merchant, ['Evil', 'Amazon']), merchant).toBeNull();
  }
});

test('a name of the longest length is read into a bounded number of letters, whatever is escaped or turned in it', () => {
  const unit = ['%25', '%2e', '\u202ea', '🇪', 'Ɛa', 'SIA ', '株式会社', '£a', '. '];
  for (const each of unit) {
    const merchant = each.repeat(200).slice(0, 200);
    expect(blockedBy(merchant, ['Evil Corp', 'evil.example'])).toBeNull();
  }
});
