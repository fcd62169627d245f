import type { Authority } from '@purser/contract/authority';
import type { VelocityLimit } from '@purser/contract/velocity-limits';
import { limitDefinition } from './counters.ts';

/** The problem of a single limit over time: the field and the message. */
function problemOf(limit: VelocityLimit): [keyof VelocityLimit, string] | null {
  const { window, window_seconds, limit_amount_minor, limit_count } = limit;
  if (window === 'ROLLING' && window_seconds === undefined)
    return ['window_seconds', 'is required if window is ROLLING'];
  if (window !== 'ROLLING' && window_seconds !== undefined)
    return ['window_seconds', `must be omitted if window is ${window}`];
  if (limit_amount_minor === undefined && limit_count === undefined)
    return ['limit_amount_minor', 'or limit_count is required'];
  return null;
}

/** The first problem of the limits over time of an authority; null: there is none. */
export function velocityProblem(authority: Authority): { field: string; problem: string } | null {
  const names = new Set<string>();
  const definitions = new Map<string, string>();
  for (const [i, limit] of (authority.velocity_limits ?? []).entries()) {
    const found = problemOf(limit);
    if (found !== null) return { field: `velocity_limits[${i}].${found[0]}`, problem: found[1] };
    if (names.has(limit.name)) {
      const problem = `must be unique: another limit is named "${limit.name}"`;
      return { field: `velocity_limits[${i}].name`, problem };
    }
    names.add(limit.name);
    const definition = limitDefinition(authority, limit);
    const same = definitions.get(definition);
    if (same !== undefined) {
      const problem = `counts the same spends as the limit "${same}"; combine both into one limit`;
      return { field: `velocity_limits[${i}]`, problem };
    }
    definitions.set(definition, limit.name);
  }
  return null;
}
