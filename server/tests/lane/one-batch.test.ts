import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { Authority } from '@purser/contract/authority';
import { SUPERUSER } from '@purser/embedded-postgres';
import type { Allowance } from '@purser/rules/counters/allowances';
import type { Agent } from '@purser/rules/domain/agents';
import { OPERATOR, type Origin } from '@purser/rules/domain/audit';
import { authorityHash } from '@purser/rules/domain/authorities';
import { AnswersRead } from '@purser/rules/domain/question-history';
import { EMPTY_DIRECTORY } from '@purser/rules/merchants/directory';
import { fingerprintOfKey } from '@purser/rules/signing/signing-keys';
import { type Claim, endorsementClaim, enrolmentClaim, statementOf } from '@purser/rules/signing/statements';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadChains } from '../../src/engine/allowances/allowance-rows.ts';
import { createAllowances } from '../../src/engine/commands/allowances/create-allowances.ts';
import { createIssuer } from '../../src/engine/commands/allowances/create-issuer.ts';
import { presentAllowance } from '../../src/engine/commands/allowances/present-allowance.ts';
import { presentMandate } from '../../src/engine/commands/allowances/present-mandate.ts';
import { requestAllowance } from '../../src/engine/commands/allowances/request-allowance.ts';
import { revokeAllowance } from '../../src/engine/commands/allowances/revoke-allowance.ts';
import { revokeIssuer } from '../../src/engine/commands/allowances/revoke-issuer.ts';
import { updateAllowance } from '../../src/engine/commands/allowances/update-allowance.ts';
import { createBudget } from '../../src/engine/commands/budgets/create-budget.ts';
import { updateBudget } from '../../src/engine/commands/budgets/update-budget.ts';
import { consumeCapability } from '../../src/engine/commands/consume-capability.ts';
import { createAgent } from '../../src/engine/commands/create-agent.ts';
import { createApiKey } from '../../src/engine/commands/create-api-key.ts';
import { createAuthority } from '../../src/engine/commands/create-authority.ts';
import { makeCreateDecision } from '../../src/engine/commands/create-decision.ts';
import { createLabel } from '../../src/engine/commands/create-label.ts';
import { createOutcome } from '../../src/engine/commands/create-outcome.ts';
import { createWebhook } from '../../src/engine/commands/create-webhook.ts';
import { deleteWebhook } from '../../src/engine/commands/delete-webhook.ts';
import { expireReservations } from '../../src/engine/commands/expire-reservations.ts';
import { assignInstrument } from '../../src/engine/commands/history/assign-instrument.ts';
import { createImport } from '../../src/engine/commands/history/create-import.ts';
import { deleteImport } from '../../src/engine/commands/history/delete-import.ts';
import { finishImport } from '../../src/engine/commands/history/finish-import.ts';
import { recordLines } from '../../src/engine/commands/history/record-lines.ts';
import { startImport } from '../../src/engine/commands/history/start-import.ts';
import { createLineResolution } from '../../src/engine/commands/matching/create-line-resolution.ts';
import { reportUnmatched } from '../../src/engine/commands/matching/report-unmatched.ts';
import { listMerchants } from '../../src/engine/commands/merchants/list-merchants.ts';
import { unlistMerchant } from '../../src/engine/commands/merchants/unlist-merchant.ts';
import { noteKeyUses } from '../../src/engine/commands/note-key-uses.ts';
import { createChannel } from '../../src/engine/commands/notices/create-channel.ts';
import { deleteChannel } from '../../src/engine/commands/notices/delete-channel.ts';
import { noteFailing } from '../../src/engine/commands/notices/note-failing.ts';
import { rewrapChannel } from '../../src/engine/commands/notices/rewrap-channel.ts';
import { sendDigest } from '../../src/engine/commands/notices/send-digest.ts';
import { testChannel } from '../../src/engine/commands/notices/test-channel.ts';
import { updateChannel } from '../../src/engine/commands/notices/update-channel.ts';
import { acceptMembership } from '../../src/engine/commands/people/accept-membership.ts';
import { inviteMember } from '../../src/engine/commands/people/invite-member.ts';
import { joinWorkspace } from '../../src/engine/commands/people/join-workspace.ts';
import { linkSlack, unlinkSlack } from '../../src/engine/commands/people/link-slack.ts';
import { removeMember } from '../../src/engine/commands/people/remove-member.ts';
import { revokeInvitation } from '../../src/engine/commands/people/revoke-invitation.ts';
import { revokeSessions } from '../../src/engine/commands/people/revoke-sessions.ts';
import { setAway } from '../../src/engine/commands/people/set-away.ts';
import { updateMember } from '../../src/engine/commands/people/update-member.ts';
import { answerQuestion } from '../../src/engine/commands/questions/answer-question.ts';
import { forgetAnswer } from '../../src/engine/commands/questions/forget-answer.ts';
import { createRail } from '../../src/engine/commands/rails/create-rail.ts';
import { deleteRail } from '../../src/engine/commands/rails/delete-rail.ts';
import { makeRecordRailEvent } from '../../src/engine/commands/rails/record-rail-event.ts';
import { rewrapRail } from '../../src/engine/commands/rails/rewrap-rail.ts';
import { updateRail } from '../../src/engine/commands/rails/update-rail.ts';
import { replayWebhook } from '../../src/engine/commands/replay-webhook.ts';
import { createNote } from '../../src/engine/commands/reviews/create-note.ts';
import { makeCreateReview, prepareSignedReview } from '../../src/engine/commands/reviews/create-review.ts';
import { decideAllowance } from '../../src/engine/commands/reviews/decide-allowance.ts';
import { putReviewPolicy } from '../../src/engine/commands/reviews/put-review-policy.ts';
import { NO_POLICY } from '../../src/engine/commands/reviews/review-case.ts';
import { revokeApiKey } from '../../src/engine/commands/revoke-api-key.ts';
import { rewrapApiKeys } from '../../src/engine/commands/rewrap-api-keys.ts';
import { rewrapWebhookSecrets } from '../../src/engine/commands/rewrap-webhook-secrets.ts';
import { rotateWebhookSecret } from '../../src/engine/commands/rotate-webhook-secret.ts';
import { setPlan } from '../../src/engine/commands/set-plan.ts';
import { createDecisionLink } from '../../src/engine/commands/sharing/create-decision-link.ts';
import { revokeDecisionLink } from '../../src/engine/commands/sharing/revoke-decision-link.ts';
import { endorseSigningKey } from '../../src/engine/commands/signing/endorse-signing-key.ts';
import { enrolSigningKey } from '../../src/engine/commands/signing/enrol-signing-key.ts';
import { resetSigningKeys, revokeSigningKey } from '../../src/engine/commands/signing/revoke-signing-keys.ts';
import { stopWorkspace } from '../../src/engine/commands/stop-workspace.ts';
import { testWebhook } from '../../src/engine/commands/test-webhook.ts';
import { updateAgent } from '../../src/engine/commands/update-agent.ts';
import { updateWebhook } from '../../src/engine/commands/update-webhook.ts';
import { updateWorkspace } from '../../src/engine/commands/update-workspace.ts';
import { type Job, type JobResult, needsOf, runBatch } from '../../src/engine/lane/batch.ts';
import { KnownRows } from '../../src/engine/lane/known-rows.ts';
import { readDecision } from '../../src/engine/questions/answers-of-records.ts';
import { getAgent } from '../../src/engine/storage/agents.ts';
import { makePool } from '../../src/engine/storage/database.ts';
import { loadAnswers } from '../../src/engine/storage/derived/questions.ts';
import { readPastSpends } from '../../src/service/decisions/read-past-spends.ts';
import { addWorkspace, type Core } from '../../src/service/installation/runtime.ts';
import { makeAuthenticator } from '../support/authenticator.ts';
import { TRUSTING_CLOCK } from '../support/clock.ts';
import { createMigratedDatabase, type TestDatabase } from '../support/postgres.ts';
import { makeTestCore, stopClock } from '../support/running-service.ts';
import { distributedTables, isOneTask } from '../support/statements.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

