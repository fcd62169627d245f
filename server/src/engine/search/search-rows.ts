import { majorUnits } from '@purser/contract/money';
import { actionIn, DOCUMENT_MARKS, taskIn } from '@purser/rules/domain/decision-document';
import { foldText, gramsOf, signatureOf } from '@purser/rules/values/folded-text';
import type { Pause } from '@purser/rules/values/slices';
import type { Queryable } from '../storage/database.ts';
import { makeInsert } from '../storage/rows.ts';

/** Kinds of texts: the request of a decision, or a record about it. */
export type SearchKind = 'request' | 'review' | 'label' | 'note' | 'outcome' | 'consumption';

/** A text by which a decision is found. */
export interface SearchText {
  decision_id: string;
  /** The decision's own id for its request. */
  record_id: string;
  /** Null for a request: its decision has it. */
  agent_id: string | null;
  kind: SearchKind;
  /** As written. The first of a request is the merchant. */
  parts: readonly string[];
}

/** Where the texts of each type of event are. `subject_id` is the record's id; what has no text has no row. */
const RECORDS: Record<string, { kind: SearchKind; table: string; id: string; text: string }> = {
  'decision.review.recorded': { kind: 'review', table: 'reviews', id: 'review_id', text: 'comment' },
  'decision.label.recorded': { kind: 'label', table: 'labels', id: 'label_id', text: 'comment' },
  'decision.note.recorded': { kind: 'note', table: 'notes', id: 'note_id', text: 'text' },
  'decision.outcome.recorded': {
    kind: 'outcome',
    table: 'outcomes',
    id: 'outcome_id',
    text: 'external_reference',
  },
  'capability.consumed': {
    kind: 'consumption',
    table: 'consumptions',
    id: 'capability_id',
    text: 'external_reference',
  },
};

const CREATED = 'decision.created';
const TYPES = [CREATED, ...Object.keys(RECORDS)];

/** The events of a part of a chain that bring a text to find: their type and the ids of their subjects. */
async function loadSubjects(
  db: Queryable,
  workspace_id: string,
  { after, upto }: { after: number; upto: number },
): Promise<Map<string, string[]>> {
  const result = await db.query<{ workspace_id: string; type: string; ids: string[] }>({
    name: 'load_search_events',
    text: `select type, array_agg(subject_id) as ids from ledger_events
      where workspace_id = $1 and seq > $2 and seq <= $3 and type = any($4) group by type`,
    values: [workspace_id, after, upto, TYPES],
  });
  return new Map(result.rows.map(({ type, ids }) => [type, ids]));
}

/** The columns of a decision, and the part of its document from the action to the task, that are searched. */
interface Requested {
  merchant: string;
  requested_amount_minor: number;
  currency: string;
  request_part: string;
}

/** Cut twice, not once for each field: a cut reads 3 KB. */
const REQUEST_PART = `split_part(split_part(document, '${DOCUMENT_MARKS.action}', 2), '${DOCUMENT_MARKS.trace}', 1)`;

/** The texts of a request; its amount as people write it, without grouping. */
function requestParts(row: Requested): string[] {
  const [action_part = '', task_part = ''] = row.request_part.split(DOCUMENT_MARKS.task);
  const { description, payee_id } = actionIn(action_part);
  const amount = majorUnits(row.requested_amount_minor, row.currency).replaceAll(',', '');
  return [row.merchant, description, taskIn(task_part), payee_id, `${row.currency} ${amount}`].filter(
    (part) => typeof part === 'string',
  );
}

/** Returns the texts of a part of a chain. */
export async function loadSearchTexts(
  db: Queryable,
  workspace_id: string,
  range: { after: number; upto: number },
): Promise<SearchText[]> {
  const subjects = await loadSubjects(db, workspace_id, range);
  const requests = await db.query<Requested & { workspace_id: string; decision_id: string }>({
    name: 'load_search_requests',
    text: `select decision_id, merchant, requested_amount_minor, currency, ${REQUEST_PART} as request_part
      from decisions where workspace_id = $1 and decision_id = any($2)`,
    values: [workspace_id, subjects.get(CREATED) ?? []],
  });
  const texts: SearchText[] = requests.rows.map(({ decision_id, ...row }) => ({
    decision_id,
    record_id: decision_id,
    agent_id: null,
    kind: 'request',
    parts: requestParts(row),
  }));
  for (const [type, { kind, table, id, text }] of Object.entries(RECORDS)) {
    const ids = subjects.get(type);
    if (ids === undefined) continue;
    const records = await db.query<{
      workspace_id: string;
      decision_id: string;
      record_id: string;
      agent_id: string;
      text: string;
    }>({
      name: `load_search_${table}`,
      text: `select r.decision_id, r.${id} as record_id, d.agent_id, r.${text} as text from ${table} r
        cross join lateral (
          select agent_id from decisions d where d.workspace_id = $1 and d.decision_id = r.decision_id limit 1) as d
        where r.workspace_id = $1 and r.${id} = any($2) and r.${text} is not null`,
      values: [workspace_id, ids],
    });
    texts.push(
      ...records.rows.map(({ decision_id, record_id, agent_id, text: written }) => ({
        decision_id,
        record_id,
        agent_id,
        kind,
        parts: [written],
      })),
    );
  }
  return texts;
}

