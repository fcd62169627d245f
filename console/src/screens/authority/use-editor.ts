import { changesOf, isSameAuthority } from '@purser/contract/authority-changes';
import { type Authority, type AuthorityVersion, InvalidRequestError } from '@purser/sdk';
import { useMemo, useState } from 'react';
import { problemOf, purser } from '../../api/client.ts';
import { invalidate } from '../../api/live.ts';
import { queryClient, useMay, useMe, WHY_NOT } from '../../api/queries.ts';
import type { Corrections } from '../../lib/authority/corrections.ts';
import {
  authorityOf,
  type Draft,
  draftOf,
  EMPTY_DRAFT,
  fieldOf,
  type Problems,
} from '../../lib/authority/draft.ts';
import { readUnsaved, unsavedKey } from '../../lib/authority/unsaved.ts';
import { useAction } from '../../lib/hooks/use-action.ts';
import { useStored } from '../../lib/hooks/use-stored.ts';
import { formatMoney } from '../../lib/money.ts';
import type { Edit } from './fields.ts';

/**
 * The state of the policy editor: the draft as a form or as JSON, its problems, and its changes from the version that it is
 * based on. Unsaved input is kept in the tab across reloads.
 */
export function useEditor(slug: string, current: AuthorityVersion | null) {
  const may = useMay('admin');
  const { storage_key, restored, forget, fresh, initial } = useRestored(slug, current);
  /** The version that the draft is based on: the source of fields that the form lacks, and the `if-match` of a save. */
  const [base, setBase] = useState(initial.base);
  const [draft, setDraft] = useState<Draft>(initial.draft);
  /** The text of the JSON tab. Null while the form is open. */
  const [json, setJson] = useState(initial.json);
  const [note, setNote] = useState(initial.note);
  const [refused, setRefused] = useState<Problems>({});
  const [saved, setSaved] = useState<AuthorityVersion | null>(null);
  const [touched, setTouched] = useState(restored !== null);

  const { authority, problems, changes } = useRead(json, draft, base);
  /** An untouched new form shows no problems yet. */
  const is_new = base === null && json === null && draft.objective === '' && !touched;
  const is_unsaved =
    authority === null ? touched || json !== null : !isSameAuthority(base?.authority ?? null, authority);
  useStored(storage_key, is_unsaved ? JSON.stringify({ base, draft, json, note }) : null);

  const edit: Edit = (name, value) => {
    setDraft((before) => ({ ...before, [name]: value }));
    setTouched(true);
    setRefused((before) => withoutField(before, name));
    setSaved(null);
  };
  const save = useAction(async () => {
    if (authority === null) return;
    setRefused({});
    const made = await saveVersion(slug, authority, { note: note.trim(), ifMatch: base?.hash });
    if ('refused' in made) return setRefused(made.refused);
    setBase(made.version);
    setSaved(made.version);
    forget();
    setNote('');
  });
  return {
    may,
    base,
    draft,
    json,
    note,
    saved,
    authority,
    changes,
    save,
    edit,
    setNote,
    setJson,
    problems: { ...(is_new ? null : problems), ...refused } as Problems,
    is_restored: restored !== null && is_unsaved,
    is_stale: (current?.version ?? 0) > (base?.version ?? 0),
    why: reasonNotToSave({ may, is_new, authority, is_changed: base === null || is_unsaved }),
    openForm: () => {
      if (json !== null && authority !== null) setDraft(draftOf(authority));
      setJson(null);
    },
    openJson: () => setJson(JSON.stringify(authority ?? base?.authority ?? {}, null, 2)),
    correct: makeCorrect(json === null ? null : authority, edit, setJson),
    startFrom: (from: Authority) => {
      setDraft(draftOf(from));
      setJson((before) => (before === null ? null : JSON.stringify(from, null, 2)));
      setRefused({});
    },
    /** Bases the draft on the current version, so that a save replaces that one. */
    rebase: () => {
      setBase(current);
      save.clear();
    },
    discard: () => {
      forget();
      setBase(fresh.base);
      setDraft(fresh.draft);
      setJson(null);
      setNote('');
      setTouched(false);
      setRefused({});
    },
  };
}

