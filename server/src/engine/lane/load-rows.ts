import type { Engine } from '../citus/engine.ts';
import { batchTimes } from '../clock-watch.ts';
import type { Needs } from '../needs/needs.ts';
import { selectTogether } from '../one-task/one-select.ts';
import type { Client } from '../storage/database.ts';
import { withoutWorkspace } from '../storage/rows.ts';
import type { LockedHead } from '../storage/workspaces.ts';
import type { KnownRows } from './known-rows.ts';
import { addLoaded, FLAG_OF, KINDS, type Load, type Loaded, nothingLoaded } from './tables.ts';

/** The needs of the commands of one workspace. */
export interface Wanted {
  workspace_id: string;
  needs: readonly Needs[];
}

/** A key to load rows by. */
interface Key {
  workspace_id: string;
  /** Its only field's value, as `keyOf` of a knowable kind has it; all values of a key of several fields. */
  name: string;
  fields: object;
}

const joined = (fields: object): string => {
  const values: unknown[] = Object.values(fields);
  return values.length === 1 ? String(values[0]) : values.join(' ');
};

/** How a kind of rows is loaded that a batch needs: some rows are known, if the head says so, the others unknown. */
interface Plan {
  kind: keyof Loaded;
  each: Load;
  taken: { key: Key; rows: readonly object[] }[];
  unknown: Key[];
}

/** Collects the keys that all commands need of one kind, each key once for each workspace. */
function collectKeys(wanted: readonly Wanted[], { keysOf, nameOf = joined }: Load): Key[] {
  const keys: Key[] = [];
  for (const { workspace_id, needs } of wanted) {
    let seen: Set<string> | undefined;
    for (const need of needs) {
      for (const fields of keysOf(need)) {
        const name = nameOf(fields);
        seen ??= new Set();
        if (seen.has(name)) continue;
        seen.add(name);
        keys.push({ workspace_id, name, fields });
      }
    }
  }
  return keys;
}

/** Waits for all promises, then throws the first failure, so that no answer of a pipelined connection is left unread. */
export async function settleAll<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(promises);
  for (const each of settled) if (each.status === 'rejected') throw each.reason;
  return settled.map((each) => (each as PromiseFulfilledResult<T>).value);
}

/** The rows of a batch on their way. */
export interface Loading {
  /** The statements that were sent. */
  sent: readonly Promise<unknown>[];
  /** Waits for them, and returns what each workspace has at these heads, which were locked before them. */
  finish: (heads: readonly LockedHead[]) => Promise<Map<string, Loaded>>;
}

/**
 * Sends the statements of all kinds that are needed, without waiting, but for rows that are known. `finish` loads those after
 * all where the head is another one; budgets also where holds have expired, which may count in months before those that are
 * known. Webhook endpoints and channels come then too, because only the heads tell which workspaces have any.
 */
export function sendLoads(
  client: Client,
  wanted: readonly Wanted[],
  { known, engine }: { known: KnownRows; engine?: Engine | undefined },
): Loading {
  const rows = new Map<string, Loaded>();
  for (const { workspace_id } of wanted) rows.set(workspace_id, nothingLoaded());
  const load = async (on: Client, { kind, each: { rowsOf } }: Plan, keys: readonly Key[]) => {
    const found = await rowsOf(
      on,
      keys.map(({ workspace_id, fields }) => ({ workspace_id, ...fields })),
    );
    for (const row of found) addLoaded(rows.get(row.workspace_id) as Loaded, kind, [withoutWorkspace(row)]);
  };
  const plans: Plan[] = [];
  for (const [kind, each] of KINDS) {
    const keys = collectKeys(wanted, each);
    if (keys.length === 0) continue;
    const plan: Plan = { kind, each, taken: [], unknown: [] };
    for (const key of keys) {
      const found = each.known && known.find(key.workspace_id, kind, key.name);
      if (found === undefined) plan.unknown.push(key);
      else plan.taken.push({ key, rows: found });
    }
    plans.push(plan);
  }
  const issue = (send: (on: Client) => Promise<void>[]) =>
    engine?.kind === 'citus' ? selectTogether(client, send) : send(client);
  const sent = issue((on) =>
    plans.flatMap((plan) =>
      FLAG_OF.has(plan.kind) || plan.unknown.length === 0 ? [] : [load(on, plan, plan.unknown)],
    ),
  );

  async function finish(heads: readonly LockedHead[]): Promise<Map<string, Loaded>> {
    await Promise.all(sent);
    const locked = new Map(heads.map((head) => [head.workspace_id, head]));
    const holding = heads.filter((head) =>
      known.holdsAt(head.workspace_id, head, batchTimes(head.clock_ms, head.time_ms).now_ms),
    );
    const is_known = new Set(holding.map((head) => head.workspace_id));
    const late = plans.map((plan) => {
      const { kind, taken, unknown } = plan;
      const flag = FLAG_OF.get(kind);
      const keys = flag === undefined ? [] : [...unknown];
      for (const { key, rows: found } of taken) {
        const { workspace_id } = key;
        const loaded = rows.get(workspace_id) as Loaded;
        const may_lack = kind === 'budgets' && loaded.due_holds.length > 0;
        if (is_known.has(workspace_id) && !may_lack) addLoaded(loaded, kind, found);
        else keys.push(key);
      }
      const wants = ({ workspace_id }: Key) => {
        const head = locked.get(workspace_id);
        return flag === undefined ? head !== undefined : head?.[flag] === true;
      };
      return { plan, keys: keys.filter(wants) };
    });
    await settleAll(
      issue((on) => late.flatMap(({ plan, keys }) => (keys.length === 0 ? [] : [load(on, plan, keys)]))),
    );
    return rows;
  }
  return { sent, finish };
}
