import type { Origin } from '@purser/rules/domain/audit';
import type { Call } from '../http/route.ts';
import type { Self } from './own-account.ts';
import type { From } from './sign-in.ts';

/** The origin of a change, for the lane and the audit list. */
export function originOf(call: Pick<Call, 'caller' | 'request_id' | 'client_address'>): Origin {
  const { key_id, session, principal_id, bound } = call.caller;
  const session_id = session?.session_id ?? null;
  return {
    actor: { type: session === null ? 'api_key' : 'user', key_id, session_id, principal_id },
    ...(session === null ? {} : { role: session.role }),
    ...(bound === undefined ? {} : { bound }),
    request_id: call.request_id,
    client_address: call.client_address,
  };
}

/** Whose request it is, for what happens at the door. */
export function fromOf(call: Pick<Call, 'headers' | 'request_id' | 'client_address'>): From {
  const { headers, request_id, client_address } = call;
  return { headers, request_id, client_address };
}

/** The person who calls a route with the scope `session`. */
export function selfOf(call: Pick<Call, 'caller'>): Self {
  const { session, workspace_id } = call.caller;
  if (session === null) throw new Error('a key called a route of people');
  const { user_id, session_id, credential_epoch } = session;
  return { user_id, session_id, credential_epoch, workspace_id };
}

/** The person's own origin for what they do with a membership of theirs, in whichever workspace it is. */
export function ownOriginOf(call: Parameters<typeof originOf>[0]): Origin {
  return { ...originOf(call), role: null };
}

/** The principal of a person who calls; null for a key, whose own principal its keys do not inherit. */
export function ownPrincipal({ caller }: Pick<Call, 'caller'>): string | null {
  return caller.session === null ? null : caller.principal_id;
}
