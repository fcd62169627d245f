import type { Decision, Sheet, StandingOffer } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import type { Form } from '../../lib/hooks/use-form.ts';
import { settledBy } from '../../lib/questions.ts';
import { SelectField } from '../Field.tsx';
import { ReviewSettles } from '../questions/Settles.tsx';
import styles from './OneChoice.module.css';
import { sheetQuery } from './Sheet.tsx';
import { StandingFields, type StandingValues } from './StandingFields.tsx';

/** The reach of a review: this request, its merchant from now on, or later requests like it up to an amount. */
export type Reach = 'ONCE' | 'ALWAYS' | 'NEVER' | 'UP_TO';

const NAMES: Record<Reach, string> = {
  ONCE: 'This request',
  ALWAYS: 'Always this merchant',
  NEVER: 'Never this merchant',
  UP_TO: 'Up to … a month',
};

const REACHES = { ALLOW: ['ALWAYS', 'UP_TO'], DENY: ['NEVER'] } as const;

/** The offer of a reach on a sheet; undefined for this request alone, and while there is no sheet. */
export function offerOf(
  sheet: Sheet | undefined,
  reach: Reach,
): StandingOffer | Sheet['remember']['NEVER'] | undefined {
  if (reach === 'ONCE') return undefined;
  return reach === 'UP_TO' ? sheet?.standing_approval : sheet?.remember[reach];
}

/** The effect of a reach on later requests. Null where the settled questions say it all. */
function effectOf(
  decision: Decision,
  sheet: Sheet | undefined,
  action: 'ALLOW' | 'DENY',
  reach: Reach,
): string | null {
  if (reach !== 'ONCE') return offerOf(sheet, reach)?.effect ?? null;
  return settledBy([decision], action).questions.length > 0
    ? null
    : 'The next request like this one needs a review too.';
}

/**
 * The one control that says how far a review reaches, with a sentence about what changes. Shows no control where there is
 * nothing to choose.
 */
export function OneChoice({
  decision,
  action,
  named,
  reach,
  onReach,
  form,
  className,
}: {
  decision: Decision;
  action: 'ALLOW' | 'DENY';
  /** The questions that a denial is about, if not the default. */
  named: readonly string[] | undefined;
  reach: Reach;
  onReach: (reach: Reach) => void;
  /** The form that has the fields of a standing approval. */
  form: Pick<Form<StandingValues>, 'field'>;
  className: string | undefined;
}) {
  const sheet = useQuery(sheetQuery(decision.decision_id)).data;
  const reaches: Reach[] = [
    'ONCE',
    ...REACHES[action].filter((each) => each === reach || offerOf(sheet, each)?.offered === true),
  ];
  const effect = reaches.length > 1 ? effectOf(decision, sheet, action, reach) : null;
  return (
    <div className={className}>
      <div className={styles.choice}>
        {reaches.length > 1 && (
          <SelectField
            label={action === 'ALLOW' ? 'What you allow' : 'What you deny'}
            data-keys
            value={reach}
            onValue={(value) => onReach(value as Reach)}
            options={reaches.map((each) => [each, NAMES[each]])}
          />
        )}
        {reach === 'UP_TO' && (
          <StandingFields
            form={form}
            currency={decision.currency}
            most_minor={sheet?.standing_approval.most_minor ?? null}
          />
        )}
        <div className={styles.effect}>
          {effect !== null && <p>{effect}</p>}
          <ReviewSettles review_action={action} decisions={[decision]} named={named} />
        </div>
      </div>
    </div>
  );
}
