import { type FormEvent, type ReactNode, useState } from 'react';
import { useAction } from '../lib/hooks/use-action.ts';
import { Button } from './Button.tsx';
import { Actions, Dialog } from './Dialog.tsx';
import { TextField } from './Field.tsx';
import { ErrorNotice } from './Notice.tsx';

/**
 * Asks before something that cannot be taken back: `children` say what will happen. With `typed` that word has to be
 * typed first. A failure is shown in the dialog, which stays; success closes it.
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
  /** The word on the button that does it. */
  action: string;
  typed?: string | undefined;
  danger?: boolean;
  /** Whether it is written to the workspace's history. */
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
