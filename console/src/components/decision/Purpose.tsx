import type { Decision } from '@purser/sdk';
import { placeOf } from '../../lib/places.ts';
import { visible, visibleText } from '../../lib/visible.ts';
import { Badge, StateBadge, type Tone } from '../Badge.tsx';
import styles from './decision.module.css';

const EFFECTS: Record<string, [Tone, string]> = {
  supports: ['allow', 'supports'],
  conflicts: ['review', 'conflicts'],
  suspicious: ['deny', 'suspicious'],
};

/** The assessment of the purpose with its evidence. */
export function Purpose({
  decision,
  shown_above,
}: {
  decision: Decision;
  /** Text shown above; the rationale is left out if it contains it. */
  shown_above?: string;
}) {
  const { assessment, confidence, rationale, evidence, method } = decision.purpose;
  const order = ['suspicious', 'conflicts', 'supports'];
  const sorted = [...evidence].sort((a, b) => order.indexOf(a.effect) - order.indexOf(b.effect));
  return (
    <>
      <p className={styles.assessment}>
        <StateBadge state={assessment} />
        <span className={styles.where}>
          confidence {Math.round(confidence * 100)}% · {method}
        </span>
      </p>
      {shown_above?.includes(rationale) !== true && <p>{visibleText(rationale)}</p>}
      {sorted.length > 0 && (
        <ul className={styles.evidence}>
          {sorted.map(({ field, text, effect }, i) => {
            const [tone, word] = EFFECTS[effect] ?? ['idle', effect];
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: a list that never changes
              <li key={i}>
                <span>
                  <Badge tone={tone}>{word}</Badge>
                </span>
                <span>
                  <q>{visible(text)}</q> <span className={styles.where}>{placeOf(field)}</span>
                </span>
              </li>
            );
          })}
        </ul>
      )}
    </>
  );
}
