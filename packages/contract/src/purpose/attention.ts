import { type Static, Type } from 'typebox';
import { Fields, OneOf } from '../schema.ts';

/** The levels of `purpose.attention`, from the fewest questions to the most. */
export const ATTENTION_LEVELS = ['LOW', 'NORMAL', 'HIGH'] as const;
export type AttentionLevel = (typeof ATTENTION_LEVELS)[number];

const Count = (description: string) => Type.Integer({ minimum: 0, description });

/** The effect of each level of attention on past decisions. */
export const AttentionBody = Fields(
  {
    evaluated: Count('Number of decisions that were compared.'),
    wrong: Count('Those that people found wrong: labelled misaligned or, without such a label, denied.'),
    levels: Type.Array(
      Fields({
        level: OneOf(ATTENTION_LEVELS),
        asked: Count('Decisions that a reviewer would have been asked about because of their purpose.'),
        questions: Count('Different open questions of these decisions; an answer settles each of them.'),
        found: Count('Wrong decisions among those asked about.'),
        missed: Count('Wrong decisions that nothing would have stopped or sent to a reviewer.'),
      }),
      { description: 'From LOW to HIGH.' },
    ),
  },
  {
    $id: 'AttentionTable',
    description:
      'What each level of `purpose.attention` would have asked and missed. The limits stay as they are.',
  },
);

export type AttentionComparison = Static<typeof AttentionBody>;
