import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { makeGuideRoutes, readGuides } from '../../src/service/guides/guides.ts';
import { BRAND_COLOURS } from '../../src/service/pages/brand.ts';
import { ROOT } from '../support/image.ts';
import { refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s } = serviceTest();

const read = async (path: string) => {
  const reply = await fetch(`${s.url}${path}`);
  return { status: reply.status, headers: reply.headers, text: await reply.text() };
};
const linksOf = (text: string) => [...text.matchAll(/href="([^"]+)"/g)].map(([, href]) => href as string);

test('every guide has a page that runs nothing, and the contents name each of them', async () => {
  const { text, status, headers } = await read('/docs/guides');
  expect(status).toBe(200);
  expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
  const slugs = readdirSync(join(ROOT, 'docs/guides')).filter((name) => name.endsWith('.md'));
  expect(slugs.length).toBeGreaterThan(20);
  for (const slug of slugs) expect(linksOf(text)).toContain(`/docs/guides/${slug.slice(0, -3)}`);
  for (const service of ['/console/', '/docs']) expect(linksOf(text)).toContain(service);
  expect(text).not.toMatch(/<script|style="/);
});

test('no link of a guide leads nowhere, and each place that one names within a page is there', async () => {
  const pages = new Map<string, string>();
  const pageOf = async (path: string) => {
    const known = pages.get(path);
    if (known !== undefined) return known;
    const { status, text } = await read(path);
    expect(status, path).toBe(200);
    pages.set(path, text);
    return text;
  };
  const all = new Set(
    linksOf(await pageOf('/docs/guides')).filter((href) => href.startsWith('/docs/guides/')),
  );
  for (const path of all) {
    for (const href of linksOf(await pageOf(path)).filter((each) => each.startsWith('/docs/guides/'))) {
      const [target, hash] = href.split('#') as [string, string?];
      const text = await pageOf(target);
      if (hash !== undefined) expect(text, `${path} names ${href}`).toContain(`id="${hash}"`);
    }
  }
});

test('a reader chooses light or dark, and every page keeps to it without a script', async () => {
  const html = async (path: string, cookie = '') => {
    const reply = await fetch(`${s.url}${path}`, { headers: { cookie } });
    return { reply, tag: /<html[^>]*>/.exec(await reply.text())?.[0] };
  };
  expect((await html('/docs/guides')).tag).toBe('<html lang="en">');
  const { reply, tag } = await html('/docs/guides/packages?theme=dark');
  expect(tag).toBe('<html lang="en" data-theme="dark">');
  const [cookie] = reply.headers.getSetCookie();
  expect(cookie).toMatch(/; Path=\/docs; .*SameSite=Lax; HttpOnly$/);
  const kept = (cookie as string).split(';')[0] as string;
  for (const path of ['/docs/guides', '/docs/guides/mcp', '/docs/guides?q=npm', '/docs', '/docs?q=npm'])
    expect((await html(path, `other=1; ${kept}`)).tag).toBe(tag);
  expect((await html('/docs/guides/mcp?theme=light', kept)).tag).toContain('data-theme="light"');
  expect((await html('/docs/guides?theme=system', kept)).tag).toBe('<html lang="en">');
  expect((await html('/docs/guides', 'purser_docs_theme="><script>')).tag).toBe('<html lang="en">');
  expect(linksOf((await read('/docs/guides?q=a%26b')).text)).toContain('?q=a%26b&amp;theme=dark');
  expect((await html('/docs/guides?theme=pink')).reply.status).toBe(400);
});

test('a picture of a guide is sent', async () => {
  const [file] = readdirSync(join(ROOT, 'docs/guides/images'));
  const { status, headers } = await read(`/docs/guides/images/${file}`);
  expect([status, headers.get('content-type')]).toEqual([200, 'image/png']);
});

test('the search finds a section by its words, and shows what somebody typed as text', async () => {
  const { text } = await read('/docs/guides?q=npm+install+wheel');
  expect(text).toContain('/docs/guides/packages');
  expect((await read('/docs/guides?q=invitation')).text, 'no marks of Markdown').not.toMatch(/\*\*|`|\]\(/);
  const all = linksOf((await read('/docs?q=invitation+token')).text);
  for (const each of ['/docs/guides/people-and-sign-in', '/docs#readInvitation'])
    expect(all.some((href) => href.startsWith(each))).toBe(true);
  const hostile = await read(`/docs/guides?q=${encodeURIComponent('"><script>alert(1)</script>')}`);
  expect(hostile.status).toBe(200);
  expect(hostile.text).toContain('&lt;script&gt;');
  expect(hostile.text).not.toContain('<script');
  expect(hostile.text).toContain('Nothing found');
});

test('an unknown guide is not found, and without a build there are no guides', async () => {
  for (const path of ['/docs/guides/none', '/docs/guides/images/none.png'])
    expect(refusal(await s.call('GET', path, { key: null }))).toEqual([404, 'not_found']);
  expect(makeGuideRoutes(readGuides('/nowhere'))).toEqual([]);
});

test('the pages of the service have the colours of the console', async () => {
  const { readFileSync } = await import('node:fs');
  const tokens = readFileSync(join(ROOT, 'console/src/styles/tokens.css'), 'utf8');
  for (const [name, [light, dark]] of Object.entries(BRAND_COLOURS))
    expect(tokens).toContain(`--${name}: light-dark(${light}, ${dark});`);
  const mark = readFileSync(join(ROOT, 'console/public/icon.svg'), 'utf8').split('</title>')[1] as string;
  for (const path of ['/docs', '/docs/guides'])
    expect((await read(path)).text, 'the mark of the console').toContain(mark.trim());
});
