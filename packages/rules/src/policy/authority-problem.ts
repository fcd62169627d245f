import {
  AUTHORITY_DEFAULTS,
  AUTHORITY_FIELD_NAMES,
  type Authority,
  authorityRow,
} from '@purser/contract/authority';
import { velocityProblem } from './velocity-problem.ts';

/** A field of an authority, as a path in it, and what is wrong with it. */
export interface FieldProblem {
  field: string;
  problem: string;
}

type Ask = (authority: Authority) => FieldProblem | null;

/** The first problem that fields of an authority have with each other, or within a list; null: there is none. */
export function authorityProblem(authority: Authority): FieldProblem | null {
  for (const ask of ASKED) {
    const found = ask(authority);
    if (found !== null) return found;
  }
  return null;
}

/**
 * The problem of an authority that refuses other merchants while no list exists, for an agent with this directory
 * version. Null if there is none. No schema can check this, because the directory is not part of an authority.
 */
export function missingList(
  {
    allowed_merchants = [],
    allowed_payees = [],
    on_other_merchants = AUTHORITY_DEFAULTS.on_other_merchants,
  }: Authority,
  directory_version: number,
): FieldProblem | null {
  if (on_other_merchants === 'ALLOW' || directory_version > 0) return null;
  if (allowed_merchants.length + allowed_payees.length > 0) return null;
  return {
    field: 'on_other_merchants',
    problem:
      'requires a list: name merchants in allowed_merchants or allowed_payees, or list some for the agent first',
  };
}

/** A field that qualifies another one has no effect without it. */
const missingQualified: Ask = (authority) => {
  for (const field of AUTHORITY_FIELD_NAMES) {
    const other = authorityRow(field).qualifies as keyof Authority | undefined;
    if (other !== undefined && authority[field] !== undefined && authority[other] === undefined)
      return { field, problem: `has no effect without ${other}` };
  }
  return null;
};

const ASKED: readonly Ask[] = [
  ({ valid_from, valid_until }) =>
    valid_from !== undefined && valid_until !== undefined && valid_until <= valid_from
      ? { field: 'valid_until', problem: `must be after valid_from, ${valid_from}` }
      : null,
  missingQualified,
  ({ active_hours = [] }) => {
    const place = active_hours.findIndex(({ from, to }) => from === to);
    return place < 0 ? null : { field: `active_hours[${place}].to`, problem: 'must not be the same as from' };
  },
  velocityProblem,
];
