import { Type } from 'typebox';
import { route } from '../../route.ts';
import { Fields, OneOf } from '../../schema.ts';
import { CALLBACK_PATH, OIDC_REFUSALS, SIGN_IN_AGAIN } from '../../values/people.ts';

const StartQuery = Fields({
  again: Type.Optional(
    OneOf(SIGN_IN_AGAIN, {
      description:
        'For a second window of a page that waits: either its `session` ended, or it needs a fresh `proof`. For a proof the provider is asked for a new sign-in; its `auth_time` gives the time, and without it no proof is fresh. Returns to `/console/signed-in`, which notifies the page.',
    }),
  ),
});

/** Providers add parameters of their own. */
const CallbackQuery = Type.Object(
  {
    code: Type.Optional(Type.String()),
    state: Type.Optional(Type.String()),
    iss: Type.Optional(Type.String()),
    error: Type.Optional(Type.String()),
  },
  { additionalProperties: true },
);

const REDIRECT = (description: string) => ({
  302: { description, schema: null, headers: { location: 'Where the browser is sent.' } },
});

const CODES = Object.entries(OIDC_REFUSALS)
  .map(([code, meaning]) => `\`${code}\`: ${meaning}`)
  .join(' ');

export const routes = {
  startOidc: route({
    method: 'GET',
    path: '/v1/auth/oidc/start',
    operationId: 'startOidc',
    tag: 'Sign-in',
    summary: 'Go to the identity provider',
    description:
      "For browsers: redirects to the provider, which redirects back, once. The browser's current session ends when it returns. Answers 404 if no provider is configured.",
    scopes: 'public',
    query: StartQuery,
    responses: REDIRECT('Redirects to the provider.'),
    errors: ['not_found', 'rate_limited', 'cross_site_request', 'auth_unavailable'],
  }),
  finishOidc: route({
    method: 'GET',
    path: CALLBACK_PATH,
    operationId: 'finishOidc',
    tag: 'Sign-in',
    summary: 'Come back from the identity provider',
    description: `Redirects to \`/console/\` (or \`/console/signed-in\`, if \`again\` asked for it) with a session, or to \`/console/sign-in?error=CODE\`. ${CODES} \`auth_unavailable\`: the provider does not respond.`,
    scopes: 'public',
    query: CallbackQuery,
    responses: REDIRECT('Redirects to the console.'),
    errors: ['not_found', 'rate_limited', 'cross_site_request', 'auth_unavailable', 'unavailable'],
  }),
};
