import { isObject, type Json, objectAt } from './fields.ts';

/** The object of an event of Stripe, or the value itself. */
export function stripeObject(value: unknown): Json {
  const outer = isObject(value) ? value : {};
  return outer.object === 'event' ? objectAt(objectAt(outer, 'data'), 'object') : outer;
}
