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
import { MANDATE_FORMATS } from '../values/allowances.ts';
import { AllowanceAuthor, CreateAllowanceBody } from './fields.ts';

/** `typ` of a signed allowance. */
export const SIGNED_ALLOWANCE_TYPE = 'purser-allowance+jwt';
/** The signature algorithms of signed allowances: two names of the same. */
export const SIGNED_ALLOWANCE_ALGS = ['EdDSA', 'Ed25519'] as const;
export const MAX_SIGNED_LENGTH = 16_384;

const Coordinate = (words?: Parameters<typeof Formed>[2]) =>
  Formed('^[A-Za-z0-9_-]{43}$', 'must be 32 bytes in base64url', words);

const PUBLIC_KEY = Fields(
  {
    kty: OneOf(['OKP', 'EC']),
    crv: OneOf(['Ed25519', 'P-256']),
    x: Coordinate({ examples: ['11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'] }),
    y: Type.Optional(Coordinate()),
    kid: Type.Optional(
      Line({ max: 128 }, { description: 'Required with `format`: mandates name their key by it.' }),
    ),
    alg: Type.Optional(OneOf([...SIGNED_ALLOWANCE_ALGS, 'ES256'])),
    use: Type.Optional(OneOf(['sig'])),
  },
  {
    description:
      'The public key as a JWK: of an Ed25519 key pair (OKP), or with `format` of a P-256 key pair (EC). Never send the private one (`d`).',
  },
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
    format: Type.Optional(
      OneOf(MANDATE_FORMATS, {
        description:
          'What it signs: mandates of AP2 v0.2, or of Verifiable Intent. Without it, signed allowances.',
      }),
    ),
  },
  {
    $id: 'CreateAllowanceIssuerRequest',
    'x-together': 'allowance_issuer',
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

export type CreateIssuer = Static<typeof CreateIssuerBody>;

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
    format: Nullable(OneOf(MANDATE_FORMATS)),
    created_at: Timestamp(),
    created_by: AllowanceAuthor,
    revoked_at: Nullable(Timestamp()),
  },
  { $id: 'AllowanceIssuer', description: 'Another system whose signed allowances or mandates are taken.' },
);
export type ShownIssuer = Static<typeof IssuerBody>;

export const PresentAllowanceBody = Fields(
  {
    signed: Line(
      { max: MAX_SIGNED_LENGTH },
      {
        description: `A JWT of the type \`${SIGNED_ALLOWANCE_TYPE}\` in its compact form, or a mandate with its key binding.`,
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
