import { type AllowanceIssuer, auditedIssuer } from '@purser/rules/allowances/issuers';
import { type Command, done, refuse } from '../../lane/command.ts';

/** Revokes an issuer: nothing new of it is accepted. Revoking it again changes nothing. */
export const revokeIssuer: Command<{ issuer_id: string }, AllowanceIssuer> = {
  name: 'revokeIssuer',
  needs: ({ issuer_id }) => ({ allowance_issuers: [issuer_id] }),
  apply(set, { issuer_id }, origin) {
    const before = set.allowances.issuer(issuer_id);
    if (before === undefined) return refuse('not_found', 'No such issuer.');
    if (before.revoked_at !== null) return done(before);
    const after: AllowanceIssuer = { ...before, revoked_at: set.now };
    set.allowances.putIssuer(after);
    set.audit('allowance_issuer.revoked', { type: 'allowance_issuer', id: issuer_id }, origin, {
      from: auditedIssuer(before),
      to: auditedIssuer(after),
      state: { allowance_issuer: after },
    });
    return done(after);
  },
};
