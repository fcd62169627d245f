import { CreateAllowanceBody } from '@purser/contract/allowances/fields';
import type { AllowanceIssuer } from '@purser/rules/allowances/issuers';
import { ApiError } from '@purser/rules/errors';
import type { MandateTime, OpenedMandate } from '../engine/commands/allowances/present-mandate.ts';
import { invalidAllowance } from '../service/allowances/signed-allowances.ts';
import { compileSchema } from '../service/http/validation.ts';
import {
  addNamed,
  checkKnown,
  type MandateBounds,
  type MandateFormat,
  mandateBounds,
} from './constraints.ts';
import {
  checkBinding,
  checkFollows,
  confirmedKey,
  identitiesOf,
  isSeconds,
  keyIdOf,
  type Presentation,
  readPresentation,
} from './presentation.ts';
import {
  disclosedClaims,
  isObject,
  isSignedBy,
  type Json,
  publicKeyOf,
  readSdJwt,
  type SdJwt,
} from './sd-jwt.ts';

/** A mandate whose signatures are good, with the issuers whose key signed it, the oldest first. */
export interface SignedMandate extends OpenedMandate {
  issuers: readonly AllowanceIssuer[];
}

/** How much later than here it may be at an issuer. */
const CLOCK_SKEW_MS = 300_000;

/** The parts of a presentation in each format, and what the last of them is like. */
const FORMATS = {
  AP2: {
    tokens: ['mandate'],
    vct: 'mandate.payment.open.1',
    claims: ['iss', 'sub', 'iat', 'nbf', 'exp', 'vct', 'jti', '_sd_alg', 'delegate_payload'],
    is_listing: false,
  },
  VI: {
    tokens: ['L1', 'L2'],
    vct: 'mandate.payment.open',
    // Its claims list the digests of all its disclosures once more.
    claims: [
      'iss',
      'aud',
      'nonce',
      'iat',
      'nbf',
      'exp',
      'jti',
      'sd_hash',
      '_sd_alg',
      '_sd',
      'delegate_payload',
    ],
    is_listing: true,
  },
} as const satisfies Record<MandateFormat, object>;

const TYPES_OF_L2: readonly unknown[] = ['kb-sd-jwt+kb', 'kb+sd-jwt+kb'];

/** Throws ApiError `allowance_invalid` where the outermost JWT is another thing than a mandate of a format. */
function checkType({ name, header: { typ } }: SdJwt, format: MandateFormat): void {
  if (format === 'VI') {
    if (typ !== 'sd+jwt') throw invalidAllowance(`${name} typ: must be sd+jwt.`);
    return;
  }
  const is_mandate =
    typ === undefined || (typeof typ === 'string' && /^(?!kb)[a-z0-9.+-]*sd[-+]jwt$/.test(typ));
  if (!is_mandate) throw invalidAllowance(`${name} typ: must end with "+sd-jwt".`);
}

/** The issuers whose key signed the outermost JWT. Throws ApiError `allowance_invalid` where there are none. */
async function signersOf(
  outermost: SdJwt,
  findIssuers: (key_id: string) => Promise<AllowanceIssuer[]>,
): Promise<[AllowanceIssuer, ...AllowanceIssuer[]]> {
  const found = await findIssuers(keyIdOf(outermost));
  if (found.length === 0) throw invalidAllowance('kid: no issuer of mandates has a key of this name.');
  const signers: AllowanceIssuer[] = [];
  for (const issuer of found) {
    if (await isSignedBy(outermost, publicKeyOf(JSON.parse(issuer.jwk), 'jwk'))) signers.push(issuer);
  }
  const [first, ...others] = signers;
  if (first === undefined)
    throw invalidAllowance('signature: is not that of the issuer’s key over this JWT.');
  return [first, ...others.filter(({ format }) => format === first.format)];
}

/** The times that claims set: from when, and until when. Throws ApiError `allowance_invalid`. */
function timesOf(claims: Json, of: string): { starts: MandateTime[]; ends: MandateTime[] } {
  const timed = (claim: string, later_ms = 0): MandateTime[] => {
    const value = claims[claim];
    const name = `${of} ${claim}`;
    if (value === undefined) return [];
    if (!isSeconds(value)) throw invalidAllowance(`${name}: must be a time in seconds.`);
    return [{ name, at_ms: value * 1_000 + later_ms }];
  };
  return { starts: [...timed('nbf'), ...timed('iat', -CLOCK_SKEW_MS)], ends: timed('exp') };
}

