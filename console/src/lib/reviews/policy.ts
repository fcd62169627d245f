import { inWords, spanInWords } from '@purser/contract/authority-words';
import { REVIEW_POLICY_LIMITS } from '@purser/contract/reviews/policy';
import type { ReviewPolicy, ReviewPolicyVersion } from '@purser/sdk';
import { type Span, secondsOf, spanDraft } from '../authority/velocity.ts';
import { currencyOf, formatMoney, fromInput, toInput } from '../money.ts';

type Tier = NonNullable<ReviewPolicy['tiers']>[number];

/** A tier as the form has it. Approvers are ids of groups, or principals. */
export interface TierDraft {
  currency: string;
  from: string;
  approvals: string;
  approvers: readonly string[];
  signed: boolean;
  /** An empty length: no escalation. */
  after: Span;
  escalation: readonly string[];
}

/** A named group of principals. Tiers refer to its id, so it can be renamed while they do. */
export interface GroupDraft {
  id: string;
  name: string;
  members: readonly string[];
}

/** The largest amount that one approver may allow. */
export interface LimitDraft {
  approver: string;
  currency: string;
  max: string;
}

/** The form's copy of a review policy. */
export interface PolicyDraft {
  groups: readonly GroupDraft[];
  tiers: readonly TierDraft[];
  limits: readonly LimitDraft[];
  /** An empty length: no reminders. */
  remind: Span;
}

/** Unsaved changes of the review policy's form. */
export interface UnsavedPolicy {
  /** The version that they change. */
  base: ReviewPolicyVersion;
  draft: PolicyDraft;
  note: string;
}

/** The key of unsaved changes in session storage: one per person and workspace. */
export const unsavedPolicyKey = (user_id: string, workspace_id: string): string =>
  `purser-unsaved-review-policy ${user_id} ${workspace_id}`;

/** Reads the stored changes. Null if there are none or an earlier release of the console stored another form. */
export function readUnsavedPolicy(text: string | null): UnsavedPolicy | null {
  try {
    const found = JSON.parse(text ?? 'null') as UnsavedPolicy | null;
    // A form that cannot be read again is no form of this release.
    if (found !== null) policyOf(found.draft);
    return found;
  } catch {
    return null;
  }
}

/** Problems by path: `tiers[0].approvals`, `groups[1].members`, `approver_limits[0].max_minor`, `remind_before_seconds`. */
export type PolicyProblems = Readonly<Record<string, string>>;

const HOUR: Span = { length: '', unit: 'hours' };

/** A new tier, after the others of its currency. */
export const newTier = (tiers: readonly TierDraft[]): TierDraft => ({
  currency: tiers.at(-1)?.currency ?? 'EUR',
  from: '',
  approvals: '2',
  approvers: [],
  signed: false,
  after: HOUR,
  escalation: [],
});

/** A new group. Its id cannot be the name of a group. */
export const newGroup = (groups: readonly GroupDraft[]): GroupDraft => {
  const ids = groups.map(({ id }) => /^new (\d+)$/.exec(id)?.[1] ?? 0).map(Number);
  return { id: `new ${Math.max(0, ...ids) + 1}`, name: '', members: [] };
};

/** The form of a policy. */
export function policyDraft(policy: ReviewPolicy): PolicyDraft {
  const { groups = {}, tiers = [], approver_limits = [], remind_before_seconds } = policy;
  return {
    groups: Object.entries(groups).map(([name, members]) => ({ id: name, name, members })),
    tiers: tiers.map(({ currency, from_minor, approvals, approvers, signed, escalation }) => ({
      currency,
      from: toInput(from_minor, currency),
      approvals: String(approvals),
      approvers: approvers ?? [],
      signed: signed === true,
      after: escalation === undefined ? HOUR : spanDraft(escalation.after_seconds),
      escalation: escalation?.approvers ?? [],
    })),
    limits: approver_limits.map(({ approver, currency, max_minor }) => ({
      approver,
      currency,
      max: toInput(max_minor, currency),
    })),
    remind: remind_before_seconds === undefined ? HOUR : spanDraft(remind_before_seconds),
  };
}

/** Reads a draft. Returns the policy, and the problems of its fields; the policy counts only without problems. */
export function policyOf(draft: PolicyDraft): { policy: ReviewPolicy; problems: PolicyProblems } {
  const problems: Record<string, string> = {};
  const groups = groupsOf(draft.groups, problems);
  const nameOf = (approver: string) => draft.groups.find(({ id }) => id === approver)?.name ?? approver;
  const tiers = draft.tiers.map((tier, i) => {
    const named = { approvers: tier.approvers.map(nameOf), escalation: tier.escalation.map(nameOf) };
    return tierOf({ ...tier, ...named }, `tiers[${i}]`, problems);
  });
  const approver_limits = draft.limits.map((limit, i) => limitOf(limit, `approver_limits[${i}]`, problems));
  const remind = secondsIn(draft.remind, 'remind_before_seconds', problems);
  const policy: ReviewPolicy = {
    ...(draft.groups.length === 0 ? {} : { groups }),
    ...(tiers.length === 0 ? {} : { tiers }),
    ...(approver_limits.length === 0 ? {} : { approver_limits }),
    ...(remind === null ? {} : { remind_before_seconds: remind }),
  };
  return { policy, problems };
}