/** Longer texts are cut: compatibility forms can be many times as long as what was written. */
const MAX_FOLDED = 10_000;
/** Texts that share a signature, at most. More would save less and make a search look at more of them for nothing. */
const MAX_GROUP = 50;
/** Characters of a group, unless its only text has more. A long text has many trigrams that no other has. */
const MAX_GROUP_LENGTH = 10_000;

interface FoldedText extends Omit<SearchText, 'parts'> {
  folded: string;
}

/** Texts that share a signature: of each its decision, its kind and itself, in one order, and the signature of all their trigrams. */
interface TextGroup {
  /** The record of the first: the oldest decision of a group of requests. */
  record_id: string;
  decision_ids: readonly string[];
  /** Empty in a group of requests. */
  kinds: readonly SearchKind[];
  folded: readonly string[];
  signature: Buffer;
}

const insertTexts = makeInsert<FoldedText>(
  'search_texts',
  { decision_id: 'text', record_id: 'text', agent_id: 'text', kind: 'text', folded: 'text' },
  { conflict: ['decision_id', 'record_id'], update: [] },
);
const insertGroups = makeInsert<TextGroup>(
  'search_groups',
  { record_id: 'text', decision_ids: 'words', kinds: 'words', folded: 'texts', signature: 'bytea' },
  { conflict: ['record_id'], update: [] },
);

const byDecision = (a: FoldedText, b: FoldedText) =>
  Number(a.decision_id > b.decision_id) - Number(a.decision_id < b.decision_id);

/** Texts next to each other, of the same decisions where possible. */
function groupsOf(texts: readonly FoldedText[]): [FoldedText, ...FoldedText[]][] {
  const groups: [FoldedText, ...FoldedText[]][] = [];
  let length = 0;
  for (const text of texts.toSorted(byDecision)) {
    const group = groups.at(-1);
    length += text.folded.length;
    if (group !== undefined && group.length < MAX_GROUP && length <= MAX_GROUP_LENGTH) group.push(text);
    else {
      groups.push([text]);
      length = text.folded.length;
    }
  }
  return groups;
}

/** Bytes of the signature of a small group: some ten texts of 100 characters. */
const SMALL_BYTES = 512;
/** The last groups that a page may be joined with. Each has at least twice as many texts as the next one. */
const MAX_JOINED = 8;

/**
 * Takes the last groups of requests out of the table and puts their texts before these, as long as they are small and have no
 * more texts than what follows. So a workspace of rare requests has few small groups, and a text is written again a few times
 * at most.
 */
async function withLastGroups(
  client: Queryable,
  workspace_id: string,
  requests: readonly FoldedText[],
): Promise<FoldedText[]> {
  const joined = [...requests];
  if (joined.length === 0 || joined.length >= MAX_GROUP) return joined;
  const last = await client.query<
    { workspace_id: string } & Pick<TextGroup, 'record_id' | 'decision_ids'> & { folded: string[] | null }
  >({
    name: 'load_last_search_groups',
    text: `select record_id, decision_ids, case when octet_length(signature) <= ${SMALL_BYTES} then folded end as folded
      from search_groups where workspace_id = $1 and record_id > 'dec_' and record_id < 'dec~'
      order by record_id desc limit ${MAX_JOINED}`,
    values: [workspace_id],
  });
  const taken: string[] = [];
  for (const { record_id, decision_ids, folded } of last.rows) {
    if (folded === null || decision_ids.length > joined.length) break;
    taken.push(record_id);
    joined.unshift(
      ...decision_ids.map((decision_id, i) => ({
        decision_id,
        record_id: decision_id,
        agent_id: null,
        kind: 'request' as const,
        folded: folded[i] as string,
      })),
    );
  }
  if (taken.length > 0)
    await client.query({
      name: 'take_search_groups',
      text: 'delete from search_groups where workspace_id = $1 and record_id = any($2)',
      values: [workspace_id, taken],
    });
  return joined;
}

/**
 * Stores texts so that they are found. Pages of requests come in the order of their decisions, as in the chain. A long text takes a
 * millisecond; `pause` lets other work come in before each.
 */
export async function putSearchTexts(
  client: Queryable,
  workspace_id: string,
  texts: readonly SearchText[],
  pause: Pause = () => {},
): Promise<void> {
  const folded: FoldedText[] = [];
  for (const { parts, ...text } of texts) {
    await pause();
    // Each decision has a text: see decision 233.
    folded.push({ folded: parts.map(foldText).join('\n').slice(0, MAX_FOLDED), ...text });
  }
  const requests = await withLastGroups(
    client,
    workspace_id,
    folded.filter(({ kind }) => kind === 'request'),
  );
  const records = folded.filter(({ kind }) => kind !== 'request');
  const groups: TextGroup[] = [];
  // The list of requests is in the order of decisions, and records come at any time after theirs.
  for (const group of [...groupsOf(requests), ...groupsOf(records)]) {
    await pause();
    const [{ record_id, kind }] = group;
    const texts_of_group = group.map((text) => text.folded);
    groups.push({
      record_id,
      decision_ids: group.map(({ decision_id }) => decision_id),
      kinds: kind === 'request' ? [] : group.map((text) => text.kind),
      folded: texts_of_group,
      signature: signatureOf(gramsOf(workspace_id, texts_of_group.join('\n'))),
    });
  }
  if (records.length > 0) await insertTexts(client, [{ workspace_id, rows: records }]);
  await insertGroups(client, [{ workspace_id, rows: groups }]);
}
