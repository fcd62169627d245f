import { routes } from '@purser/contract/routes/authority-tests';
import type { Assess } from '@purser/rules/domain/assessment';
import { invalidField } from '@purser/rules/errors';
import { missingList } from '@purser/rules/policy/authority-problem';
import type pg from 'pg';
import type {
  CreateDecisionInput,
  CreatedDecision,
  StaleDecision,
} from '../../engine/commands/create-decision.ts';
import type { CreatedReview } from '../../engine/commands/reviews/create-review.ts';
import type { CreateReviewInput } from '../../engine/commands/reviews/review-case.ts';
import type { Command } from '../../engine/lane/command.ts';
import { AuthorityTest, type TestedStep } from '../decisions/authority-test.ts';
import { budgetsOfDraft } from '../decisions/shared-budgets.ts';
import { type Route, serve } from '../http/route.ts';
import type { Turns } from '../scheduling/turns.ts';

/** Makes the route that tries out an authority on spends that are thought up. */
export function makeAuthorityTestRoutes(options: {
  db: pg.Pool;
  assess: Assess;
  createDecision: Command<CreateDecisionInput, CreatedDecision, StaleDecision>;
  createReview: Command<CreateReviewInput, CreatedReview>;
  turns: Turns;
}): Route[] {
  const { db, turns, ...machine } = options;
  return [
    serve(routes.testAuthority, { takes_long: true, shares: 'simulations' })(async (call) => {
      const { authority, mode = 'ENFORCE', steps: given, allowances = [] } = call.body;
      const missing = missingList(authority, 0);
      if (missing !== null) throw invalidField(`authority.${missing.field}`, missing.problem);
      const budgets = await budgetsOfDraft(db, call.caller.workspace_id, authority, 'authority.');
      const test = new AuthorityTest({ ...machine, authority, mode, budgets });
      const [first] = given;
      for (const [i, each] of allowances.entries()) test.allow(each, i, first?.at as string);
      const steps: TestedStep[] = [];
      for (const step of given) steps.push(await turns.background(() => test.run(step)));
      const passed = steps.every(({ mismatches }) => mismatches.length === 0);
      return { status: 200, body: { passed, steps } };
    }),
  ];
}
