const STORED = 'purser.theme';

/** What the page looks like: as the system says, or as this browser was told. `theme.js` applies it before the first paint. */
export type Theme = 'system' | 'light' | 'dark';

/** The theme that this browser was told. */
export function storedTheme(): Theme {
  const found = localStorage.getItem(STORED);
  return found === 'light' || found === 'dark' ? found : 'system';
}

/** Applies a theme now, and at every later visit from this browser. */
export function applyTheme(theme: Theme): void {
  if (theme === 'system') {
    localStorage.removeItem(STORED);
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem(STORED, theme);
    document.documentElement.dataset.theme = theme;
  }
}
