import type { Authority } from '@purser/contract/authority';
import type { DecisionPurpose } from '@purser/contract/decisions';
import type { Sheet } from '@purser/contract/reviews/sheet';

type Fires = Sheet['purpose']['fires'][number];

const CLAUSE = /^purpose\.(objective|success_criteria|constraints|context)(?:\[(\d+)\])?$/;

/** The clause of the purpose that a field names; null where it names another one, or one that the purpose does not have. */
function clauseAt({ purpose }: Authority, field: string): Fires | null {
  const [, name, index] = CLAUSE.exec(field) ?? [];
  if (name === undefined) return null;
  const of = purpose[name as Fires['field']];
  const text = typeof of === 'object' ? of[Number(index ?? Number.NaN)] : of;
  if (text === undefined) return null;
  return { field: name as Fires['field'], index: index === undefined ? null : Number(index), text };
}

/** Returns the purpose that a decision was assessed by, and the clauses that the spend conflicts with, each once. */
export function purposeOnSheet(
  authority: Authority | null,
  { assessment, rationale, evidence, questions = [] }: DecisionPurpose,
): Sheet['purpose'] {
  const {
    objective = null,
    success_criteria = [],
    constraints = [],
    context = null,
  } = authority?.purpose ?? {};
  const open = questions.flatMap(({ about, answered }) =>
    about?.clause == null || answered?.answer === 'YES' ? [] : [about.clause.field],
  );
  const conflicting = evidence.filter(({ effect }) => effect === 'conflicts').map(({ field }) => field);
  const fields = [...new Set([...conflicting, ...open])];
  return {
    objective,
    success_criteria,
    constraints,
    context,
    assessment,
    sentence: rationale,
    fires:
      authority === null
        ? []
        : fields.flatMap((field) => {
            const clause = clauseAt(authority, field);
            return clause === null ? [] : [clause];
          }),
  };
}
