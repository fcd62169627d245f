/** Keys that do something together or one of which does, and what that is. */
export type KeyRow = readonly [keys: readonly string[], does: string];

/** The keys of a spend that waits for a person. */
const REVIEW: readonly KeyRow[] = [
  [['a'], 'Allow'],
  [['d'], 'Deny'],
  [['1', '…', '9'], 'Choose the reason'],
  [['c'], 'Write a comment'],
];

const INBOX: readonly KeyRow[] = [
  [['j', 'k'], 'Next, previous'],
  [['PgDn', 'PgUp'], 'Read on, and back'],
  ...REVIEW,
  [['Ctrl', 'Enter'], 'Confirm and go on with the next'],
  [['Esc'], 'Leave it; what you wrote is kept'],
  [['l'], 'Give the label that is marked with l'],
  [['o'], 'Open the whole decision'],
  [['z'], 'Put aside for this visit, and back'],
  [['x'], 'Select'],
  [['Shift', 'X'], 'Select up to here'],
  [['Shift', 'A'], 'Allow the selected'],
  [['Shift', 'D'], 'Deny the selected'],
];

const DECISION: readonly KeyRow[] = [
  ...REVIEW,
  [['Ctrl', 'Enter'], 'Confirm'],
  [['Esc'], 'Leave it; what you wrote is kept'],
];

/** Screens with keys of their own, by what their paths look like. */
const SCREENS: readonly (readonly [path: RegExp, keys: readonly KeyRow[]])[] = [
  [/^\/reviews$/, INBOX],
  [/^\/decisions\/./, DECISION],
];

/** The keys of the screen with this path; none where it has none of its own. */
export const keysOf = (path: string): readonly KeyRow[] =>
  SCREENS.find(([pattern]) => pattern.test(path.replace(/(?<=.)\/$/, '')))?.[1] ?? [];

/** Where a screen has filters. */
export const OF_FILTERS: KeyRow = [['f'], 'To the filters'];

/** Keys that act on every screen. */
export const EVERYWHERE: readonly KeyRow[] = [
  [['Ctrl', 'K'], 'Go anywhere, find anything'],
  [['/'], 'The same'],
  [['?'], 'This list'],
];