/**
 * A batch of n commands is n batches of one: a command sees what those before it did, never only what was loaded. Two
 * workspaces get the same history; then the same commands go to one in a single batch and to the other one by one, through
 * the lane's own `runBatch` on PostgreSQL. All answers and all rows are the same but for ids, hashes of what has ids in it,
 * and milliseconds. A failure prints its seed and path: run it again with ONE_BATCH_SEED and ONE_BATCH_PATH; ONE_BATCH_RUNS
 * makes a longer run.
 */
const SEED = Number(process.env.ONE_BATCH_SEED ?? 20_261_124);
const RUNS = Number(process.env.ONE_BATCH_RUNS);
const PATH = process.env.ONE_BATCH_PATH;
const TTL_S = 600;
/** A command that begins its workspace is alone in its batch. */
const ALONE = ['createWorkspace'];

let database: TestDatabase;
let core: Core;
let superuser: pg.Client;
let pool: pg.Pool;
/** The texts of all statements that batches sent. */
const statements = new Set<string>();
let now_ms = Date.UTC(2026, 10, 24, 12);

beforeAll(async () => {
  database = await createMigratedDatabase();
  superuser = new pg.Client({ ...database.connection, user: SUPERUSER.user });
  await superuser.connect();
  await stopClock(superuser, database.connection.database, now_ms);
  core = makeTestCore(database.connection);
  pool = makePool(database.connection, { max: 1, pipeline: true, plan: 'index_lookup', onBroken: () => {} });
});
afterAll(async () => {
  await pool.end();
  await core.close();
  await superuser.end();
  await database.drop();
});

async function setClock(time_ms: number) {
  now_ms = time_ms;
  await superuser.query('update stopped_clock.moment set at = $1', [new Date(time_ms)]);
}

const sha256 = (text: string) => createHash('sha256').update(text).digest();
// biome-ignore lint/suspicious/noExplicitAny: rows and inputs of every kind.
type Any = any;

/** Reads the rows of a workspace that a caller can know before it sends a command, each kind in order of creation. */
async function look(workspace_id: string) {
  const all = async (sql: string): Promise<Any[]> => (await superuser.query(sql, [workspace_id])).rows;
  return {
    workspace_id,
    agents: await all(
      'select agent_id, slug, mode, status from agents where workspace_id = $1 order by agent_id',
    ),
    decisions: await all(
      'select decision_id, agent_id, document from decisions where workspace_id = $1 order by 1',
    ),
    reviews: await all('select review_id, decision_id from reviews where workspace_id = $1 order by 1'),
    labels: await all('select label_id, decision_id from labels where workspace_id = $1 order by 1'),
    keys: await all(
      'select key_id, digest, scopes, revoked_at, allowance_path, maker_key_ids from api_keys where workspace_id = $1 order by 1',
    ),
    endpoints: await all(
      'select endpoint_id, secrets from webhook_endpoints where workspace_id = $1 order by 1',
    ),
    channels: await all('select channel_id from channels where workspace_id = $1 order by 1'),
    events: await all('select event_id from webhook_events where workspace_id = $1 order by 1'),
    members: await all(
      `select m.user_id, m.principal_id, m.role, u.email from members m join users u using (user_id)
       where workspace_id = $1 order by 1`,
    ),
    signing_keys: await all('select * from signing_keys where workspace_id = $1 order by signing_key_id'),
    invitations: await all('select invitation_id, email from invitations where workspace_id = $1 order by 1'),
    allowances: (
      await loadChains(
        core.db,
        workspace_id,
        (
          await all('select allowance_id from allowances where workspace_id = $1')
        ).map(({ allowance_id }) => allowance_id),
      ).then((rows) => [...rows.values()])
    ).sort((a, b) => (a.allowance_id < b.allowance_id ? -1 : 1)),
    issuers: await all(
      'select issuer_id, parent_id, agents from allowance_issuers where workspace_id = $1 order by 1',
    ),
    questions: await all('select agent_id, question_id from questions where workspace_id = $1 order by 1, 2'),
    imports: await all('select import_id from imports where workspace_id = $1 order by 1'),
    rails: await all('select rail_id, sealed_secrets from rails where workspace_id = $1 order by 1'),
    links: await all('select link_id, decision_id from decision_links where workspace_id = $1 order by 1'),
    entries: await all('select entry_id, agent_id from merchant_entries where workspace_id = $1 order by 1'),
  };
}
type Seen = Awaited<ReturnType<typeof look>>;

const KINDS = ['new_merchant', 'condition', 'model'] as const;
const NO_QUESTION = { agent_id: 'one', question_id: 'q_00000000000000000000000000' };
const MERCHANTS = ['Hetzner Online', 'Zinnober Kontor', 'Acme Paper'];
const BUDGETS = ['company', 'team'];
const STANDING = {
  automatic: true,
  answers: ['REVIEW_THRESHOLD_EXCEEDED', 'PURPOSE_UNCLEAR'],
  merchants: ['Hetzner Online'],
};
/** The agent of a standing approval; null for every other allowance. */
const standingAgent = (each?: Allowance) => (each?.automatic === true ? each.agent_id : null);

/** An allowance and all above it, the nearest first. */
const chainFrom = (seen: Seen, n: number): Allowance[] =>
  (pick(seen.allowances, n)?.path ?? []).map(
    (id) => seen.allowances.find((each) => each.allowance_id === id) as Allowance,
  );
const LIMITS: Authority['velocity_limits'] = [
  { name: 'day', window: 'DAY', limit_amount_minor: 900 },
  { name: 'shop', window: 'WEEK', per: 'MERCHANT', limit_count: 4 },
  {
    name: 'payee',
    window: 'ROLLING',
    window_seconds: 3_600,
    per: 'PAYEE',
    limit_amount_minor: 400,
    on_exceeded: 'REVIEW',
  },
];
const authorityOf = (n: number): Authority => ({
  purpose: { objective: 'Keep the staging servers running.' },
  currency: 'EUR',
  monthly_budget_minor: 1_500 + 500 * (n % 3),
  review_threshold_minor: 150,
  ...(n % 2 === 0 ? {} : { velocity_limits: LIMITS.slice(0, 1 + (n % 3)) }),
  ...(n % 5 === 3 ? { duplicate_window_seconds: 600 } : {}),
  ...(n % 7 === 4 ? { budgets: ['team'] } : {}),
  ...(n % 6 === 5 ? { on_new_merchant: 'REVIEW' as const } : {}),
});

/** A command with the choices that make its input; the same in both workspaces. */
interface Step {
  name: string;
  a: number;
  b: number;
  c: number;
}

const pick = <T>(all: readonly T[], n: number): T | undefined => all[n % Math.max(1, all.length)];
const uid = ({ a, b, c }: Step) => `${a}-${b}-${c}`;
const NOBODY = { decision_id: 'dec_00000000000000000000000000' };
const emailOf = (seen: Seen, n: number) => `p${n % 4}@${seen.workspace_id.toLowerCase()}.example`;
const refOf = (seen: Seen, n: number) => {
  // By slug also agents that an earlier command of the batch makes.
  const slugs = ['one', 'two', 'three'];
  return n % 4 === 0 ? (pick(seen.agents, n)?.agent_id ?? 'one') : (slugs[n % 3] as string);
};

type Made = { command: unknown; input: unknown } | Promise<{ command: unknown; input: unknown }>;
const decisionOf = (seen: Seen, n: number) => pick(seen.decisions, n) ?? NOBODY;
const ASSESSMENT = {
  assessment: 'PURPOSE_ALIGNED' as const,
  confidence: 1,
  method: 'test/1',
  rationale: 'It fits.',
  evidence: [],
  vouched_by: null,
  is_final: false,
};
/** The passkeys of the members, in order of their joining; the same in both workspaces. */
const PASSKEYS = [makeAuthenticator('https://purser.example'), makeAuthenticator('https://purser.example')];
const passkeyOf = (seen: Seen, user_id: string) =>
  PASSKEYS[seen.members.findIndex((each) => each.user_id === user_id) % 2] ?? PASSKEYS[0];
