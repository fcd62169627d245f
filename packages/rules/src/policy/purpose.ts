import type { Assessment } from '@purser/contract/decisions';
import { POLICY } from '../sentences/policy.ts';
import type { Judge } from './stage.ts';

/** `purpose`: what the assessment says, as the authority wants it taken. */
export const judgePurpose: Judge = ({ on_purpose_unclear }, { assessment }) => {
  const { assessment: observed, rationale } = assessment as Assessment;
  if (observed === 'PURPOSE_ALIGNED') return { outcome: 'PASS', observed, detail: rationale };
  if (observed === 'PURPOSE_UNCLEAR' && on_purpose_unclear === 'ALLOW') {
    const detail = `${rationale} ${POLICY.unclear_allowed()}`;
    return { outcome: 'PASS', observed, detail };
  }
  return { outcome: 'REVIEW', reason_code: observed, observed, detail: rationale };
};
