import type { AllowanceSettings } from '@purser/contract/allowances/fields';
import { type Allowance, type AllowanceStatus, termsOf } from '../counters/allowances.ts';

/** The slugs by which people know the agent and the shared budget of an allowance; null where it has none. */
export interface AllowanceSlugs {
  agent_slug: string | null;
  budget_slug: string | null;
}

const ref = (id: string | null, slug: string | null) => (id === null ? null : { id, slug: slug as string });
const parsed = <T>(json: string | null): T | null => (json === null ? null : (JSON.parse(json) as T));

/** An allowance with a status as the API and the events show it, without its usage. */
export function allowanceSettings(
  row: Allowance & AllowanceSlugs,
  status: AllowanceStatus,
): AllowanceSettings {
  const { merchants, payee_ids, action_types, purpose, expected_items, answers, labels, mandate } =
    termsOf(row);
  const { created_by_key_id: key_id, created_by_principal_id: principal_id } = row;
  return {
    id: row.allowance_id,
    status,
    source: row.source,
    agent: ref(row.agent_id, row.agent_slug),
    budget: ref(row.budget_id, row.budget_slug),
    parent: row.parent_id,
    currency: row.currency,
    amount_minor: row.amount_minor,
    period: row.period,
    time_zone: row.time_zone,
    per_spend_limit_minor: row.per_spend_limit_minor,
    max_count: row.max_count,
    merchants: merchants === undefined ? null : [...merchants],
    payee_ids: payee_ids === undefined ? null : [...payee_ids],
    action_types: action_types === undefined ? null : [...action_types],
    expires_at: row.expires_at,
    purpose: purpose ?? null,
    expected_items: expected_items === undefined ? null : [...expected_items],
    answers: [...answers],
    automatic: row.automatic,
    labels: { ...labels },
    name: row.name,
    external_id: row.external_id,
    created_at: row.created_at,
    created_by: { key_id, principal_id },
    issuer_id: row.issuer_id,
    mandate: mandate ?? null,
    request: parsed(row.request),
    decided: parsed(row.decided),
    revoked: parsed(row.revoked),
  };
}
