import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { purser } from '../../api/client.ts';
import { invalidate } from '../../api/live.ts';
import { useMay, useMe, WHY_NOT } from '../../api/queries.ts';
import { useForm } from '../../lib/hooks/use-form.ts';
import { Author } from '../Author.tsx';
import { Button } from '../Button.tsx';
import { Actions, Dialog } from '../Dialog.tsx';
import { AreaField, TextField } from '../Field.tsx';
import { ErrorNotice } from '../Notice.tsx';
import { Time } from '../Value.tsx';
import styles from './Assign.module.css';
import { sheetQuery } from './Sheet.tsx';

/** Opens the dialog that leaves a note and assigns the review. */
export function AssignButton({ decision_id }: { decision_id: string }) {
  const [is_open, setOpen] = useState(false);
  const may = useMay('review');
  return (
    <>
      <Button kind="quiet" why={!may && WHY_NOT.review} onClick={() => setOpen(true)}>
        Assign
      </Button>
      {is_open && <AssignDialog decision_id={decision_id} onClose={() => setOpen(false)} />}
    </>
  );
}

/** Leaves a note for colleagues; with a principal it also assigns the review, and its owner is notified. */
function AssignDialog({ decision_id, onClose }: { decision_id: string; onClose: () => void }) {
  const me = useMe();
  const list_id = useId();
  const is_admin = useMay('admin');
  const sheet = useQuery(sheetQuery(decision_id)).data;
  const members = useQuery({
    queryKey: ['team', 'names'],
    queryFn: async () => (await purser.members.list({ limit: 200 })).data,
    staleTime: 300_000,
    enabled: is_admin,
  }).data;
  const form = useForm(
    { assign_to: '', text: '' },
    async ({ assign_to, text }) => {
      await purser.decisions.note(decision_id, {
        text: text.trim(),
        ...(assign_to.trim() === '' ? {} : { assign_to: assign_to.trim() }),
      });
      void invalidate('decision', decision_id);
      void invalidate('decisions');
      onClose();
    },
    {
      check: ({ text }): { text?: string } =>
        text.trim() === '' ? { text: 'must say what your colleagues should know' } : {},
    },
  );
  const known = new Map<string, string>([[me.principal_id, me.user.name]]);
  for (const { principal_id, name } of members ?? []) known.set(principal_id, name);
  for (const { principal_id } of sheet?.notes ?? [])
    if (principal_id !== null && !known.has(principal_id)) known.set(principal_id, principal_id);
  return (
    <Dialog title="Assign this review" onClose={onClose}>
      <form className={styles.form} onSubmit={form.onSubmit} noValidate>
        {sheet?.assigned_to != null && (
          <p>
            Assigned to <Author principal_id={sheet.assigned_to} key_id={null} />.
          </p>
        )}
        <TextField
          label="Assign to"
          hint="A principal who may review, such as user:ada. Empty: only a note."
          list={list_id}
          autoComplete="off"
          {...form.field('assign_to')}
        />
        <datalist id={list_id}>
          {[...known].map(([principal_id, name]) => (
            <option key={principal_id} value={principal_id}>
              {name}
            </option>
          ))}
        </datalist>
        <AreaField label="Note" maxLength={2000} {...form.field('text')} />
        {form.error !== null && <ErrorNotice error={form.error} />}
        <Actions recorded>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={form.busy}>
            Save note
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}

/** The notes of reviewers on a decision. Renders nothing without any. */
export function Notes({ decision_id }: { decision_id: string }) {
  const sheet = useQuery(sheetQuery(decision_id)).data;
  if (sheet === undefined || sheet.notes.length === 0) return null;
  return (
    <ul className={styles.notes} aria-label="Notes">
      {sheet.notes.map(({ note_id, text, assign_to, principal_id, key_id, created_at }) => (
        <li key={note_id}>
          <p className={styles.by}>
            <Author principal_id={principal_id} key_id={key_id} />, <Time at={created_at} />
            {assign_to !== null && (
              <>
                {' '}
                · assigned to <Author principal_id={assign_to} key_id={null} />
              </>
            )}
          </p>
          <p className={styles.text}>{text}</p>
        </li>
      ))}
    </ul>
  );
}