/** Signs a claim with a passkey, now. */
function signedBy(passkey: (typeof PASSKEYS)[number] | undefined, claim: Claim) {
  const head = { seq: 1, hash: `sha256:${'0'.repeat(64)}` };
  const statement = statementOf(claim, { head, issued_at: new Date(now_ms).toISOString() });
  const challenge = sha256(statement).toString('base64url');
  return { given: { statement, response: passkey?.get({ challenge }) }, fault: null };
}
const NOBODY_JOINED = {
  user_id: 'usr_00000000000000000000000000',
  principal_id: 'user:nobody',
  role: 'viewer',
};
const NO_SIGNING_KEY = 'sig_00000000000000000000000000';

function reviewOf(seen: Seen, step: Step) {
  const decision = decisionOf(seen, step.a);
  const { decision_id } = decision;
  const made = 'document' in decision ? JSON.parse(decision.document) : null;
  const earlier = seen.reviews.filter((each) => each.decision_id === decision_id).at(-1);
  const review_policy_version = made?.review_policy_version ?? 0;
  return {
    decision_id,
    ...readDecision(made ?? undefined),
    ...NO_POLICY,
    ...(review_policy_version === 0 ? {} : { review_policy_version }),
    named: null,
    action: step.b % 2 === 0 ? 'ALLOW' : 'DENY',
    reason_code: 'CHECKED',
    comment: null,
    supersedes: step.c % 3 === 0 ? null : (earlier?.review_id ?? null),
    signature: null,
    remember:
      made === null || step.c % 4 > 0
        ? null
        : {
            remember: step.b % 2 === 0 ? 'ALWAYS' : 'NEVER',
            agent_id: made.agent.id,
            is_reviewer: false,
          },
  };
}

const lasting = makeCreateDecision({ review_ttl_seconds: TTL_S, capability_ttl_seconds: TTL_S });
const createReview = makeCreateReview({ capability_ttl_seconds: TTL_S });
const recordRailEvent = makeRecordRailEvent(lasting);

async function currentAgent(seen: Seen, ref: string): Promise<Agent | undefined> {
  return getAgent(core.db, seen.workspace_id, ref);
}

const NO_IMPORT = 'imp_00000000000000000000000000';
const railOf = (seen: Seen, n: number) =>
  pick(seen.rails, n) ?? { rail_id: 'rail_00000000000000000000000000', sealed_secrets: null };
const importOf = (seen: Seen, n: number) => pick(seen.imports, n)?.import_id ?? NO_IMPORT;
/** Few lines and amounts, so that pages repeat and contradict each other. */
const lineOf = (n: number, amount_minor: number) => ({
  kind: 'SPEND' as const,
  merchant: MERCHANTS[n % 3],
  payee_id: null,
  instrument: `sepa:card${n % 2}`,
  amount_minor,
  currency: 'EUR',
  merchant_amount_minor: null,
  merchant_currency: null,
  occurred_at: '2026-11-20T12:00:00.000Z',
  precision: 'DAY' as const,
  external_reference: `r${n}`,
  authorization_id: null,
  description: null,
  category: null,
  feed: 'lines',
  identity: `identity ${n}`,
  line_number: n,
});

const lineIdOf = async (seen: Seen, n: number): Promise<string> => {
  const { rows } = await superuser.query(
    'select line_id from lines where workspace_id = $1 order by line_id',
    [seen.workspace_id],
  );
  return pick(rows, n)?.line_id ?? 'lin_00000000000000000000000000';
};

