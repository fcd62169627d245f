/** How much is measured. */
export interface Plan {
  kind: 'quick' | 'default' | 'long';
  /** Extra wait of every commit for its flush, ms. It applies to the service and to its comparison. */
  flush_ms: number;
  /** Measured time of each point, and how often the points are gone through. */
  seconds: number;
  rounds: number;
  warm_up_ms: number;
  /** Workspaces under load at once, where there are many. */
  workspaces: number;
  baseline_seconds: number;
  lone_inserts: number;
  /** Requests of each way that needs a decision of its own each time. */
  requests: number;
  /** Decisions of the workspace that has grown. */
  grown_to: number;
}