/** Makes the setter of the reading's corrections, in the JSON of `written` or, where that is null, in the form. */
function makeCorrect(written: Authority | null, edit: Edit, setJson: (text: string) => void) {
  return (corrections: Corrections | null) => {
    if (written === null) return edit('reading', corrections);
    const { reading: _, ...purpose } = written.purpose;
    const corrected = corrections === null ? purpose : { ...purpose, reading: corrections };
    setJson(JSON.stringify({ ...written, purpose: corrected }, null, 2));
  };
}

export type Editor = ReturnType<typeof useEditor>;

/** Saves a version and shows it everywhere. Returns the problem instead if the service refuses a field of the form. */
async function saveVersion(
  slug: string,
  authority: Authority,
  { note, ifMatch }: { note: string; ifMatch: string | undefined },
): Promise<{ version: AuthorityVersion } | { refused: Problems }> {
  try {
    const body = note === '' ? authority : { ...authority, note };
    const version = await purser.agents.authority.set(slug, body, { ifMatch });
    queryClient.setQueryData(['authority', slug], version);
    void queryClient.invalidateQueries({ queryKey: ['authority', slug, 'versions'] });
    void invalidate('agents');
    return { version };
  } catch (error) {
    const wrong = error instanceof InvalidRequestError ? fieldOf(error.field) : undefined;
    if (wrong === undefined || !(error instanceof InvalidRequestError)) throw error;
    const { field, line } = wrong;
    return { refused: { [field]: `${line === null ? '' : `line ${line} `}${problemOf(error)}` } };
  }
}

/** The input that an earlier page left in the tab, and the state to start with. */
function useRestored(slug: string, current: AuthorityVersion | null) {
  const me = useMe();
  const storage_key = unsavedKey(me.user.id, me.workspace.id, slug);
  const [restored, setRestored] = useState(() => readUnsaved(sessionStorage.getItem(storage_key)));
  const fresh = { base: current, draft: current === null ? EMPTY_DRAFT : draftOf(current.authority) };
  const initial = restored ?? { ...fresh, json: null, note: '' };
  return { storage_key, restored, forget: () => setRestored(null), fresh, initial };
}

/** Reads the draft, and compares it with its base. */
function useRead(json: string | null, draft: Draft, base: AuthorityVersion | null) {
  const read = useMemo(
    () => (json === null ? authorityOf(draft, base?.authority ?? null) : parsed(json)),
    [draft, json, base],
  );
  const { authority } = read;
  const changes = useMemo(
    () => (authority === null ? [] : changesOf(base?.authority ?? null, authority, formatMoney)),
    [authority, base],
  );
  return { ...read, changes };
}

/** The reason why the draft cannot be saved. False if it can. */
function reasonNotToSave({
  may,
  is_new,
  authority,
  is_changed,
}: {
  may: boolean;
  is_new: boolean;
  authority: Authority | null;
  is_changed: boolean;
}): string | false {
  if (!may) return WHY_NOT.admin;
  if (is_new) return 'Enter an objective first.';
  if (authority === null) return 'Fix the highlighted fields first.';
  return is_changed ? false : 'No changes.';
}

/** Removes the problems of a field and its rows. */
const withoutField = (problems: Problems, name: string): Problems =>
  Object.fromEntries(Object.entries(problems).filter(([path]) => path.split('[')[0] !== name));

/** Reads the text of the JSON tab. */
function parsed(text: string): { authority: Authority | null; problems: Problems | null } {
  try {
    const value: unknown = JSON.parse(text);
    const { purpose, currency } = (value ?? {}) as { purpose?: { objective?: unknown }; currency?: unknown };
    if (typeof purpose?.objective === 'string' && typeof currency === 'string')
      return { authority: value as Authority, problems: null };
    return {
      authority: null,
      problems: { objective: 'must have at least "purpose.objective" and "currency"' },
    };
  } catch (error) {
    return { authority: null, problems: { objective: `must be valid JSON: ${(error as Error).message}` } };
  }
}