function groupsOf(rows: readonly GroupDraft[], problems: Record<string, string>): Record<string, string[]> {
  rows.forEach(({ name, members }, i) => {
    if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(name))
      problems[`groups[${i}].name`] = 'must use only a-z, 0-9, "_" and "-", and begin with a letter or digit';
    else if (rows.findIndex((each) => each.name === name) < i)
      problems[`groups[${i}].name`] = 'must be unique';
    if (members.length === 0) problems[`groups[${i}].members`] = 'must have a member';
  });
  return Object.fromEntries(rows.map(({ name, members }) => [name, [...members]]));
}

function tierOf(draft: TierDraft, path: string, problems: Record<string, string>): Tier {
  const { approvals, approvers, signed, after, escalation } = draft;
  const currency = currencyIn(draft.currency, path, problems);
  const from_minor = amountIn(draft.from, currency, `${path}.from_minor`, problems);
  const after_seconds = secondsIn(after, `${path}.escalation.after_seconds`, problems);
  const escalates = after_seconds !== null || escalation.length > 0;
  if (escalates && escalation.length === 0)
    problems[`${path}.escalation.approvers`] = 'must name who counts too from then on';
  if (escalates && after_seconds === null)
    problems[`${path}.escalation.after_seconds`] ??= 'must say when these approvers count too';
  return {
    currency,
    from_minor,
    approvals: Number(approvals),
    ...(approvers.length === 0 ? {} : { approvers: [...approvers] }),
    ...(signed ? { signed } : {}),
    ...(escalates ? { escalation: { after_seconds: after_seconds ?? 0, approvers: [...escalation] } } : {}),
  };
}

function limitOf(draft: LimitDraft, path: string, problems: Record<string, string>) {
  if (draft.approver === '') problems[`${path}.approver`] = 'must be a person';
  const currency = currencyIn(draft.currency, path, problems);
  const max_minor = amountIn(draft.max, currency, `${path}.max_minor`, problems);
  return { approver: draft.approver, currency, max_minor };
}

function currencyIn(typed: string, path: string, problems: Record<string, string>): string {
  const currency = currencyOf(typed);
  if (!/^[A-Z]{3}$/.test(currency)) problems[`${path}.currency`] = 'must be a code such as EUR';
  return currency;
}

function amountIn(typed: string, currency: string, path: string, problems: Record<string, string>): number {
  const read = fromInput(typed, currency);
  if ('problem' in read) problems[path] = read.problem;
  else if (read.amount_minor === null) problems[path] = 'must be an amount such as 1000';
  return 'problem' in read ? 0 : (read.amount_minor ?? 0);
}

/** The seconds of a duration; null where none is typed. */
function secondsIn(span: Span, path: string, problems: Record<string, string>): number | null {
  if (span.length.trim() === '') return null;
  const seconds = secondsOf(span);
  if (seconds === null || seconds < 1 || seconds > REVIEW_POLICY_LIMITS.seconds)
    problems[path] = 'must be a whole number, at most 7 days';
  return seconds ?? 0;
}

/** The path in the form of a field that the service names: `groups.finance[0]` is `groups[0].members`. */
export function formPath(field: string, { groups }: PolicyDraft): string {
  const [, group] = /^groups\.([a-z0-9_-]+)/.exec(field) ?? [];
  if (group !== undefined) return `groups[${groups.findIndex(({ name }) => name === group)}].members`;
  return field.replace(/(\.approvers)\[\d+\]$/, '$1');
}

/** Removes a group, also from the tiers that name it. */
export function withoutGroup(draft: PolicyDraft, removed: string): PolicyDraft {
  const others = (names: readonly string[]) => names.filter((name) => name !== removed);
  return {
    ...draft,
    groups: draft.groups.filter(({ id }) => id !== removed),
    tiers: draft.tiers.map((tier) => ({
      ...tier,
      approvers: others(tier.approvers),
      escalation: others(tier.escalation),
    })),
  };
}

/** True if the policy has a tier whose approvals must be signed. */
export const isSignedPolicy = ({ tiers = [] }: ReviewPolicy): boolean =>
  tiers.some(({ signed }) => signed === true);

function tierInWords(tier: Tier, nameOf: (name: string) => string): string {
  const { currency, from_minor, approvals, approvers, signed, escalation } = tier;
  const people = approvers === undefined ? 'anyone who may review' : inWords(approvers.map(nameOf), 'or');
  const count = approvals === 1 ? 'one approval' : `${approvals} approvals`;
  const later =
    escalation === undefined
      ? ''
      : ` After ${spanInWords(escalation.after_seconds)}, ${inWords(escalation.approvers.map(nameOf))} can approve too.`;
  return `From ${formatMoney(from_minor, currency)}: ${count}${signed === true ? ', each signed,' : ''} by ${people}.${later}`;
}

/** A policy in sentences, in the order of its form. `nameOf` names a principal. */
export function policyInWords(policy: ReviewPolicy, nameOf: (name: string) => string): string[] {
  const { groups = {}, tiers = [], approver_limits = [], remind_before_seconds } = policy;
  const sorted = [...tiers].sort(
    (a, b) => a.currency.localeCompare(b.currency) || a.from_minor - b.from_minor,
  );
  return [
    ...sorted.map((tier) => tierInWords(tier, nameOf)),
    ...Object.entries(groups).map(([name, members]) => `Group ${name}: ${members.map(nameOf).join(', ')}.`),
    ...approver_limits.map(
      ({ approver, currency, max_minor }) =>
        `${nameOf(approver)} may allow up to ${formatMoney(max_minor, currency)}.`,
    ),
    ...(remind_before_seconds === undefined
      ? []
      : [`Approvers are reminded ${spanInWords(remind_before_seconds)} before a request expires.`]),
  ];
}
