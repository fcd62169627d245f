import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import { ApiError } from '@purser/rules/errors';
import { codingsOf } from '@purser/rules/values/compression';
import Type from 'typebox';
import type { Answer, Call, Route } from '../http/route.ts';

/** One file of the built console in the forms that it is sent in. */
interface ConsoleFile {
  content_type: string;
  /** By content coding; `identity` is always there. */
  bodies: ReadonlyMap<string, Buffer>;
  hash: string;
}

/** The built console by path below `/console/`. Only what is in here is ever answered. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

const CONTENT_TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
};

/** Written beside a file by the build, in the order of preference. */
const CODINGS: readonly (readonly [coding: string, extension: string])[] = [
  ['br', '.br'],
  ['gzip', '.gz'],
];

const INDEX = 'index.html';

/** The page runs its own files and talks to its own origin, and to nothing else. */
const PAGE_HEADERS: Record<string, string> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy':
    'publickey-credentials-get=(self), publickey-credentials-create=(self), camera=(), microphone=(), geolocation=()',
};

/**
 * Reads the built console into memory: about a megabyte. Empty where it was not built. Files of kinds that a page does
 * not ask for, such as the build's own notes, are left out.
 */
export function readConsoleFiles(directory: string): ConsoleFiles {
  const files = new Map<string, ConsoleFile>();
  const names = listFiles(directory);
  for (const name of names) {
    const content_type = CONTENT_TYPES[extname(name)];
    if (content_type === undefined) continue;
    const content = readFileSync(join(directory, name));
    const bodies = new Map([['identity', content]]);
    for (const [coding, extension] of CODINGS) {
      if (names.includes(name + extension))
        bodies.set(coding, readFileSync(join(directory, name + extension)));
    }
    const hash = createHash('sha256').update(content).digest('base64url');
    files.set(name.split(sep).join('/'), { content_type, bodies, hash });
  }
  return files;
}

function listFiles(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, encoding: 'utf8' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

const shared = {
  method: 'GET',
  tag: 'Service',
  scopes: 'public',
  serves_files: true,
  errors: ['rate_limited', 'not_found', 'unavailable'],
  responses: { 200: { description: 'The file.', schema: Type.String() } },
} as const;

/**
 * The routes that serve the console, and the way from `/` to it. Every path below `/console/` that names no file is one
 * of its screens and gets the page, where HTML is taken.
 */
export function makeConsoleRoutes(files: ConsoleFiles): Route[] {
  const index = files.get(INDEX);
  if (index === undefined) return [];

  const page = (call: Call): Answer => {
    if (!takes(call, 'text/html', true)) throw notFound();
    return fileAnswer(call, index, 'no-cache');
  };
  const screen = (path: string): Route => ({
    ...shared,
    path,
    operationId: `getConsole${path}`,
    summary: 'A screen of the console, or a file beside it.',
    description: 'The page itself decides which screen it is.',
    handler: async (call: Call) => {
      const parts = Object.values(call.params);
      const file = files.get(parts.join('/'));
      if (file !== undefined && file !== index) return fileAnswer(call, file, 'no-cache');
      if ((parts.at(-1) ?? '').includes('.')) throw notFound();
      return page(call);
    },
  });
  const redirect = (path: string, isMeant: (call: Call) => boolean): Route => ({
    ...shared,
    path,
    operationId: `redirect${path}`,
    summary: 'The way to the console.',
    description: 'For people who type the address; programs get the answer of an unknown route.',
    handler: async (call: Call) => {
      if (!isMeant(call)) throw notFound();
      return { status: 302, headers: { location: '/console/', vary: 'accept' } };
    },
  });
  return [
    redirect('/', (call) => takes(call, 'text/html', false)),
    redirect('/console', () => true),
    screen('/console/'),
    screen('/console/:first'),
    screen('/console/:first/:second'),
    screen('/console/:first/:second/:third'),
    {
      ...shared,
      path: '/console/assets/:file',
      operationId: 'getConsoleAsset',
      summary: 'A file of the console whose name changes with its content.',
      description: 'May be kept for ever.',
      handler: async (call: Call) => {
        const file = files.get(`assets/${call.params.file}`);
        if (file === undefined) throw notFound();
        return fileAnswer(call, file, 'public, max-age=31536000, immutable');
      },
    },
  ];
}

const notFound = () => new ApiError('not_found', 'No such route.');

function fileAnswer(call: Pick<Call, 'headers'>, file: ConsoleFile, cache_control: string): Answer {
  const accepted = codingsOf(call.headers['accept-encoding']);
  const coding = CODINGS.find(([name]) => accepted.has(name) && file.bodies.has(name))?.[0] ?? 'identity';
  const etag = `"${file.hash}-${coding}"`;
  const headers: Record<string, string> = {
    ...PAGE_HEADERS,
    'cache-control': cache_control,
    vary: 'accept-encoding',
    etag,
  };
  const known = String(call.headers['if-none-match'] ?? '').split(',');
  if (known.some((each) => each.trim().replace(/^W\//, '') === etag)) return { status: 304, headers };
  if (coding !== 'identity') headers['content-encoding'] = coding;
  const content = file.bodies.get(coding) as Buffer;
  return { status: 200, text: { content, content_type: file.content_type }, headers };
}

/**
 * Returns true if an answer of this type is accepted; one that only says "anything" counts where `or_anything` is
 * true.
 */
function takes(call: Pick<Call, 'headers'>, type: string, or_anything: boolean): boolean {
  const accept = call.headers.accept;
  if (accept === undefined) return or_anything;
  return String(accept).includes(type) || (or_anything && String(accept).includes('*/*'));
}
