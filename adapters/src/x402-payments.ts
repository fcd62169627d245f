import { Foreign, Unreadable } from './foreign.ts';

/** A seller's payment requirements (x402 v2), with every field's type checked. */
export interface Requirements {
  network: string;
  asset: string;
  amount: string;
  payTo: string;
  maxTimeoutSeconds: number;
}

/** The longest time that a seller may have to settle a payment: until then it counts. */
const MAX_TIMEOUT_SECONDS = 86_400;

/** Reads a seller's requirements. Throws an `Unreadable` that names the first field that is not what its type says. */
export function requirementsOf(given: object): Requirements {
  const asked = new Foreign(given, 'requirements');
  return {
    network: asked.id('network'),
    asset: asked.id('asset'),
    amount: asked.matching('amount', /^[1-9]\d{0,30}$/, 'a string of digits, above 0'),
    payTo: asked.id('payTo'),
    maxTimeoutSeconds: asked.integer('maxTimeoutSeconds', 1, MAX_TIMEOUT_SECONDS),
  };
}

/** An address as it is compared: a hexadecimal one is the same account in both cases. */
export const addressKey = (address: string) =>
  /^0x[0-9a-f]+$/i.test(address) ? address.toLowerCase() : address;

/** A signed payment. A field that cannot be read is null. */
export interface Signed {
  payTo: string | null;
  amount: bigint | null;
  /** Null also where the form names no asset. */
  asset: string | null;
  /** Unix seconds. */
  valid_before: bigint | null;
}

/** Reads the two forms of `@x402/evm`: a transfer with authorization (EIP-3009), and a Permit2 authorization. */
export function signedOf(paymentPayload: object): Signed {
  const read = <T>(field: () => T): T | null => {
    try {
      return field();
    } catch (error) {
      if (error instanceof Unreadable) return null;
      throw error;
    }
  };
  const payload = read(() => new Foreign(paymentPayload, 'paymentPayload').object('payload'));
  const transfer = read(() => payload?.object('authorization') ?? null);
  const permit = read(() => payload?.object('permit2Authorization') ?? null);
  if ((transfer === null) === (permit === null)) {
    return { payTo: null, amount: null, asset: null, valid_before: null };
  }
  return {
    payTo: read(() => (transfer ?? permit?.object('witness'))?.id('to') ?? null),
    amount: read(() => transfer?.digits('value') ?? permit?.object('permitted').digits('amount') ?? null),
    asset: read(() => permit?.object('permitted').id('token') ?? null),
    valid_before: read(() => transfer?.digits('validBefore') ?? permit?.digits('deadline') ?? null),
  };
}

/** Names the first field of a signed payment that differs from what was allowed; null if no readable field does. */
export function differenceOf(signed: Signed, allowed: Requirements): string | null {
  const { payTo, amount, asset } = signed;
  if (payTo !== null && addressKey(payTo) !== addressKey(allowed.payTo)) return 'another payee';
  if (amount !== null && amount !== BigInt(allowed.amount)) return 'another amount';
  if (asset !== null && addressKey(asset) !== addressKey(allowed.asset)) return 'another asset';
  return null;
}
