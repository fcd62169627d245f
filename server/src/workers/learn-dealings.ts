import type pg from 'pg';
import type { Logger } from 'pino';
import {
  addSaid,
  type DealingKind,
  type DealingsRow,
  NOTHING_SAID,
  purposeHash,
  type Said,
  type Spoken,
  saidOf,
} from '../domain/dealings.ts';
import { initialState } from '../domain/decision-states.ts';
import type { Decision } from '../domain/decisions.ts';
import { historyKey, historyWords } from '../purpose/history.ts';
import { loadAuthorityVersions, parseAuthority } from '../storage/authorities.ts';
import type { Client } from '../storage/database.ts';
import {
  findWorkspacesToLearnFrom,
  loadCountedSaid,
  loadDealings,
  loadSpokenOf,
  lockDealingsWatermark,
  moveDealingsWatermark,
  putCountedSaid,
  putDealings,
} from '../storage/dealings.ts';
import { loadKeptDecisions } from '../storage/decisions.ts';
import { loadLabels } from '../storage/labels.ts';
import { inTransaction } from '../storage/transactions.ts';
import { followChains } from './follow-chains.ts';

/** Events looked at in one transaction. */
const EVENTS_AT_ONCE = 20_000;
/**
 * Of these, at most so many that say something: for each a decision's document is read, and a page must keep neither the
 * event loop nor a transaction busy for long.
 */
const SPOKEN_AT_ONCE = 500;
const WORKSPACES_A_ROUND = 100;
/** Together, so that a round ends soon enough for a stop, whoever is behind. */
const PAGES_A_ROUND = 100;

/** Whose dealings a spend belongs to: its merchant's, its payee's and, where people labelled it, its words'. */
function placesOf(made: Decision, labelled: boolean): { kind: DealingKind; name: string }[] {
  const { merchant, payee_id, description } = made.action;
  return [
    { kind: 'merchant', name: historyKey(merchant) },
    ...(payee_id === undefined ? [] : [{ kind: 'payee' as const, name: payee_id }]),
    ...(labelled ? historyWords(description ?? '') : []).map((name) => ({ kind: 'word' as const, name })),
  ];
}

/** By the purposes of the authorities that decisions were made by. */
async function loadPurposeHashes(
  client: Client,
  workspace_id: string,
  decisions: readonly Decision[],
): Promise<(made: Decision) => string | undefined> {
  const hashes = new Map<string, string>();
  for (const agent_id of new Set(decisions.map((made) => made.agent.id))) {
    const versions = new Set(
      decisions.flatMap((made) => (made.agent.id === agent_id ? (made.authority_version ?? []) : [])),
    );
    for (const row of await loadAuthorityVersions(client, workspace_id, agent_id, [...versions])) {
      hashes.set(`${agent_id} ${row.version}`, purposeHash(parseAuthority(row).purpose));
    }
  }
  return (made) => hashes.get(`${made.agent.id} ${made.authority_version}`);
}

/**
 * Adds up what the next events of a workspace say of its spends, in one transaction with the watermark: however many
 * nodes are at it and wherever one dies, everything counts once. `most`: of so many events. Whether there is more.
 */
export async function learnNext(
  pool: pg.Pool,
  workspace_id: string,
  most: number = SPOKEN_AT_ONCE,
): Promise<boolean> {
  return inTransaction(pool, { reading: false }, async (client) => {
    const after = await lockDealingsWatermark(client, workspace_id);
    if (after === undefined) return false;
    const upto = after + EVENTS_AT_ONCE;
    const found = await loadSpokenOf(client, workspace_id, { after, upto, most });
    const { last_seq, head_seq, decision_ids } = found;
    if (decision_ids.length > 0) await learn(client, workspace_id, decision_ids);
    if (last_seq > after) await moveDealingsWatermark(client, workspace_id, last_seq);
    return last_seq < head_seq;
  });
}

async function learn(client: Client, workspace_id: string, decision_ids: readonly string[]): Promise<void> {
  const kept = await loadKeptDecisions(
    client,
    decision_ids.map((decision_id) => ({ workspace_id, decision_id })),
  );
  const label_ids = kept.flatMap(({ state }) => state?.label_id ?? []);
  const labels = new Map(
    (await loadLabels(client, workspace_id, label_ids)).map((row) => [row.label_id, row.label]),
  );
  const counted = new Map(
    (await loadCountedSaid(client, workspace_id, decision_ids)).map(({ decision_id, ...said }) => [
      decision_id,
      said,
    ]),
  );
  const purposeHashOf = await loadPurposeHashes(
    client,
    workspace_id,
    kept.map(({ made }) => made),
  );
  const spoken: { place: Pick<DealingsRow, 'agent_id' | 'purpose_hash' | 'kind' | 'name'>; said: Spoken }[] =
    [];
  const now_counted: (Said & { decision_id: string })[] = [];
  for (const { made, state } of kept) {
    const purpose_hash = purposeHashOf(made);
    if (purpose_hash === undefined) continue;
    const label = labels.get(state?.label_id ?? '') ?? null;
    const now = saidOf(state ?? initialState(made), label);
    const before = counted.get(made.decision_id) ?? NOTHING_SAID;
    now_counted.push({ decision_id: made.decision_id, ...now });
    const { amount_minor, currency, payee_id = null } = made.action;
    for (const place of placesOf(made, label !== null)) {
      spoken.push({
        place: { agent_id: made.agent.id, purpose_hash, ...place },
        said: { before, now, amount_minor, currency, payee_id },
      });
    }
  }
  const nameOf = (place: (typeof spoken)[number]['place']) =>
    `${place.agent_id} ${place.purpose_hash} ${place.kind} ${place.name}`;
  const places = new Map(spoken.map(({ place }) => [nameOf(place), place]));
  const rows = new Map(
    (await loadDealings(client, workspace_id, [...places.values()])).map((row) => [nameOf(row), row]),
  );
  for (const { place, said } of spoken) {
    const row = rows.get(nameOf(place)) ?? {
      ...place,
      allowed: 0,
      denied: 0,
      aligned: 0,
      misaligned: 0,
      paid: 0,
      usual_minor: {},
      payee_ids: [],
    };
    rows.set(nameOf(place), addSaid(row, said));
  }
  if (rows.size > 0) await putDealings(client, workspace_id, [...rows.values()]);
  if (now_counted.length > 0) await putCountedSaid(client, [{ workspace_id, rows: now_counted }]);
}

/** Adds up what was said since the last round: a page of each workspace in turn, so that none waits for another's end. */
export async function learnDealings(options: { pool: pg.Pool; log: Logger }): Promise<void> {
  const { pool, log } = options;
  await followChains({
    workspace_ids: await findWorkspacesToLearnFrom(pool, WORKSPACES_A_ROUND),
    most_pages: PAGES_A_ROUND,
    next: (workspace_id) => learnNext(pool, workspace_id),
    onFailure: (error, workspace_id) =>
      log.warn({ err: error, workspace_id }, 'the past could not be added up; the next round tries again'),
  });
}
