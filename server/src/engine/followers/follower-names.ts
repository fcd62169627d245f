/** The followers of each workspace's chain: `report` for the shadow report, `learning` for the feedback. */
export const FOLLOWERS = ['report', 'learning'] as const;
export type FollowerName = (typeof FOLLOWERS)[number];

/** How many events each follower skipped because they could not be processed. */
export type SkippedEvents = Record<FollowerName, number>;
