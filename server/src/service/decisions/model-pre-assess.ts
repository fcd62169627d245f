import type { Assess } from '@purser/rules/domain/assessment';
import { NOTHING_SPENT } from '@purser/rules/domain/budget';
import { AnswersRead } from '@purser/rules/domain/question-history';
import { countersOf, withSlots } from '@purser/rules/policy/counters';
import { deniedUntilMs } from '@purser/rules/policy/remedies';
import type pg from 'pg';
import type { AnswersOf, DirectoryOf } from '../../engine/directory/directories.ts';
import { getSpendingAuthority, parseAuthority } from '../../engine/storage/authorities.ts';
import {
  type AskModel,
  isOpen,
  isVouchedFor,
  type NoOpinion,
  type OpinionEffect,
  withOpinion,
  withoutOpinion,
} from '../model-judge/second-opinion.ts';
import type { WorkTime } from '../scheduling/work-time.ts';
import type { PreAssess } from './authorize-spend.ts';
import type { ExamplesOf } from './labelled-examples.ts';
import { factsAbout, type TrackRecordOf } from './track-record.ts';

export interface ModelPreAssessOptions {
  db: pg.Pool;
  assess: Assess;
  historyOf: TrackRecordOf;
  directoryOf: DirectoryOf;
  answersOf: AnswersOf;
  examplesOf: ExamplesOf;
  /** The time of the event loop that assessments of a workspace may take. */
  assess_time: WorkTime;
  askModel: AskModel;
  /** Milliseconds since 1970 UTC. */
  clock_ms: () => number;

  model: string;
  may_clear: boolean;
  /** True if a spend needs an opinion to be aligned, unless the operator or a person vouches for it. */
  is_required: boolean;
  metrics: { countSecondOpinion(result: OpinionEffect | NoOpinion): void };
}

/** How far the lane's clock, which is the database's, may be from this one, the question to the model included. */
const LANE_CLOCK_MS = 300_000;

/**
 * Makes the assessment with a model's second opinion, against an authority loaded from the database. The model is asked
 * only if its opinion could change something: not for a replay or an agent that may not spend (the lane answers these),
 * not for a spend that is misaligned for a final reason, not for one that limits or blocklist deny in any case, and not
 * where the authority leaves the judgement to the rules.
 */
export function makeModelPreAssess(options: ModelPreAssessOptions): PreAssess {
  const { db, assess, historyOf, directoryOf, answersOf, examplesOf, assess_time } = options;
  const { askModel, clock_ms, model, may_clear, is_required, metrics } = options;
  return async ({ workspace_id, agent_id, idempotency_key, request }) => {
    const row = await getSpendingAuthority(db, workspace_id, agent_id, idempotency_key);
    if (row === undefined) return null;
    const authority_hash = row.hash;
    const authority = parseAuthority(row);
    const records = await historyOf(workspace_id, agent_id, authority);
    const directory = await directoryOf(workspace_id, agent_id, row.directory_version);
    const answers = new AnswersRead(await answersOf(workspace_id, agent_id, row.answers_version));
    const built_in = await assess_time.spend(
      workspace_id,
      () => assess(authority, request, factsAbout(request, records, directory, answers)),
      agent_id,
    );
    // May deny only what the lane will deny, or a spend would pass there without the model having been asked: what is not
    // known here, such as what was spent this month and whom the agent has paid, counts as harmless, and what a moment that is
    // not far ends does not count.
    const now_ms = clock_ms() - LANE_CLOCK_MS;
    const denied_until_ms = deniedUntilMs({
      authority,
      request,
      directory,
      budget: NOTHING_SPENT,
      counters: withSlots(countersOf(authority, agent_id, request.action), () => []),
      assessment: built_in,
      is_known_merchant: true,
      now_ms,
    });
    const denied = denied_until_ms !== null && denied_until_ms > now_ms + 2 * LANE_CLOCK_MS;
    const { questions } = built_in;
    const made = { authority_hash, authority, directory, answers, assessment: built_in, questions };
    if (denied || !isOpen(built_in, { may_clear })) return made;
    const withoutOne = (why: NoOpinion) => {
      metrics.countSecondOpinion(why);
      const options = {
        is_required: is_required || authority.purpose.judge === 'model',
        is_vouched_for: isVouchedFor(built_in, authority, request),
      };
      return { ...made, assessment: withoutOpinion(built_in, why, options) };
    };
    if (authority.purpose.judge === 'rules') return withoutOne('rules_only');
    const suspicious = built_in.evidence.flatMap(({ effect, field }) =>
      effect === 'suspicious' ? field : [],
    );
    const examples = await examplesOf(workspace_id, agent_id, authority);
    const asked = await askModel(
      { workspace_id, agent_id },
      { authority_hash, authority, request, suspicious, examples },
    );
    if ('none' in asked) return withoutOne(asked.none);
    const { assessment, effect } = withOpinion(built_in, asked.opinion, { model, may_clear });
    metrics.countSecondOpinion(effect);
    return { ...made, assessment };
  };
}
