import type { CountedLimit, LimitStanding } from '@purser/sdk';
import { formatMoney, majorUnits } from '../../lib/money.ts';
import decision from '../decision/decision.module.css';
import { BudgetName } from '../names/BudgetName.tsx';
import { NamedLink } from '../names/SubjectLink.tsx';
import styles from './limits.module.css';
import { Meter } from './Meter.tsx';

type Shown = LimitStanding | CountedLimit;

/** The merchant or payee that a limit counts separately. `name` is its original spelling; the subject is normalized. */
function subjectInWords({ subject }: Shown, name: string | null): string {
  if (subject === null) return '';
  if (subject === 'p:') return ' without a named payee';
  if (subject.startsWith('m:')) return ` at ${name ?? 'an earlier merchant'}`;
  return ` to ${name ?? 'an earlier payee'}`;
}

/** Duplicates are counted for all payees and for each one. Keeps only the count for all. */
function withOneDuplicate<Each extends Shown>(limits: readonly Each[]): Each[] {
  const duplicates = limits.filter(({ kind }) => kind === 'duplicate');
  const most = Math.max(...duplicates.map(({ used_count }) => used_count ?? 0));
  const shown = duplicates.find(({ used_count }) => used_count === most);
  return limits.filter((each) => each.kind !== 'duplicate' || each === shown);
}

/**
 * Meters of limits on amounts, on numbers of requests, or on both. `windowOf` describes a limit's window, `nameOf` names its
 * subject.
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
                  ? 'The only request for this amount at this merchant'
                  : `${limit.used_count} requests for this amount at this merchant`}
              </span>
            </>
          ) : (
            <strong>
              <LimitName limit={limit} />
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
              {limit.used_count} of {limit.limit_count} {limit.limit_count === 1 ? 'request' : 'requests'}
            </Meter>
          )}
          <span className={decision.where}>{windowOf(limit)}</span>
        </li>
      ))}
    </ul>
  );
}

function LimitName({ limit: { kind, name } }: { limit: Pick<Shown, 'kind' | 'name'> }) {
  if (kind === 'shared_budget') return <BudgetName slug={name} />;
  return kind === 'allowance' ? <NamedLink type={kind} id={name} to={`/allowances/${name}`} /> : name;
}
