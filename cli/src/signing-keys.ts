import type { Context } from './context.ts';
import { EXIT } from './failure.ts';
import { oneLine } from './simulation-text.ts';

/** Lists the workspace's signing keys with their fingerprints, oldest first. */
export async function listSigningKeys(context: Context, { json }: { json?: boolean }): Promise<number> {
  const client = await context.client();
  let count = 0;
  for await (const key of client.signingKeys.list()) {
    count += 1;
    const { id, principal_id, name, status, fingerprint, endorsed_by } = key;
    const is_root = endorsed_by === null && status === 'ACTIVE';
    if (json) context.json(key);
    else
      context.say(
        `${status}${is_root ? ' root' : ''}  ${oneLine(principal_id, 100)}  ${oneLine(name, 100)}   ${id}`,
        `  ${fingerprint}`,
      );
  }
  if (count === 0 && !json) context.say('No signing keys.');
  return EXIT.ok;
}
