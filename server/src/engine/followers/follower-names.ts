import { FOLLOWERS, type FollowerName } from '@purser/contract/values/reports';

export { FOLLOWERS, type FollowerName };

/** How many events each follower skipped because they could not be processed. */
export type SkippedEvents = Record<FollowerName, number>;
