import { routes } from '@purser/contract/routes/people/auth';
import { ApiError, invalidField } from '@purser/rules/errors';
import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import { type Route, serve } from '../../http/route.ts';
import type { ForgotPassword } from '../../mail/forgot-password.ts';
import { fromOf, selfOf } from '../../people/callers.ts';
import type { Passkeys } from '../../people/passkeys.ts';
import type { SignedIn, SignInFlows } from '../../people/sign-in.ts';
import type { Site } from '../../people/site.ts';
import { verifying } from '../../people/verifying.ts';

function letIn<Status extends number>(status: Status, { me, cookies }: SignedIn) {
  return { status, body: me, headers: { 'set-cookie': cookies } };
}

/** The door: who comes in, and how they prove who they are. */
export function makeAuthRoutes(options: {
  flows: SignInFlows;
  passkeys: Passkeys;
  site: Site;
  forgotPassword: ForgotPassword;
  /** The sign-in methods of the settings. */
  offers: { password: boolean; passkey: boolean; oidc: { name: string } | null; mail: boolean };
}): Route[] {
  const { flows, passkeys, site, forgotPassword, offers } = options;
  const fromHere = (call: Parameters<typeof fromOf>[0]) => {
    site.checkDoor(call.headers);
    return fromOf(call);
  };
  return [
    serve(routes.getSignInOptions)(async () => ({
      status: 200,
      body: { setup: !(await flows.isSetUp()), ...offers },
    })),
    serve(routes.setUp)(async (call) => letIn(201, await flows.setUp(call.body, fromHere(call)))),
    serve(routes.signIn)(async (call) => letIn(200, await flows.signIn(call.body, fromHere(call)))),
    serve(routes.acceptInvitation)(async (call) =>
      letIn(201, await flows.acceptInvitation(call.body, fromHere(call))),
    ),
    serve(routes.readInvitation)(async (call) => {
      site.checkDoor(call.headers);
      return { status: 200, body: await flows.readInvitation(call.body.token) };
    }),
    serve(routes.forgotPassword)(async (call) => {
      await forgotPassword(call.body.email, fromHere(call));
      return { status: 202 };
    }),
    serve(routes.resetPassword)(async (call) => {
      if (!offers.password) throw new ApiError('unauthenticated', 'Password sign-in is disabled.');
      return letIn(200, await flows.resetPassword(call.body, fromHere(call)));
    }),
    serve(routes.signOut)(async (call) => {
      await flows.signOut(selfOf(call));
      return { status: 204, headers: { 'set-cookie': site.clearSession() } };
    }),
    serve(routes.reauthenticate)(async (call) => {
      const { password, passkey } = call.body;
      if ((password === undefined) === (passkey === undefined)) {
        throw invalidField('password', 'is required, unless passkey is given instead');
      }
      if (password !== undefined) await flows.reauthenticate(selfOf(call), password, fromOf(call));
      else
        await verifying(() =>
          passkeys.reauthenticate(selfOf(call), passkey as AuthenticationResponseJSON, fromOf(call)),
        );
      return { status: 204 };
    }),
    serve(routes.removePassword)(async (call) => {
      await flows.removePassword(selfOf(call), fromOf(call));
      return { status: 204 };
    }),
    serve(routes.changePassword)(async (call) => {
      await flows.changePassword(selfOf(call), call.body, fromOf(call));
      return { status: 204 };
    }),
  ];
}
