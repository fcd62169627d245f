import type { Authority } from '@purser/contract/authority';
import type { Assess, Judgement } from '@purser/rules/domain/assessment';
import { NOTHING_SPENT } from '@purser/rules/domain/budget';
import { AnswersRead } from '@purser/rules/domain/question-history';
import type { VouchingAllowance } from '@purser/rules/domain/spend-facts';
import { isLease } from '@purser/rules/leases/leases';
import type { Directory } from '@purser/rules/merchants/directory';
import { vouchingAllowances } from '@purser/rules/policy/allowances';
import { countersOf, withSlots } from '@purser/rules/policy/counters';
import { deniedUntilMs } from '@purser/rules/policy/remedies';
import type pg from 'pg';
import type { AnswersOf, DirectoryOf } from '../../engine/directory/directories.ts';
import { getSpendingAuthority, parseAuthority } from '../../engine/storage/authorities.ts';
import type { Opinion } from '../model-judge/read-opinion.ts';
import {
  type Asked,
  type AskModel,
  isOpen,
  isVouchedFor,
  modelQuestion,
  type NoOpinion,
  type OpinionEffect,
  withOpinion,
  withoutOpinion,
  withSettledDoubt,
} from '../model-judge/second-opinion.ts';
import { assessed } from '../scheduling/prices.ts';
import type { Turns } from '../scheduling/turns.ts';
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
  turns: Turns;
  askModel: AskModel;
  /** True if the model is slow and answers one call at a time. */
  isLocal: () => boolean;
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
  const assessor = new ModelPreAssessor(options);
  return (spend) => assessor.assess(spend);
}

type Spend = Parameters<PreAssess>[0];

/** A spend that the rules assessed. */
interface Assessed {
  spend: Spend;
  authority_hash: string;
  authority: Authority;
  directory: Directory;
  answers: AnswersRead;
  /** The allowances whose words the model reads too. */
  allowances: readonly VouchingAllowance[];
  built_in: Judgement;
}

type Made = NonNullable<Awaited<ReturnType<PreAssess>>>;

class ModelPreAssessor {
  readonly #options: ModelPreAssessOptions;

  constructor(options: ModelPreAssessOptions) {
    this.#options = options;
  }

  async assess(spend: Spend): Promise<Made | null> {
    const assessed = await this.#byRules(spend);
    if (assessed === null) return null;
    const { built_in, authority } = assessed;
    const { may_clear } = this.#options;
    if (this.#isDenied(assessed) || !isOpen(built_in, { may_clear })) return madeBy(assessed);
    // The authority vouches for a lease.
    if (isLease(authority, spend.request.action)) return madeBy(assessed);
    if (authority.purpose.judge === 'rules') return this.#withoutOne(assessed, 'rules_only');
    if (built_in.assessment === 'PURPOSE_ALIGNED' && !this.#asksAboutAll(authority)) return madeBy(assessed);
    const asked = await this.#ask(assessed);
    if ('none' in asked) return this.#withoutOne(assessed, asked.none);
    return this.#combined(assessed, asked.opinion);
  }

  async #byRules(spend: Spend): Promise<Assessed | null> {
    const { workspace_id, agent_id, key_id, idempotency_key, request, chain } = spend;
    const { db, assess, historyOf, directoryOf, answersOf, turns } = this.#options;
    const row = await getSpendingAuthority(db, workspace_id, agent_id, idempotency_key);
    if (row === undefined) return null;
    const authority = parseAuthority(row);
    const records = await historyOf(workspace_id, agent_id, authority);
    const directory = await directoryOf(workspace_id, agent_id, row.directory_version);
    const answers = new AnswersRead(await answersOf(workspace_id, agent_id, row.answers_version));
    const built_in = await turns.spend({ workspace_id, key_id }, 'assessments_time', () =>
      assessed(() => assess(authority, request, factsAbout(request, records, directory, answers, chain))),
    );
    const allowances = vouchingAllowances(chain?.allowances, request.action);
    return { spend, authority_hash: row.hash, authority, directory, answers, allowances, built_in };
  }

  /**
   * True if the lane will deny the spend. Only then, or a spend would pass there without the model having been asked: what is
   * not known here, such as what was spent this month and whom the agent has paid, counts as harmless, and what a moment
   * that is not far ends does not count.
   */
  #isDenied({ spend, authority, directory, built_in }: Assessed): boolean {
    const now_ms = this.#options.clock_ms() - LANE_CLOCK_MS;
    const denied_until_ms = deniedUntilMs({
      authority,
      request: spend.request,
      directory,
      budget: NOTHING_SPENT,
      counters: withSlots(countersOf(authority, spend.agent_id, spend.request.action), () => []),
      shared_budgets: [],
      // Of one that is named nothing is known here.
      ...(spend.chain === undefined ? {} : { allowances: [] }),
      assessment: built_in,
      is_known_merchant: true,
      now_ms,
    });
    return denied_until_ms !== null && denied_until_ms > now_ms + 2 * LANE_CLOCK_MS;
  }

  /** An opinion that is required is asked for. A slow model has no time for spends that the rules call aligned. */
  #asksAboutAll({ purpose }: Authority): boolean {
    const { is_required, isLocal } = this.#options;
    if (is_required || purpose.judge === 'model') return true;
    return (purpose.ask_model ?? (isLocal() ? 'UNCLEAR' : 'ALL')) === 'ALL';
  }

  async #ask({ spend, authority_hash, authority, allowances, built_in }: Assessed): Promise<Asked> {
    const { workspace_id, agent_id, request } = spend;
    const suspicious = built_in.evidence.flatMap(({ effect, field }) =>
      effect === 'suspicious' ? field : [],
    );
    const examples = await this.#options.examplesOf(workspace_id, agent_id, authority);
    const is_aligned = built_in.assessment === 'PURPOSE_ALIGNED';
    return this.#options.askModel(
      { workspace_id, agent_id },
      {
        authority_hash,
        authority,
        request,
        allowances,
        suspicious,
        examples,
        is_review_anyway: !is_aligned && authority.on_purpose_unclear !== 'ALLOW',
      },
    );
  }

  #withoutOne(assessed: Assessed, why: NoOpinion): Made {
    const { spend, authority, allowances, built_in } = assessed;
    this.#options.metrics.countSecondOpinion(why);
    const assessment = withoutOpinion(built_in, why, {
      is_required: this.#options.is_required || authority.purpose.judge === 'model',
      is_vouched_for: isVouchedFor(built_in, authority, spend.request, allowances),
    });
    return { ...madeBy(assessed), assessment };
  }

  #combined(assessed: Assessed, opinion: Opinion): Made {
    const { model, may_clear, metrics } = this.#options;
    const { spend, authority, answers, built_in } = assessed;
    const { assessment, effect } = withOpinion(built_in, opinion, { model, may_clear });
    if (effect !== 'lowered') {
      metrics.countSecondOpinion(effect);
      return { ...madeBy(assessed), assessment };
    }
    const question = modelQuestion(opinion, { authority, request: spend.request, answers, model });
    const { answered } = question;
    const is_settled = answered?.answer === 'YES';
    metrics.countSecondOpinion(is_settled ? 'settled' : effect);
    return {
      ...madeBy(assessed),
      questions: [...built_in.questions, question],
      assessment: is_settled ? withSettledDoubt(built_in, question, answered, model) : assessment,
    };
  }
}

function madeBy({ authority_hash, authority, directory, answers, built_in }: Assessed): Made {
  const { questions } = built_in;
  return { authority_hash, authority, directory, answers, assessment: built_in, questions };
}
