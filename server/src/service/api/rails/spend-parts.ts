import type { Assess } from '@purser/rules/domain/assessment';
import {
  makeAnswers,
  makeDirectories,
  makeStandingApprovals,
  type StandingApprovalsOf,
} from '../../../engine/directory/directories.ts';
import { type AuthorityCache, makeAuthorityCache } from '../../decisions/authority-cache.ts';
import type { PreAssess } from '../../decisions/authorize-spend.ts';
import { makePreAssess } from '../../decisions/pre-assess.ts';
import { makeTrackRecords } from '../../decisions/track-record.ts';
import type { Core } from '../../installation/runtime.ts';

/** The parts that spends are assessed with, whether an agent asks or a card is watched. */
export interface SpendParts {
  authorities: AuthorityCache;
  standingOf: StandingApprovalsOf;
  preAssess: PreAssess;
}

/** Makes the parts. `preAssess`: with a model's second opinion; null: the built-in assessor alone. */
export function makeSpendParts(core: Core, assess: Assess, preAssess: PreAssess | null): SpendParts {
  const { db, turns } = core;
  return {
    authorities: makeAuthorityCache(),
    standingOf: makeStandingApprovals(db),
    preAssess:
      preAssess ??
      makePreAssess({
        assess,
        historyOf: makeTrackRecords(core),
        directoryOf: makeDirectories(db),
        answersOf: makeAnswers(db),
        turns,
      }),
  };
}