/** Every command of the service: how its input is made of the choices. */
const COMMANDS: Record<string, (seen: Seen, step: Step) => Made> = {
  createDecision: async (seen, step) => {
    const agent = await currentAgent(seen, refOf(seen, step.a));
    const row = (
      await superuser.query(
        'select authority from authorities where workspace_id = $1 and agent_id = $2 order by version desc limit 1',
        [seen.workspace_id, agent?.agent_id ?? ''],
      )
    ).rows[0];
    const authority = row === undefined ? authorityOf(step.b) : (JSON.parse(row.authority) as Authority);
    const action = {
      type: 'purchase',
      merchant: MERCHANTS[step.b % 3] as string,
      amount_minor: [20, 100, 170, 260][step.c % 4] as number,
      currency: 'EUR',
      ...(step.b % 2 === 0 ? {} : { payee_id: `sepa:DE${step.b % 3}` }),
    };
    const idempotency_key = `k${step.c % 40}`;
    const answers = new AnswersRead(await loadAnswers(core.db, seen.workspace_id, agent?.agent_id ?? ''));
    const assessed = {
      authority_hash: authorityHash(authority),
      authority,
      directory: { ...EMPTY_DIRECTORY, version: agent?.directory_version ?? 0 },
      assessment: ASSESSMENT,
      answers,
      questions: KINDS.slice(0, step.b % 3).map((kind) => {
        const question_id = `q_0000000000000000000000000${kind.length % 10}`;
        const given = answers.get(question_id);
        const answered = given === undefined ? null : { by: given.by, at: given.at, answer: given.answer };
        return { question_id, kind, merchant_key: 'm', about: null, sentence: `Is it ${kind}?`, answered };
      }),
    };
    const request_hash = sha256(JSON.stringify(action));
    const agent_id = agent?.agent_id ?? refOf(seen, step.a);
    // As the service looks before the lane: under its own allowances alone.
    const allowances = step.a % 2 === 0 ? [] : chainFrom(seen, step.b);
    const [named] = allowances;
    const is_own = named !== undefined && (named.agent_id === null || named.agent_id === agent_id);
    const chain = is_own ? { chain: { allowances, budgets: [] } } : {};
    const request = { action, ...(step.c % 3 === 0 ? { limitable: true } : {}) };
    return {
      command: lasting,
      input: { agent_id, bound: false, request, idempotency_key, request_hash, assessed, ...chain },
    };
  },
  createAuthority: async (seen, step) => {
    const ref = refOf(seen, step.a);
    const agent = await currentAgent(seen, ref);
    const authority = authorityOf(step.b);
    const past =
      agent === undefined ? null : await readPastSpends(core.db, seen.workspace_id, agent, authority);
    const expected_hash = step.c % 5 === 0 ? authorityHash(authorityOf(step.c)) : null;
    return { command: createAuthority, input: { agent: ref, authority, note: null, expected_hash, past } };
  },
  createOutcome: (seen, step) => {
    const type = ['SPEND_EXECUTED', 'SPEND_FAILED', 'SPEND_CANCELLED', 'PARTIALLY_REFUNDED', 'REFUNDED'][
      step.b % 5
    ];
    const of_amount = type === 'SPEND_EXECUTED' || type === 'PARTIALLY_REFUNDED';
    const input = {
      decision_id: decisionOf(seen, step.a).decision_id,
      only_agent: null,
      type,
      amount_minor: of_amount ? [30, 110, 300][step.c % 3] : null,
      currency: null,
      external_reference: step.c % 2 === 0 ? null : `r${step.c % 3}`,
      occurred_at: null,
      source: step.c % 4 < 2 ? 'PAYMENT_RAIL' : 'CLIENT_REPORTED',
    };
    return { command: createOutcome, input };
  },
  createReview: (seen, step) => ({ command: createReview, input: reviewOf(seen, step) }),
  beginSignedReview: (seen, step) => ({
    command: prepareSignedReview,
    input: { ...reviewOf(seen, step), is_prepared: true },
  }),
  putReviewPolicy: (_seen, step) => ({
    command: putReviewPolicy,
    input: {
      policy:
        step.a % 3 === 0
          ? {}
          : {
              tiers: [
                { currency: 'EUR', from_minor: [50, 150, 250][step.b % 3], approvals: 1 + (step.c % 2) },
              ],
              remind_before_seconds: 60,
            },
      note: null,
      expected_hash: null,
      signature: null,
    },
  }),
  createNote: (seen, step) => ({
    command: createNote,
    input: {
      decision_id: decisionOf(seen, step.a).decision_id,
      text: `Note ${step.b % 3}`,
      assign_to: step.c % 2 === 0 ? null : 'user:somebody',
      is_of_key: step.c % 3 > 0,
      mails_people: step.c % 4 > 0,
    },
  }),
  createLabel: (seen, step) => {
    const decision = decisionOf(seen, step.a);
    const { decision_id } = decision;
    const made = 'document' in decision ? JSON.parse(decision.document) : undefined;
    const earlier = seen.labels.filter((each) => each.decision_id === decision_id).at(-1);
    const supersedes = step.c % 2 === 0 ? null : (earlier?.label_id ?? null);
    return {
      command: createLabel,
      input: {
        decision_id,
        ...readDecision(made),
        label: ['PURPOSE_ALIGNED', 'PURPOSE_MISALIGNED', 'PURPOSE_UNCLEAR'][step.b % 3],
        comment: null,
        supersedes,
        named: null,
      },
    };
  },
  consumeCapability: (seen, step) => {
    const issued = seen.decisions.filter(({ document }) => JSON.parse(document).capability !== null);
    const found = pick(issued, step.a);
    const decision = found === undefined ? null : JSON.parse(found.document);
    const input = {
      capability_id: decision?.capability.capability_id ?? 'cap_00000000000000000000000000',
      amount_minor: [10, 100, 260][step.b % 3],
      currency: 'EUR',
      payee_id: decision?.action.payee_id ?? null,
      merchant: null,
      external_reference: null,
      idempotency_key: `c${step.c % 6}`,
      request_hash: sha256(`c${step.c % 6} ${step.a} ${step.b}`),
    };
    return { command: consumeCapability, input };
  },
  expireReservations: (seen) => ({
    command: expireReservations,
    input: { agent_ids: seen.agents.map(({ agent_id }) => agent_id) },
  }),
  createAgent: (_seen, step) => ({
    command: createAgent,
    input: {
      slug: ['one', 'two', 'three', 'four', 'five'][step.a % 5],
      ...(step.b % 2 === 0 ? { mode: 'ENFORCE' } : {}),
      ...(step.c % 3 === 0 ? {} : { authority: authorityOf(step.c) }),
    },
  }),
  updateAgent: (seen, step) => ({
    command: updateAgent,
    input: {
      agent: refOf(seen, step.a),
      changes: [
        { status: 'paused' },
        { status: 'active' },
        { mode: 'ENFORCE' },
        { mode: 'SHADOW' },
        { name: uid(step) },
      ][step.b % 5],
    },
  }),
  createApiKey: (seen, step) => ({
    command: createApiKey,
    input: {
      name: uid(step),
      agent: step.a % 2 === 0 ? null : refOf(seen, step.b),
      bound_to: step.a % 2 === 0 ? [] : chainFrom(seen, step.c),
      scopes: step.b % 2 === 0 ? ['admin'] : ['review', 'read'],
      principal_id: null,
      acting_principal: null,
      expires_in_seconds: null,
      digest: sha256(`${seen.workspace_id} ${uid(step)} ${seen.keys.length}`),
      secret_id: 'test',
      hint: 'sk_x',
    },
  }),
  revokeApiKey: (seen, step) => ({
    command: revokeApiKey,
    input: { key_id: pick(seen.keys, step.a)?.key_id ?? 'key_00000000000000000000000000' },
  }),
  rewrapApiKeys: (seen, step) => {
    const found = pick(seen.keys, step.a);
    const from = { digest: found?.digest ?? sha256('none'), secret_id: 'test' };
    const to = { digest: sha256(`${seen.workspace_id} rewrapped ${uid(step)}`), secret_id: 'newer' };
    return { command: rewrapApiKeys, input: found === undefined ? [] : [{ key_id: found.key_id, from, to }] };
  },
  noteKeyUses: (seen, step) => ({
    command: noteKeyUses,
    input: seen.keys
      .slice(0, step.a % 3)
      .map(({ key_id }) => ({ key_id, last_used_at: new Date(now_ms).toISOString() })),
  }),
  createAllowances: (seen, step) => {
    const above = step.a % 3 === 0 ? chainFrom(seen, step.c) : [];
    const of = above.length > 0 ? { parent: 'alw' } : { agent: refOf(seen, step.a), currency: 'EUR' };
    const body = {
      ...of,
      amount_minor: 100 + (step.c % 4) * 100,
      expires_at: new Date(now_ms + (2 + (step.c % 3)) * TTL_S * 1_000).toISOString(),
      ...(step.b % 4 === 0 ? { period: 'DAY' } : {}),
      ...(step.b % 5 === 0 ? { external_id: `e${step.c % 2}`, labels: { run: `${step.c}` } } : {}),
      ...(above.length === 0 && step.b % 3 === 1 ? STANDING : {}),
    };
    const body_hash = sha256(JSON.stringify(body)).toString('hex');
    // As the origin of the job: a key, or nobody.
    const maker = step.b % 3 === 0 ? (pick(seen.keys, step.c)?.key_id as string) : 'nobody';
    const digest = sha256(`${seen.workspace_id} of allowance ${uid(step)} ${seen.keys.length}`);
    const key = step.c % 2 === 0 ? null : { digest, secret_id: 'test', hint: 'sk_x' };
    const given = [{ body: { ...body, ...(key && { key: true }) }, body_hash, above, key, prefix: '' }];
    const input = { allowances: given, maker, acting_principal: null, agent_id: null };
    return { command: createAllowances, input };
  },
  createIssuer: (seen, step) => ({
    command: createIssuer,
    input: {
      name: `n${step.c}`,
      jwk: '{}',
      format: step.a % 4 === 1 ? ('AP2' as const) : null,
      currency: step.b % 5 === 0 ? 'USD' : 'EUR',
      max_amount_minor: 100 + (step.c % 3) * 100,
      agents: step.a % 3 === 0 ? [refOf(seen, step.c)] : [],
      above: step.a % 2 === 0 ? null : chainFrom(seen, step.c),
    },
  }),
  revokeIssuer: (seen, step) => ({
    command: revokeIssuer,
    input: { issuer_id: pick(seen.issuers, step.a)?.issuer_id ?? 'iss_00000000000000000000000000' },
  }),
  presentAllowance: (seen, step) => {
    const issuer = pick(seen.issuers, step.a);
    const parent = seen.allowances.find((each) => each.allowance_id === issuer?.parent_id);
    const seconds = Math.floor(now_ms / 1_000);
    const claims = {
      aud: seen.workspace_id,
      jti: `j${step.c % 3}`,
      iat: seconds,
      exp: seconds + (step.b % 6) - 1,
      allowance: {
        ...(parent === undefined
          ? { agent: refOf(seen, step.c), currency: 'EUR', expires_at: new Date(now_ms + 1e6).toISOString() }
          : {}),
        amount_minor: 100 + (step.b % 3) * 100,
      },
    };
    return {
      command: presentAllowance,
      input: {
        issuer_id: issuer?.issuer_id ?? 'iss_00000000000000000000000000',
        claims,
        claims_hash: sha256(JSON.stringify(claims)).toString('hex'),
        above: (parent?.path ?? []).map(
          (id) => seen.allowances.find((each) => each.allowance_id === id) as Allowance,
        ),
        agent_id: step.c % 7 === 0 ? (pick(seen.agents, step.b)?.agent_id ?? null) : null,
        bound_to: step.c % 11 === 0 ? (pick(seen.allowances, step.b)?.allowance_id ?? null) : null,
      },
    };
  },
  presentMandate: (seen, step) => {
    const aboveOf = (parent_id: string | null) =>
      (seen.allowances.find((each) => each.allowance_id === parent_id)?.path ?? []).map(
        (id) => seen.allowances.find((each) => each.allowance_id === id) as Allowance,
      );
    const signers = [pick(seen.issuers, step.a), pick(seen.issuers, step.c)].flatMap((each) => each ?? []);
    const identity = (of: string) => sha256(`${of} ${step.c % 3}`).toString('hex');
    return {
      command: presentMandate,
      input: {
        issuers: [...new Set(signers)].map(({ issuer_id, parent_id }) => ({
          issuer_id,
          above: aboveOf(parent_id),
        })),
        identities: [identity('own'), identity('other')] as const,
        binding: { iat: Math.floor(now_ms / 1_000) - (step.b % 7) * 60, exp: null },
        starts: [],
        ends: [{ name: 'mandate exp', at_ms: now_ms + ((step.b % 5) - 1) * 100_000 }],
        body: { currency: 'EUR', amount_minor: 100 + (step.b % 3) * 100, per_spend_limit_minor: 100 },
        period: step.b % 2 === 0 ? null : ('MONTH' as const),
        mandate: { format: 'AP2' as const, reference: 'r', instruments: null, pisps: null },
        agent_id: step.c % 7 === 0 ? null : (pick(seen.agents, step.b)?.agent_id ?? null),
        bound_to: step.c % 11 === 0 ? (pick(seen.allowances, step.b)?.allowance_id ?? null) : null,
      },
    };
  },
  updateAllowance: (seen, step) => ({
    command: updateAllowance,
    input: {
      path: chainFrom(seen, step.a).map(({ allowance_id }) => allowance_id),
      standing_of: standingAgent(pick(seen.allowances, step.a)),
      changes: [{ amount_minor: 50 + step.c }, { name: `n${step.c}` }][step.b % 2],
    },
  }),
  requestAllowance: (seen, step) => ({
    command: requestAllowance,
    input: {
      agent_id: pick(seen.agents, step.a)?.agent_id ?? 'agt_00000000000000000000000000',
      body: {
        currency: 'EUR',
        amount_minor: 100 + step.c,
        purpose: 'A test',
        ...(step.b % 3 === 0 ? { external_id: `r${step.c % 2}` } : {}),
      },
      body_hash: sha256(`request ${step.c % 3}`).toString('hex'),
      maker: step.b % 3 === 0 ? (pick(seen.keys, step.c)?.key_id as string) : 'nobody',
      ttl_seconds: TTL_S,
    },
  }),
  decideAllowance: (seen, step) => {
    const found = pick(seen.allowances, step.a);
    return {
      command: decideAllowance,
      input: {
        allowance_id: found?.allowance_id ?? 'alw_00000000000000000000000000',
        agent_id: found?.agent_id ?? null,
        requesting_key_id: found?.created_by_key_id ?? null,
        decision: {
          action: step.b % 3 === 0 ? 'DENY' : 'ALLOW',
          ...(step.c % 2 === 0 ? { purpose: 'Ours', amount_minor: 50 + step.c } : {}),
        },
        is_admin: step.b % 2 === 0,
      },
    };
  },
  revokeAllowance: (seen, step) => ({
    command: revokeAllowance,
    input: {
      allowance_id: pick(seen.allowances, step.a)?.allowance_id ?? 'alw_00000000000000000000000000',
      agent_id: pick(seen.allowances, step.a)?.agent_id ?? null,
      budget_id: pick(seen.allowances, step.a)?.budget_id ?? null,
      reason: step.b % 2 === 0 ? null : 'Over',
      is_by_agent: step.c % 4 === 0,
    },
  }),
  createBudget: (_seen, step) => ({
    command: createBudget,
    input: {
      slug: pick([...BUDGETS, 'other'], step.a),
      currency: 'EUR',
      period: step.b % 2 === 0 ? 'TOTAL' : 'MONTH',
      limit_minor: 500 + (step.c % 5) * 100,
      ...(step.c % 2 === 0 ? {} : { parent: 'company' }),
    },
  }),
  updateBudget: (_seen, step) => ({
    command: updateBudget,
    input: {
      budget: pick(BUDGETS, step.a),
      changes: [{ limit_minor: 300 + step.c }, { status: 'frozen' }, { status: 'active' }][step.b % 3],
    },
  }),
  createWebhook: (_seen, step) => ({
    command: createWebhook,
    input: { url: `https://h${step.a % 3}.example/`, events: null, sealed_secret: 'AAAA' },
  }),
  updateWebhook: (seen, step) => ({
    command: updateWebhook,
    input: {
      endpoint_id: pick(seen.endpoints, step.a)?.endpoint_id ?? 'wh_00000000000000000000000000',
      changes: [{ status: 'disabled' }, { status: 'active' }, { url: `https://u${step.c % 3}.example/` }][
        step.b % 3
      ],
      reason: 'by_admin',
    },
  }),
  deleteWebhook: (seen, step) => ({
    command: deleteWebhook,
    input: { endpoint_id: pick(seen.endpoints, step.a)?.endpoint_id ?? 'wh_00000000000000000000000000' },
  }),
  rotateWebhookSecret: (seen, step) => ({
    command: rotateWebhookSecret,
    input: {
      endpoint_id: pick(seen.endpoints, step.a)?.endpoint_id ?? 'wh_00000000000000000000000000',
      sealed_secret: `R${step.b % 3}`,
      overlap_seconds: 60,
    },
  }),
  rewrapWebhookSecrets: (seen, step) => ({
    command: rewrapWebhookSecrets,
    input: {
      endpoint_id: pick(seen.endpoints, step.a)?.endpoint_id ?? 'wh_00000000000000000000000000',
      sealed: new Map([['AAAA', `W${step.b % 3}`]]),
    },
  }),
  replayWebhook: (seen, step) => ({
    command: replayWebhook,
    input: {
      endpoint_id: pick(seen.endpoints, step.a)?.endpoint_id ?? 'wh_00000000000000000000000000',
      event_ids: seen.events.slice(0, step.b % 3).map(({ event_id }) => event_id),
    },
  }),
  testWebhook: (seen, step) => ({
    command: testWebhook,
    input: { endpoint_id: pick(seen.endpoints, step.a)?.endpoint_id ?? 'wh_00000000000000000000000000' },
  }),
  createChannel: (_seen, step) => ({
    command: createChannel,
    input: {
      name: `c${step.a % 3}`,
      type: 'webhook',
      target: 'h.example',
      sealed_settings: 'AAAA',
      settings_hash: 'sha256:00',
      filter: step.b % 3 === 0 ? { from_minor: 100 } : null,
      quiet_hours: step.c % 3 === 0 ? { time_zone: 'Europe/Berlin', from: '19:00', to: '08:00' } : null,
      show_claims: true,
    },
  }),
  updateChannel: (seen, step) => ({
    command: updateChannel,
    input: {
      channel_id: pick(seen.channels, step.a)?.channel_id ?? 'chn_00000000000000000000000000',
      changes: [{ status: 'disabled' }, { status: 'active' }, { name: `n${step.c % 3}` }][step.b % 3],
      reason: 'REQUESTED',
    },
  }),
  deleteChannel: (seen, step) => ({
    command: deleteChannel,
    input: { channel_id: pick(seen.channels, step.a)?.channel_id ?? 'chn_00000000000000000000000000' },
  }),
  testChannel: (seen, step) => ({
    command: testChannel,
    input: { channel_id: pick(seen.channels, step.a)?.channel_id ?? 'chn_00000000000000000000000000' },
  }),
  noteFailing: (seen, step) => ({
    command: noteFailing,
    input: {
      channel_id: pick(seen.channels, step.a)?.channel_id ?? 'chn_00000000000000000000000000',
      failing_since: new Date(Date.UTC(2026, 10, 24, 0, step.b)).toISOString(),
      error: 'timeout',
    },
  }),
  rewrapChannel: (seen, step) => ({
    command: rewrapChannel,
    input: {
      channel_id: pick(seen.channels, step.a)?.channel_id ?? 'chn_00000000000000000000000000',
      before: 'AAAA',
      after: `W${step.b % 3}`,
    },
  }),
  sendDigest: (seen, step) => {
    const person = pick(seen.members, step.a) ?? NOBODY_JOINED;
    return {
      command: sendDigest,
      input: {
        person: { recipient_id: person.user_id, name: person.principal_id, filter: null, quiet_hours: null },
        due_at: new Date(Date.UTC(2026, 10, 24, 8, step.b % 3)).toISOString(),
        summed: { count: 1, agents: ['one'], amounts: [], expires_at: null },
      },
    };
  },
  enrolSigningKey: (seen, step) => {
    const { user_id, principal_id } = pick(seen.members, step.a) ?? NOBODY_JOINED;
    const passkey = passkeyOf(seen, user_id);
    const claim = enrolmentClaim({ workspace_id: seen.workspace_id, principal_id, user_id });
    return {
      command: enrolSigningKey,
      input: {
        user_id,
        name: `k${step.b % 3}`,
        credential_id: passkey?.id,
        public_key: Buffer.from(passkey?.cose ?? []).toString('base64url'),
        rp_id: 'purser.example',
        origin: 'https://purser.example',
        ...signedBy(passkey, claim),
      },
    };
  },
  endorseSigningKey: (seen, step) => {
    const key = pick(seen.signing_keys, step.a);
    const by = seen.members.find(({ role, user_id }) => role === 'admin' && user_id !== key?.user_id);
    const { user_id, principal_id } = by ?? NOBODY_JOINED;
    const named = key === undefined ? undefined : { ...key, fingerprint: fingerprintOfKey(key) };
    const claim =
      named === undefined ? { type: 'none' } : endorsementClaim(seen.workspace_id, named, principal_id);
    return {
      command: endorseSigningKey,
      input: {
        signing_key_id: key?.signing_key_id ?? NO_SIGNING_KEY,
        user_id,
        ...signedBy(passkeyOf(seen, user_id), claim),
      },
    };
  },
  revokeSigningKey: (seen, step) => {
    const key = pick(seen.signing_keys, step.a);
    return {
      command: revokeSigningKey,
      input: {
        signing_key_id: key?.signing_key_id ?? NO_SIGNING_KEY,
        user_id: key?.user_id ?? NOBODY_JOINED.user_id,
      },
    };
  },
  resetSigningKeys: () => ({ command: resetSigningKeys, input: {} }),
  linkSlack: (seen, step) => ({
    command: linkSlack,
    input: {
      user_id: pick(seen.members, step.a)?.user_id ?? NOBODY_JOINED.user_id,
      slack_account: `T0/U${step.b % 3}`,
      credential_epoch: 0,
    },
  }),
  unlinkSlack: (seen, step) => ({
    command: unlinkSlack,
    input: { user_id: pick(seen.members, step.a)?.user_id ?? NOBODY_JOINED.user_id },
  }),
  setAway: (seen, step) => {
    const until = new Date(now_ms + 86_400_000 * (1 + (step.b % 3))).toISOString();
    return {
      command: setAway,
      input: {
        user_id: pick(seen.members, step.a)?.user_id ?? NOBODY_JOINED.user_id,
        away:
          step.c % 3 === 0
            ? null
            : { until, delegate: pick(seen.members, step.b)?.principal_id ?? NOBODY_JOINED.principal_id },
      },
    };
  },
  setPlan: (_seen, step) => ({
    command: setPlan,
    input: { plan: ['free', 'team', 'enterprise'][step.a % 3] },
  }),
  stopWorkspace: (_seen, step) => ({
    command: stopWorkspace,
    input: { reason: step.a % 2 === 0 ? null : 'A drill.' },
  }),
  updateWorkspace: (_seen, step) => ({
    command: updateWorkspace,
    input: [{ name: uid(step) }, { mode: 'ENFORCE' }, { mode: 'SHADOW' }, { time_zone: 'Asia/Tokyo' }][
      step.a % 4
    ],
  }),
  listMerchants: (seen, step) => ({
    command: listMerchants,
    input: {
      agent: refOf(seen, step.a),
      listings: [
        {
          merchant: MERCHANTS[step.b % 3],
          payee_ids: step.c % 2 === 0 ? [] : ['sepa:DE1'],
          verdict: step.c % 4 === 0 ? 'BLOCKED' : 'ALLOWED',
          note: null,
        },
      ],
      is_reviewer: false,
    },
  }),
  answerQuestion: (seen, step) => {
    const ref = pick(seen.questions, step.a) ?? NO_QUESTION;
    const said = { answer: step.b % 2 === 0 ? 'YES' : 'NO', comment: null, requesters: [] };
    return { command: answerQuestion, input: { ...ref, ...said } };
  },
  forgetAnswer: (seen, step) => ({
    command: forgetAnswer,
    input: pick(seen.questions, step.a) ?? NO_QUESTION,
  }),
  createDecisionLink: (seen, step) => ({
    command: createDecisionLink,
    input: {
      decision_id: pick(seen.decisions, step.a)?.decision_id ?? NOBODY.decision_id,
      token_digest: sha256(`link ${step.b}`),
      acting_principal: null,
      expires_in_seconds: 3_600,
    },
  }),
  revokeDecisionLink: (seen, step) => {
    const link = pick(seen.links, step.a);
    return {
      command: revokeDecisionLink,
      input: {
        decision_id: link?.decision_id ?? NOBODY.decision_id,
        link_id: link?.link_id ?? 'lnk_00000000000000000000000000',
      },
    };
  },
  unlistMerchant: (seen, step) => {
    const entry = pick(seen.entries, step.a);
    return {
      command: unlistMerchant,
      input: {
        agent: entry?.agent_id ?? 'one',
        entry_id: entry?.entry_id ?? 'mer_00000000000000000000000000',
        is_reviewer: false,
      },
    };
  },
  createImport: (seen, step) => ({
    command: createImport,
    input: {
      file_name: uid(step),
      source: 'lines',
      feed: 'lines',
      agent: step.b % 3 === 0 ? null : refOf(seen, step.b),
      mapping: null,
      bytes: null,
    },
  }),
  startImport: (seen, step) => ({
    command: startImport,
    input: {
      import_id: importOf(seen, step.a),
      run_id: `run${step.b % 3}`,
      seconds: step.c % 2 === 0 ? 0 : 60,
    },
  }),
  recordLines: (seen, step) => ({
    command: recordLines,
    input: {
      import_id: importOf(seen, step.a),
      run_id: `run${step.b % 3}`,
      page: 1 + (step.a % 4),
      lines: Array.from({ length: 1 + (step.c % 3) }, (_, i) => ({
        line: lineOf((step.b + i) % 5, step.c % 11 === 0 ? 200 : 100),
        was_seen: step.c % 5 === 0,
        text: 'text',
      })),
      problems: [],
      skipped: step.c % 2 === 0 ? ['NOT_FINAL' as const] : [],
      bytes_read: step.c,
      header: null,
      header_hash: null,
      seconds: 60,
    },
  }),
  finishImport: (seen, step) => ({
    command: finishImport,
    input: {
      import_id: importOf(seen, step.a),
      run_id: `run${step.b % 3}`,
      status: ['DONE', 'FAILED', 'INTERRUPTED'][step.c % 3],
      failure: step.c % 3 === 1 ? { code: 'unreadable', line_number: 1, message: 'No.' } : null,
    },
  }),
  deleteImport: (seen, step) => ({
    command: deleteImport,
    input: { import_id: importOf(seen, step.a) },
  }),
  assignInstrument: (seen, step) => ({
    command: assignInstrument,
    input: {
      instrument: `sepa:card${step.a % 2}`,
      agent: step.b % 3 === 0 ? null : refOf(seen, step.b),
      from: step.c % 2 === 0 ? null : '2026-11-01T00:00:00.000Z',
    },
  }),
  createRail: (_seen, step) => ({
    command: createRail,
    input: {
      kind: step.a % 2 === 0 ? 'lithic' : 'stripe_issuing',
      name: `Rail ${step.b % 3}`,
      ...(step.c % 3 === 0
        ? { sealed_secrets: null, secrets_hash: null }
        : { sealed_secrets: `sealed ${step.c}`, secrets_hash: `sha256:${step.c % 2}` }),
    },
  }),
  updateRail: (seen, step) => ({
    command: updateRail,
    input: {
      rail_id: railOf(seen, step.a).rail_id,
      changes: {
        ...(step.b % 2 === 0 ? {} : { name: `Rail ${step.b % 3}` }),
        ...(step.c % 2 === 0
          ? {}
          : { sealed_secrets: `sealed ${step.c}`, secrets_hash: `sha256:${step.c % 2}` }),
      },
    },
  }),
  deleteRail: (seen, step) => ({ command: deleteRail, input: { rail_id: railOf(seen, step.a).rail_id } }),
  rewrapRail: (seen, step) => ({
    command: rewrapRail,
    input: {
      rail_id: railOf(seen, step.a).rail_id,
      before: step.b % 3 === 0 ? 'other' : (railOf(seen, step.a).sealed_secrets ?? 'none'),
      after: `sealed again ${step.c}`,
    },
  }),
  takeRailEvent: async (seen, step) => {
    const authorization = `iauth_${step.b % 2}`;
    const lines = Array.from({ length: 1 + (step.c % 3) }, (_, i) => ({
      ...lineOf((step.b + i) % 5, step.c % 11 === 0 ? 200 : 100),
      feed: 'lithic',
      authorization_id: authorization,
    }));
    const { input: create } = await (COMMANDS as Any).createDecision(seen, step);
    const { rows } = await superuser.query(
      `select decision_id from rail_authorizations where workspace_id = $1 and authorization_id = $2 and fact = 'DECISION'`,
      [seen.workspace_id, authorization],
    );
    const { rows: heads } = await superuser.query(
      `select seq, (select max(decision_id) from decisions where workspace_id = $1) as newest from ledger_heads where workspace_id = $1`,
      [seen.workspace_id],
    );
    const { action } = create.request;
    const paid = {
      instrument: `sepa:card${step.a % 2}`,
      merchant: action.merchant,
      amount_minor: action.amount_minor,
      currency: action.currency,
      occurred_at: new Date(now_ms).toISOString(),
    };
    const observed = { rail_id: railOf(seen, step.a).rail_id, authorization, occurred_at: paid.occurred_at };
    const watch = {
      authorization,
      state: [null, 'CLOSED', 'DECLINED', 'REVERSED'][step.c % 4],
      decision_id: rows[0]?.decision_id ?? null,
      shadow: { agent_id: create.agent_id, instrument: paid.instrument, assignment_version: 0 },
      make: {
        paid,
        create: { ...create, idempotency_key: `card lithic ${authorization}`, observed },
        asked_id: step.c % 5 === 0 ? (pick(seen.decisions, step.b)?.decision_id ?? null) : null,
        after_seq: Number(heads[0].seq),
        newest_decision_id: heads[0].newest ?? '',
      },
    };
    return {
      command: recordRailEvent,
      input: {
        rail_id: observed.rail_id,
        kind: 'lithic' as const,
        lines,
        watch: step.a % 3 === 0 ? null : watch,
      },
    };
  },
  createLineResolution: async (seen, step) => {
    const decision_id = step.b % 4 === 0 ? (pick(seen.decisions, step.c)?.decision_id ?? null) : null;
    const action = decision_id === null ? (['UNMATCH', 'EXCLUDE', 'INCLUDE'] as const)[step.c % 3] : 'MATCH';
    return {
      command: createLineResolution,
      input: {
        line_id: await lineIdOf(seen, step.a),
        action,
        decision_id,
        requesting_key_id: null,
        comment: null,
      },
    };
  },
  reportUnmatched: async (seen, step) => ({
    command: reportUnmatched,
    input: {
      spends: [
        { line: { line_id: await lineIdOf(seen, step.a) }, state: 'NEVER_ASKED', nearest: [] },
      ] as never,
    },
  }),
  createInvitation: (seen, step) => ({
    command: inviteMember,
    input: {
      email: emailOf(seen, step.a),
      role: ['admin', 'reviewer', 'viewer'][step.b % 3],
      principal_id: step.c % 3 === 0 ? `user:p${step.a % 3}` : null,
      emailed: step.c % 2 === 0,
      acting_principal: null,
    },
  }),
  joinWorkspace: (seen, step) => {
    const invitation = pick(seen.invitations, step.a);
    const email = invitation?.email ?? emailOf(seen, step.a);
    const member = seen.members.find((each) => each.email === email);
    const admittance =
      step.b % 3 === 0 || invitation === undefined
        ? { by: 'provider', role: ['admin', 'viewer'][step.c % 2] }
        : {
            by: 'invitation',
            invitation_id: invitation.invitation_id,
            principal_id: null,
            was_mailed: step.c % 2 === 0,
          };
    const input = {
      admittance,
      email,
      user_id: member?.user_id ?? null,
      name: 'P',
      password_hash: 'x',
      identity: null,
    };
    return { command: joinWorkspace, input };
  },
  updateMember: (seen, step) => ({
    command: updateMember,
    input: {
      user_id: pick(seen.members, step.a)?.user_id ?? 'usr_00000000000000000000000000',
      role: ['admin', 'reviewer', 'viewer'][step.b % 3],
      keep_keys: step.c % 2 === 0,
    },
  }),
  acceptMembership: (seen, step) => ({
    command: acceptMembership,
    input: { user_id: pick(seen.members, step.a)?.user_id ?? 'usr_00000000000000000000000000' },
  }),
  removeMember: (seen, step) => ({
    command: removeMember,
    input: {
      user_id: pick(seen.members, step.a)?.user_id ?? 'usr_00000000000000000000000000',
      keep_keys: step.c % 2 === 0,
    },
  }),
  revokeInvitation: (seen, step) => ({
    command: revokeInvitation,
    input: {
      invitation_id: pick(seen.invitations, step.a)?.invitation_id ?? 'inv_00000000000000000000000000',
    },
  }),
  revokeSessions: (seen, step) => ({
    command: revokeSessions,
    input: { user_id: pick(seen.members, step.a)?.user_id ?? 'usr_00000000000000000000000000' },
  }),
};

