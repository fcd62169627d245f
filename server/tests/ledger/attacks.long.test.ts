import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCheckpoint, signCheckpoint } from '@purser/rules/domain/checkpoints';
import { decisionDataHash } from '@purser/rules/domain/decisions';
import { eventHash } from '@purser/rules/domain/ledger';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { AS_LISTED, AS_RECORDS, loadDecisionRows } from '../../src/engine/storage/decisions.ts';
import { findDecisions } from '../../src/engine/storage/find-decisions.ts';
import { loadLedgerEvents } from '../../src/engine/storage/ledger.ts';
import { DecisionView } from '../../src/service/decisions/present-decisions.ts';
import { deriveSecrets } from '../../src/service/installation/secrets.ts';
import { type FullHistory, makeFullHistory } from '../support/full-history.ts';
import { breakIn, type Intruder } from '../support/shards.ts';

/**
 * What a chain of hashes alone does not stop: whoever may write everything in the database makes it consistent
 * again. The signed checkpoints, of which copies lie outside, tell it from the history that was.
 */
let h: FullHistory;
let intruder: Intruder;
let tables: string[];
let files: string;
/** Copies all tables as they stand at one moment, since followers write meanwhile. */
const copyAs = (kind: 'kept' | 'older') =>
  intruder.together(
    tables.map((table) => `create table ${kind}_${table} as table ${table}`),
    'repeatable read',
  );

beforeAll(async () => {
  h = await makeFullHistory(async (s) => {
    tables = (
      await s.sql(
        `select tablename from pg_tables where schemaname = 'public' and tablename <> 'schema_migrations'
           and tablename !~ '_[0-9]{6}'`,
      )
    ).rows.map((row) => row.tablename);
    intruder = await breakIn(s.database.connection, s.workspace_id, s.sql);
    await copyAs('older');
  });
  await copyAs('kept');
  files = await mkdtemp(join(tmpdir(), 'purser-kept-'));
  await cp(h.checkpoint_dir, files, { recursive: true });
});
afterEach(async () => {
  await replaceBy('kept');
  await rm(h.checkpoint_dir, { recursive: true, force: true });
  await cp(files, h.checkpoint_dir, { recursive: true });
  expect((await h.verify()).valid).toBe(true);
});
afterAll(async () => {
  await rm(files, { recursive: true, force: true });
  await intruder.close();
  await h.stop();
});

const sql = (text: string) => intruder.sql(text.replaceAll(/\bW\b/g, `'${h.workspace_id}'`));
async function replaceBy(kind: 'kept' | 'older', except: string[] = []): Promise<void> {
  // The rows that differ, since emptying a table takes longer.
  const statements = tables
    .filter((each) => !except.includes(each))
    .flatMap((table) => [
      `delete from ${table} t where t::text not in (select k::text from ${kind}_${table} k)`,
      `insert into ${table} select k.* from ${kind}_${table} k where k::text not in (select t::text from ${table} t)`,
    ]);
  await intruder.together(statements);
}
const first = (found: Awaited<ReturnType<FullHistory['verify']>>) => [
  found.valid,
  found.first_break_seq,
  found.breaks[0]?.kind,
];
const pruneCheckpoints = () => sql('truncate table checkpoints');
const pruneFiles = () => rm(h.checkpoint_dir, { recursive: true, force: true });
/** The places in the chain of which the table or the files hold checkpoints. */
async function signedSeqs(): Promise<number[]> {
  const names = await readdir(join(h.checkpoint_dir, h.workspace_id));
  const { rows } = await sql('select seq from checkpoints where workspace_id = W');
  const seqs = [...names.map((name) => Number(name.slice(0, 16))), ...rows.map((row) => Number(row.seq))];
  return [...new Set(seqs)].sort((a, b) => a - b);
}

/**
 * Spoils a decision and rewrites the whole chain, head and all, with correct hashes. The decision is the first that made
 * no merchant known, since a later one may have made the same merchant known.
 */
async function recomputeFromFirst(): Promise<number> {
  const changed = await sql(
    `update decisions set document = replace(document, 'Hetzner', 'Metzner'), core = replace(core, 'Hetzner', 'Metzner'),
     merchant = replace(merchant, 'Hetzner', 'Metzner')
     where decision_id = (select d.decision_id from decisions d where d.workspace_id = W and d.merchant like 'Hetzner%'
       and not exists (select from known_merchants k where k.workspace_id = W and k.decision_id = d.decision_id)
       order by 1 limit 1)
     returning decision_id`,
  );
  // What was learnt from it would not fit any more, and is learnt anew by itself.
  for (const table of ['feedback', 'decision_lessons', 'feedback_watermarks'])
    await sql(`truncate table ${table}`);
  return recompute([changed.rows[0].decision_id]);
}

