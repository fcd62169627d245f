import { useState } from 'react';
import { Button } from '../../components/Button.tsx';
import { Actions, Dialog } from '../../components/Dialog.tsx';
import { TextField } from '../../components/Field.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { downloadStreamed } from '../../lib/download.ts';
import { useAction } from '../../lib/hooks/use-action.ts';
import { type Search, stringifySearch } from '../../lib/search.ts';

/** Opens a dialog that exports the listed decisions as a table for people, with fields of their context as columns. */
export function ExportForPeople({ filters }: { filters: Search }) {
  const [is_open, setOpen] = useState(false);
  const [fields, setFields] = useState('');
  const names = fields
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .join(',');
  const exporting = useAction(async () => {
    const asked = {
      format: 'csv',
      audience: 'people',
      ...(names === '' ? {} : { context: names }),
      ...filters,
    };
    await downloadStreamed(`/v1/decisions/export${stringifySearch(asked)}`);
    setOpen(false);
  });
  return (
    <>
      <Button onClick={() => setOpen(true)}>Export for finance</Button>
      {is_open && (
        <Dialog title="Export for finance" onClose={() => setOpen(false)}>
          <form
            style={{ display: 'grid', gap: '1rem' }}
            onSubmit={(event) => {
              event.preventDefault();
              void exporting.run();
            }}
          >
            <p>
              A table with amounts in major units, descriptions, reviewers, reasons, comments, outcomes and
              payment references. It has every decision that matches the filters.
            </p>
            <TextField
              label="Context fields"
              hint="Optional, separated by commas, such as cost_center, order.id. Each becomes a column."
              value={fields}
              onValue={setFields}
            />
            {exporting.error !== null && <ErrorNotice error={exporting.error} />}
            <Actions>
              <Button onClick={() => setOpen(false)}>Cancel</Button>
              <Button kind="primary" type="submit" busy={exporting.busy}>
                Export
              </Button>
            </Actions>
          </form>
        </Dialog>
      )}
    </>
  );
}
