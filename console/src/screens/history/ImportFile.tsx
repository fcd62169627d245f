import {
  COLUMN_FIELDS,
  type ColumnField,
  FIXED_FEEDS,
  type ImportSource,
} from '@purser/contract/values/history';
import type { DetectedFile, ImportMapping } from '@purser/sdk';
import { useState } from 'react';
import { detect, sendFile, useAgentChoices } from '../../api/history.ts';
import { invalidate } from '../../api/live.ts';
import { Button } from '../../components/Button.tsx';
import { Actions, Dialog } from '../../components/Dialog.tsx';
import { Field, SelectField, TextField } from '../../components/Field.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { useAction } from '../../lib/hooks/use-action.ts';
import { visible } from '../../lib/visible.ts';
import styles from './History.module.css';

/** Fields of a line, as people name them. */
const FIELD_NAMES: Record<ColumnField, string> = {
  occurred_at: 'Time',
  amount: 'Amount',
  debit: 'Debit',
  credit: 'Credit',
  currency: 'Currency',
  merchant: 'Merchant',
  payee_id: 'Payee',
  instrument: 'Card or account',
  external_reference: 'ID',
  description: 'Description',
  category: 'Category',
  status: 'Status',
};
const FIELD_OPTIONS = [
  ['', 'Not used'] as const,
  ...COLUMN_FIELDS.map((field) => [field, FIELD_NAMES[field]] as const),
];
const SOURCE_NAMES: Record<ImportSource, string> = {
  stripe_issuing: 'Stripe Issuing',
  stripe_charges: 'Stripe charges',
  lithic: 'Lithic',
  camt053: 'Bank statement (camt.053)',
  openai_costs: 'OpenAI costs',
  anthropic_costs: 'Anthropic costs',
  csv: 'CSV',
  lines: 'Lines',
};

/** Imports a file in two steps: choose it, confirm how it is read. */
export function ImportFile({ onClose }: { onClose: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [found, setFound] = useState<DetectedFile | null>(null);
  const reading = useAction(async (chosen: File) => {
    setFile(chosen);
    setFound(null);
    setFound(await detect(chosen));
  });
  return (
    <Dialog title="Import file" onClose={onClose}>
      <div className={styles.form}>
        <Field
          label="File"
          hint="CSV of a bank or card, JSON of Stripe or Lithic, camt.053, costs of OpenAI or Anthropic."
        >
          {(control) => (
            <input
              {...control}
              type="file"
              accept=".csv,.tsv,.txt,.json,.ndjson,.jsonl,.xml"
              onChange={(event) => {
                const chosen = event.target.files?.[0];
                if (chosen !== undefined) void reading.run(chosen);
              }}
            />
          )}
        </Field>
        {reading.error !== null && <ErrorNotice error={reading.error} />}
        {found !== null && found.source === null && (
          <Notice tone="bad">The form of this file is not known.</Notice>
        )}
        {file !== null && found !== null && found.source !== null && (
          <Confirmation key={file.name} file={file} found={found} source={found.source} onClose={onClose} />
        )}
      </div>
    </Dialog>
  );
}

/** The mapping with one column read as another field; a field has one column. */
function withField(mapping: ImportMapping, column: string, field: ColumnField | ''): ImportMapping {
  const columns = Object.fromEntries(
    Object.entries(mapping.columns).filter(([name, of]) => of !== column && name !== field),
  );
  return { ...mapping, columns: field === '' ? columns : { ...columns, [field]: column } };
}

const fieldOf = (mapping: ImportMapping, column: string) =>
  Object.entries(mapping.columns).find(([, of]) => of === column)?.[0] ?? '';

function Confirmation({
  file,
  found,
  source,
  onClose,
}: {
  file: File;
  found: DetectedFile;
  source: ImportSource;
  onClose: () => void;
}) {
  const agents = useAgentChoices();
  const fixed = FIXED_FEEDS[source];
  const [feed, setFeed] = useState(found.feed ?? (source === 'csv' ? 'csv' : 'lines'));
  const [agent, setAgent] = useState('');
  const [mapping, setMapping] = useState(found.mapping);
  const importing = useAction(async () => {
    await sendFile(file, {
      file_name: file.name,
      source,
      bytes: file.size,
      ...(fixed === undefined ? { feed } : {}),
      ...(agent === '' ? {} : { agent }),
      ...(mapping === null ? {} : { mapping }),
    });
    void invalidate('imports');
    onClose();
  });
  const choices = (agents.data ?? []).map(({ slug, name }) => [slug, visible(name)] as const);
  return (
    <>
      <p>
        {SOURCE_NAMES[source]}
        {found.found_in !== null && ', read as the last file with these columns'}
      </p>
      <TextField
        label="Feed"
        hint="The account or rail. Files of one feed may overlap."
        value={fixed ?? feed}
        disabled={fixed !== undefined}
        onValue={setFeed}
      />
      <SelectField
        label="Agent"
        hint="Whose these lines are, unless their card or account is assigned."
        value={agent}
        onValue={setAgent}
        options={[['', 'Nobody’s yet'], ...choices]}
      />
      {mapping !== null && <MappingFields found={found} mapping={mapping} onMapping={setMapping} />}
      {importing.error !== null && <ErrorNotice error={importing.error} />}
      <Actions recorded>
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" busy={importing.busy} onClick={() => void importing.run()}>
          Confirm and import
        </Button>
      </Actions>
    </>
  );
}

function MappingFields({
  found,
  mapping,
  onMapping,
}: {
  found: DetectedFile;
  mapping: ImportMapping;
  onMapping: (mapping: ImportMapping) => void;
}) {
  const set = (changes: Partial<ImportMapping>) => onMapping({ ...mapping, ...changes });
  return (
    <>
      <fieldset className={styles.columns}>
        <legend>Columns</legend>
        {found.columns.map(({ name, examples }) => (
          <SelectField
            key={name}
            label={name}
            hint={examples.join(' · ') || 'Empty'}
            value={fieldOf(mapping, name)}
            onValue={(field) => onMapping(withField(mapping, name, field as ColumnField | ''))}
            options={FIELD_OPTIONS}
          />
        ))}
      </fieldset>
      <div className={styles.pair}>
        <TextField
          label="Date format"
          hint="DD.MM.YYYY, MM/DD/YY, YYYY-MM-DD HH:mm:ss, RFC3339 or UNIX"
          value={mapping.date_format ?? ''}
          onValue={(value) => set({ date_format: value === '' ? null : value })}
        />
        <TextField
          label="Currency"
          hint="Where no column names it."
          maxLength={3}
          value={mapping.currency ?? ''}
          onValue={(value) => set({ currency: value === '' ? null : value.toUpperCase() })}
        />
        <SelectField
          label="Decimal sign"
          value={mapping.decimal ?? ''}
          onValue={(value) => set({ decimal: value === '' ? null : (value as '.' | ',') })}
          options={[
            ['', 'Choose'],
            ['.', '1,234.50'],
            [',', '1.234,50'],
          ]}
        />
        <SelectField
          label="A purchase is"
          value={mapping.spend_sign ?? ''}
          onValue={(value) => set({ spend_sign: value === '' ? null : (value as 'POSITIVE' | 'NEGATIVE') })}
          options={[
            ['', 'Choose, or has columns of its own'],
            ['POSITIVE', 'Above zero'],
            ['NEGATIVE', 'Below zero'],
          ]}
        />
      </div>
    </>
  );
}
