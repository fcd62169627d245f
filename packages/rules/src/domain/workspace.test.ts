import { expect, test } from 'vitest';
import { agentQuota, mayEnforce, mayUseWebhooks, type Plan, type Workspace } from './workspace.ts';

const ENDS = '2026-12-01T00:00:00.000Z';
const during = Date.parse(ENDS) - 1;
const afterwards = Date.parse(ENDS);

function workspace(plan: Plan, trial_plan: Plan | null): Workspace {
  return {
    workspace_id: 'ws_1',
    name: 'W',
    mode: 'SHADOW',
    plan,
    trial_plan,
    trial_started_at: trial_plan === null ? null : '2026-11-01T00:00:00.000Z',
    trial_ends_at: trial_plan === null ? null : ENDS,
    separation_of_duties: 'AUTO',
    time_zone: 'UTC',
    coverage: null,
    sample: false,
    created_at: '2026-11-01T00:00:00.000Z',
  };
}

test.each<[Plan, Plan | null, number, number | null, boolean, boolean]>([
  // plan, trial, moment; agents, ENFORCE, webhooks
  ['free', null, during, 3, false, false],
  ['team', null, during, 50, true, true],
  ['enterprise', null, during, null, true, true],
  // A trial lends quota and webhooks; it is no paid plan, so ENFORCE is not in it.
  ['free', 'team', during, 50, false, true],
  ['free', 'team', afterwards, 3, false, false],
  ['free', 'enterprise', during, null, false, true],
  ['team', 'enterprise', during, null, true, true],
  ['team', 'enterprise', afterwards, 50, true, true],
  ['enterprise', 'team', during, null, true, true],
])(
  '%s with a trial of %s at %d: %s agents, ENFORCE %s, webhooks %s',
  (plan, trial, now_ms, agents, enforce, webhooks) => {
    const given = workspace(plan, trial);
    expect(agentQuota(given, now_ms)).toBe(agents);
    expect(mayEnforce(given)).toBe(enforce);
    expect(mayUseWebhooks(given, now_ms)).toBe(webhooks);
  },
);
