/** For so long after its last request a workspace counts as being there, ms. */
const PRESENT_MS = 1_000;

/** Tells whether others than one workspace have sent requests lately. */
export interface Presence {
  /** Notes a request of the workspace. */
  note(workspace_id: string): void;
  /** True if no other workspace has sent a request within the last second. */
  isAlone(workspace_id: string): boolean;
  /** Counts a request that somebody waits for, until the returned function is called. */
  enter(): () => void;
  /** True if nobody waits for a request. */
  isQuiet(): boolean;
}

/** Makes a `Presence`. It remembers the latest workspace and when any other was last there, which is all that is asked. */
export function makePresence(now_ms: () => number): Presence {
  let latest = '';
  let latest_ms = Number.NEGATIVE_INFINITY;
  let others_ms = Number.NEGATIVE_INFINITY;
  let waited_for = 0;
  return {
    note(workspace_id) {
      if (workspace_id !== latest) {
        others_ms = latest_ms;
        latest = workspace_id;
      }
      latest_ms = now_ms();
    },
    isAlone: (workspace_id) => now_ms() - (workspace_id === latest ? others_ms : latest_ms) > PRESENT_MS,
    enter() {
      waited_for += 1;
      let has_left = false;
      return () => {
        if (!has_left) waited_for -= 1;
        has_left = true;
      };
    },
    isQuiet: () => waited_for === 0,
  };
}
