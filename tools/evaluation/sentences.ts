import {
  type Assess,
  type Authority,
  NO_FACTS,
  type PurposeAssessment,
  type SpendRequest,
} from '@purser/server/tools';
import type { ExpectedSpend } from '../demo/spends-file.ts';
import type { Share } from './measure.ts';

/** The effect of the words of allowances on the spends that are made under them. */
export interface Sentences {
  /** Right spends that are ALIGNED, with the operator's words and without. */
  kept: Share;
  kept_without: Share;
  /** Misaligned spends that are ALIGNED, with the operator's words and without. */
  slipped: Share;
  slipped_without: Share;
}

/** Assesses the cases that have an allowance, each as the agent's first spend. The others are left out. */
export function measureSentences(cases: readonly ExpectedSpend[], assess: Assess): Sentences {
  const share = (): Share => ({ count: 0, of: 0 });
  const found = { kept: share(), kept_without: share(), slipped: share(), slipped_without: share() };
  const count = (to: Share, assessment: PurposeAssessment) => {
    to.of += 1;
    if (assessment === 'PURPOSE_ALIGNED') to.count += 1;
  };
  for (const { authority, request, expected, allowance, id } of cases) {
    if (authority === null || allowance === null || expected.purpose === 'PURPOSE_UNCLEAR') continue;
    const is_right = expected.purpose === 'PURPOSE_ALIGNED';
    const facts = { ...NO_FACTS, allowances: [{ allowance_id: id, name: 'run', ...allowance }] };
    const given = [authority as unknown as Authority, request as unknown as SpendRequest] as const;
    count(is_right ? found.kept : found.slipped, assess(...given, facts).assessment);
    count(is_right ? found.kept_without : found.slipped_without, assess(...given).assessment);
  }
  return found;
}