/** Rewrites the chain, head and all, after these decisions were changed. Returns the place of the last of them. */
async function recompute(decision_ids: string[]): Promise<number> {
  const { core, workspace_id } = h;
  const found = await loadDecisionRows(core.ledger_db, workspace_id, decision_ids);
  const rows = new Map(found.map((row) => [row.decision_id, row]));
  let previous: Buffer | null = null;
  let changed_seq = 0;
  for (const event of await loadLedgerEvents(core.ledger_db, workspace_id, { after: 0, limit: 1_000 })) {
    const row = event.type === 'decision.created' ? rows.get(event.subject_id) : undefined;
    if (row !== undefined) {
      changed_seq = event.seq;
      event.data_hash = decisionDataHash(row);
    }
    event.prev_hash = previous ?? event.prev_hash;
    const hash: Buffer = eventHash(event);
    previous = hash;
    await intruder.sql(
      'update ledger_events set data_hash = $3, prev_hash = $4, hash = $5 where workspace_id = $1 and seq = $2',
      [workspace_id, event.seq, event.data_hash, event.prev_hash, hash],
    );
  }
  await intruder.sql('update ledger_heads set hash = $2 where workspace_id = $1', [workspace_id, previous]);
  return changed_seq;
}

describe('a cut tail', () => {
  test('of entries alone is cut off after the last one', async () => {
    await sql(`delete from ledger_events where workspace_id = W and seq > ${h.middle_seq - 2}`);
    expect(first(await h.verify())).toEqual([false, h.middle_seq - 1, 'TRUNCATED']);
  });
  test('with the head moved back is found by the table, and by the files alone', async () => {
    const cut = async () => {
      await sql(`delete from ledger_events where workspace_id = W and seq > ${h.middle_seq}`);
      await sql(`update ledger_heads set seq = ${h.middle_seq}, hash = (select hash from ledger_events
        where workspace_id = W and seq = ${h.middle_seq}) where workspace_id = W`);
    };
    await cut();
    expect(first(await h.verify())).toEqual([false, h.middle_seq + 1, 'TRUNCATED']);
    await pruneCheckpoints();
    expect(first(await h.verify())).toEqual([false, h.middle_seq + 1, 'TRUNCATED']);
  });
});

describe('an older backup, in itself consistent', () => {
  test('is valid for the chain alone, and found by either copy of the checkpoints', async () => {
    await replaceBy('older', ['checkpoints']);
    expect(first(await h.verify({ checkpoint_dir: '/nowhere' }))).toEqual([
      false,
      h.middle_seq + 1,
      'TRUNCATED',
    ]);
    await replaceBy('older');
    expect((await h.verify({ checkpoint_dir: '/nowhere' })).breaks).toEqual([]);
    expect(first(await h.verify())).toEqual([false, h.middle_seq + 1, 'TRUNCATED']);
    await pruneFiles();
    expect((await h.verify()).valid).toBe(true);
  });
  test('is found by whoever remembers how far the history had come', async () => {
    await replaceBy('older');
    await pruneFiles();
    expect(first(await h.verify({ since: h.last_seq }))).toEqual([false, h.middle_seq + 1, 'TRUNCATED']);
  });
  test('gets no new signature, also when it has grown past the last one', async () => {
    const { core, workspace_id } = h;
    await replaceBy('older', ['checkpoints']);
    const before = await signedSeqs();
    await core.signer.sign(workspace_id);
    expect(await signedSeqs()).toEqual(before);
    expect((await sql('select max(seq) as seq from checkpoints where workspace_id = W')).rows[0].seq).toBe(
      String(h.last_seq),
    );
  });
});

describe('a deleted chain', () => {
  test('is missed: entries, entries and head, and every row of the workspace', async () => {
    await sql('delete from ledger_events where workspace_id = W');
    expect(first(await h.verify())).toEqual([false, 1, 'TRUNCATED']);
    await sql('delete from ledger_heads where workspace_id = W');
    expect(first(await h.verify())).toEqual([false, 1, 'TRUNCATED']);
    for (const table of tables) await sql(`truncate table ${table}`);
    const found = await h.verify();
    expect(first(found)).toEqual([false, 1, 'TRUNCATED']);
    expect(found.breaks[0]?.detail).toMatch(/^The (head of the chain is gone|chain ends at event 0)/);
    expect(found.events_checked).toBe(0);
  });
});

