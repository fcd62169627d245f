/**
 * Follows the chains of workspaces, one page of each in turn until none has more, or `most_pages` were read: a long
 * way behind in one keeps no other waiting. A workspace whose page fails is left until the next time. `next` reads a
 * page and tells whether there is more.
 */
export async function followChains(options: {
  workspace_ids: readonly string[];
  most_pages: number;
  next: (workspace_id: string) => Promise<boolean>;
  onFailure: (error: unknown, workspace_id: string) => void;
}): Promise<void> {
  let behind = options.workspace_ids;
  let pages = 0;
  while (behind.length > 0) {
    const still_behind: string[] = [];
    for (const workspace_id of behind) {
      if (pages === options.most_pages) return;
      pages += 1;
      try {
        if (await options.next(workspace_id)) still_behind.push(workspace_id);
      } catch (error) {
        options.onFailure(error, workspace_id);
      }
    }
    behind = still_behind;
  }
}
