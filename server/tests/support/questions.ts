import type { Decision } from '@purser/contract/decisions';
import type { QuestionKind } from '@purser/contract/purpose/questions';
import type { Assess } from '@purser/rules/domain/assessment';
import { decodeDecision } from '@purser/rules/domain/decision-document';
import { sha256 } from '@purser/rules/domain/ledger';
import { clauseHash, covers, questionId, type RaisedQuestion } from '@purser/rules/domain/questions';
import { HISTORY_NAMES } from '@purser/rules/purpose/reading/precedents';
import { makeCreateDecision } from '../../src/engine/commands/create-decision.ts';
import { makeAnswers, makeDirectories } from '../../src/engine/directory/directories.ts';
import { makeAuthorityCache } from '../../src/service/decisions/authority-cache.ts';
import { makeAuthorizeSpend } from '../../src/service/decisions/authorize-spend.ts';
import { makePreAssess } from '../../src/service/decisions/pre-assess.ts';
import { makeTrackRecords } from '../../src/service/decisions/track-record.ts';
import type { Core } from '../../src/service/installation/runtime.ts';
import { freshKey, makeTestCore, type RunningService } from './running-service.ts';

/** The clause that a question of the kind hangs on, in tests. */
export const clauseOf = (kind: string) => `The clause of ${kind}.`;

/**
 * An assessor that asks what the description of a spend says: kinds of questions, separated by spaces. `new_merchant` is
 * about the merchant itself, all others about a clause. So tests of questions do not depend on the rules of purpose.
 */
export const asAsked: Assess = (authority, { action }, facts) => {
  const merchant_key = HISTORY_NAMES.merchant(action.merchant);
  const kinds = (action.description ?? '').split(' ').filter((kind) => kind !== '') as QuestionKind[];
  const questions = kinds.map((kind): RaisedQuestion => {
    const text = clauseOf(kind);
    const about =
      kind === 'new_merchant'
        ? null
        : { clause: { field: 'purpose.constraints[0]', text, hash: clauseHash(text) }, words: [kind] };
    const raised = { kind, merchant_key, about };
    const question_id = questionId(authority.purpose.objective, raised);
    const answer = facts?.answers.get(question_id);
    const settles = answer !== undefined && (answer.answer === 'NO' || covers(answer, action, authority));
    const answered = settles ? { by: answer.by, at: answer.at, answer: answer.answer } : null;
    return { question_id, ...raised, sentence: `May it be ${kind}?`, answered };
  });
  const is_rejected = questions.some(({ answered }) => answered?.answer === 'NO');
  const is_open = questions.some(({ answered }) => answered === null);
  return {
    assessment: is_rejected ? 'PURPOSE_MISALIGNED' : is_open ? 'PURPOSE_UNCLEAR' : 'PURPOSE_ALIGNED',
    confidence: 0.5,
    method: 'test/1',
    rationale: 'As asked.',
    evidence: [],
    questions,
    vouched_by: null,
    is_final: false,
  };
};

/** A spend that asks questions. */
export interface AskedSpend {
  agent_id: string;
  kinds: readonly QuestionKind[];
  merchant?: string;
  amount_minor?: number;
  payee_id?: string;
}

/** A node that decides spends as the service does, but with `asAsked`. Requests are those of a key that it is given. */
export function makeAsker(service: Pick<RunningService, 'database' | 'sql'>, core?: Core) {
  const own = core ?? makeTestCore(service.database.connection);
  const authorizeSpend = makeAuthorizeSpend({
    lane: own.lane,
    createDecision: makeCreateDecision({ review_ttl_seconds: 3_600, capability_ttl_seconds: 3_600 }),
    findAgentId: async (_workspace_id, ref) => ref,
    authorities: makeAuthorityCache(),
    preAssess: makePreAssess({
      assess: asAsked,
      historyOf: makeTrackRecords(own),
      directoryOf: makeDirectories(own.db),
      answersOf: makeAnswers(own.db),
      turns: own.turns,
    }),
    standingOf: () => ({ version: 0, allowances: [] }),
    readChain: async () => undefined,
    countDecision: () => {},
  });
  return {
    async ask(
      key_id: string,
      { agent_id, kinds, merchant = 'Acme', amount_minor = 100, payee_id }: AskedSpend,
    ): Promise<Decision> {
      const { rows } = await service.sql(
        'select workspace_id, principal_id from api_keys where key_id = $1',
        [key_id],
      );
      const { workspace_id, principal_id } = rows[0];
      const idempotency_key = freshKey();
      const made = await authorizeSpend({
        caller: {
          workspace_id,
          key_id,
          session: null,
          kind: 'admin',
          scopes: ['authorize'],
          agent_id: null,
          principal_id,
        },
        request: {
          agent: agent_id,
          action: {
            type: 'purchase',
            merchant,
            amount_minor,
            currency: 'EUR',
            description: kinds.join(' '),
            ...(payee_id === undefined ? {} : { payee_id }),
          },
        },
        idempotency_key,
        request_hash: sha256(idempotency_key),
        origin: {
          actor: { type: 'api_key', key_id, session_id: null, principal_id },
          request_id: null,
          client_address: null,
        },
      });
      return decodeDecision(made.document);
    },
    close: async () => {
      if (core === undefined) await own.close();
    },
  };
}
