/** A combination or a set of alternative keys, and their effect. */
export type KeyRow = readonly [keys: readonly string[], does: string];

/** Shortcuts of a pending review. */
const REVIEW: readonly KeyRow[] = [
  [['a'], 'Allow'],
  [['d'], 'Deny'],
  [['w'], 'Always allow the merchant'],
  [['Shift', 'W'], 'Never: deny the merchant from now on'],
  [['u'], 'Undo the review for five seconds'],
  [['1', '…', '9'], 'Choose the reason'],
  [['c'], 'Write a comment'],
];

const INBOX: readonly KeyRow[] = [
  [['j', 'k'], 'Next, previous'],
  [['PgDn', 'PgUp'], 'Scroll down, up'],
  ...REVIEW,
  [['Ctrl', 'Enter'], 'Confirm and open the next'],
  [['Esc'], 'Close; your text is kept'],
  [['l'], 'Apply the suggested label'],
  [['o'], 'Open the full decision'],
  [['z'], 'Set aside for this visit, or undo'],
  [['x'], 'Select'],
  [['Shift', 'X'], 'Select up to here'],
  [['Shift', 'A'], 'Allow selected'],
  [['Shift', 'D'], 'Deny selected'],
];

const DECISION: readonly KeyRow[] = [
  ...REVIEW,
  [['Ctrl', 'Enter'], 'Confirm'],
  [['Esc'], 'Close; your text is kept'],
];

/** Screens with their own shortcuts, by path. */
const SCREENS: readonly (readonly [path: RegExp, keys: readonly KeyRow[]])[] = [
  [/^\/reviews$/, INBOX],
  [/^\/decisions\/./, DECISION],
];

/** The shortcuts of the screen at `path`. Empty if it has none. */
export const keysOf = (path: string): readonly KeyRow[] =>
  SCREENS.find(([pattern]) => pattern.test(path.replace(/(?<=.)\/$/, '')))?.[1] ?? [];

/** For screens with filters. */
export const OF_FILTERS: KeyRow = [['f'], 'Go to the filters'];

/** Shortcuts of every screen. */
export const EVERYWHERE: readonly KeyRow[] = [
  [['Ctrl', 'K'], 'Go to or find anything'],
  [['/'], 'Same as Ctrl K'],
  [['?'], 'Show this list'],
];