/** The names of all commands, by their sources. */
function namesInSources(): string[] {
  const root = new URL('../../src/engine/commands/', import.meta.url);
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  return files.flatMap((file) => {
    const source = readFileSync(new URL(file, root), 'utf8');
    return [...source.matchAll(/^ {2,4}name: '(\w+)',$/gm)].map((found) => found[1] as string);
  });
}

test('every command of the service is among those that are tried', () => {
  expect([...Object.keys(COMMANDS), ...ALONE].sort()).toEqual([...new Set(namesInSources())].sort());
});

const known = new KnownRows(0);
async function run(workspace_id: string, jobs: readonly Job[]): Promise<JobResult[]> {
  const client = await pool.connect();
  const query = client.query;
  client.query = ((statement: { text: string }) => {
    statements.add(statement.text);
    return (query as (one: unknown) => unknown).call(client, statement);
  }) as typeof query;
  try {
    const [results] = await runBatch(client, [{ workspace_id, jobs }], {
      known,
      clock: TRUSTING_CLOCK,
      // On Citus a batch sends the same statements one by one.
      engine: { kind: jobs.length === 1 ? 'citus' : 'postgres' },
      wait: true,
      random: Math.random,
      now_ms: () => performance.now(),
    });
    client.query = query;
    client.release();
    return results as JobResult[];
  } catch (error) {
    client.release(error as Error);
    throw error;
  }
}

