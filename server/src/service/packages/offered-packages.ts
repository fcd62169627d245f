import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { Header } from 'tar/header';

/** A package as the service offers it. */
export interface OfferedPackage {
  name: string;
  version: string;
  /** The name of its file. */
  file: string;
  /** SHA-512 of the file, as Subresource Integrity writes it. */
  integrity: string;
}

/** A package of npm, whose tarball is made of `tar` and its manifest; or a file that is the same at every address. */
type Packed = Linked | OfferedPackage;

/** A package that depends on others of these: its files without its manifest. */
interface Linked {
  file: string;
  tar: string;
  manifest: Manifest;
}

interface Manifest {
  name: string;
  version: string;
  dependencies: Record<string, string>;
}

interface MadeFile {
  content: Buffer;
  integrity: string;
}

/** The addresses for which tarballs are kept. */
const MAX_ADDRESSES = 4;
const BLOCK = 512;
/** npm gives every file this time, so that the same files give the same bytes. */
const MTIME = new Date('1985-10-26T08:15:00.000Z');

const gzipped = promisify(gzip);

const nameOf = (of: Packed) => ('manifest' in of ? of.manifest.name : of.name);

/** The block of a package's manifest, which is the first file of its tarball. */
function manifestEntry(manifest: Manifest): Buffer {
  const content = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  const header = Buffer.alloc(BLOCK);
  new Header({
    path: 'package/package.json',
    mode: 0o644,
    size: content.length,
    mtime: MTIME,
    type: 'File',
  }).encode(header);
  return Buffer.concat([header, content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)]);
}

/** Reads the list that the build wrote; empty where nothing was packed. */
function readList(directory: string): Packed[] {
  try {
    return JSON.parse(readFileSync(join(directory, 'packages.json'), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * The packages that the build put into a directory. What they depend on among each other is an address of this service,
 * so that each can be installed by itself.
 */
export class OfferedPackages {
  readonly #directory: string;
  readonly #packed: readonly Packed[];
  readonly #files: ReadonlyMap<string, string>;
  readonly #at_address = new LRUCache<string, Map<string, Promise<MadeFile>>>({ max: MAX_ADDRESSES });

  constructor(directory: string) {
    this.#directory = directory;
    this.#packed = readList(directory);
    this.#files = new Map(this.#packed.map((each) => [nameOf(each), each.file]));
  }

  /** All of them for clients that reach this service at `address`, which ends without a slash. */
  list(address: string): Promise<OfferedPackage[]> {
    return Promise.all(
      this.#packed.map(async (each) => {
        if (!('manifest' in each)) return each;
        const { name, version } = each.manifest;
        return { name, version, file: each.file, integrity: (await this.#made(each, address)).integrity };
      }),
    );
  }

  /** The bytes of one file for these clients; undefined if there is none of this name. */
  async file(name: string, address: string): Promise<Buffer | undefined> {
    const found = this.#packed.find(({ file }) => file === name);
    if (found === undefined) return undefined;
    return 'manifest' in found
      ? (await this.#made(found, address)).content
      : readFile(join(this.#directory, name));
  }

  #made(of: Linked, address: string): Promise<MadeFile> {
    const kept = this.#at_address.get(address) ?? new Map<string, Promise<MadeFile>>();
    this.#at_address.set(address, kept);
    const found = kept.get(of.file);
    if (found !== undefined) return found;
    const making = this.#make(of, address);
    kept.set(of.file, making);
    making.catch(() => kept.delete(of.file));
    return making;
  }

  async #make({ manifest, tar }: Linked, address: string): Promise<MadeFile> {
    const dependencies = Object.fromEntries(
      Object.entries(manifest.dependencies).map(([name, version]) => {
        const file = this.#files.get(name);
        return [name, file === undefined ? version : `${address}/packages/${file}`];
      }),
    );
    const files = await readFile(join(this.#directory, tar));
    // A tarball ends with two empty blocks.
    const tarball = Buffer.concat([
      manifestEntry({ ...manifest, dependencies }),
      files,
      Buffer.alloc(2 * BLOCK),
    ]);
    const content = await gzipped(tarball, { level: 9 });
    return { content, integrity: `sha512-${createHash('sha512').update(content).digest('base64')}` };
  }
}
