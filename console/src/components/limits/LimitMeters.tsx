import type { CountedLimit, LimitStanding } from '@purser/sdk';
import { formatMoney, majorUnits } from '../../lib/money.ts';
import decision from '../decision/decision.module.css';
import styles from './limits.module.css';
import { Meter } from './Meter.tsx';

type Shown = LimitStanding | CountedLimit;

/** Whom a limit counts by itself, by a name as people wrote it: the subject is folded. */
function subjectInWords({ subject }: Shown, name: string | null): string {
  if (subject === null) return '';
  if (subject === 'p:') return ' where no payee is named';
  if (subject.startsWith('m:')) return ` at ${name ?? 'a merchant of older spends'}`;
  return ` to ${name ?? 'a payee of older spends'}`;
}

/** The same amount at a merchant is counted for all payees and for each by itself: of these counts that for all is told. */
function withOneDuplicate<Each extends Shown>(limits: readonly Each[]): Each[] {
  const duplicates = limits.filter(({ kind }) => kind === 'duplicate');
  const most = Math.max(...duplicates.map(({ used_count }) => used_count ?? 0));
  const shown = duplicates.find(({ used_count }) => used_count === most);
  return limits.filter((each) => each.kind !== 'duplicate' || each === shown);
}

/**
 * Limits as meters, of amounts, of numbers of spends or of both; `windowOf` says when each counts, `nameOf` what its subject
 * is called.
 */
export function LimitMeters<Each extends Shown>({
  limits,
  currency,
  windowOf,
  nameOf,
}: {
  limits: readonly Each[];
  currency: string;
  windowOf: (limit: Each) => string;
  nameOf: (limit: Each) => string | null;
}) {
  return (
    <ul className={styles.limits}>
      {withOneDuplicate(limits).map((limit) => (
        <li key={`${limit.kind} ${limit.name} ${limit.subject}`}>
          {limit.kind === 'duplicate' ? (
            <>
              <strong>Duplicates</strong>
              <span className="figures">
                {limit.used_count === 1
                  ? 'The only spend of this amount at this merchant'
                  : `${limit.used_count} spends of this amount at this merchant`}
              </span>
            </>
          ) : (
            <strong>
              {limit.name}
              {subjectInWords(limit, nameOf(limit))}
              {limit.kind === 'shared_budget' && <span className={decision.where}> shared budget</span>}
            </strong>
          )}
          {limit.limit_minor !== null && (
            <Meter used={limit.used_minor} limit={limit.limit_minor}>
              {formatMoney(limit.used_minor, currency)} of {majorUnits(limit.limit_minor, currency)}
            </Meter>
          )}
          {limit.limit_count !== null && (
            <Meter used={limit.used_count ?? 0} limit={limit.limit_count}>
              {limit.used_count} of {limit.limit_count} {limit.limit_count === 1 ? 'spend' : 'spends'}
            </Meter>
          )}
          <span className={decision.where}>{windowOf(limit)}</span>
        </li>
      ))}
    </ul>
  );
}
