import { type Static, Type } from 'typebox';
import { TEXT_LENGTHS } from '../limits.ts';
import {
  AgentRef,
  AllowanceRef,
  AmountMinor,
  Currency,
  Fields,
  Formed,
  Id,
  Line,
  Nullable,
  OneOf,
  Timestamp,
} from '../schema.ts';
import { AllowanceAuthor, CreateAllowanceBody } from './fields.ts';

/** `typ` of a signed allowance. */
export const SIGNED_ALLOWANCE_TYPE = 'purser-allowance+jwt';
/** The signature algorithms of signed allowances: two names of the same. */
export const SIGNED_ALLOWANCE_ALGS = ['EdDSA', 'Ed25519'] as const;
export const MAX_SIGNED_LENGTH = 16_384;

const PUBLIC_KEY = Fields(
  {
    kty: OneOf(['OKP']),
    crv: OneOf(['Ed25519']),
    x: Formed('^[A-Za-z0-9_-]{43}$', 'must be 32 bytes in base64url', {
      examples: ['11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'],
    }),
    kid: Type.Optional(Line({ max: 128 })),
    alg: Type.Optional(OneOf(SIGNED_ALLOWANCE_ALGS)),
    use: Type.Optional(OneOf(['sig'])),
  },
  { description: 'The public key of an Ed25519 key pair, as a JWK. Never send the private one (`d`).' },
);

const MAX_AMOUNT = AmountMinor({
  description: 'The most that one of its allowances may have, in minor units.',
});

/** The body that registers an issuer. */
export const CreateIssuerBody = Fields(
  {
    name: Line({ max: TEXT_LENGTHS.name }, { examples: ['Build service'] }),
    jwk: PUBLIC_KEY,
    currency: Currency({ description: 'The currency of all its allowances.' }),
    max_amount_minor: MAX_AMOUNT,
    agents: Type.Optional(
      Type.Array(AgentRef(), {
        minItems: 1,
        maxItems: 100,
        uniqueItems: true,
        description: 'The agents that its allowances may name; any if omitted.',
      }),
    ),
    parent: Type.Optional(
      AllowanceRef({
        description:
          'The allowance that all its allowances are parts of: what they spend together never exceeds it.',
      }),
    ),
  },
  {
    $id: 'CreateAllowanceIssuerRequest',
    examples: [
      {
        name: 'Build service',
        jwk: { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' },
        currency: 'EUR',
        max_amount_minor: 5_000,
      },
    ],
  },
);

/** An issuer, as the API answers it. */
export const IssuerBody = Fields(
  {
    id: Id('allowance_issuer'),
    status: OneOf(['active', 'revoked']),
    name: Type.String(),
    jwk: PUBLIC_KEY,
    currency: Type.String({ examples: ['EUR'] }),
    max_amount_minor: AmountMinor(),
    agents: Nullable(Type.Array(Fields({ id: Id('agent'), slug: Type.String() }))),
    parent: Nullable(Id('allowance')),
    created_at: Timestamp(),
    created_by: AllowanceAuthor,
    revoked_at: Nullable(Timestamp()),
  },
  { $id: 'AllowanceIssuer', description: 'Another system whose signed allowances are taken.' },
);
export type ShownIssuer = Static<typeof IssuerBody>;

export const PresentAllowanceBody = Fields(
  {
    signed: Line(
      { max: MAX_SIGNED_LENGTH },
      {
        description: `A JWT of the type \`${SIGNED_ALLOWANCE_TYPE}\` in its compact form.`,
        examples: ['eyJhbGciOiJFZERTQSIsImtpZCI6Imlzc18…'],
      },
    ),
  },
  { $id: 'PresentAllowanceRequest' },
);

/** An issuer has a parent of its own, and the JWT's id is the external id. */
const NOT_SIGNED = ['parent', 'budget', 'key', 'external_id'];

/** The claim `allowance` of a signed allowance. */
export const SignedAllowanceBody = Fields(
  Object.fromEntries(
    Object.entries(CreateAllowanceBody.properties).filter(([name]) => !NOT_SIGNED.includes(name)),
  ) as Omit<typeof CreateAllowanceBody.properties, 'parent' | 'budget' | 'key' | 'external_id'>,
);

const NumericDate = () => Type.Number({ minimum: 0, maximum: 253_402_300_799 });

/** The claims of a signed allowance. */
export const SignedAllowanceClaims = Fields({
  aud: Type.String(),
  jti: Line({ max: 128 }),
  iat: NumericDate(),
  exp: NumericDate(),
  nbf: Type.Optional(NumericDate()),
  allowance: SignedAllowanceBody,
});
export type SignedAllowanceClaims = Static<typeof SignedAllowanceClaims>;
