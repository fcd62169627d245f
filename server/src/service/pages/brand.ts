/** The colours of the console, for the pages that the service renders itself: as in console/src/styles/tokens.css. */
export const BRAND_COLOURS = {
  canvas: ['#f6f7f9', '#0d1014'],
  surface: ['#ffffff', '#14181d'],
  sunken: ['#f1f3f6', '#10141a'],
  line: ['#e3e7ed', '#262c35'],
  text: ['#161b26', '#e8ebf0'],
  soft: ['#4c5668', '#aab3c0'],
  faint: ['#626c7e', '#8f99a8'],
  accent: ['#3446c4', '#a4b1ff'],
  allow: ['#0a6647', '#6ddbab'],
  review: ['#834e00', '#efbf66'],
  deny: ['#a8231a', '#ff9f95'],
} as const;

/** The variables of the brand; those of `scheme` alone, or light and dark as the reader's system is. */
export function brandVariables(scheme?: 'light'): string {
  return Object.entries(BRAND_COLOURS)
    .map(([name, [light, dark]]) =>
      scheme === 'light' ? `--${name}: ${light};` : `--${name}: light-dark(${light}, ${dark});`,
    )
    .join(' ');
}

export const SANS =
  '"Inter Variable", Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
export const MONO =
  'ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono", monospace';
