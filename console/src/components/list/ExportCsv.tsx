import type { PagePromise } from '@purser/sdk';
import { useEffect, useRef, useState } from 'react';
import { downloadText } from '../../lib/download.ts';
import { useAction } from '../../lib/hooks/use-action.ts';
import type { PlainPage } from '../../lib/pages.ts';
import { Button } from '../Button.tsx';
import { ErrorNotice } from '../Notice.tsx';
import { type Cell, csvLine } from './csv.ts';

/** The columns of a file, named as the API names what is in them. */
export type CsvColumns<T> = readonly (readonly [name: string, cell: (row: T) => Cell])[];

/** Pages as large as the service gives them. */
export const CSV_PAGE = 200;

/**
 * Has the browser save a whole list as CSV, with the filters that are set: `fetch` is asked for page after page, however
 * many of them the screen shows. Leaving the screen ends it. `what` names the list where a screen has several.
 */
export function ExportCsv<T>({
  name,
  what,
  columns,
  fetch,
}: {
  /** Of the file, without its ending. */
  name: string;
  what?: string;
  columns: CsvColumns<T>;
  fetch: (cursor: string | undefined) => PagePromise<T> | Promise<PlainPage<T>>;
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
      const page = await fetch(cursor);
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
