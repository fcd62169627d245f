/** What follows each workspace's chain behind the lane and adds it up: for the shadow report, and for what is learnt. */
export const FOLLOWERS = ['report', 'learning'] as const;
export type FollowerName = (typeof FOLLOWERS)[number];

/** How many events each follower left out because they could not be added up. */
export type SkippedEvents = Record<FollowerName, number>;
