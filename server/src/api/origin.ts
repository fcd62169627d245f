import type { Origin } from '../domain/audit.ts';
import type { Call } from '../http/route.ts';

/** Who does it, for the lane and the audit list. */
export function originOf(call: Pick<Call, 'caller' | 'request_id' | 'client_address'>): Origin {
  const { key_id, principal_id } = call.caller;
  return {
    actor: { type: 'api_key', key_id, principal_id },
    request_id: call.request_id,
    client_address: call.client_address,
  };
}
