import type { ErrorCode } from '../errors.ts';
import type { Needs, Origin } from './needs.ts';
import type { WorkingSet } from './working-set.ts';

/** Why a command was not carried out. Nothing of it was. */
export interface Refusal {
  code: ErrorCode;
  /** What the caller reads. */
  message: string;
}

export type Outcome<Output> = { ok: true; value: Output } | { ok: false; refusal: Refusal };

/** The outcome of a command that was carried out. */
export function done<Output>(value: Output): Outcome<Output> {
  return { ok: true, value };
}

/** The outcome of a command that was not; `message` is what the caller reads. */
export function refuse(code: ErrorCode, message: string): { ok: false; refusal: Refusal } {
  return { ok: false, refusal: { code, message } };
}

/**
 * One kind of write. `needs` names the rows it looks at; `apply` is pure: it reads and changes the working set
 * and nothing else, and a refusal changes nothing.
 */
export interface Command<Input, Output> {
  /** The operationId of its route, or its name at the command line. */
  name: string;
  needs: (input: Input) => Needs;
  apply: (set: WorkingSet, input: Input, origin: Origin) => Outcome<Output>;
  /** Makes its workspace: the lane then begins a new chain. */
  begins_workspace?: boolean;
}
