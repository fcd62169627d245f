/** The forms of files that are read. */
export const IMPORT_SOURCES = [
  'stripe_issuing',
  'stripe_charges',
  'lithic',
  'camt053',
  'openai_costs',
  'anthropic_costs',
  'csv',
  'lines',
] as const;
export type ImportSource = (typeof IMPORT_SOURCES)[number];

/** The feed of each source whose feed is fixed: then a file and a webhook give the same line. */
export const FIXED_FEEDS: Partial<Record<ImportSource, string>> & Record<RailKind, string> = {
  stripe_issuing: 'stripe_issuing',
  stripe_charges: 'stripe_charges',
  lithic: 'lithic',
  camt053: 'camt053',
  openai_costs: 'openai',
  anthropic_costs: 'anthropic',
};

/** Payment rails whose card events are read. Each is also the source of its files, and has a fixed feed. */
export const RAIL_KINDS = ['stripe_issuing', 'lithic'] as const;
export type RailKind = (typeof RAIL_KINDS)[number];

export const RAIL_STATUSES = ['WAITING_FOR_SECRET', 'ACTIVE'] as const;

/** Results of the events of rails. */
export const RAIL_EVENT_RESULTS = ['accepted', 'refused', 'ignored'] as const;
export type RailEventResult = (typeof RAIL_EVENT_RESULTS)[number];

export const LINE_KINDS = ['SPEND', 'REFUND'] as const;
export type LineKind = (typeof LINE_KINDS)[number];

/** How exactly a time is known. The time of a DAY is 12:00 UTC. */
export const LINE_PRECISIONS = ['SECOND', 'DAY'] as const;
export type LinePrecision = (typeof LINE_PRECISIONS)[number];

/** Why a line of a file is bad. A bad line never stops the others. */
export const PROBLEM_CODES = [
  'AMOUNT',
  'DATE',
  'CURRENCY',
  'MERCHANT',
  'COLUMNS',
  'QUOTE',
  'TOO_LONG',
  'PRECISION',
  'FUTURE',
  'LINE_CHANGED',
] as const;
export type ProblemCode = (typeof PROBLEM_CODES)[number];

/** Why a line of a file is left out though it is sound. */
export const SKIP_REASONS = ['NOT_FINAL', 'NOT_A_SPEND', 'ZERO_AMOUNT', 'INCOMPLETE_DAY'] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

export const IMPORT_STATUSES = ['WAITING', 'READING', 'DONE', 'INTERRUPTED', 'FAILED'] as const;
export type ImportStatus = (typeof IMPORT_STATUSES)[number];

/** Why a whole file could not be read to its end. */
export const IMPORT_FAILURES = [
  'unreadable',
  'header_not_found',
  'column_repeated',
  'doctype_refused',
  'too_large',
  'too_many_lines',
  'too_many_problems',
  'line_limit',
] as const;
export type ImportFailureCode = (typeof IMPORT_FAILURES)[number];

/** Results of the lines of a file. */
export const LINE_RESULTS = ['taken', 'present', 'skipped', 'bad'] as const;
export type LineResult = (typeof LINE_RESULTS)[number];

/** The content types of files. */
export const FILE_TYPES = [
  'text/csv',
  'text/xml',
  'application/json',
  'application/x-ndjson',
  'application/xml',
] as const;

/** Fields that a column of a CSV file can be. */
export const COLUMN_FIELDS = [
  'occurred_at',
  'amount',
  'debit',
  'credit',
  'currency',
  'merchant',
  'payee_id',
  'instrument',
  'external_reference',
  'description',
  'category',
  'status',
] as const;
export type ColumnField = (typeof COLUMN_FIELDS)[number];

export const SPEND_SIGNS = ['POSITIVE', 'NEGATIVE'] as const;
export const DECIMAL_SIGNS = ['.', ','] as const;
export const DELIMITERS = [',', ';', '\t', '|'] as const;
export const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'iso-8859-15'] as const;

/** Reasons for which a replay leaves a line out. */
export const REPLAY_SKIPS = ['CURRENCY_DIFFERS', 'REFUND'] as const;

export const ANOMALY_KINDS = ['DUPLICATE', 'SPLIT', 'PAYEE_CHANGED', 'PRICE_JUMP', 'DORMANT'] as const;

/** Steps by which a proposal is relaxed, in their order. */
export const RELAXATIONS = [
  'hours',
  'new_merchant',
  'duplicates',
  'pace',
  'day',
  'on_purpose_unclear',
  'threshold',
  'limit',
] as const;

/** Lines of one file, bytes of one line, bad lines of one file, and lines of one workspace. */
export const MAX_FILE_LINES = 200_000;
export const MAX_LINE_BYTES = 65_536;
export const MAX_PROBLEMS = 1_000;
export const MAX_WORKSPACE_LINES = 2_000_000;
/** The most lines that one event of the chain seals. */
export const MAX_PAGE_LINES = 500;
