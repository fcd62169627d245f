import type { ErrorCode } from '../types.ts';
import { ERRORS } from './rules.ts';

/** A refusal of the fake, in the words of the service's table of errors. */
export class Refused extends Error {
  readonly status: number;
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.status = ERRORS[code].status;
    this.code = code;
  }
}

/** Throws a reason of the rules, where there is one. */
export function refuseIf(reason: { code: ErrorCode; message: string } | null): void {
  if (reason !== null) throw new Refused(reason.code, reason.message);
}

/** The same idempotency key came with another body. */
export const keyConflict = () =>
  new Refused('idempotency_conflict', 'The idempotency key was already used for a different request.');
