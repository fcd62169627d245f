import { listRoutes, routes } from '@purser/contract/routes/people/signing-keys';
import { ApiError } from '@purser/rules/errors';
import type { SigningKeyRow } from '@purser/rules/signing/records/signing-key';
import { fingerprintOfKey, signingKeyBody } from '@purser/rules/signing/signing-keys';
import { endorsementClaim, enrolmentClaim } from '@purser/rules/signing/statements';
import { endorseSigningKey, NOT_PENDING } from '../../../engine/commands/signing/endorse-signing-key.ts';
import { enrolSigningKey } from '../../../engine/commands/signing/enrol-signing-key.ts';
import { revokeSigningKey } from '../../../engine/commands/signing/revoke-signing-keys.ts';
import type { Lane } from '../../../engine/lane/lane.ts';
import { loadSigningKeys } from '../../../engine/signing/signing-key-rows.ts';
import type { Queryable } from '../../../engine/storage/database.ts';
import { type Call, type Route, serve } from '../../http/route.ts';
import { originOf, selfOf } from '../../people/callers.ts';
import type { Signing } from '../../people/signing.ts';

/** Returns a person's ACTIVE keys. Throws `signature_required` where they have none. */
export function activeKeysOf(keys: readonly SigningKeyRow[], user_id: string): SigningKeyRow[] {
  const active = keys.filter((key) => key.status === 'ACTIVE' && key.user_id === user_id);
  if (active.length === 0)
    throw new ApiError('signature_required', 'You have no active signing key in this workspace.');
  return active;
}

/** Returns the caller's principal. Throws where they have yet to accept the membership. */
export function principalIn({ caller }: Pick<Call, 'caller'>): string {
  if (caller.session?.role == null || caller.principal_id === null)
    throw new ApiError('insufficient_scope', 'You have yet to join this workspace.');
  return caller.principal_id;
}

/** Makes the routes by which people make signing keys and use them. */
export function makeSigningKeyRoutes(options: { db: Queryable; lane: Lane; signing: Signing }): Route[] {
  const { db, lane, signing } = options;
  const keysOf = (call: Pick<Call, 'caller'>) => loadSigningKeys(db, [call.caller.workspace_id]);
  return [
    serve(routes.beginSigningKey)(async (call) => {
      const self = selfOf(call);
      const claim = enrolmentClaim({ ...self, principal_id: principalIn(call) });
      return { status: 200, body: await signing.begin(self, claim, await signing.passkeysOf(self)) };
    }),
    serve(routes.enrolSigningKey)(async (call) => {
      const self = selfOf(call);
      const { name, ...given } = call.body;
      const passkey = await signing.passkeyOf(self, given);
      if (passkey === null)
        throw new ApiError('signature_invalid', 'The signature is not good: it is of no passkey of yours.');
      const taken = await signing.take(self, given);
      const input = { ...taken, ...passkey, user_id: self.user_id, name };
      const key = await lane.submit(self.workspace_id, enrolSigningKey, input, originOf(call));
      return { status: 201, body: signingKeyBody(key) };
    }),
    serve(routes.beginEndorsement)(async (call) => {
      const self = selfOf(call);
      const keys = await keysOf(call);
      const key = keys.find(({ signing_key_id }) => signing_key_id === call.params.id);
      if (key?.status !== 'PENDING') throw new ApiError('not_found', NOT_PENDING);
      const credential_ids = activeKeysOf(keys, self.user_id).map(({ credential_id }) => credential_id);
      const named = { ...key, fingerprint: fingerprintOfKey(key) };
      const claim = endorsementClaim(self.workspace_id, named, principalIn(call));
      return { status: 200, body: await signing.begin(self, claim, credential_ids) };
    }),
    serve(routes.endorseSigningKey)(async (call) => {
      const self = selfOf(call);
      const taken = await signing.take(self, call.body);
      const input = { ...taken, signing_key_id: call.params.id, user_id: self.user_id };
      const key = await lane.submit(self.workspace_id, endorseSigningKey, input, originOf(call));
      return { status: 200, body: signingKeyBody(key) };
    }),
    serve(routes.revokeSigningKey)(async (call) => {
      const { workspace_id, user_id } = selfOf(call);
      const input = { signing_key_id: call.params.id, user_id };
      await lane.submit(workspace_id, revokeSigningKey, input, originOf(call));
      return { status: 204 };
    }),
  ];
}

/** Makes the route that lists signing keys. */
export function makeSigningKeyLists({ db }: { db: Queryable }): Route[] {
  return [
    serve(listRoutes.listSigningKeys, { shares: 'reads' })(async (call) => {
      const keys = await loadSigningKeys(db, [call.caller.workspace_id]);
      return { status: 200, body: { data: keys.map(signingKeyBody), next_cursor: null } };
    }),
  ];
}
