const STORED = 'purser.theme';

/** The theme: the system's, or the one set in this browser. `theme.js` applies it before the first paint. */
export type Theme = 'system' | 'light' | 'dark';

/** The theme set in this browser. */
export function storedTheme(): Theme {
  const found = localStorage.getItem(STORED);
  return found === 'light' || found === 'dark' ? found : 'system';
}

/** Applies a theme now and on later visits from this browser. */
export function applyTheme(theme: Theme): void {
  if (theme === 'system') {
    localStorage.removeItem(STORED);
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem(STORED, theme);
    document.documentElement.dataset.theme = theme;
  }
}
