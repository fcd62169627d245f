import { routes } from '@purser/contract/routes/packages';
import { ApiError } from '@purser/rules/errors';
import { type Call, type Route, serve } from '../http/route.ts';
import type { OfferedPackages } from '../packages/offered-packages.ts';
import { isLoopbackHost, type Site } from '../people/site.ts';

export interface PackageRouteOptions {
  packages: OfferedPackages;
  site: Pick<Site, 'origin'>;
  /** The address that clients use; null where they run on the same machine or the settings do not say. */
  public_url: string | null;
}

/** A host name or address with its port, as clients name it. */
const HOST = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9.-]{1,253})(:\d{1,5})?$/i;

/**
 * Returns the address at which the client of a request reaches this service: `PUBLIC_URL`, or the host that it named if
 * that is this machine or there is no `PUBLIC_URL`.
 */
function addressOf({ headers }: Pick<Call, 'headers'>, { public_url, site }: PackageRouteOptions): string {
  const host = String(headers.host ?? '');
  if (public_url !== null && !isLoopbackHost(host)) return public_url;
  return HOST.test(host) ? `http://${host}` : site.origin();
}

/** The list at the address of its folder, as people type it and as its files suggest. OpenAPI knows no such paths. */
export const atFolder = (route: Route): Route[] =>
  route.path === routes.listPackages.path ? [{ ...route, path: `${route.path}/` }] : [];

/** Makes the routes of the packages that this service offers. */
export function makePackageRoutes(options: PackageRouteOptions): Route[] {
  const { packages } = options;
  return [
    serve(routes.listPackages)(async (call) => {
      const address = addressOf(call, options);
      const all = await packages.list(address);
      const data = all.map(({ name, version, file, integrity }) => ({
        name,
        version,
        url: `${address}/packages/${file}`,
        integrity,
      }));
      return { status: 200, headers: { 'cache-control': 'no-cache' }, body: { data } };
    }),
    serve(routes.getPackage, { serves_files: true })(async (call) => {
      const found = await packages.file(call.params.file, addressOf(call, options));
      if (found === undefined) throw new ApiError('not_found', 'No such package: GET /packages/ lists them.');
      return {
        status: 200,
        // What it depends on has the address at which this client reached the service.
        headers: { 'cache-control': 'no-cache', vary: 'host' },
        text: { content: found, content_type: 'application/octet-stream' },
      };
    }),
  ];
}
