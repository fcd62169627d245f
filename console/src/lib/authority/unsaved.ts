import type { AuthorityVersion } from '@purser/sdk';
import { type Draft, EMPTY_DRAFT } from './draft.ts';

/** What somebody has written and not saved. */
export interface Unsaved {
  /** The version that the draft began from. */
  base: AuthorityVersion | null;
  draft: Draft;
  /** The text of the JSON tab, where it is open. */
  json: string | null;
  note: string;
}

/** Where it is kept: in this tab, for one person, workspace and agent. */
export const unsavedKey = (user_id: string, workspace_id: string, slug: string): string =>
  `purser-unsaved-authority ${user_id} ${workspace_id} ${slug}`;

/** Returns what was kept, or null: also for what an earlier release of the console kept in another form. */
export function readUnsaved(text: string | null): Unsaved | null {
  try {
    const found = JSON.parse(text ?? 'null') as Unsaved | null;
    const has_form = found !== null && Object.keys(EMPTY_DRAFT).every((field) => field in found.draft);
    return has_form ? found : null;
  } catch {
    return null;
  }
}
