import { type Static, Type } from 'typebox';
import {
  Currency,
  Fields,
  Formed,
  Id,
  Line,
  Nullable,
  OneOf,
  Slug,
  Timestamp,
  WholeNumber,
} from '../schema.ts';
import {
  COLUMN_FIELDS,
  DECIMAL_SIGNS,
  DELIMITERS,
  ENCODINGS,
  IMPORT_FAILURES,
  IMPORT_SOURCES,
  IMPORT_STATUSES,
  PROBLEM_CODES,
  SKIP_REASONS,
  SPEND_SIGNS,
} from '../values/history.ts';

const MAX_LENGTH_OF_COLUMN = 200;

/** The name of a column. */
const Column = (words?: { description?: string }) =>
  Line({ max: MAX_LENGTH_OF_COLUMN }, { examples: ['Transaction Time'], ...words });

const columns = Object.fromEntries(
  COLUMN_FIELDS.map((field) => [field, Type.Optional(Nullable(Column()))]),
) as Record<
  (typeof COLUMN_FIELDS)[number],
  ReturnType<typeof Type.Optional<ReturnType<typeof Nullable<ReturnType<typeof Column>>>>>
>;

const timeZoneOf = () =>
  Nullable(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'The IANA time zone of times without an offset; null where they need none.',
      examples: ['Europe/Berlin'],
    }),
  );

/** How the columns of a CSV file are read. What a sample leaves open is null, and has to be filled in. */
export const Mapping = Fields(
  {
    delimiter: OneOf(DELIMITERS, { description: 'What parts the cells.' }),
    encoding: OneOf(ENCODINGS, { description: 'The character encoding of the file.' }),
    header_line: WholeNumber(
      { min: 1, max: 100 },
      { description: 'The number of the line with the names of the columns; what is before it is ignored.' },
    ),
    date_format: Nullable(
      Line(
        { max: 40 },
        {
          description:
            'How times are written: `YYYY`, `YY`, `MM`, `DD`, `HH`, `mm`, `ss` with signs between them; or `RFC3339`; or `UNIX`.',
          examples: ['DD.MM.YYYY'],
        },
      ),
    ),
    decimal: Nullable(OneOf(DECIMAL_SIGNS, { description: 'What parts the cents.' })),
    time_zone: timeZoneOf(),
    spend_sign: Nullable(
      OneOf(SPEND_SIGNS, { description: 'The sign of a spend in `amount`; the other sign is a refund.' }),
    ),
    currency: Type.Optional(Nullable(Currency({ description: 'Where no column names it.' }))),
    final_status: Type.Optional(
      Nullable(
        Line({ max: 200 }, { description: 'The value of `status` of a final line; the others are skipped.' }),
      ),
    ),
    columns: Fields(columns, {
      description: 'The column of each field: of the amount either `amount`, or `debit` and `credit`.',
    }),
  },
  { $id: 'ImportMapping' },
);
export type ImportMapping = Static<typeof Mapping>;

/** The name of an account or rail whose files have no other. */
export const Feed = Slug({
  description: 'The account or rail, for `csv` and `lines`; the other sources have their own.',
  examples: ['ramp'],
});

const Count = WholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER });

export const ImportBody = Type.Object(
  {
    id: Id('import'),
    file_name: Type.String(),
    source: OneOf(IMPORT_SOURCES),
    feed: Type.String({ description: 'The account or rail of its lines.', examples: ['ramp'] }),
    agent: Nullable(
      Type.Object(
        { id: Id('agent'), slug: Type.String() },
        {
          additionalProperties: false,
          description: 'Whose its lines are where their instrument is not assigned.',
        },
      ),
    ),
    mapping: Nullable(Mapping),
    status: OneOf(IMPORT_STATUSES),
    bytes: Nullable(Count),
    bytes_read: Count,
    lines: Type.Object(
      { read: Count, taken: Count, present: Count, skipped: Count, bad: Count },
      { additionalProperties: false, description: '`read` is the sum of the others.' },
    ),
    skipped: Type.Array(
      Type.Object({ reason: OneOf(SKIP_REASONS), count: Count }, { additionalProperties: false }),
    ),
    failure: Nullable(
      Type.Object(
        {
          code: OneOf(IMPORT_FAILURES),
          line_number: Nullable(Count),
          message: Type.String(),
        },
        { additionalProperties: false },
      ),
    ),
    created_at: Timestamp(),
  },
  { additionalProperties: false, $id: 'Import' },
);
export type ImportBody = Static<typeof ImportBody>;

export const ImportProblem = Type.Object(
  {
    line_number: Count,
    column: Nullable(Type.String()),
    code: OneOf(PROBLEM_CODES),
    message: Type.String(),
    text: Type.String({ description: 'The line; card numbers are masked, long lines cut.' }),
  },
  { additionalProperties: false, $id: 'ImportProblem' },
);
export type ImportProblem = Static<typeof ImportProblem>;

export const CreateImportBody = Fields(
  {
    file_name: Line({ max: 200 }, { examples: ['ramp-2026-05.csv'] }),
    source: OneOf(IMPORT_SOURCES, { description: 'The form of the file.' }),
    feed: Type.Optional(Nullable(Feed)),
    agent: Type.Optional(
      Nullable(
        Formed('^(agt_[0-9A-Za-z]{1,60}|[a-z0-9][a-z0-9_-]{0,63})$', "must be an agent's slug or id", {
          description: 'Whose the lines are where their instrument is not assigned.',
          examples: ['infra-bot'],
        }),
      ),
    ),
    mapping: Type.Optional(Nullable(Mapping)),
    mapping_from: Type.Optional(
      Nullable(
        Formed('^imp_[A-Za-z0-9]{1,64}$', 'must be an id that begins with "imp_"', {
          description: 'The import whose mapping to use again.',
        }),
      ),
    ),
    bytes: Type.Optional(
      Nullable(
        WholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER }, { description: 'The length of the file.' }),
      ),
    ),
  },
  { $id: 'CreateImportRequest' },
);

/** A line as the first lines of a file would give it. */
const SampleLine = Type.Object(
  {
    line_number: Count,
    kind: Type.String(),
    merchant: Type.String(),
    amount_minor: Count,
    currency: Type.String(),
    occurred_at: Timestamp(),
  },
  { additionalProperties: false },
);

export const DetectedFile = Type.Object(
  {
    source: Nullable(OneOf(IMPORT_SOURCES)),
    feed: Nullable(Type.String()),
    mapping: Nullable(Mapping),
    columns: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          field: Nullable(OneOf(COLUMN_FIELDS)),
          examples: Type.Array(Type.String()),
        },
        { additionalProperties: false },
      ),
    ),
    needs: Type.Array(Type.String(), {
      description: 'What the sample leaves open, by its place in the mapping.',
      examples: [['date_format']],
    }),
    sample: Type.Array(SampleLine),
    found_in: Nullable(Id('import', { description: 'The import whose mapping fits the header.' })),
  },
  { additionalProperties: false, $id: 'DetectedFile' },
);
export type DetectedFile = Static<typeof DetectedFile>;