/** The command of a step as a job: of the operator, or of a key that may have been revoked. */
async function jobOf(seen: Seen, step: Step): Promise<Job> {
  const { command, input } = await (COMMANDS[step.name] as (typeof COMMANDS)[string])(seen, step);
  const caller = pick(seen.keys, step.c);
  const key = caller?.key_id as string;
  const by_key = ['createDecision', 'consumeCapability'].includes(step.name) || step.b % 3 === 0;
  const actor = by_key ? { ...OPERATOR, type: 'api_key' as const, key_id: key } : OPERATOR;
  const bound = by_key && caller !== undefined && caller.allowance_path.length > 0 ? { bound: caller } : {};
  const origin: Origin = { actor, ...bound, request_id: null, client_address: null };
  return {
    command: command as Job['command'],
    input,
    origin,
    needs: needsOf(command as never, input, origin),
  };
}

/** Columns that every write changes: the time of the last batch, and how often a queue was written. */
const OF_EACH_WRITE: Record<string, string[]> = { ledger_heads: ['time_ms'], webhook_queues: ['puts'] };

/** All rows and answers of a workspace as text, without what may differ: ids are numbered as the chain names them first. */
async function shown(workspace_id: string, answers: readonly JobResult[]): Promise<Record<string, unknown>> {
  const tables = (
    await superuser.query(
      `select table_name from information_schema.columns where table_schema = 'public' and column_name = 'workspace_id' order by 1`,
    )
  ).rows.map((row) => row.table_name as string);
  const names = new Map<string, string>();
  const nameOf = (text: string) => {
    if (!names.has(text)) names.set(text, `#${names.size}`);
    return names.get(text) as string;
  };
  const isDigest = (key: string) => /hash|digest|signature/.test(key);
  const plain = (key: string, value: unknown): unknown => {
    if (value instanceof Uint8Array || (value as Any)?.type === 'Buffer') return '(bytes)';
    if (isDigest(key) && typeof value === 'string' && !/authority/.test(key)) return '(hash)';
    return value instanceof Map ? [...value] : value;
  };
  const textOf = (value: unknown) =>
    JSON.stringify(value, plain)
      .replaceAll(workspace_id, 'W')
      .replaceAll(workspace_id.toLowerCase(), 'w')
      .replace(/sk_…\w+/g, '(hint)')
      .replace(/sha256:[0-9a-f]{64}/g, '(hash)')
      // What a passkey signed differs each time.
      .replace(/[\w-]{43,}/g, '(signed)')
      .replace(/(vel|dup)_[0-9a-f]{32}/g, nameOf)
      .replace(/[0-9A-HJKMNP-TV-Z]{26}/g, nameOf)
      .replace(/(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d)\d(\.\d+)?(Z|\+00)/g, '$1')
      // Of two changes in one batch the second one changes no time.
      .replace(/,?"\w+_at":\{"from":"([^"]*)","to":"\1"\}/g, '')
      .replaceAll('{,', '{');
  const rowsOf = async (table: string, order: string): Promise<Any[]> =>
    (await superuser.query(`select * from ${table} where workspace_id = $1 ${order}`, [workspace_id])).rows;
  // Those that name everything come first, in the order of the chain.
  const first: Record<string, unknown> = {
    ledger_events: (await rowsOf('ledger_events', 'order by seq')).map(textOf),
    audit_records: (await rowsOf('audit_records', 'order by seq')).map(textOf),
    decisions: (await rowsOf('decisions', 'order by decision_id')).map(textOf),
  };
  const rest = tables.filter((table) => !(table in first));
  const others = await Promise.all(
    rest.map(async (table) => {
      const rows = await rowsOf(table, '');
      for (const row of rows) for (const column of OF_EACH_WRITE[table] ?? []) delete row[column];
      const texts = rows.map(textOf).sort();
      // An event that is sent again twice at one moment is sent once.
      return [table, table === 'webhook_deliveries' ? [...new Set(texts)] : texts] as const;
    }),
  );
  return { answers: answers.map(textOf), ...first, ...Object.fromEntries(others) };
}

