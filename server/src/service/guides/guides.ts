import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fields, Line, OneOf } from '@purser/contract/schema';
import { DOCS_THEMES, MAX_DOCS_SEARCH } from '@purser/contract/values/docs';
import { ApiError } from '@purser/rules/errors';
import Type from 'typebox';
import type { Call, Route } from '../http/route.ts';
import { makeDocsFrame, pageAnswer, themeOf } from '../pages/docs-frame.ts';
import { type DocsSection, renderFound } from '../pages/docs-search.ts';
import { esc } from '../pages/html.ts';
import { GUIDES_STYLE } from './guides-style.ts';

/** A page as the build rendered it: `html` has no HTML of its author's. */
interface GuidePage {
  slug: string;
  title: string;
  group: string;
  html: string;
  sections: { id: string; title: string; text: string }[];
}

/** The guides as the build wrote them. */
export interface Guides {
  pages: readonly GuidePage[];
  images: ReadonlyMap<string, Buffer>;
}

const PATH = '/docs/guides';
const ThemeQuery = { theme: Type.Optional(OneOf(DOCS_THEMES)) };

/** Reads what the build wrote; nothing where the guides were not built. */
export function readGuides(directory: string): Guides {
  try {
    const pages = JSON.parse(readFileSync(join(directory, 'pages.json'), 'utf8')) as GuidePage[];
    const folder = join(directory, 'images');
    return {
      pages,
      images: new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))])),
    };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { pages: [], images: new Map() };
    throw error;
  }
}

function contents(pages: readonly GuidePage[], current: string | null): string {
  return [...new Set(pages.map(({ group }) => group))]
    .map((group) => {
      const links = pages
        .filter((page) => page.group === group)
        .map(
          ({ slug, title }) =>
            `<li><a href="${PATH}/${slug}"${slug === current ? ' aria-current="page"' : ''}>${esc(title)}</a></li>`,
        );
      return `<h2>${group}</h2><ul>${links.join('')}</ul>`;
    })
    .join('');
}

/** Returns the parts of the guides that a search can find. */
export function guideSections({ pages }: Pick<Guides, 'pages'>): DocsSection[] {
  return pages.flatMap((page) =>
    page.sections.map(({ id, title, text }) => ({
      href: `${PATH}/${page.slug}${id === '' ? '' : `#${id}`}`,
      title: id === '' ? page.title : `${page.title}: ${title}`,
      text,
    })),
  );
}

const notFound = () => new ApiError('not_found', 'No such guide: /docs/guides lists them.');

/** Makes the routes of the guides, which are answered from memory. None where they were not built. */
export function makeGuideRoutes({ pages, images }: Guides): Route[] {
  const [first] = pages;
  if (first === undefined) return [];
  const frame = makeDocsFrame(GUIDES_STYLE);
  const sections = guideSections({ pages });
  const page = (call: Call, title: string, body: string, now: { slug: string | null; q: string }) => {
    const { theme, kept } = themeOf(call);
    const { slug, q } = now;
    const html = frame.render({
      title: `${title} · Purser`,
      contents: { name: 'Guides', html: contents(pages, slug) },
      body,
      place: PATH,
      theme,
      q,
    });
    return pageAnswer(html, { ...frame.headers, ...kept });
  };
  const shared = {
    method: 'GET',
    tag: 'Service',
    scopes: 'public',
    description: 'For people.',
    responses: { 200: { description: 'The page.', schema: Type.String() } },
    errors: ['rate_limited', 'not_found', 'unavailable'],
  } as const;
  return [
    {
      ...shared,
      path: PATH,
      operationId: 'getGuides',
      summary: 'The guides, and a search over them.',
      query: Fields({ q: Type.Optional(Line({ max: MAX_DOCS_SEARCH, min: 0 })), ...ThemeQuery }),
      async handler(call: Call) {
        const q = typeof call.query.q === 'string' ? call.query.q : '';
        if (q !== '') return page(call, 'Search', renderFound({ Guides: sections }, q), { slug: null, q });
        return page(call, first.title, first.html, { slug: first.slug, q });
      },
    },
    {
      ...shared,
      path: `${PATH}/:page`,
      operationId: 'getGuide',
      summary: 'One guide.',
      query: Fields(ThemeQuery),
      async handler(call: Call) {
        const wanted = pages.find(({ slug }) => slug === call.params.page);
        if (wanted === undefined) throw notFound();
        return page(call, wanted.title, wanted.html, { slug: wanted.slug, q: '' });
      },
    },
    {
      ...shared,
      path: `${PATH}/images/:file`,
      operationId: 'getGuideImage',
      summary: 'A picture of a guide.',
      serves_files: true,
      async handler(call: Call) {
        const content = images.get(call.params.file ?? '');
        if (content === undefined) throw notFound();
        return {
          status: 200,
          headers: { 'cache-control': 'no-cache' },
          text: { content, content_type: 'image/png' },
        };
      },
    },
  ];
}
