import type { ErrorCode } from '@purser/contract/errors';
import type { Origin } from '@purser/rules/domain/audit';
import type { Needs } from '../needs/needs.ts';
import type { WorkingSet } from './working-set.ts';

/** The reason why a command was refused. A refused command changes nothing. */
export interface Refusal {
  code: ErrorCode;
  /** The message for the caller. */
  message: string;
}

/**
 * The result of a command. `stale`: the caller's input was prepared for a state that has changed since, to `current`;
 * nothing was done, and the caller may prepare its input again and resubmit.
 */
export type CommandResult<Output, Current = never> =
  | { kind: 'done'; value: Output }
  | { kind: 'refused'; refusal: Refusal }
  | { kind: 'stale'; current: Current };

/** Returns the result of a command that was carried out. */
export function done<Output>(value: Output): { kind: 'done'; value: Output } {
  return { kind: 'done', value };
}

/** Returns the result of a command that was refused; `message` is for the caller. */
export function refuse(code: ErrorCode, message: string): { kind: 'refused'; refusal: Refusal } {
  return { kind: 'refused', refusal: { code, message } };
}

/**
 * One kind of write. `needs` names the rows to load; `apply` is pure: it reads and changes the working set only, and
 * changes nothing unless its result is `done`.
 */
export interface Command<Input, Output, Current = never> {
  /** The operationId of its route, or its name at the command line. */
  name: string;
  needs: (input: Input) => Needs;
  apply: (set: WorkingSet, input: Input, origin: Origin) => CommandResult<Output, Current>;
  /** The command creates its workspace, so the lane begins a new chain. */
  begins_workspace?: boolean;
}

/** The value that `submit` resolves with when the command was stale. */
export class Stale<Current> {
  readonly current: Current;

  constructor(current: Current) {
    this.current = current;
  }
}