/** Where two of them differ first, in short; null where they are the same. */
function firstDifference(one: Record<string, unknown>, many: Record<string, unknown>): object | null {
  for (const [table, rows] of Object.entries(one) as [string, string[]][]) {
    const others = many[table] as string[];
    for (let i = 0; i < Math.max(rows.length, others.length); i++) {
      const [row = '(none)', other = '(none)'] = [rows[i], others[i]];
      if (row === other) continue;
      const at = [...row].findIndex((letter, place) => letter !== other[place]);
      const near = (text: string) => `${text.slice(0, 90)} … ${text.slice(Math.max(0, at - 60), at + 120)}`;
      return { table, row: i, at_once: near(row), one_by_one: near(other) };
    }
  }
  return null;
}

const anyStep: fc.Arbitrary<Step> = fc.record({
  // Money most often.
  name: fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom('createDecision', 'createDecision', 'createOutcome', 'createAuthority'),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        'consumeCapability',
        'createReview',
        'createBudget',
        'joinWorkspace',
        'createInvitation',
        'enrolSigningKey',
      ),
    },
    {
      // Files are read page by page.
      weight: 1,
      arbitrary: fc.constantFrom('createImport', 'startImport', 'recordLines', 'recordLines'),
    },
    { weight: 4, arbitrary: fc.constantFrom(...Object.keys(COMMANDS)) },
  ),
  a: fc.nat(200),
  b: fc.nat(200),
  c: fc.nat(200),
});

