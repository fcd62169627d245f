import { AreaField, SelectField, TextField } from '../../components/Field.tsx';
import { Card } from '../../components/Page.tsx';
import { type Draft, minorHint, type Problems } from '../../lib/authority-draft.ts';
import styles from './Authority.module.css';

/** The fields of an authority, or its JSON. */
export function AuthorityForm({
  draft,
  json,
  problems,
  may,
  edit,
  setJson,
}: {
  draft: Draft;
  json: string | null;
  problems: Problems;
  may: boolean;
  edit: (name: keyof Draft, value: string) => void;
  setJson: (text: string) => void;
}) {
  const field = (name: keyof Draft) => ({
    value: draft[name],
    problem: problems[name],
    disabled: !may,
    onValue: (value: string) => edit(name, value),
  });
  const amount = (
    name: 'per_transaction_limit' | 'review_threshold' | 'monthly_budget',
    meaning: string,
  ) => ({
    ...field(name),
    inputMode: 'decimal' as const,
    prefix: draft.currency,
    placeholder: 'No limit',
    hint: minorHint(draft[name], draft.currency) ?? meaning,
  });
  if (json !== null) {
    return (
      <Card>
        <div className={styles.json}>
          <AreaField
            label="Authority as JSON"
            value={json}
            spellCheck={false}
            disabled={!may}
            problem={Object.values(problems)[0]}
            hint="Amounts are whole numbers of minor units."
            onValue={setJson}
          />
        </div>
      </Card>
    );
  }
  return (
    <>
      <Card title="Purpose">
        <AreaField
          label="Objective"
          required
          hint="What the agent was put there for. Spends are held against these words."
          {...field('objective')}
        />
        <AreaField
          label="Success criteria"
          optional
          hint="One a line."
          rows={2}
          {...field('success_criteria')}
        />
        <AreaField
          label="Constraints"
          optional
          hint="What it must not do, one a line: “No gift cards”."
          rows={2}
          {...field('constraints')}
        />
        <AreaField
          label="Context"
          optional
          hint="What else helps to understand the purpose."
          rows={2}
          {...field('context')}
        />
        <SelectField
          label="When the purpose is unclear"
          options={[
            ['REVIEW', 'A person decides'],
            ['ALLOW', 'The spend is allowed'],
          ]}
          {...field('on_purpose_unclear')}
        />
      </Card>
      <Card title="Limits">
        <div className={styles.amounts}>
          <TextField
            label="Currency"
            maxLength={3}
            list="currencies"
            autoComplete="off"
            {...field('currency')}
          />
          <TextField
            label="Per-transaction limit"
            {...amount('per_transaction_limit', 'A spend over it is denied, or capped where less would do.')}
          />
          <TextField label="Review threshold" {...amount('review_threshold', 'A person decides above it.')} />
          <TextField label="Monthly budget" {...amount('monthly_budget', 'For a calendar month (UTC).')} />
        </div>
        <datalist id="currencies">
          {['EUR', 'USD', 'GBP', 'CHF', 'JPY', 'SEK', 'DKK', 'NOK', 'PLN', 'CAD', 'AUD', 'KWD'].map(
            (each) => (
              <option key={each} value={each} />
            ),
          )}
        </datalist>
      </Card>
      <Card title="Merchants">
        <AreaField
          label="Blocked merchants"
          optional
          hint="Names or host names, one a line. A host name blocks its subdomains too."
          rows={2}
          {...field('blocked_merchants')}
        />
        <AreaField
          label="Allowed merchants"
          optional
          hint="One a line. Paying one of them speaks for a spend; it lifts no limit and no constraint."
          rows={2}
          {...field('allowed_merchants')}
        />
      </Card>
    </>
  );
}
