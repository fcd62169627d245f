import type { RailBody } from '@purser/contract/rails/rails';
import type { RailKind } from '@purser/contract/values/history';

/** A payment rail that sends its card events, as it is stored. */
export interface RailRow {
  rail_id: string;
  kind: RailKind;
  name: string;
  /** The signing secrets as JSON, encrypted; null: there is none yet. */
  sealed_secrets: string | null;
  /** SHA-256 of the secrets as JSON, as the API shows hashes. */
  secrets_hash: string | null;
  created_at: string;
  updated_at: string;
}

/** The number of a rail's events by result, and its newest problem. */
export interface RailHealth {
  accepted: number;
  refused: number;
  ignored: number;
  last_event_at: string | null;
  last_problem: string | null;
  last_problem_at: string | null;
}

const statusOf = ({ sealed_secrets }: RailRow) => (sealed_secrets === null ? 'WAITING_FOR_SECRET' : 'ACTIVE');

/** A rail as the audit list shows it: of its secrets only their hash. */
export function auditedRail(rail: RailRow) {
  const { rail_id, kind, name, secrets_hash } = rail;
  return { id: rail_id, kind, name, status: statusOf(rail), secrets_hash };
}

/** A rail as the API shows it. `url`: where its vendor sends events. `health`: null before the first event. */
export function railBody(rail: RailRow, health: RailHealth | null, url: string): RailBody {
  const { rail_id, kind, name, created_at, updated_at } = rail;
  const { accepted = 0, refused = 0, ignored = 0 } = health ?? {};
  return {
    id: rail_id,
    kind,
    name,
    url,
    status: statusOf(rail),
    events: { accepted, refused, ignored },
    last_event_at: health?.last_event_at ?? null,
    last_problem: health?.last_problem ?? null,
    last_problem_at: health?.last_problem_at ?? null,
    created_at,
    updated_at,
  };
}
