import type { Follower } from '../followers/follow-chains.ts';
import { loadSearchTexts, putSearchTexts } from './search-rows.ts';

const MAX_EVENTS = 200;
/** Pages of all workspaces, so that a round ends soon enough for a stop. */
export const MAX_PAGES_PER_ROUND = 50;
/** Full pages of a round, so that in a rush decisions come first. The rest is indexed afterwards. */
export const MAX_FULL_PAGES_PER_ROUND = 4;

/** Makes the texts of decisions and of the records about them findable. */
export const indexTexts: Follower = {
  name: 'search',
  max_events: MAX_EVENTS,
  async fold(client, workspace_id, range, pause) {
    const texts = await loadSearchTexts(client, workspace_id, range);
    if (texts.length > 0) await putSearchTexts(client, workspace_id, texts, pause);
    return range.upto;
  },
};