describe('a chain written anew with correct hashes', () => {
  test('is altered at the first signed event that differs', async () => {
    const changed_seq = await recomputeFromFirst();
    expect((await h.verify({ checkpoint_dir: '/nowhere' })).valid).toBe(false);
    const signed = (await signedSeqs()).filter((seq) => seq >= changed_seq)[0];
    const found = await h.verify();
    const altered = found.breaks.find(({ kind }) => kind === 'ENTRY_ALTERED');
    expect([found.valid, altered?.seq]).toEqual([false, signed]);
    // Statements that people signed later name the hash that was; the first may be before the next checkpoint.
    const kinds = new Set(found.breaks.map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(['ENTRY_ALTERED', 'SIGNATURE_INVALID']);
  });
  test('is found by the files alone, and by the table alone', async () => {
    await recomputeFromFirst();
    await pruneCheckpoints();
    expect((await h.verify()).valid).toBe(false);
    await replaceBy('kept');
    await recomputeFromFirst();
    await pruneFiles();
    expect((await h.verify()).valid).toBe(false);
    await pruneCheckpoints();
    // Without any checkpoint, what people signed is left.
    const kinds = new Set((await h.verify()).breaks.map(({ kind }) => kind));
    expect([...kinds]).toEqual(['SIGNATURE_INVALID']);
  });
  test('is found from any event on, though only what follows is verified', async () => {
    await recomputeFromFirst();
    for (const since of [1, h.middle_seq, h.last_seq]) expect((await h.verify({ since })).valid).toBe(false);
  });
  test('gets no new signature', async () => {
    await recomputeFromFirst();
    await sql(`delete from checkpoints where workspace_id = W and seq = ${h.last_seq}`);
    const before = await sql('select seq, note from checkpoints where workspace_id = W order by seq');
    await h.core.signer.sign(h.workspace_id);
    const after = await sql('select seq, note from checkpoints where workspace_id = W order by seq');
    expect(after.rows).toEqual(before.rows);
  });
});

describe('a checkpoint that this key did not sign', () => {
  const forger = deriveSecrets(Buffer.alloc(32, 9)).checkpointKey;
  test('is reported at the event that it names, in the table and in the files', async () => {
    const { rows } = await sql('select seq, hash from ledger_heads where workspace_id = W');
    const head = { seq: h.last_seq, hash: rows[0].hash };
    const forged = signCheckpoint(h.workspace_id, head, '2026-11-21T08:30:00.000Z', forger);
    await intruder.sql('update checkpoints set note = $2 where seq = $1', [h.last_seq, forged.note]);
    expect(first(await h.verify())).toEqual([false, h.last_seq, 'ROW_MISMATCH']);
    await replaceBy('kept');
    const file = join(h.checkpoint_dir, h.workspace_id, `${String(h.last_seq).padStart(16, '0')}.txt`);
    await writeFile(file, forged.note);
    expect(first(await h.verify())).toEqual([false, h.last_seq, 'ROW_MISMATCH']);
    await writeFile(file, 'x'.repeat(5_000));
    expect(first(await h.verify())).toEqual([false, h.last_seq, 'ROW_MISMATCH']);
  });
  test('vouches for nothing: a good one under another name is none either', async () => {
    const folder = join(h.checkpoint_dir, h.workspace_id);
    const names = (await readdir(folder)).sort();
    await cp(join(folder, names[0] as string), join(folder, `${'9'.repeat(15)}1.txt`));
    const found = await h.verify();
    const said = readCheckpoint(await readFile(join(folder, names[0] as string), 'utf8'));
    expect(first(found)).toEqual([false, said?.seq, 'ROW_MISMATCH']);
  });
});

describe('decisions that were written before their cores', () => {
  /** Makes them what an earlier build wrote: those after the last signature by a person, which names the chain before it. */
  async function makeOlder(): Promise<void> {
    const { rows } = await sql(
      `update decisions d set core = null, live_at = null from ledger_events e
       where d.workspace_id = W and e.workspace_id = W and e.subject_id = d.decision_id and e.type = 'decision.created'
         and e.seq > all (
           select seq from audit_records where workspace_id = W and action like 'signing_key.%'
           union all select s.seq from ledger_events s join reviews r on r.workspace_id = s.workspace_id
             and r.review_id = s.subject_id where s.workspace_id = W and r.signature is not null)
       returning d.decision_id`,
    );
    expect(rows.length).toBeGreaterThan(5);
    await recompute(rows.map((row) => row.decision_id));
    await sql('truncate table checkpoints');
    await pruneFiles();
  }

  test('are verified by their documents', async () => {
    await makeOlder();
    expect((await h.verify()).breaks).toEqual([]);
  });

  test('are listed with the same bytes, which are those of the views as JSON.stringify writes them', async () => {
    const { db, secrets } = h.core;
    const view = new DecisionView({ db, tokens: secrets.capabilityTokens });
    const page = { order: 'asc', after: null, limit: 200 } as const;
    const listed = async () => {
      const { rows, next } = await findDecisions(db, h.workspace_id, {}, page, AS_LISTED);
      const json = await view.pageOf(h, rows, next);
      return { rows, json: Array.isArray(json) ? Buffer.concat(json).toString() : String(json) };
    };
    const now = await listed();
    const { rows, next } = await findDecisions(db, h.workspace_id, {}, page, AS_RECORDS);
    expect(now.json).toBe(JSON.stringify({ data: await view.present(h, rows), next_cursor: next }));
    expect(now.rows.every(({ text }) => text !== null)).toBe(true);
    await makeOlder();
    const older = await listed();
    expect(older.rows.some(({ text }) => text === null)).toBe(true);
    expect(older.json).toBe(now.json);
  });
});
