import type { Member } from '@purser/rules/domain/people';
import { type Command, done, refuse } from '../../lane/command.ts';

/** The longest absence. */
const MAX_AWAY_MS = 60 * 86_400_000;

export interface SetAwayInput {
  user_id: string;
  /** Null: the person is back. */
  away: { until: string; delegate: string } | null;
}

/**
 * Notes until when a member is away, and who may use their place in reviews meanwhile; or that they are back, which changes
 * nothing where they were not away.
 */
export const setAway: Command<SetAwayInput, Member> = {
  name: 'setAway',
  needs: ({ user_id }) => ({ members: [user_id], reviewers: true }),
  apply(set, { user_id, away }, origin) {
    const before = set.people.member(user_id);
    if (before === undefined || before.removed_at !== null || before.is_pending)
      return refuse('not_found', 'You are not a member of this workspace.');
    if (away !== null) {
      const reviewers = set.people.reviewers();
      if (!reviewers.some((each) => each.user_id === user_id))
        return refuse('insufficient_scope', 'Only a member who may review has a place to lend.');
      const until_ms = Date.parse(away.until);
      if (until_ms <= set.now_ms || until_ms > set.now_ms + MAX_AWAY_MS)
        return refuse('invalid_request', 'until: must be within the next 60 days');
      const delegate = reviewers.find(({ principal_id }) => principal_id === away.delegate);
      if (delegate === undefined || delegate.user_id === user_id)
        return refuse('invalid_request', 'delegate: must be another member who may review');
    } else if (before.away_until === null) return done(before);
    const { until: away_until, delegate: away_delegate } = away ?? { until: null, delegate: null };
    const member: Member = { ...before, away_until, away_delegate };
    set.people.putMember(member);
    set.audit('member.away', { type: 'member', id: user_id }, origin, {
      from: { away_until: before.away_until, away_delegate: before.away_delegate },
      to: { away_until, away_delegate },
      state: { member },
    });
    return done(member);
  },
};
