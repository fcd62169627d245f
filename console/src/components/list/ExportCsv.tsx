import { useEffect, useRef, useState } from 'react';
import type { FetchPage } from '../../api/lists.ts';
import { downloadText } from '../../lib/download.ts';
import { useAction } from '../../lib/hooks/use-action.ts';
import { Button } from '../Button.tsx';
import { ErrorNotice } from '../Notice.tsx';
import { type Cell, csvLine } from './csv.ts';

/** Columns of a CSV file, named like the API's fields. */
export type CsvColumns<T> = readonly (readonly [name: string, cell: (row: T) => Cell])[];

/** The service's largest page. */
const PAGE_LIMIT = 200;

/**
 * Saves the whole filtered list as CSV, whatever the screen has loaded: `fetch` is called page by page. Leaving the screen
 * cancels it. `what` names the list on screens with several.
 */
export function ExportCsv<T>({
  name,
  what,
  columns,
  fetch,
}: {
  /** The file's name without its extension. */
  name: string;
  what?: string;
  columns: CsvColumns<T>;
  fetch: FetchPage<T>;
}) {
  const [count, setCount] = useState(0);
  const is_gone = useRef(false);
  useEffect(() => {
    is_gone.current = false;
    return () => {
      is_gone.current = true;
    };
  }, []);
  const exporting = useAction(async () => {
    const lines = [csvLine(columns.map(([column]) => column))];
    setCount(0);
    let cursor: string | undefined;
    do {
      const page = await fetch({ limit: PAGE_LIMIT, cursor });
      if (is_gone.current) return;
      for (const row of page.data) lines.push(csvLine(columns.map(([, cell]) => cell(row))));
      setCount(lines.length - 1);
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    downloadText(`${name}.csv`, lines.join(''), 'text/csv;charset=utf-8');
  });
  return (
    <>
      <Button
        small={what !== undefined}
        busy={exporting.busy}
        aria-label={what === undefined ? undefined : `Export CSV of ${what}`}
        onClick={() => void exporting.run()}
      >
        {exporting.busy && count > 0 ? `${count} rows…` : 'Export CSV'}
      </Button>
      {exporting.error !== null && <ErrorNotice error={exporting.error} title="The list was not exported." />}
    </>
  );
}
