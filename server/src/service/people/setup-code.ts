import type { Queryable } from '../../engine/storage/database.ts';
import type { Mac } from '../installation/secrets.ts';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const CODE_BYTES = 10;
const GROUP = 4;
const LIFE_MINUTES = 60;

/** How many random bytes a code is made of. */
export const SETUP_CODE_BYTES = CODE_BYTES;

/** Writes 80 random bits as people read them: `4F7K-9QXM-2RTD-8HWN`. */
export function formatSetupCode(bytes: Buffer): string {
  let value = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (let i = 0; i < (CODE_BYTES * 8) / 5; i++) {
    text = ALPHABET[Number(value % 32n)] + text;
    value /= 32n;
  }
  return (text.match(new RegExp(`.{${GROUP}}`, 'g')) as string[]).join('-');
}

/** Reads a code as it was meant: case, dashes and blanks do not matter, nor do letters that look like digits. */
function normaliseSetupCode(text: string): string {
  return text.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1');
}

/** Keeps a code's digest for an hour. */
export async function saveSetupCode(db: Queryable, code: string, mac: Mac): Promise<void> {
  await db.query({
    text: `insert into setup_codes (digest, expires_at)
      values ($1, clock_timestamp() + make_interval(mins => $2)) on conflict do nothing`,
    values: [mac(normaliseSetupCode(code)), LIFE_MINUTES],
  });
}

/** Returns whether a code is one of those that were printed, and has not expired. */
export async function isSetupCode(db: Queryable, code: string, macs: readonly Mac[]): Promise<boolean> {
  const result = await db.query<{ found: boolean }>({
    name: 'is_setup_code',
    text: `select exists (select 1 from setup_codes
      where digest = any($1) and expires_at > clock_timestamp()) as found`,
    values: [macs.map((mac) => mac(normaliseSetupCode(code)))],
  });
  return result.rows[0]?.found === true;
}

/** Makes all codes useless, once there is somebody. */
export async function deleteSetupCodes(db: Queryable): Promise<void> {
  await db.query({ text: 'delete from setup_codes' });
}
