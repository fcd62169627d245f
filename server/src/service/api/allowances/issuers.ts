import { createPublicKey } from 'node:crypto';
import type { CreateIssuer, ShownIssuer } from '@purser/contract/allowances/issuers';
import { routes as allowanceRoutes } from '@purser/contract/routes/allowances';
import { routes } from '@purser/contract/routes/allowances/issuers';
import type { AllowanceIssuer } from '@purser/rules/allowances/issuers';
import { allowanceOf } from '@purser/rules/domain/keys';
import { ApiError, invalidField } from '@purser/rules/errors';
import { canonicalJson } from '@purser/rules/values/canonical-json';
import type pg from 'pg';
import { listIssuers, loadIssuers, loadIssuersByKeyId } from '../../../engine/allowances/issuer-rows.ts';
import { createIssuer } from '../../../engine/commands/allowances/create-issuer.ts';
import { presentAllowance } from '../../../engine/commands/allowances/present-allowance.ts';
import { presentMandate } from '../../../engine/commands/allowances/present-mandate.ts';
import { revokeIssuer } from '../../../engine/commands/allowances/revoke-issuer.ts';
import type { Lane } from '../../../engine/lane/lane.ts';
import { loadAgents } from '../../../engine/storage/agents.ts';
import { openMandate } from '../../../mandates/open-mandate.ts';
import type { ReadChain } from '../../allowances/chains.ts';
import { shownAllowance } from '../../allowances/present-allowances.ts';
import { openSignedAllowance } from '../../allowances/signed-allowances.ts';
import { agentScopeOf } from '../../decisions/present-decisions.ts';
import { type Cursors, pageOf } from '../../http/cursors.ts';
import { type CallOf, type Route, serve } from '../../http/route.ts';
import { originOf } from '../../people/callers.ts';

interface Options {
  db: pg.Pool;
  lane: Lane;
  cursors: Cursors;
  readChain: ReadChain;
}

async function shown(
  db: pg.Pool,
  workspace_id: string,
  issuers: readonly AllowanceIssuer[],
): Promise<ShownIssuer[]> {
  const ids = [...new Set(issuers.flatMap(({ agents }) => agents))];
  const agents = ids.length === 0 ? [] : await loadAgents(db, workspace_id, ids);
  const slugs = new Map(agents.map(({ agent_id, slug }) => [agent_id, slug]));
  return issuers.map((issuer) => ({
    id: issuer.issuer_id,
    status: issuer.revoked_at === null ? 'active' : 'revoked',
    name: issuer.name,
    jwk: JSON.parse(issuer.jwk),
    currency: issuer.currency,
    max_amount_minor: issuer.max_amount_minor,
    agents:
      issuer.agents.length === 0 ? null : issuer.agents.map((id) => ({ id, slug: slugs.get(id) as string })),
    parent: issuer.parent_id,
    format: issuer.format,
    created_at: issuer.created_at,
    created_by: { key_id: issuer.created_by_key_id, principal_id: issuer.created_by_principal_id },
    revoked_at: issuer.revoked_at,
  }));
}

/** Throws ApiError `invalid_request` where a JWK is no point of its curve. */
function checkPoint(jwk: CreateIssuer['jwk']): void {
  try {
    createPublicKey({ format: 'jwk', key: { ...jwk } });
  } catch {
    throw invalidField('jwk', 'is no point of P-256');
  }
}

const handleCreate = ({ db, lane, readChain }: Options) =>
  serve(routes.createAllowanceIssuer)(async (call) => {
    const { workspace_id } = call.caller;
    const { name, jwk, format = null, currency, max_amount_minor, agents = [], parent } = call.body;
    if (format !== null) checkPoint(jwk);
    const chain = parent === undefined ? null : await readChain(workspace_id, parent);
    if (chain === undefined) throw new ApiError('not_found', 'parent: no such allowance.');
    const above = chain === null ? null : chain.allowances;
    const input = { name, jwk: canonicalJson(jwk), format, currency, max_amount_minor, agents, above };
    const issuer = await lane.submit(workspace_id, createIssuer, input, originOf(call));
    const [body] = await shown(db, workspace_id, [issuer]);
    return { status: 201, body: body as ShownIssuer };
  });

/** The allowances above those of an issuer: its parent and all above that. */
async function aboveOf({ readChain }: Options, workspace_id: string, { parent_id }: AllowanceIssuer) {
  return parent_id === null ? [] : ((await readChain(workspace_id, parent_id))?.allowances ?? []);
}

type PresentCall = CallOf<typeof allowanceRoutes.presentAllowance>;

const presenterOf = ({ caller }: PresentCall) => ({
  agent_id: agentScopeOf(caller),
  bound_to: allowanceOf(caller),
});

async function presentSigned(options: Options, call: PresentCall) {
  const { db, lane } = options;
  const { workspace_id } = call.caller;
  const findIssuer = async (issuer_id: string) => (await loadIssuers(db, [{ workspace_id, issuer_id }]))[0];
  const opened = await openSignedAllowance(call.body.signed, workspace_id, findIssuer);
  const { issuer, claims, claims_hash } = opened;
  const above = await aboveOf(options, workspace_id, issuer);
  const input = { issuer_id: issuer.issuer_id, claims, claims_hash, above, ...presenterOf(call) };
  return lane.submit(workspace_id, presentAllowance, input, originOf(call));
}

async function presentSignedMandate(options: Options, call: PresentCall) {
  const { db, lane } = options;
  const { workspace_id } = call.caller;
  const { issuers: signers, ...opened } = await openMandate(call.body.signed, workspace_id, (key_id) =>
    loadIssuersByKeyId(db, workspace_id, key_id),
  );
  const issuers = await Promise.all(
    signers.map(async (issuer) => ({
      issuer_id: issuer.issuer_id,
      above: await aboveOf(options, workspace_id, issuer),
    })),
  );
  const input = { ...opened, issuers, ...presenterOf(call) };
  return lane.submit(workspace_id, presentMandate, input, originOf(call));
}

const handlePresent = (options: Options) =>
  serve(allowanceRoutes.presentAllowance)(async (call) => {
    const { db } = options;
    const { workspace_id } = call.caller;
    // A mandate is an SD-JWT, whose parts "~" divides; no JWT has one.
    const present = call.body.signed.includes('~') ? presentSignedMandate : presentSigned;
    const { allowance, replayed } = await present(options, call);
    const body = await shownAllowance(db, workspace_id, allowance.allowance_id);
    return replayed ? { status: 200, body, headers: { 'idempotent-replay': 'true' } } : { status: 201, body };
  });

/** Makes the routes of issuers and of what they signed. */
export function makeIssuerRoutes(options: Options): Route[] {
  const { db, lane, cursors } = options;
  return [
    handlePresent(options),
    handleCreate(options),
    serve(routes.listAllowanceIssuers, { shares: 'reads' })(async ({ caller: { workspace_id }, query }) => {
      const { limit = 50, cursor } = query;
      const list = ['listAllowanceIssuers', workspace_id];
      const before = cursors.open(list, cursor) as string | null;
      const found = await listIssuers(db, workspace_id, { before, limit: limit + 1 });
      const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.issuer_id));
      return { status: 200, body: { data: await shown(db, workspace_id, rows), next_cursor } };
    }),
    serve(routes.revokeAllowanceIssuer)(async (call) => {
      const input = { issuer_id: call.params.id };
      await lane.submit(call.caller.workspace_id, revokeIssuer, input, originOf(call));
      return { status: 204 };
    }),
  ];
}
