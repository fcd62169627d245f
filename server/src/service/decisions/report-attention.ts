import type { AttentionComparison } from '@purser/contract/purpose/attention';
import { decodeDecision } from '@purser/rules/domain/decision-document';
import { NO_FACTS, type SpendFacts } from '@purser/rules/domain/spend-facts';
import type { AssessLevels } from '@purser/rules/purpose/built-in-assessor';
import { loadSaidOfShadow } from '../../engine/reports/attention-sources.ts';
import { loadAuthorityVersions, parseAuthority } from '../../engine/storage/authorities.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import { loadOriginalDocuments } from '../../engine/storage/decisions.ts';
import { loadAnswers } from '../../engine/storage/derived/questions.ts';
import { loadDirectory } from '../../engine/storage/merchant-entries.ts';
import type { Turns } from '../scheduling/turns.ts';
import { AttentionTable, isFoundWrong, once } from './attention.ts';
import { requestOf } from './simulate.ts';

/** Decisions read at a time. */
const AT_ONCE = 100;

/** Remembers what was loaded for a key. */
function remembered<T>(load: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (key) => {
    const found = known.get(key) ?? load(key);
    known.set(key, found);
    return found;
  };
}

/**
 * Compares the levels of attention by the newest decisions of a period in SHADOW, each under the authority that decided it.
 * What a higher level would have asked besides depends on the merchants and answers of now.
 */
export async function compareAttention(
  options: { db: Queryable; assessLevels: AssessLevels; turns: Turns },
  workspace_id: string,
  period: { agent_id: string | null; from: string; to: string },
): Promise<AttentionComparison> {
  const { db, assessLevels, turns } = options;
  const table = new AttentionTable();
  const factsOf = remembered(async (agent_id): Promise<SpendFacts> => {
    const { listed } = await loadDirectory(db, workspace_id, agent_id);
    const { answers } = await loadAnswers(db, workspace_id, agent_id);
    return { ...NO_FACTS, listed, answers };
  });
  const authorityOf = remembered(async (name) => {
    const [agent_id = '', version] = name.split(' ');
    const [row] = await loadAuthorityVersions(db, workspace_id, agent_id, [Number(version)]);
    return row === undefined ? null : parseAuthority(row);
  });
  let said = await loadSaidOfShadow(db, workspace_id, period);
  while (said.length > 0) {
    const some = said.slice(0, AT_ONCE);
    const rows = await loadOriginalDocuments(
      db,
      workspace_id,
      some.map(({ decision_id }) => decision_id),
    );
    const documents = new Map(rows.map(({ decision_id, document }) => [decision_id, document]));
    // A page ends at about a megabyte, and always has at least one document.
    const read = rows.length === 0 ? some : some.filter(({ decision_id }) => documents.has(decision_id));
    for (const { decision_id, agent_id, review_state, label } of read) {
      const document = documents.get(decision_id);
      if (document === undefined) continue;
      const made = await turns.background(() => decodeDecision(document));
      if (made.authority_version === null) continue;
      const authority = await authorityOf(`${agent_id} ${made.authority_version}`);
      const facts = await factsOf(agent_id);
      if (authority === null) continue;
      await turns.background(() =>
        table.add({
          authority,
          judged: once(() => assessLevels(authority, requestOf(made), facts)),
          made: made.purpose,
          policy_trace: made.policy_trace,
          is_wrong: isFoundWrong(label, review_state === 'DENIED'),
        }),
      );
    }
    said = said.slice(read.length);
  }
  return table.result();
}
