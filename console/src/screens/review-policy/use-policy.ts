import { InvalidRequestError, type ReviewPolicy, type ReviewPolicyVersion } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { codeOfError, problemOf, purser } from '../../api/client.ts';
import { invalidate } from '../../api/live.ts';
import { queryClient, useMay, useMe } from '../../api/queries.ts';
import { useAction } from '../../lib/hooks/use-action.ts';
import { useStored } from '../../lib/hooks/use-stored.ts';
import { canonical } from '../../lib/ledger.ts';
import { wasCancelled } from '../../lib/passkeys.ts';
import {
  formPath,
  isSignedPolicy,
  type PolicyDraft,
  type PolicyProblems,
  policyDraft,
  policyOf,
  readUnsavedPolicy,
  unsavedPolicyKey,
} from '../../lib/reviews/policy.ts';
import { shownSha256 } from '../../lib/signing/hash.ts';
import { signStatement } from '../../lib/signing/statements.ts';
import { visible } from '../../lib/visible.ts';
import type { Choice } from './NamesField.tsx';

/** The newest version. */
export const policyQuery = {
  queryKey: ['review-policy'],
  queryFn: async () => purser.reviewPolicy.retrieve(),
};

/** The people and keys that may review, by principal. Empty for people who cannot read them. */
export function useReviewers(): readonly Choice[] {
  const may = useMay('admin');
  const options = { staleTime: 300_000, enabled: may };
  const members = useQuery({
    queryKey: ['team', 'names'],
    queryFn: async () => (await purser.members.list({ limit: 200 })).data,
    ...options,
  });
  const keys = useQuery({
    queryKey: ['keys', 'names'],
    queryFn: async () => (await purser.apiKeys.list({ limit: 200 })).data,
    ...options,
  });
  return useMemo(() => {
    const found = new Map<string, Choice>();
    for (const { principal_id: value, name: given, role, status, pending } of members.data ?? []) {
      if (role === 'viewer' || status !== 'active' || pending) continue;
      const name = visible(given);
      found.set(value, { value, name, text: `${name} (${value})` });
    }
    for (const { principal_id: value, name, scopes, status } of keys.data ?? []) {
      if (value === null || !scopes.includes('review') || status !== 'active' || found.has(value)) continue;
      found.set(value, { value, name: value, text: `${value}, key “${visible(name)}”` });
    }
    return [...found.values()];
  }, [members.data, keys.data]);
}

/** A save that found a newer version than the form began with. */
class Changed extends Error {}

/** The state of the review policy's form. A save replaces only the version that the form began with. */
export function usePolicy(current: ReviewPolicyVersion) {
  const me = useMe();
  const storage_key = unsavedPolicyKey(me.user.id, me.workspace.id);
  const [restored, setRestored] = useState(() => readUnsavedPolicy(sessionStorage.getItem(storage_key)));
  const [base, setBase] = useState(restored?.base ?? current);
  const [draft, setDraft] = useState(() => restored?.draft ?? policyDraft(current.policy));
  const [note, setNote] = useState(restored?.note ?? '');
  const [refused, setRefused] = useState<PolicyProblems>({});
  const [is_tried, setTried] = useState(false);
  const [saved, setSaved] = useState<ReviewPolicyVersion | null>(null);
  const { policy, problems } = useMemo(() => policyOf(draft), [draft]);
  const is_wrong = Object.keys(problems).length > 0;
  const is_changed = is_wrong || canonical(policy) !== canonical(base.policy);
  useStored(storage_key, is_changed ? JSON.stringify({ base, draft, note }) : null);
  const needs_signature = isSignedPolicy(base.policy) || (!is_wrong && isSignedPolicy(policy));

  const edit = (to: PolicyDraft) => {
    setDraft(to);
    setRefused({});
    setSaved(null);
  };
  const save = useAction(async () => {
    setTried(true);
    setRefused({});
    setSaved(null);
    if (is_wrong) return;
    try {
      const given = { note: note.trim(), base, principal_id: me.principal_id, needs_signature };
      const made = await put(policy, given);
      setBase(made);
      setSaved(made);
      setDraft(policyDraft(made.policy));
      setNote('');
      setTried(false);
      setRestored(null);
    } catch (error) {
      if (wasCancelled(error)) return;
      const field = error instanceof InvalidRequestError ? error.field : undefined;
      if (!(error instanceof InvalidRequestError) || field === undefined || field === 'note') throw error;
      setRefused({ [formPath(field, draft)]: problemOf(error) });
    }
  });
  return {
    base,
    draft,
    edit,
    note,
    setNote,
    saved,
    save,
    policy,
    needs_signature,
    problems: { ...(is_tried ? problems : null), ...refused } as PolicyProblems,
    is_wrong: is_tried && is_wrong,
    is_changed,
    is_restored: restored !== null && is_changed,
    /** The form can be read as a policy: no row is unfinished. */
    is_readable: !is_wrong,
    is_stale: current.version > base.version,
    is_conflict: save.error instanceof Changed || codeOfError(save.error) === 'review_policy_changed',
    /** Bases the form on the current version, so that a save replaces that one. */
    rebase: () => {
      setBase(current);
      save.clear();
    },
    startFrom: (from: ReviewPolicy) => edit(policyDraft(from)),
    discard: () => {
      setBase(current);
      edit(policyDraft(current.policy));
      setNote('');
      setTried(false);
      setRestored(null);
      save.clear();
    },
  };
}

export type PolicyEditor = ReturnType<typeof usePolicy>;

/** Puts a policy as the version after `base`, signed if need be. Throws Changed where there is a newer one. */
async function put(
  policy: ReviewPolicy,
  {
    note,
    base,
    principal_id,
    needs_signature,
  }: { note: string; base: ReviewPolicyVersion; principal_id: string; needs_signature: boolean },
): Promise<ReviewPolicyVersion> {
  const now = await queryClient.fetchQuery({ ...policyQuery, staleTime: 0 });
  if (now.hash !== base.hash) throw new Changed();
  const expected = {
    type: 'purser.review-policy.v1',
    policy_hash: await shownSha256(canonical(policy)),
    previous_hash: base.hash,
    principal_id,
  };
  const signature = needs_signature
    ? { signature: await signStatement(await purser.signingKeys.beginReviewPolicy({ policy }), expected) }
    : {};
  const body = { policy, ...(note === '' ? {} : { note }), ...signature };
  const made = await purser.reviewPolicy.put(body, { ifMatch: base.hash });
  queryClient.setQueryData(policyQuery.queryKey, made);
  void invalidate('review-policy');
  return made;
}
