import { PURPOSE } from '../../sentences/purpose.ts';
import { type Conflict, conflictsWith, subjectOf } from './conflict.ts';

/** The authority requires a description, and the request has none. */
export const missingDescription: Conflict = {
  kind: 'missing_description',
  severity: 'unclear',
  applies: ({ authority }) => authority.require_description === true,
  *find({ spend }) {
    if (/[\p{L}\p{N}]/u.test(spend.request.action.description ?? '')) return;
    yield {
      sentence: PURPOSE.missing_description(spend.merchant.raw),
      evidence: [conflictsWith('action.description', '')],
      about: subjectOf(null),
    };
  },
};
