import { setImmediate as nextTurn } from 'node:timers/promises';
import type pg from 'pg';
import Type, { type Static } from 'typebox';
import { type Authority, authorityHash } from '../domain/authorities.ts';
import { DECISIONS, REASON_CODES } from '../domain/decisions.ts';
import { makeSimulation, SKIP_REASONS } from '../domain/simulate.ts';
import { ApiError } from '../errors.ts';
import type { Assess } from '../purpose/assessment.ts';
import { getAgent } from '../storage/agents.ts';
import { loadAuthorityVersions, parseAuthority } from '../storage/authorities.ts';
import { loadDecisionEvents } from '../storage/decision-events.ts';
import { listNewestDecisionIds, loadMadeDecisions } from '../storage/decisions.ts';
import { AuthorityBody } from './agents.ts';
import type { Call, Route } from './route.ts';
import { Fields, Id, LimitMinor, Nullable, OneOf, QueryInteger, Timestamp } from './schemas.ts';

const DEFAULT_DECISIONS = 500;
const MOST_DECISIONS = 2_000;
/** Decisions read at a time. */
const LOADED_AT_ONCE = 200;
/** Decisions replayed in one go, then other requests are served: one with much text takes some milliseconds. */
const REPLAYED_AT_ONCE = 10;

const Count = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description === undefined ? {} : { description }) });
const Kind = OneOf(DECISIONS);
const Reason = OneOf(REASON_CODES);

const Tally = Fields({
  allow: Count(),
  review: Count(),
  deny: Count(),
  authorized_minor: LimitMinor({
    description: 'What could be spent at once; a REVIEW authorizes nothing yet.',
  }),
});

const SimulationBody = Fields(
  {
    saved: Type.Literal(false, { description: 'Nothing is saved.' }),
    base_version: Nullable(
      Type.Integer({ minimum: 1, description: "The agent's current version; null: it has no authority." }),
    ),
    draft_hash: Type.String({
      pattern: '^sha256:[0-9a-f]{64}$',
      description: 'The hash that the draft would have as an authority.',
    }),
    evaluated: Count('How many decisions were replayed.'),
    skipped: Type.Array(
      Fields({
        reason: OneOf(SKIP_REASONS, {
          description: "CURRENCY_DIFFERS: in another currency than the draft's, so no limit of it applies.",
        }),
        count: Count(),
      }),
    ),
    current: Tally,
    draft: Tally,
    transitions: Type.Array(
      Fields({
        from: Kind,
        to: Kind,
        count: Count(),
        amount_minor: LimitMinor({ description: 'As requested.' }),
      }),
      { description: 'Decisions that would have been another.' },
    ),
    changed: Type.Array(
      Fields({
        decision_id: Id('decision'),
        created_at: Timestamp(),
        merchant: Type.String(),
        amount_minor: LimitMinor({ description: 'As requested.' }),
        current: Fields({ decision: Kind, reason_code: Reason }),
        draft: Fields({ decision: Kind, reason_code: Reason, authorized_amount_minor: LimitMinor() }),
      }),
      {
        maxItems: 100,
        description:
          'The newest 100 that would have been another, or for another first reason or amount; newest first.',
      },
    ),
  },
  {
    $id: 'Simulation',
    description: "Amounts are minor units of the draft's currency.",
  },
);

const SimulateQuery = Fields({
  limit: Type.Optional(
    QueryInteger(
      { min: 1, max: MOST_DECISIONS, default: DEFAULT_DECISIONS },
      { description: "How many of the agent's newest decisions are replayed." },
    ),
  ),
});

/** Trying out a draft of an authority on what an agent really asked for. */
export function makeSimulationRoutes(options: { db: pg.Pool; assess: Assess }): Route[] {
  const { db, assess } = options;
  return [
    {
      method: 'POST',
      path: '/v1/agents/:id/authority/simulate',
      operationId: 'simulateAuthority',
      tag: 'Agents',
      summary: 'Try out a draft authority on recent real decisions',
      description:
        "Replays the agent's newest decisions in the order of their making, each against the month's budget as it then stood, but for what the draft would have held otherwise, which follows what really happened to it (executed, failed, refunded, denied by a person). So the authority that the decisions were made by changes nothing. Nothing is saved. Purpose is judged anew only where the draft changes what it is judged by.",
      scopes: ['admin'],
      takes_long: true,
      params: Fields({ id: Type.String({ description: "The agent's id or slug." }) }),
      query: SimulateQuery,
      body: AuthorityBody,
      responses: { 200: { description: 'What the draft would have changed.', schema: SimulationBody } },
      errors: ['not_found'],
      handler: async (call: Call<{ id: string }, Static<typeof SimulateQuery>, Authority>) => {
        const { workspace_id } = call.caller;
        const draft = call.body;
        const agent = await getAgent(db, workspace_id, call.params.id);
        if (agent === undefined) throw new ApiError('not_found', 'There is no such agent.');
        const { agent_id } = agent;
        const { limit = DEFAULT_DECISIONS } = call.query;
        const ids = await listNewestDecisionIds(db, workspace_id, agent_id, limit);
        const events = [...(await loadDecisionEvents(db, workspace_id, ids)).values()].flat();
        const simulation = makeSimulation({ draft, assess, events });
        const authorities = new Map<number, Authority>();
        const pages = Array.from({ length: Math.ceil(ids.length / LOADED_AT_ONCE) }, (_, n) =>
          ids.slice(n * LOADED_AT_ONCE, (n + 1) * LOADED_AT_ONCE),
        );
        const load = async (page: readonly string[] | undefined) => {
          if (page === undefined) return [];
          const made = await loadMadeDecisions(db, workspace_id, page);
          const unknown = new Set(made.flatMap((each) => each.authority_version ?? []));
          for (const version of authorities.keys()) unknown.delete(version);
          if (unknown.size > 0) {
            const rows = await loadAuthorityVersions(db, workspace_id, agent_id, [...unknown]);
            for (const row of rows) authorities.set(row.version, parseAuthority(row));
          }
          return made;
        };
        let next = load(pages[0]);
        for (const n of pages.keys()) {
          const made = await next;
          // The database reads the next page while this one is replayed.
          next = load(pages[n + 1]);
          for (const [i, each] of made.entries()) {
            if (i % REPLAYED_AT_ONCE === 0) await nextTurn();
            simulation.replay(each, authorities.get(each.authority_version ?? 0) ?? null);
          }
        }
        return {
          status: 200,
          body: {
            saved: false,
            base_version: agent.authority_version,
            draft_hash: authorityHash(draft),
            ...simulation.result(),
          },
        };
      },
    },
  ];
}
