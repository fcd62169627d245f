/** Light or dark of the pages below `/docs`: as the reader's system is, or as they chose. */
export const DOCS_THEMES = ['system', 'light', 'dark'] as const;
export type DocsTheme = (typeof DOCS_THEMES)[number];

/** Longest search of the pages below `/docs`, characters. */
export const MAX_DOCS_SEARCH = 100;
