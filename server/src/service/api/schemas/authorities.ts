import { AUTHORITY_FIELDS } from '@purser/contract/authority';
import { Fields } from '@purser/contract/schema';
import { authorityProblem } from '@purser/rules/policy/authority-problem';

/** What an agent is allowed, as it is posted. */
export const AuthorityBody = Fields(AUTHORITY_FIELDS, {
  $id: 'Authority',
  description: 'An omitted limit does not apply.',
  'x-together': authorityProblem,
});
