import { routes } from '@purser/contract/routes/mcp';
import { holderOf } from '@purser/rules/domain/keys';
import { ApiError } from '@purser/rules/errors';
import { type AnswerOf, type Route, serve } from '../http/route.ts';
import type { Core } from '../installation/runtime.ts';
import type { Site } from '../people/site.ts';
import { MESSAGE } from '../scheduling/prices.ts';

/**
 * Makes the route of the Model Context Protocol. It does nothing itself: every tool calls the routes of the API with the
 * caller's own key. `onFailure` receives unexpected failures.
 */
export function makeMcpRoute({
  core,
  site,
  onFailure,
}: {
  core: Pick<Core, 'turns'>;
  site: Pick<Site, 'checkEntrance'>;
  onFailure: (error: unknown) => void;
}): Route {
  // Loaded with the first message: the protocol's libraries take a sixth of the memory, and most processes never need them.
  const load = async () => {
    const { makeHttpEndpoint, offersOf } = await import('@purser/mcp');
    return { door: makeHttpEndpoint(onFailure), offersOf };
  };
  let loaded: ReturnType<typeof load> | undefined;
  return serve(routes.mcp, { checkEntrance: site.checkEntrance })(
    async ({ caller, headers, body: message, dispatch }) => {
      loaded ??= load();
      const { door, offersOf } = await loaded;
      const offers = offersOf(caller);
      if ('refusal' in offers) throw new ApiError('insufficient_scope', offers.refusal);
      await core.turns.pass(holderOf(caller), 'mcp_time', MESSAGE);
      const { status, content_type, body } = await door.answer({
        headers,
        message,
        holder: caller,
        call: async ({ idempotency_key, ...request }) => {
          const keyed = idempotency_key === undefined ? {} : { 'idempotency-key': idempotency_key };
          const answered = await dispatch({ ...request, headers: keyed });
          return { status: answered.status, body: answered.json };
        },
      });
      const content =
        typeof body === 'string'
          ? { ...(body === '' ? {} : { text: { content: body, content_type } }) }
          : { stream: { chunks: body, content_type, is_live: true } };
      // The protocol's library chooses the status: 400 too, for a message that is no JSON-RPC.
      return { status, ...content } as AnswerOf<typeof routes.mcp>;
    },
  );
}
