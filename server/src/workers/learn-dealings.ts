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
  loadCountedSaid,
  loadDealings,
  loadSpokenOf,
  putCountedSaid,
  putDealings,
} from '../storage/dealings.ts';
import { loadKeptDecisions } from '../storage/decisions.ts';
import { loadLabels } from '../storage/labels.ts';
import type { Follower } from './follow-chains.ts';

/** Events looked at in one transaction. */
const MAX_EVENTS = 20_000;
/**
 * Of these, at most so many that say something: for each a decision's document is read, and a page must keep neither the
 * event loop nor a transaction busy for long.
 */
const MAX_SPOKEN = 500;
/** Together, so that a round ends soon enough for a stop, whoever is behind. */
export const MAX_PAGES_A_ROUND = 100;

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

/** Adds up what events say of spends, for the assessor's knowledge of the past. */
export const learnDealings: Follower = {
  name: 'learning',
  max_events: MAX_EVENTS,
  async fold(client, workspace_id, range) {
    const { last_seq, decision_ids } = await loadSpokenOf(client, workspace_id, {
      ...range,
      most: MAX_SPOKEN,
    });
    if (decision_ids.length > 0) await learn(client, workspace_id, decision_ids);
    return last_seq;
  },
};
