import { Type } from 'typebox';
import { route } from '../route.ts';
import { Fields } from '../schema.ts';

const PackageBody = Fields(
  {
    name: Type.String({ examples: ['@purser/sdk'] }),
    version: Type.String({ examples: ['0.1.0'] }),
    url: Type.String({
      description: 'What `npm install` or `pip install` takes.',
      examples: ['https://purser.example.com/packages/purser-sdk-0.1.0.tgz'],
    }),
    integrity: Type.String({
      description: 'SHA-512 of the file, as Subresource Integrity writes it.',
      examples: ['sha512-…'],
    }),
  },
  { $id: 'OfferedPackage' },
);

const shared = {
  method: 'GET',
  tag: 'Service',
  scopes: 'public',
} as const;

export const routes = {
  listPackages: route({
    ...shared,
    path: '/packages',
    operationId: 'listPackages',
    summary: 'The packages that this service offers.',
    description:
      'The client packages of this build, and the server itself. Each can be installed by itself: what a package depends on among them is an address of this service. `/packages/` is the same list.',
    responses: {
      200: {
        description: 'The packages.',
        schema: Fields({ data: Type.Array(PackageBody) }, { $id: 'OfferedPackages' }),
      },
    },
    errors: ['rate_limited', 'unavailable'],
  }),
  getPackage: route({
    ...shared,
    path: '/packages/:file',
    operationId: 'getPackage',
    summary: 'The file of one package.',
    description:
      'A tarball for npm, or a wheel for pip. The same build at the same address has the same bytes.',
    params: Fields({ file: Type.String() }),
    responses: {
      200: { description: 'The file.', schema: Type.String(), content_type: 'application/octet-stream' },
    },
    errors: ['rate_limited', 'not_found', 'unavailable'],
  }),
};
