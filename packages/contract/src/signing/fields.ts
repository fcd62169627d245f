import { Type } from 'typebox';
import { Fields, Formed, Id, Nullable, OneOf, Timestamp } from '../schema.ts';
import { SIGNING_KEY_STATUSES } from '../values/signing.ts';

const MAX_STATEMENT = 16_384;

const Base64url = (max: number) => Formed(`^[A-Za-z0-9_-]{1,${max}}$`, 'must be base64url');

/** A signature as it is kept: the statement, and the parts of the passkey's answer that prove it. */
export interface Signature {
  /** RFC 8785 text. */
  statement: string;
  /** All base64url. */
  response: {
    id: string;
    response: { clientDataJSON: string; authenticatorData: string; signature: string };
  };
}

const responseFields = {
  clientDataJSON: Base64url(8_192),
  authenticatorData: Base64url(8_192),
  signature: Base64url(2_048),
};

/** A passkey's signature of a statement, in a request. */
export const signatureFields = {
  statement: Type.String({
    minLength: 1,
    maxLength: MAX_STATEMENT,
    description: 'The statement as it was given, byte by byte.',
  }),
  response: Type.Object(
    {
      id: Base64url(2_048),
      response: Type.Object(responseFields, { additionalProperties: true }),
    },
    {
      additionalProperties: true,
      description: 'The result of `navigator.credentials.get`, in its JSON form.',
    },
  ),
};

/** A signature of a statement, in a request. */
export const SignatureIn = () =>
  Fields(signatureFields, {
    description:
      "The statement and your signing key's answer to its options; the statement may be at most five minutes old, and each counts once.",
  });

/** A signature as a record shows it. */
export const SignatureBody = Fields(
  {
    statement: Type.String({ description: 'RFC 8785 text.' }),
    response: Fields({
      id: Type.String(),
      response: Fields({
        clientDataJSON: Type.String(),
        authenticatorData: Type.String(),
        signature: Type.String(),
      }),
    }),
  },
  {
    $id: 'Signature',
    description: "The statement that a person signed with their signing key, and the passkey's proof.",
  },
);

/** A statement to sign. */
export const StatementBody = Fields(
  {
    statement: Type.String({
      description: 'RFC 8785 text: what the signature says. Show it before it is signed.',
    }),
    options: Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          'For `navigator.credentials.get`, in its JSON form. Its challenge is the SHA-256 of the statement.',
      },
    ),
  },
  { $id: 'StatementToSign' },
);

/** A signing key as the API answers it. */
export const SigningKeyBody = Fields(
  {
    id: Id('signing_key'),
    name: Type.String(),
    principal_id: Type.String({ examples: ['user:ada'] }),
    credential_id: Type.String(),
    public_key: Type.String({ description: 'COSE key, base64url.' }),
    rp_id: Type.String({ examples: ['purser.example.com'] }),
    origin: Type.String({ examples: ['https://purser.example.com'] }),
    fingerprint: Type.String({
      description: '`SHA256:` + base64 of the SHA-256 of the public key. Verifiers pin the root by it.',
      examples: ['SHA256:jCzJzzB0xP1U8GBvU+kEUyiBf3a+z8jmqOSv2Ffsnjw='],
    }),
    status: OneOf(SIGNING_KEY_STATUSES, {
      description: 'PENDING: an administrator has yet to endorse it with their own key.',
    }),
    endorsed_by: Nullable(
      Id('signing_key', { description: 'The key that endorsed it; null for the root and pending keys.' }),
    ),
    created_at: Timestamp(),
    revoked_at: Nullable(Timestamp()),
  },
  { $id: 'SigningKey' },
);
