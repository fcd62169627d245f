import type { SIGNING_KEY_STATUSES } from '@purser/contract/values/signing';

/** A person's passkey that was taken into a workspace's chain. All of it is sealed there at each change. */
export interface SigningKeyRow {
  signing_key_id: string;
  user_id: string;
  principal_id: string;
  name: string;
  /** Base64url. */
  credential_id: string;
  /** COSE, base64url. */
  public_key: string;
  rp_id: string;
  origin: string;
  status: (typeof SIGNING_KEY_STATUSES)[number];
  /** It was the first key, or the first after a reset. */
  is_root: boolean;
  /** The key's own signature of its enrolment, as `signatureText` writes it. */
  enrolment: string;
  /** The key that endorsed it, and that key's signature; null for a root and while it is PENDING. */
  endorsed_by: string | null;
  endorsement: string | null;
  created_at: string;
  revoked_at: string | null;
  /** When the operator ended the trust that begins with this root. */
  reset_at: string | null;
}
