import type { Origin } from '../domain/audit.ts';
import type { ErrorCode } from '../errors.ts';
import type { Needs } from './tables.ts';
import type { WorkingSet } from './working-set.ts';

/** Why a command was not carried out. Nothing of it was. */
export interface Refusal {
  code: ErrorCode;
  /** What the caller reads. */
  message: string;
}

/**
 * What became of a command. `stale`: what the caller prepared no longer fits what holds now, which is `current`;
 * nothing was done, and the caller may prepare anew and submit again.
 */
export type CommandResult<Output, Current = never> =
  | { kind: 'done'; value: Output }
  | { kind: 'refused'; refusal: Refusal }
  | { kind: 'stale'; current: Current };

/** The result of a command that was carried out. */
export function done<Output>(value: Output): { kind: 'done'; value: Output } {
  return { kind: 'done', value };
}

/** The result of a command that was not; `message` is what the caller reads. */
export function refuse(code: ErrorCode, message: string): { kind: 'refused'; refusal: Refusal } {
  return { kind: 'refused', refusal: { code, message } };
}

/**
 * One kind of write. `needs` names the rows it looks at; `apply` is pure: it reads and changes the working set
 * and nothing else, and changes nothing unless it is done.
 */
export interface Command<Input, Output, Current = never> {
  /** The operationId of its route, or its name at the command line. */
  name: string;
  needs: (input: Input) => Needs;
  apply: (set: WorkingSet, input: Input, origin: Origin) => CommandResult<Output, Current>;
  /** Makes its workspace: the lane then begins a new chain. */
  begins_workspace?: boolean;
}

/** What a caller of the lane is given back when its command was stale. */
export class Stale<Current> {
  readonly current: Current;

  constructor(current: Current) {
    this.current = current;
  }
}
