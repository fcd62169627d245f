import type { AuthorityVersion } from '@purser/sdk';
import { type Draft, EMPTY_DRAFT } from './draft.ts';

/** Unsaved changes of the policy form. */
export interface Unsaved {
  /** The version that the draft is based on. */
  base: AuthorityVersion | null;
  draft: Draft;
  /** The text of the JSON tab if it is open. */
  json: string | null;
  note: string;
}

/** The key in session storage: one per person, workspace and agent. */
export const unsavedKey = (user_id: string, workspace_id: string, slug: string): string =>
  `purser-unsaved-authority ${user_id} ${workspace_id} ${slug}`;

/** Reads the stored changes. Null if there are none or an earlier release of the console stored another form. */
export function readUnsaved(text: string | null): Unsaved | null {
  try {
    const found = JSON.parse(text ?? 'null') as Unsaved | null;
    const has_form = found !== null && Object.keys(EMPTY_DRAFT).every((field) => field in found.draft);
    return has_form ? found : null;
  } catch {
    return null;
  }
}