/** The signed claims of a presentation with their names. The last ones carry the mandate. */
async function signedClaims({ tokens }: Presentation, format: MandateFormat): Promise<[string, Json][]> {
  const { claims: known, is_listing } = FORMATS[format];
  const [outermost, inner] = tokens as [SdJwt, SdJwt | undefined];
  if (inner === undefined) {
    const claims = disclosedClaims(outermost);
    checkKnown(claims, known, outermost.name);
    return [[outermost.name, claims]];
  }
  const card = disclosedClaims(outermost);
  for (const claim of ['sd_hash', 'status', 'delegate_payload']) {
    if (Object.hasOwn(card, claim)) throw invalidAllowance(`L1 ${claim}: is not allowed.`);
  }
  if (!TYPES_OF_L2.includes(inner.header.typ))
    throw invalidAllowance(`L2 typ: must be ${TYPES_OF_L2.join(' or ')}.`);
  await checkFollows(inner, outermost, confirmedKey(card, 'L1'));
  const claims = disclosedClaims(inner, { may_list: is_listing });
  checkKnown(claims, known, inner.name);
  return [
    [outermost.name, card],
    [inner.name, claims],
  ];
}

const CLAIMS = ['vct', 'constraints', 'cnf', 'iat', 'nbf', 'exp', 'payment_instrument', 'pisp'];

/** The one mandate that is disclosed. Throws ApiError `allowance_invalid` where it is another, or has more than is known. */
function disclosedMandate({ delegate_payload }: Json, format: MandateFormat): Json {
  const { vct } = FORMATS[format];
  const disclosed = Array.isArray(delegate_payload)
    ? delegate_payload.filter((each) => !isObject(each) || !Object.hasOwn(each, '...'))
    : [];
  const [mandate] = disclosed;
  if (disclosed.length !== 1 || !isObject(mandate))
    throw invalidAllowance(`delegate_payload: the ${vct} must be disclosed, and nothing else of it.`);
  if (mandate.vct !== vct) throw invalidAllowance(`mandate vct: must be ${vct}.`);
  checkKnown(mandate, CLAIMS, 'mandate');
  return mandate;
}

const checkBody = compileSchema(CreateAllowanceBody, 'body');

/** The bounds of the allowance that a mandate makes. Throws ApiError `allowance_invalid` where it cannot have them. */
function bodyOf({ currencies, range_max_minor, budget_minor, merchants, recurrence }: MandateBounds) {
  const amount_minor = budget_minor ?? range_max_minor;
  const [first] = currencies;
  if (amount_minor === undefined || first === undefined)
    throw invalidAllowance('constraints: an amount_range or a budget is required.');
  const other = currencies.find(({ currency }) => currency !== first.currency);
  if (other !== undefined)
    throw invalidAllowance(`${other.name}: is ${other.currency}, but another has ${first.currency}.`);
  const max_count = recurrence === undefined ? 1 : (recurrence.max_occurrences ?? undefined);
  const body = {
    currency: first.currency,
    amount_minor,
    ...(range_max_minor === undefined ? {} : { per_spend_limit_minor: range_max_minor }),
    ...(max_count === undefined ? {} : { max_count }),
    ...(merchants === undefined ? {} : { merchants }),
  };
  try {
    checkBody(body);
  } catch (error) {
    if (error instanceof ApiError) throw invalidAllowance(`constraints: ${error.message}`);
    throw error;
  }
  return body;
}

/**
 * Opens a mandate with its key binding: form, signatures, disclosures, bindings and bounds. Its times are for the database to
 * judge. `findIssuers` returns the issuers of mandates that have a key of a name, the oldest first. Throws ApiError
 * `allowance_invalid` that says what is wrong, or which constraint cannot be kept; nothing is left out in silence.
 */
export async function openMandate(
  signed: string,
  workspace_id: string,
  findIssuers: (key_id: string) => Promise<AllowanceIssuer[]>,
): Promise<SignedMandate> {
  const outermost = await readSdJwt(signed.slice(0, signed.indexOf('~') + 1), 'issuer JWT');
  const issuers = await signersOf(outermost, findIssuers);
  const format = issuers[0].format as MandateFormat;
  checkType(outermost, format);
  const presentation = await readPresentation(signed, FORMATS[format].tokens);
  const all_claims = await signedClaims(presentation, format);
  const [, claims] = all_claims.at(-1) as [string, Json];
  const mandate = disclosedMandate(claims, format);
  const binding = await checkBinding(presentation, mandate, workspace_id);
  const { nbf, ...bound } = binding;
  const bounds = mandateBounds(mandate.constraints, format);
  addNamed(bounds, mandate);
  const times = [...all_claims, ['mandate', mandate] as const].map(([name, each]) => timesOf(each, name));
  const ends = [...times.flatMap((each) => each.ends), ...bounds.ends];
  if (ends.length === 0) throw invalidAllowance('exp: is required, here or as the end of execution_date.');
  return {
    issuers,
    identities: identitiesOf((presentation.tokens.at(-1) as SdJwt).jwt),
    binding: bound,
    starts: [
      ...(nbf === null ? [] : [{ name: 'key binding nbf', at_ms: nbf * 1_000 }]),
      ...times.flatMap((each) => each.starts),
      ...bounds.starts,
    ],
    ends,
    body: bodyOf(bounds),
    period: bounds.recurrence?.period ?? null,
    mandate: { format, ...bounds.shown },
  };
}
