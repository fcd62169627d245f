import { auditedLink } from '@purser/rules/sharing/decision-link';
import { type Command, done, refuse } from '../../lane/command.ts';

export interface RevokeDecisionLinkInput {
  decision_id: string;
  link_id: string;
}

export const NO_SUCH_LINK = 'The decision has no such link.';

/** Revokes a link of a decision; it stays on record. Revoking it again changes nothing. */
export const revokeDecisionLink: Command<RevokeDecisionLinkInput, null> = {
  name: 'revokeDecisionLink',
  needs: ({ link_id }) => ({ decision_links: [link_id] }),
  apply(set, { decision_id, link_id }, origin) {
    const link = set.decision_links.find(link_id);
    if (link?.decision_id !== decision_id) return refuse('not_found', NO_SUCH_LINK);
    if (link.revoked_at !== null) return done(null);
    const revoked = { ...link, revoked_at: set.now };
    set.decision_links.put(revoked);
    set.audit('decision_link.revoked', { type: 'decision_link', id: link_id }, origin, {
      from: auditedLink(link),
      to: auditedLink(revoked),
      state: { decision_link: revoked },
    });
    return done(null);
  },
};
