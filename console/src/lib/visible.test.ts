import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { hidesCharacters, visible, visibleText } from './visible.ts';

describe('a merchant’s name', () => {
  test.each([
    ['Hetzner \u202eenilnO', 'Hetzner [U+202E]enilnO'],
    ['Het\u200bzner', 'Het[U+200B]zner'],
    ['Het\u00adzner\u2066', 'Het[U+00AD]zner[U+2066]'],
    ['Hetzner\u{e0041}', 'Hetzner[U+E0041]'],
    ['Hetzner\u2800', 'Hetzner[U+2800]'],
  ])('%j is shown as %s', (name, shown) => {
    expect([visible(name), hidesCharacters(name)]).toEqual([shown, true]);
  });
  test.each(['Hetzner Online', 'Café Zoë & Söhne', 'יד ושם', '日本電気', 'Al-Maha'])(
    '%s hides nothing',
    (name) => {
      expect([visible(name), hidesCharacters(name)]).toEqual([name, false]);
    },
  );
  test('is nowhere written into the page as it came', () => {
    const raw =
      /(^|[^=])\{[\w.]*\bmerchant\}|\$\{[\w.]*\bmerchant\}|name: merchant\b|cell: \(each\) => each\.merchant\b|title=\{[\w.]*merchant\}|aria-label=\{[\w.]*merchant\}/m;
    const folder = new URL('..', import.meta.url);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.tsx'),
    );
    const found = files.filter((file) => {
      const text = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
      return text.split('\n').some((line) => raw.test(line) && !/(keyOf|queryKey|key)=/.test(line));
    });
    expect(files.length).toBeGreaterThan(50);
    expect(found).toEqual([]);
  });
});

describe('a text of several lines', () => {
  test.each([
    ['Servers\u202eyrellag\u202c', 'Servers[U+202E]yrellag[U+202C]'],
    ['a\u200bb\u200dc\u0000d', 'a[U+200B]b[U+200D]c[U+0000]d'],
    ['1\ufe0f2 a\ufe0f', '1\ufe0f2 a[U+FE0F]'],
  ])('%j is shown as %s', (text, shown) => {
    expect(visibleText(text)).toBe(shown);
  });
  test.each(['One\r\ntwo\n\n\tthree', 'Careful ⚠️ 👩‍💻 ❤️‍🔥', 'یک متن ساده'])('%j stays as it is', (text) => {
    expect(visibleText(text)).toBe(text);
  });
});
