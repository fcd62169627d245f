import { type Static, type TSchema, Type } from 'typebox';
import { type Comparison, schemasOf } from '../field-rows.ts';
import { TEXT_LENGTHS } from '../limits.ts';
import { Fields, Line, LongText, OneOf } from '../schema.ts';
import { ATTENTION_LEVELS } from './attention.ts';

const MAX_PURPOSE_ITEMS = 50;

const PurposeLines = (description: string, example: string) =>
  Type.Optional(
    Type.Array(LongText({ min: 1, max: TEXT_LENGTHS.description }), {
      maxItems: MAX_PURPOSE_ITEMS,
      description,
      examples: [[example]],
    }),
  );

/** The kinds of reading that an operator may add. */
export const ALSO_KINDS = ['wanted', 'forbidden', 'condition', 'merchant', 'person'] as const;
const MAX_CORRECTIONS = { not: 100, also: 50 };
/** The longest kind and the longest words that a reading shows, in UTF-16 code units. */
export const MAX_CORRECTED_KIND = 200;
export const MAX_CORRECTED_WORDS = 400;

const Words = (description: string) => LongText({ min: 1, max: MAX_CORRECTED_WORDS }, { description });

const ReadingCorrectionsBody = Fields(
  {
    not: Type.Optional(
      Type.Array(
        Fields({
          kind: Line(
            { min: 1, max: MAX_CORRECTED_KIND },
            {
              description:
                'The `kind` that the reading shows with the words: of goods its name ("cloud and hosting"), or `wanted` or `forbidden` for all kinds; `condition`, `merchant`, `person`, `wish` (then read as a rule) or `not_understood`.',
            },
          ),
          words: Words('The `words` that the reading shows. Case and punctuation are ignored.'),
        }),
        { maxItems: MAX_CORRECTIONS.not, description: 'Readings that are wrong and do not count.' },
      ),
    ),
    also: Type.Optional(
      Type.Array(
        Fields({
          kind: OneOf(ALSO_KINDS, { description: 'What the words are.' }),
          words: Words('Goods, a condition in plain words, or a whole name.'),
        }),
        { maxItems: MAX_CORRECTIONS.also, description: 'Readings that are missing and count.' },
      ),
    ),
  },
  { $id: 'ReadingCorrections' },
);
/** An operator's corrections of how the purpose is read. */
export interface ReadingCorrections extends Static<typeof ReadingCorrectionsBody> {}

/** The purpose of an agent, as its operator wrote it. Trusted text. */
export const PURPOSE_ROWS = {
  objective: {
    label: 'Objective',
    compare: 'words',
    schema: LongText(
      { min: 1, max: TEXT_LENGTHS.description },
      {
        description: 'What the agent is for.',
        examples: ['Keep the staging platform running: servers, storage, monitoring.'],
      },
    ),
  },
  success_criteria: {
    label: 'Success criteria',
    compare: { more: 'maybe', fewer: 'maybe' },
    schema: PurposeLines(
      'How to tell that it does its job well.',
      'Backups of every server are kept for 30 days.',
    ),
  },
  constraints: {
    label: 'Constraints',
    compare: { more: 'no', fewer: 'yes' },
    schema: PurposeLines('What it must not do.', 'No purchases of hardware.'),
  },
  context: {
    label: 'Context',
    compare: 'words',
    schema: Type.Optional(
      LongText(
        { max: TEXT_LENGTHS.task },
        {
          description: 'Anything else that helps to understand the purpose.',
          examples: ['Regular suppliers: Hetzner Online, Backblaze.'],
        },
      ),
    ),
  },
  reading: {
    label: 'Corrections of the reading',
    compare: 'corrections',
    schema: Type.Optional({
      ...ReadingCorrectionsBody,
      description: 'Corrections of how the rules read the texts of the purpose.',
    }),
  },
  attention: {
    label: 'Attention',
    compare: 'attention',
    schema: Type.Optional(
      OneOf(ATTENTION_LEVELS, {
        description:
          'Which questions a spend raises; defaults to `NORMAL`. `LOW`: merchants that nobody vouches for, and contradictions. `NORMAL`: also goods plainly of another trade, and conditions that a clause sets. `HIGH`: also any word that nobody has allowed at this merchant. Each question is asked once.',
      }),
    ),
  },
  judge: {
    label: 'Purpose judge',
    compare: 'words',
    schema: Type.Optional(
      OneOf(['rules', 'model'], {
        description:
          "Who assesses the purpose of its spends. `rules` never asks a model. With `model`, a spend is aligned only with a model's opinion, unless somebody vouches for it. By default a model is asked if the installation has one.",
      }),
    ),
  },
  ask_model: {
    label: 'Spends shown to the model',
    compare: 'words',
    schema: Type.Optional(
      OneOf(['UNCLEAR', 'ALL'], {
        description:
          'Spends about which a model is asked, where there is one. `UNCLEAR`: those that the rules call unclear, or misaligned for a reason that is not final. `ALL`: aligned ones too. Defaults to `ALL`, with a slow local model to `UNCLEAR`; where an opinion is required, it is asked about all.',
      }),
    ),
  },
} as const satisfies Record<string, { schema: TSchema; label: string; compare: Comparison }>;

export const PurposeBody = Fields(schemasOf(PURPOSE_ROWS), { $id: 'Purpose' });
export interface Purpose extends Static<typeof PurposeBody> {}
