import { madeBy, type Origin } from '@purser/rules/domain/audit';
import type { Member } from '@purser/rules/domain/people';
import { isByKeyMaker, type Reviewer } from '@purser/rules/domain/reviews';
import type { SeparationOfDuties } from '@purser/rules/domain/workspace';
import type { WorkingSet } from '../../lane/working-set.ts';

/** Why the maker of the requesting key is refused. */
export const MAKER_FORBIDDEN =
  'The reviewer created the key that requested the spend, directly or through other keys; another member must review it.';

/** Returns the reviewer, with the person who is signed in or at the root of the key. */
export function reviewerOf(set: WorkingSet, { actor }: Origin): Reviewer {
  const key = actor.key_id === null ? undefined : set.keys.get(actor.key_id);
  const { principal_id, person } = madeBy(actor, key);
  return { principal_id, person };
}

/**
 * Returns whether the maker of the requesting key may not review: always under `MAKER`, under `AUTO` if a member other than
 * the person behind the review may. A principal that the reviewing key carries makes nobody that person.
 */
export function separates(
  separation: SeparationOfDuties,
  reviewers: readonly Pick<Member, 'principal_id'>[],
  { principal_id, person }: Reviewer,
): boolean {
  if (separation !== 'AUTO') return separation === 'MAKER';
  return reviewers.some((member) => member.principal_id !== (person ?? principal_id));
}

/** `separates` in a batch; the command must need `workspace` and `reviewers`. */
export function separatesMakers(set: WorkingSet, reviewer: Reviewer): boolean {
  return separates(set.workspace()?.separation_of_duties ?? 'MAKER', set.people.reviewers(), reviewer);
}

/** Returns whether the reviewer made the key that requested a spend; the command must need the key. */
export function isMakerOf(set: WorkingSet, requesting_key_id: string, reviewer: Reviewer): boolean {
  const requesting_key = set.keys.get(requesting_key_id);
  return requesting_key !== undefined && isByKeyMaker(requesting_key, reviewer);
}
