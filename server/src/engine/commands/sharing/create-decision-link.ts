import { auditedLink, type DecisionLinkRow } from '@purser/rules/sharing/decision-link';
import { type Command, done, refuse } from '../../lane/command.ts';
import { creatorOf } from '../../lane/principals.ts';

export interface CreateDecisionLinkInput {
  decision_id: string;
  token_digest: Buffer;
  acting_principal: string | null;
  expires_in_seconds: number;
}

/** Makes a read-only link of one decision. It expires by the time of the batch, which is the database's. */
export const createDecisionLink: Command<CreateDecisionLinkInput, DecisionLinkRow> = {
  name: 'createDecisionLink',
  needs: ({ decision_id, acting_principal }) => ({
    decisions: [decision_id],
    principals: acting_principal === null ? [] : [acting_principal],
  }),
  apply(set, { decision_id, token_digest, expires_in_seconds }, origin) {
    if (set.records.decision(decision_id) === undefined) return refuse('not_found', 'No such decision.');
    const { key_id, principal_id, person } = creatorOf(set, origin);
    const link: DecisionLinkRow = {
      link_id: set.newId('decision_link'),
      decision_id,
      token_digest,
      key_id,
      principal_id,
      made_by_person: person,
      created_at: set.now,
      expires_at: new Date(set.now_ms + expires_in_seconds * 1000).toISOString(),
      revoked_at: null,
    };
    set.decision_links.put(link);
    set.audit('decision_link.created', { type: 'decision_link', id: link.link_id }, origin, {
      from: null,
      to: auditedLink(link),
      state: { decision_link: link },
    });
    return done(link);
  },
};