const SWEEP: Step = { name: 'expireReservations', a: 0, b: 1, c: 0 };
const BEGINNING: Step[] = [
  { name: 'createBudget', a: 0, b: 0, c: 4 },
  { name: 'createBudget', a: 1, b: 1, c: 3 },
  { name: 'joinWorkspace', a: 0, b: 0, c: 0 },
  { name: 'joinWorkspace', a: 1, b: 0, c: 0 },
  { name: 'createAgent', a: 0, b: 0, c: 4 },
  { name: 'createAgent', a: 1, b: 1, c: 5 },
  { name: 'createWebhook', a: 0, b: 0, c: 0 },
  { name: 'createAllowances', a: 1, b: 0, c: 3 },
  { name: 'createRail', a: 0, b: 0, c: 1 },
  { name: 'createIssuer', a: 2, b: 1, c: 3 },
  { name: 'presentAllowance', a: 0, b: 4, c: 1 },
  { name: 'revokeIssuer', a: 0, b: 0, c: 0 },
  { name: 'createDecision', a: 1, b: 0, c: 1 },
  { name: 'createDecision', a: 1, b: 1, c: 2 },
];

test(
  'a batch of many commands is as many batches of one',
  async () => {
    const done = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyStep, { minLength: 10, maxLength: 30 }),
        fc.array(anyStep, { minLength: 6, maxLength: 25 }),
        async (history, steps) => {
          const compared: Record<string, unknown>[] = [];
          const began_ms = now_ms + 60_000;
          for (const at_once of [true, false]) {
            await setClock(began_ms);
            const plan = { plan: 'enterprise', trial_days: null, by: 'operator' } as const;
            const { workspace_id } = await addWorkspace(core, { name: 'W', ...plan });
            for (const step of [...BEGINNING, ...history]) {
              const job = await jobOf(await look(workspace_id), step);
              await run(workspace_id, [job]);
            }
            // Some holds have expired by then.
            await setClock(began_ms + TTL_S * 1_000 * (history.length % 2) + 20_000);
            // A hold expires with the first batch that asks for its budget, which may be another one; so that is done before.
            await run(workspace_id, [await jobOf(await look(workspace_id), { ...SWEEP })]);
            const seen = await look(workspace_id);
            const jobs: Job[] = [];
            for (const step of steps) jobs.push(await jobOf(seen, step));
            const results: JobResult[] = [];
            if (at_once) results.push(...(await run(workspace_id, jobs)));
            else for (const job of jobs) results.push(...(await run(workspace_id, [job])));
            for (const [i, { kind }] of results.entries()) {
              expect(
                kind,
                JSON.stringify(results[i], (_, value) => value?.stack ?? value),
              ).not.toBe('failed');
              const name = (steps[i] as Step).name;
              if (kind === 'done') done.set(name, (done.get(name) ?? 0) + 1);
            }
            compared.push(await shown(workspace_id, results));
          }
          const [one, many] = compared as [Record<string, unknown>, Record<string, unknown>];
          expect(firstDifference(one, many)).toBeNull();
        },
      ),
      { seed: SEED, numRuns: RUNS, ...(PATH === undefined ? {} : { path: PATH }), endOnFailure: true },
    );
    expect(done.size).toBeGreaterThan(Object.keys(COMMANDS).length / 3);
  },
  300_000 + RUNS * 30_000,
);

test('every statement of a batch is one task of Citus: it names the workspace at each table of the workers', async () => {
  const distributed = await distributedTables(superuser);
  expect(statements.size).toBeGreaterThan(60);
  expect([...statements].filter((text) => !isOneTask(text, distributed))).toEqual([]);
});
