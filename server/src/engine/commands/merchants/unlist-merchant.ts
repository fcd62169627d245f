import { type Command, done, refuse } from '../../lane/command.ts';
import { reviewerRefusal } from './list-merchants.ts';

export interface UnlistMerchantInput {
  /** Id or slug. */
  agent: string;
  entry_id: string;
  /** The caller is no administrator, and may do this only where the authority says so. */
  is_reviewer: boolean;
}

/** Ends an entry; it stays on record. Ending it again changes nothing. */
export const unlistMerchant: Command<UnlistMerchantInput, null> = {
  name: 'unlistMerchant',
  needs: ({ agent, entry_id }) => ({ agents: [agent], merchant_entries: [entry_id] }),
  apply(set, { agent: ref, entry_id, is_reviewer }, origin) {
    const agent = set.agent(ref);
    const entry = set.listed_merchants.entry(entry_id);
    if (agent === undefined || entry?.agent_id !== agent.agent_id) {
      return refuse('not_found', 'The agent has no such entry.');
    }
    const refusal = is_reviewer ? reviewerRefusal(set.authority(agent.agent_id)?.authority) : null;
    if (refusal !== null) return refuse('insufficient_scope', refusal);
    if (entry.unlisted_in !== null) return done(null);
    const unlisted_in = agent.directory_version + 1;
    const changed = { ...agent, directory_version: unlisted_in, updated_at: set.now };
    const ended = { ...entry, unlisted_in, unlisted_at: set.now };
    set.putAgent(changed);
    set.listed_merchants.put(ended);
    set.audit('merchant.unlisted', { type: 'merchant', id: entry_id }, origin, {
      from: { merchant: entry.merchant, verdict: entry.verdict, unlisted_at: null },
      to: { merchant: entry.merchant, verdict: entry.verdict, unlisted_at: set.now },
      state: { agent: changed, merchant_entry: ended },
    });
    return done(null);
  },
};
