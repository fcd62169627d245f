import type { Authority, Simulation } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { purser } from '../../api/client.ts';
import { Button } from '../../components/Button.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { wronglyChanged } from '../../lib/simulation.ts';
import styles from './Attention.module.css';

const LEVELS = [
  ['LOW', 'Low', 'Asks about merchants that nobody vouches for, and about contradictions.'],
  ['NORMAL', 'Normal', 'Also about goods plainly of another trade, and conditions that a constraint sets.'],
  ['HIGH', 'High', 'Also about any word that nobody has allowed at the merchant.'],
] as const;
type Level = (typeof LEVELS)[number][0];

/** Past requests that are compared. */
const COMPARED = 500;
const TIMEOUT_MS = 300_000;

/** Replays the agent's past requests under each level, once somebody asks for it. */
function useComparison(slug: string, authority: Authority | null, is_wanted: boolean) {
  return useQuery({
    queryKey: ['simulation', slug, 'attention', JSON.stringify(authority)],
    queryFn: async ({ signal }) => {
      const results = {} as Record<Level, Simulation>;
      const { purpose, ...rest } = authority as Authority;
      for (const [attention] of LEVELS) {
        const draft = { ...rest, purpose: { ...purpose, attention } };
        results[attention] = await purser.agents.authority.simulate(
          slug,
          draft,
          { limit: COMPARED },
          { signal, timeout: TIMEOUT_MS },
        );
      }
      return results;
    },
    enabled: is_wanted && authority !== null,
    staleTime: 60_000,
  });
}

/** The choice of what reviewers are asked about, with what each level would have meant. Each question is asked once. */
export function Attention({
  slug,
  policy,
  value,
  problem,
  disabled,
  onValue,
}: {
  slug: string;
  /** The draft. Null while it has problems. */
  policy: Authority | null;
  value: string;
  problem: string | undefined;
  disabled: boolean;
  onValue: (value: string) => void;
}) {
  const name = useId();
  // Another draft needs another comparison.
  const { attention: _chosen, ...purpose } = policy?.purpose ?? { objective: '' };
  const compared = policy && { ...policy, purpose };
  const [wanted, setWanted] = useState<string | null>(null);
  const text = JSON.stringify(compared);
  const comparison = useComparison(slug, compared, wanted === text);
  return (
    <fieldset className={styles.levels}>
      <legend>Attention</legend>
      {LEVELS.map(([level, label, meaning]) => (
        <label key={level}>
          <input
            type="radio"
            name={name}
            value={level}
            checked={value === level}
            disabled={disabled}
            onChange={() => onValue(level)}
          />
          <span>
            <strong>{label}</strong> {meaning}
            {comparison.data !== undefined && (
              <span className={styles.meant}>{meantInWords(comparison.data[level])}</span>
            )}
          </span>
        </label>
      ))}
      {problem !== undefined && <p role="alert">{problem}</p>}
      {comparison.isError && (
        <ErrorNotice error={comparison.error} onRetry={() => void comparison.refetch()} />
      )}
      {!disabled && comparison.data === undefined && (
        <div>
          <Button
            small
            busy={comparison.isFetching}
            why={policy === null && 'Fix the highlighted fields first.'}
            onClick={() => setWanted(text)}
          >
            Compare on past requests
          </Button>
        </div>
      )}
      <span className="visually-hidden" role="status">
        {comparison.data !== undefined && 'Compared.'}
      </span>
    </fieldset>
  );
}

/** The effect of a level on past requests. */
function meantInWords(simulation: Simulation): string {
  const { evaluated, draft } = simulation;
  if (evaluated === 0) return 'No decisions yet.';
  const { passed_wrongly, stopped_wrongly } = wronglyChanged(simulation);
  return [
    `Would have sent ${draft.review} of ${evaluated} to review.`,
    passed_wrongly > 0 ? `${passed_wrongly} labelled as against the purpose would newly pass.` : '',
    stopped_wrongly > 0 ? `${stopped_wrongly} labelled as fitting would newly be stopped.` : '',
    passed_wrongly + stopped_wrongly === 0 ? 'No labelled request would change for the worse.' : '',
  ]
    .filter((part) => part !== '')
    .join(' ');
}
