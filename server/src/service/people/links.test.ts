import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { makeLinkTokens } from './links.ts';

const macBy = (key: string) => (text: string) => createHmac('sha256', key).update(text).digest();
const links = makeLinkTokens([macBy('now'), macBy('before')]);
const user = { user_id: 'usr_01KAJ5F0V8Z3M2Q9X7T4R6N1BD', credential_epoch: 3 };
const NOW_MS = Date.parse('2026-11-22T08:00:00Z');
const DAY_MS = 86_400_000;

test('a link for a new password is good for a day, and in the credential epoch that it was made in', () => {
  const token = links.reset(user, NOW_MS);
  expect(links.userOfReset(token)).toBe(user.user_id);
  expect(links.isReset(token, user, NOW_MS + DAY_MS - 1)).toBe(true);
  expect(links.isReset(token, user, NOW_MS + DAY_MS)).toBe(false);
  for (const other of [
    { ...user, credential_epoch: 4 },
    { ...user, credential_epoch: 2 },
    { ...user, user_id: 'usr_01KAJ5F0V8Z3M2Q9X7T4R6N1BE' },
  ]) {
    expect(links.isReset(token, other, NOW_MS)).toBe(false);
  }
});
test('no link is lengthened, moved to another person, or used as one of another kind', () => {
  const [id, expires, proof] = links.reset(user, NOW_MS).split('.') as [string, string, string];
  const later = `${id}.${Number(expires) + DAY_MS}.${proof}`;
  expect(links.isReset(later, user, NOW_MS)).toBe(false);
  const workspace_id = 'ws_01KAJ5F0V8Z3M2Q9X7T4R6N1BD';
  const invitation_id = 'inv_01KAJ5F0V8Z3M2Q9X7T4R6N1BD';
  const token = links.invitation(workspace_id, invitation_id);
  expect(links.openInvitation(token)).toEqual({ workspace_id, invitation_id });
  expect(links.openInvitation(`${workspace_id}.${invitation_id}.${proof}`)).toBe(null);
  expect(links.openInvitation(token.replace('6N1BD.inv', '6N1BE.inv'))).toBe(null);
});
test('a link that was proved by the secret before is good; one by a secret that nobody has is not', () => {
  const earlier = makeLinkTokens([macBy('before')]).reset(user, NOW_MS);
  expect(links.isReset(earlier, user, NOW_MS)).toBe(true);
  const foreign = makeLinkTokens([macBy('foreign')]).reset(user, NOW_MS);
  expect(links.isReset(foreign, user, NOW_MS)).toBe(false);
});
