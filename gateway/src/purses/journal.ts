import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Lease, LeaseEnd } from '@purser/adapters/lease';
import type { SpendRequest } from '@purser/sdk';
import type { TokenUsage } from '../prices/price-table.ts';

/** A purse as the journal names it: ids and names, no key. */
export interface PurseName {
  agent_id: string;
  /** The id of the key that is used: each allowance has its own. */
  key_id: string;
  provider: string;
  authority: string | null;
  mode: string;
  currency: string;
  /** Purses of one name follow each other. */
  number: number;
}

/** A lease that was requested with the key of this id. It has the request's name. */
export interface AskedLease {
  key_id: string;
  request: SpendRequest;
}

/** The records of the journal. Amounts are texts of whole units, except those of leases. */
export type JournalRecord =
  | { t: 'gateway'; id: string; boot_id: string; leases: number; calls: number }
  | ({ t: 'purse'; purse: string; owed: string } & PurseName)
  | ({ t: 'lease'; purse: string } & Lease)
  | {
      t: 'reserve';
      purse: string;
      call: number;
      model: string;
      input: number;
      output: number;
      amount: string;
    }
  | {
      t: 'settle';
      purse: string;
      call: number;
      model: string;
      usage: TokenUsage;
      uncertain: boolean;
      amount: string;
    }
  | ({ t: 'close'; purse: string } & Omit<LeaseEnd, 'usage'>)
  | { t: 'reported'; purse: string; key: string }
  | ({ t: 'ask' } & AskedLease)
  | { t: 'refused'; key: string };

const { O_WRONLY, O_APPEND, O_CREAT } = constants;
const FILE = 'journal.jsonl';
const sync = promisify(fdatasync);

const lineOf = (record: JournalRecord) => `${JSON.stringify(record)}\n`;

/** Names of directories are durable once the directory itself is. */
function syncDirectory(directory: string): void {
  const fd = openSync(directory, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** The journal of one gateway: what it owes and holds, written before each step that it allows. */
export class Journal {
  readonly #path: string;
  #fd: number;
  #bytes: number;
  #syncing = 0;

  constructor(directory: string) {
    this.#path = join(directory, FILE);
    this.#fd = openSync(this.#path, O_WRONLY | O_APPEND | O_CREAT, 0o600);
    this.#bytes = fstatSync(this.#fd).size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** A record is on its way to the disk: the journal cannot be replaced now. */
  get is_syncing(): boolean {
    return this.#syncing > 0;
  }

  /** The text of the journal. */
  read(): string {
    return readFileSync(this.#path, 'utf8');
  }

  /** Hands a record to the kernel, which keeps it if the process is killed. Throws if it cannot be written whole. */
  append(record: JournalRecord): void {
    const line = Buffer.from(lineOf(record));
    const written = writeSync(this.#fd, line);
    this.#bytes += written;
    if (written !== line.length) throw new Error('The journal was not written whole: the disk is full.');
  }

  /** Resolves once the record is on the disk. */
  async appendDurable(record: JournalRecord): Promise<void> {
    this.append(record);
    this.#syncing += 1;
    try {
      await sync(this.#fd);
    } finally {
      this.#syncing -= 1;
    }
  }

  /** Replaces the whole journal by these records, at once and durably: after a crash there is the old one or the new one. */
  replace(records: readonly JournalRecord[]): void {
    const next = `${this.#path}.next`;
    const text = records.map(lineOf).join('');
    writeFileSync(next, text, { mode: 0o600, flush: true });
    renameSync(next, this.#path);
    syncDirectory(dirname(this.#path));
    closeSync(this.#fd);
    this.#fd = openSync(this.#path, O_WRONLY | O_APPEND);
    this.#bytes = Buffer.byteLength(text);
  }

  /** Ends the journal. A later record throws: the number of a closed file may belong to another one. */
  close(): void {
    closeSync(this.#fd);
    this.#fd = -1;
  }
}
