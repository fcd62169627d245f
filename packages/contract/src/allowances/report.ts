import { Type } from 'typebox';
import { ReportQuery } from '../reports.ts';
import { Fields, Formed, Id, LimitMinor, Nullable, Timestamp } from '../schema.ts';

/** Rows of a report in JSON; CSV has `MAX_REPORT_LINES`. */
export const MAX_REPORT_ROWS = 1_000;
export const MAX_REPORT_LINES = 50_000;

const Count = (description: string) => Type.Integer({ minimum: 0, description });
const Sum = (description: string) =>
  LimitMinor({ description: `${description}, at most 9007199254740991: see \`amount_cut\`.` });

/** The sums of each value of a label. */
export const AllowanceReportBody = Fields(
  {
    from: Timestamp({ description: 'Start: decisions made at or after this time …' }),
    to: Timestamp({ description: '… and before this time.' }),
    agent: Nullable(Fields({ id: Id('agent'), slug: Type.String({ examples: ['infra-bot'] }) })),
    generated_at: Timestamp(),
    label: Type.String({ description: 'The key.', examples: ['customer'] }),
    data: Type.Array(
      Fields({
        value: Type.String({ examples: ['c42'] }),
        currency: Type.String({ examples: ['EUR'] }),
        spends: Count('All decisions of the period, denied ones included.'),
        denied: Count('Those that were DENY.'),
        reviews: Count('Those that were REVIEW.'),
        held_minor: Sum('What they hold now'),
        committed_minor: Sum('What they spent and was not refunded, now'),
        amount_cut: Type.Optional(
          Type.Literal(true, {
            description: 'Set if one of the sums was larger and was capped; otherwise omitted.',
          }),
        ),
        open: Count('Allowances with this value that are open now, whatever the period.'),
      }),
      { description: `Most money first, at most ${MAX_REPORT_ROWS}; as CSV at most ${MAX_REPORT_LINES}.` },
    ),
    next_cursor: Type.Null(),
  },
  {
    $id: 'AllowanceReport',
    description: 'Decisions made under allowances that have a label, by its value and by currency.',
  },
);

export const AllowanceReportQuery = Fields({
  label: Formed('^[a-z0-9][a-z0-9_.-]{0,62}$', 'must be the key of a label, such as customer', {
    examples: ['customer'],
  }),
  ...ReportQuery.properties,
});
