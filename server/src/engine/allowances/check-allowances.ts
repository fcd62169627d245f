import { type Allowance, termsOf } from '@purser/rules/counters/allowances';
import { pushTo } from '@purser/rules/values/maps';
import type { Queryable } from '../storage/database.ts';
import {
  type AllowanceLabel,
  listAllowances,
  listLabels,
  listStandingOfAgents,
  listUses,
  loadChains,
} from './allowance-rows.ts';

const ROWS_AT_ONCE = 200;

/** The parts of a verification that allowances use. */
interface Verified {
  db: Queryable;
  workspace_id: string;
  /** The rows of each table that were accounted for. */
  tally: { found: Record<'allowance_labels' | 'allowance_decisions', number> };
  findings: { addDerived(found: { seq: number; kind: 'ROW_MISMATCH'; detail: string }): void };
}

/** An event of the chain; `under`: the part of a decision's document that names its allowance. */
interface MadeUnder {
  seq: number;
  subject_id: string;
  under: string | null;
}

/** The ids of the allowances that a decision names, in the text that was cut out of its document. */
const NAMED =
  /^,"min_amount_minor":(?:null|\d+)(?:,"standing_approval":\{"id":"(alw_[0-9A-Z]{26})","answers":\[[A-Z_",]*\]\})?(?:,"allowance":\{"id":"(alw_[0-9A-Z]{26})")?/;

/** Reports decisions of a page for which it is not noted right which allowances they were made under. */
export async function checkUses(
  { db, workspace_id, tally, findings }: Verified,
  events: readonly MadeUnder[],
): Promise<void> {
  const named = events.flatMap(({ seq, subject_id: decision_id, under }) => {
    const [, standing, allowance] = NAMED.exec(under ?? '') ?? [];
    const ids = [standing, allowance].flatMap((id) => id ?? []);
    return ids.length === 0 ? [] : [{ seq, decision_id, ids }];
  });
  if (named.length === 0) return;
  const rows = await loadChains(db, workspace_id, [...new Set(named.flatMap((each) => each.ids))]);
  const uses = new Map<string, string[]>();
  const made = named.map(({ decision_id }) => decision_id);
  for (const { decision_id, allowance_id } of await listUses(db, workspace_id, made))
    pushTo(uses, decision_id, allowance_id);
  for (const { seq, decision_id, ids } of named) {
    const expected = new Set(ids.flatMap((id) => rows.get(id)?.path ?? [id]));
    const noted = uses.get(decision_id) ?? [];
    const right = noted.filter((each) => expected.has(each));
    tally.found.allowance_decisions += right.length;
    if (right.length === expected.size) continue;
    const detail = `The allowances noted for decision ${decision_id} differ from its record.`;
    findings.addDerived({ seq, kind: 'ROW_MISMATCH', detail });
  }
}

const nameOf = ({ key, value }: Pick<AllowanceLabel, 'key' | 'value'>) => JSON.stringify([key, value]);

/** The labels of an allowance; none where its row was altered so that they cannot be read, which is reported as that. */
function labelsOf(allowance: Allowance): [string, string][] {
  try {
    return Object.entries(termsOf(allowance).labels);
  } catch {
    return [];
  }
}

/** Yields all allowances, page by page, and reports those whose labels do not say what they do. */
export async function* checkedAllowances({
  db,
  workspace_id,
  sealed,
  tally,
  findings,
}: Verified & { sealed: ReadonlyMap<string, { seq: number }> }): AsyncGenerator<Allowance> {
  for (let after = ''; ; ) {
    const rows = await listAllowances(db, workspace_id, { after, limit: ROWS_AT_ONCE });
    const labels = new Map<string, string[]>();
    const ids = rows.map(({ allowance_id }) => allowance_id);
    for (const label of await listLabels(db, workspace_id, ids))
      pushTo(labels, label.allowance_id, nameOf(label));
    for (const allowance of rows) {
      const { allowance_id } = allowance;
      const expected = new Set(labelsOf(allowance).map(([key, value]) => nameOf({ key, value })));
      const right = (labels.get(allowance_id) ?? []).filter((each) => expected.has(each));
      tally.found.allowance_labels += right.length;
      const seq = sealed.get(`allowance ${allowance_id}`)?.seq;
      if (seq !== undefined && right.length !== expected.size) {
        const detail = `The labels of allowance ${allowance_id} differ from its record.`;
        findings.addDerived({ seq, kind: 'ROW_MISMATCH', detail });
      }
      yield allowance;
    }
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.allowance_id;
  }
}

/** Reports agents whose version of standing approvals is not the newest event of one of these. */
export async function checkStandingVersions({
  db,
  workspace_id,
  sealed,
  findings,
}: Verified & { sealed: ReadonlyMap<string, { seq: number }> }): Promise<void> {
  for (const { agent_id, version, allowance_ids } of await listStandingOfAgents(db, workspace_id)) {
    const seq = sealed.get(`agent ${agent_id}`)?.seq;
    const newest = Math.max(0, ...allowance_ids.map((id) => sealed.get(`allowance ${id}`)?.seq ?? 0));
    if (seq === undefined || version === newest) continue;
    const detail = `The row of agent ${agent_id} names another event than the newest of its standing approvals.`;
    findings.addDerived({ seq, kind: 'ROW_MISMATCH', detail });
  }
}
