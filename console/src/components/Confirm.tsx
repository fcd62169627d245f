import { type FormEvent, type ReactNode, useState } from 'react';
import { useAction } from '../lib/hooks/use-action.ts';
import { Button } from './Button.tsx';
import { Actions, Dialog } from './Dialog.tsx';
import { TextField } from './Field.tsx';
import { ErrorNotice } from './Notice.tsx';

/**
 * Confirmation of an action that cannot be undone. `children` describe its effect. `typed` must be typed first. A failure
 * is shown in the dialog, which stays open; success closes it.
 */
export function Confirm({
  title,
  action,
  typed,
  danger = true,
  recorded = true,
  work,
  onClose,
  children,
}: {
  title: string;
  /** Label of the button that confirms. */
  action: string;
  typed?: string | undefined;
  danger?: boolean;
  /** True if the action is written to the workspace's history. */
  recorded?: boolean;
  work: () => Promise<unknown>;
  onClose: () => void;
  children: ReactNode;
}) {
  const [given, setGiven] = useState('');
  const doing = useAction(async () => {
    await work();
    onClose();
  });
  const is_typed = typed === undefined || given.trim() === typed;
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (is_typed) void doing.run();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={onSubmit} style={{ display: 'grid', gap: '0.9rem' }}>
        {children}
        {typed !== undefined && (
          <TextField
            label={`Type ${typed} to confirm`}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            autoFocus
            value={given}
            onValue={setGiven}
          />
        )}
        {doing.error !== null && <ErrorNotice error={doing.error} />}
        <Actions recorded={recorded}>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind={danger ? 'danger-primary' : 'primary'}
            type="submit"
            busy={doing.busy}
            disabled={!is_typed}
          >
            {action}
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
