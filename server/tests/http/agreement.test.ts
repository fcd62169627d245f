import type { Authority, AuthorityBody } from '@purser/contract/authority';
import type { Decision, DecisionBody, DecisionRequest, Reservation } from '@purser/contract/decisions';
import type { CountedLimit, CountedLimitBody } from '@purser/contract/limit-standing';
import type { Capability, CapabilityBody } from '@purser/contract/records';
import type { Static } from 'typebox';
import { expect, test } from 'vitest';
import type { Immutable } from '../../src/service/http/route.ts';

/**
 * `true` if values of the type fit the schema and both name the same fields. Optional fields need the second half: a type
 * fits a schema in which such a field has another name.
 */
type Agrees<Type, Shape> =
  Type extends Immutable<Shape>
    ? [keyof Type, keyof Shape] extends [keyof Shape, keyof Type]
      ? true
      : false
    : false;

// `npm run types` fails if one of these is false.
const AGREED: [
  Agrees<Authority, Static<typeof AuthorityBody>>,
  Agrees<Decision, Static<typeof DecisionBody>>,
  Agrees<Reservation, Static<typeof DecisionBody>['reservation']>,
  Agrees<CountedLimit, Static<typeof CountedLimitBody>>,
  // The token is never part of the object.
  Agrees<Capability & { token?: string }, Static<typeof CapabilityBody>>,
  // A request that was accepted is repeated by its decision, field by field.
  Agrees<Decision['action'], Static<typeof DecisionRequest>['action']>,
] = [true, true, true, true, true, true];

test('a type that is narrower than its schema has the fields of the schema, and no others', () => {
  // @ts-expect-error: the schema has no field of this name
  const renamed: Agrees<Omit<Decision, 'remedies'> & { remedy?: string }, Static<typeof DecisionBody>> = true;
  // @ts-expect-error: the schema has the field
  const without: Agrees<Omit<Decision, 'remedies'>, Static<typeof DecisionBody>> = true;
  // @ts-expect-error: the field has another type
  const other: Agrees<
    Omit<Decision, 'limitable'> & { limitable: string },
    Static<typeof DecisionBody>
  > = true;
  expect([...AGREED, renamed, without, other]).not.toContain(false);
});
