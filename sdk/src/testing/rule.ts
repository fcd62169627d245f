import type { Decision, DecisionRequest } from '../types.ts';

/** A rule's decision about a request. */
export type Verdict =
  | Decision['decision']
  | (Pick<Decision, 'decision'> &
      Partial<Pick<Decision, 'reason_code' | 'explanation' | 'authorized_amount_minor' | 'mode'>>);

/** A rule that decides instead of the policy. */
export type Rule = Verdict | ((request: DecisionRequest) => Verdict);
