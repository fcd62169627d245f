import type { Assess } from '@purser/rules/domain/assessment';
import { AnswersRead, type KnownAnswers } from '@purser/rules/domain/question-history';
import { isLease } from '@purser/rules/leases/leases';
import type { Directory } from '@purser/rules/merchants/directory';
import type { AnswersOf, DirectoryOf } from '../../engine/directory/directories.ts';
import { isVouchedFor, withoutOpinion } from '../model-judge/second-opinion.ts';
import { assessed } from '../scheduling/prices.ts';
import type { Turns } from '../scheduling/turns.ts';
import type { PreAssess } from './authorize-spend.ts';
import { factsAbout, type TrackRecordOf, type TrackRecords } from './track-record.ts';

/**
 * Makes the assessment by the built-in assessor and the agent's track record, against the cached authority. An authority
 * that demands a model's judgement gets none here, so only what somebody vouches for is aligned.
 */
export function makePreAssess(options: {
  assess: Assess;
  historyOf: TrackRecordOf;
  directoryOf: DirectoryOf;
  answersOf: AnswersOf;
  turns: Turns;
}): PreAssess {
  const { assess, historyOf, directoryOf, answersOf, turns } = options;
  return ({ workspace_id, agent_id, key_id, request, chain }, known) => {
    if (known === undefined) return null;
    const { hash, authority, directory_version, answers_version } = known;
    const assessWith = (records: TrackRecords, directory: Directory, answered: KnownAnswers) =>
      turns.spend({ workspace_id, key_id }, 'assessments_time', () =>
        assessed(() => {
          const answers = new AnswersRead(answered);
          const facts = factsAbout(request, records, directory, answers, chain);
          const built_in = assess(authority, request, facts);
          const { questions } = built_in;
          const made = {
            authority_hash: hash,
            authority,
            directory,
            answers,
            assessment: built_in,
            questions,
          };
          // The authority vouches for a lease, and no model is asked about it.
          if (authority.purpose.judge !== 'model' || isLease(authority, request.action)) return made;
          const is_vouched_for = isVouchedFor(built_in, authority, request, facts.allowances);
          const options = { is_required: true, is_vouched_for };
          return { ...made, assessment: withoutOpinion(built_in, 'not_configured', options) };
        }),
      );
    const records = historyOf(workspace_id, agent_id, authority);
    const directory = directoryOf(workspace_id, agent_id, directory_version);
    const answered = answersOf(workspace_id, agent_id, answers_version);
    return records instanceof Promise || directory instanceof Promise || answered instanceof Promise
      ? Promise.all([records, directory, answered]).then((read) => assessWith(...read))
      : assessWith(records, directory, answered);
  };
}
