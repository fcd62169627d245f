import { routes } from '@purser/contract/routes/people/passkeys';
import { ApiError } from '@purser/rules/errors';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type pg from 'pg';
import { type Route, serve } from '../../http/route.ts';
import { fromOf, selfOf } from '../../people/callers.ts';
import { deletePasskey, listPasskeys } from '../../people/passkey-rows.ts';
import type { Passkeys } from '../../people/passkeys.ts';
import type { SignInFlows } from '../../people/sign-in.ts';
import type { Site } from '../../people/site.ts';
import { verifying } from '../../people/verifying.ts';

/** Passkeys (WebAuthn): signing in with them, and a person's own ones. */
export function makePasskeyRoutes(options: {
  db: pg.Pool;
  passkeys: Passkeys;
  flows: Pick<SignInFlows, 'recordChange'>;
  site: Site;
}): Route[] {
  const { db, passkeys, flows, site } = options;
  return [
    serve(routes.beginPasskeySignIn)(async (call) => {
      site.checkDoor(call.headers);
      return { status: 200, body: await verifying(() => passkeys.begin()) };
    }),
    serve(routes.signInWithPasskey)(async (call) => {
      site.checkDoor(call.headers);
      const { me, cookies } = await verifying(() =>
        passkeys.signIn(call.body as AuthenticationResponseJSON, fromOf(call)),
      );
      return { status: 200, body: me, headers: { 'set-cookie': cookies } };
    }),
    serve(routes.beginPasskeyRegistration)(async (call) => {
      return { status: 200, body: await verifying(() => passkeys.beginRegistration(selfOf(call))) };
    }),
    serve(routes.registerPasskey)(async (call) => {
      const { name = 'Passkey', ...response } = call.body;
      await verifying(() =>
        passkeys.register(selfOf(call), response as unknown as RegistrationResponseJSON, name),
      );
      await flows.recordChange(selfOf(call).user_id, 'passkey_added', 'passkey', fromOf(call));
      return { status: 204 };
    }),
    serve(routes.listMyPasskeys)(async (call) => {
      const data = await verifying(() => listPasskeys(db, selfOf(call)));
      return { status: 200, body: { data, next_cursor: null } };
    }),
    serve(routes.deleteMyPasskey)(async (call) => {
      const outcome = await verifying(() => deletePasskey(db, selfOf(call), call.params.id));
      if (outcome === 'there is none') throw new ApiError('not_found', 'No such passkey.');
      if (outcome === 'only way in') {
        throw new ApiError('last_way_in', 'This is your only sign-in method: add another passkey first.');
      }
      await flows.recordChange(selfOf(call).user_id, 'passkey_removed', 'passkey', fromOf(call));
      return { status: 204 };
    }),
  ];
}
