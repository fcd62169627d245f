import type { PROBLEM_CODES } from '@purser/contract/values/history';
import type { Import, ImportProblem } from '@purser/sdk';
import { useProblems } from '../../api/history.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Loading } from '../../components/Page.tsx';
import { type Column, Table } from '../../components/Table.tsx';

const PROBLEM_NAMES: Record<(typeof PROBLEM_CODES)[number], string> = {
  AMOUNT: 'Amount',
  DATE: 'Date',
  CURRENCY: 'Currency',
  MERCHANT: 'Merchant',
  COLUMNS: 'Columns',
  QUOTE: 'Open quote',
  TOO_LONG: 'Too long',
  PRECISION: 'Too many places',
  FUTURE: 'In the future',
  LINE_CHANGED: 'Changed',
};

const COLUMNS: readonly Column<ImportProblem>[] = [
  { name: 'Line', number: true, heading: true, cell: (each) => each.line_number },
  { name: 'Problem', cell: (each) => PROBLEM_NAMES[each.code] },
  { name: 'Why', wrap: true, cell: (each) => `${each.column ?? 'The line'} ${each.message}.` },
  { name: 'Text', short: true, cell: (each) => <code title={each.text}>{each.text}</code> },
];

/** The bad lines of an import. */
export function Problems({ of, onClose }: { of: Import; onClose: () => void }) {
  const query = useProblems(of.id);
  return (
    <Dialog title="Problems" onClose={onClose}>
      <p>
        Mend these lines in “{of.file_name}” and import the file again: lines that are known are not taken
        twice.
      </p>
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.data === undefined && !query.isError && <Loading lines={4} />}
      {query.data !== undefined && (
        <Table
          label="Problems"
          rows={query.data}
          keyOf={(each) => `${each.line_number} ${each.code}`}
          columns={COLUMNS}
        />
      )}
    </Dialog>
  );
}
