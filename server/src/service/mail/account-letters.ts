import { cleanClaim, utcMinute } from '@purser/rules/notices/text';
import type { Letter } from './letter.ts';

const MAX_NAME = 80;

/** The letter that invites a person to a workspace. `inviter` null: no member did. */
export function invitationLetter(invitation: {
  workspace_name: string;
  inviter: string | null;
  expires_at: string;
  url: string;
}): Letter {
  const { workspace_name, inviter, expires_at, url } = invitation;
  const by = inviter === null ? 'You are invited' : `${cleanClaim(inviter, MAX_NAME)} invites you`;
  return {
    subject: 'Invitation to a Purser workspace',
    parts: [
      {
        kind: 'paragraph',
        text: `${by} to the workspace “${cleanClaim(workspace_name, MAX_NAME)}” on Purser, which decides whether software agents may make payments.`,
      },
      { kind: 'link', label: 'Accept the invitation', url },
      { kind: 'note', text: `The link expires ${utcMinute(expires_at)} and works once.` },
      { kind: 'note', text: 'If you did not expect this invitation, ignore this mail.' },
    ],
  };
}

/** The letter with a link that sets a new password. */
export function resetLetter(url: string): Letter {
  return {
    subject: 'Set a new password for Purser',
    parts: [
      { kind: 'paragraph', text: 'With this link you set a new password for your Purser account.' },
      { kind: 'link', label: 'Set a new password', url },
      {
        kind: 'note',
        text: 'The link expires in 24 hours and works once. It signs you out everywhere and removes your passkeys.',
      },
      { kind: 'note', text: 'If you did not ask for it, ignore this mail: your password stays as it is.' },
    ],
  };
}
