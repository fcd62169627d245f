import { DOCS_THEMES, type DocsTheme } from '@purser/contract/values/docs';
import type { Call } from '../http/route.ts';
import { makeDocsFrame, pageAnswer, themeOf } from '../pages/docs-frame.ts';
import { type DocsSection, renderFound } from '../pages/docs-search.ts';
import { makeReference } from './docs-page.ts';
import { DOCS_STYLE } from './docs-style.ts';
import type { OpenApi } from './document-types.ts';

/**
 * Makes the answers of `/docs`: the reference of an OpenAPI document, rendered once, or with `q` the parts of reference and
 * guides that have every word.
 */
export function makeDocsAnswers(document: OpenApi, guides: readonly DocsSection[]) {
  const { title, contents, body, sections } = makeReference(document);
  const frame = makeDocsFrame(DOCS_STYLE);
  const render = (theme: DocsTheme, q: string) =>
    frame.render({
      title: q === '' ? title : `Search · ${title}`,
      contents: { name: 'Contents', html: contents },
      body: q === '' ? body : renderFound({ Guides: guides, 'API reference': sections }, q),
      place: '/docs',
      theme,
      q,
    });
  const pages = {} as Record<DocsTheme, Buffer>;
  for (const theme of DOCS_THEMES) pages[theme] = Buffer.from(render(theme, ''));
  return (call: Pick<Call, 'query' | 'headers'>) => {
    const { theme, kept } = themeOf(call);
    const q = typeof call.query.q === 'string' ? call.query.q : '';
    return pageAnswer(q === '' ? pages[theme] : render(theme, q), { ...frame.headers, ...kept });
  };
}
