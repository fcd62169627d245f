import { readFileSync } from 'node:fs';
import { hash, parseOptions, verify } from '@node-rs/argon2';
import { normaliseEmail } from '@purser/rules/domain/people';
import { authUnavailable, invalidField } from '@purser/rules/errors';
import { addressBlock } from '../http/client-address.ts';
import { Order } from '../scheduling/fair-queue.ts';
import { Places } from '../scheduling/places.ts';

/** OWASP's parameters of argon2id: 19 MiB and two passes, some 26 ms of one core. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** A stand-in hash for accounts without a password, so that nobody can tell: a hash of those parameters. */
const NOBODYS =
  '$argon2id$v=19$m=19456,t=2,p=1$HegWOQzhKkNE57mKVkaPbg$g6jkXDvwDQVXVNpG6cUSWQtXYxGC4E0HGX8jh1cQnmw';

const MIN_CHARACTERS = 12;
const MAX_CHARACTERS = 256;
/** Decisions go on while people sign in: so many hashes at a time, and so many that wait. */
const HASHES_AT_ONCE = 2;
const MAX_WAIT_MS = 2_000;
/**
 * One address may take both hashes while nobody else wants one, and most of the places to wait. All strangers together
 * leave a quarter of the places, and every second turn, to browsers and sessions that are known here.
 */
const WAITING = { of_workspace: 30, of_all: 40 };

/** Computes hashes. */
interface HashFunctions {
  hash(password: string): Promise<string>;
  verify(stored: string, password: string): Promise<boolean>;
}

/** Those of every process; tests count and hold what it does. */
export const ARGON2: HashFunctions = {
  hash: (password) => hash(password, PARAMETERS),
  verify: (stored, password) => verify(stored, password),
};

/** Whose turn it is that a password takes. */
export interface PasswordTurn {
  client_address: string;
  /** A device or session that was given out here; null: a stranger, who takes turns by address. */
  known_as: string | null;
}

/** Passwords are hashed a few at a time. Both throw `auth_unavailable` when too many wait. */
export interface Passwords {
  hash(password: string, turn: PasswordTurn): Promise<string>;
  /** Returns whether it is the password; costs the same where `stored` is null, which no password matches. */
  verify(stored: string | null, password: string, turn: PasswordTurn): Promise<boolean>;
  /** Returns whether a stored hash was made with other parameters than new ones are. */
  isOutdated(stored: string): boolean;
}

/** Makes the queue of one process. */
export function makePasswords(): Passwords {
  const places = new Places({
    resource: 'password_hashes',
    total: HASHES_AT_ONCE,
    order: new Order({ max_waiting: WAITING }),
    max_wait_ms: MAX_WAIT_MS,
  });
  async function inTurn<T>({ client_address, known_as }: PasswordTurn, work: () => Promise<T>): Promise<T> {
    const holder =
      known_as === null
        ? { workspace_id: 'strangers', key_id: addressBlock(client_address) }
        : { workspace_id: 'known', key_id: known_as };
    let release: () => void;
    try {
      release = await places.take(holder);
    } catch (error) {
      throw authUnavailable(error);
    }
    try {
      return await work();
    } finally {
      release();
    }
  }
  return {
    hash: (password, turn) => inTurn(turn, () => ARGON2.hash(normalise(password))),
    verify: async (stored, password, turn) => {
      const matches = await inTurn(turn, () => ARGON2.verify(stored ?? NOBODYS, normalise(password)));
      return matches && stored !== null;
    },
    isOutdated(stored) {
      const { memoryCost, timeCost, parallelism } = parseOptions(stored);
      return (
        memoryCost !== PARAMETERS.memoryCost ||
        timeCost !== PARAMETERS.timeCost ||
        parallelism !== PARAMETERS.parallelism
      );
    },
  };
}

/** The same password typed on different systems is one password. */
function normalise(password: string): string {
  return password.normalize('NFKC');
}

let common: ReadonlySet<string> | undefined;

/** The commonest passwords, in lower case. They are read when the first password is chosen. */
function commonPasswords(): ReadonlySet<string> {
  common ??= new Set(
    readFileSync(new URL('./data/common-passwords.txt', import.meta.url), 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('# '))
      .map((line) => line.toLowerCase()),
  );
  return common;
}

/**
 * Returns what is wrong with a password that somebody chooses, as a phrase to follow the field's name; null if nothing is.
 * It must have 12 to 256 characters after NFKC, and be neither common, nor a common one doubled, nor the person's e-mail
 * or name.
 */
export function passwordProblem(password: string, person: { email: string; name: string }): string | null {
  const text = normalise(password);
  const length = [...text].length;
  if (length < MIN_CHARACTERS || length > MAX_CHARACTERS) {
    return `must be ${MIN_CHARACTERS} to ${MAX_CHARACTERS} characters, got ${length}`;
  }
  const folded = text.toLowerCase();
  const half = folded.slice(0, folded.length / 2);
  const known = commonPasswords();
  if (known.has(folded) || (half + half === folded && known.has(half))) {
    return 'is a common password; choose another one';
  }
  const own = [person.email, person.email.split('@')[0], person.name].map((each) =>
    normalise(normaliseEmail(each as string)),
  );
  return own.includes(folded) ? 'must not be the e-mail or the name' : null;
}

/** Throws `invalid_request` naming `field` if the password may not be chosen. */
export function checkNewPassword(
  field: string,
  password: string,
  person: { email: string; name: string },
): void {
  const problem = passwordProblem(password, person);
  if (problem !== null) throw invalidField(field, problem);
}
