import { AreaField, SelectField, TextField } from '../../components/Field.tsx';
import { Card } from '../../components/Page.tsx';
import { type Draft, minorHint, type Problems } from '../../lib/authority/draft.ts';
import styles from './Authority.module.css';
import type { Edit, FieldOf } from './fields.ts';
import { OverTime } from './OverTime.tsx';
import { SharedBudgets } from './SharedBudgets.tsx';
import { When } from './When.tsx';

const BECOMES = [
  ['ALLOW', 'Nothing stands against it'],
  ['REVIEW', 'A person decides'],
  ['DENY', 'The spend is denied'],
] as const;

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
  edit: Edit;
  setJson: (text: string) => void;
}) {
  const field: FieldOf = (name) => ({
    value: draft[name],
    problem: problems[name],
    disabled: !may,
    onValue: (value: string) => edit(name, value),
  });
  const amount = (
    name: 'per_transaction_limit' | 'review_threshold' | 'monthly_budget' | 'new_merchant_threshold',
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
      <OverTime
        field={field}
        limits={draft.velocity_limits}
        currency={draft.currency}
        problems={problems}
        may={may}
        onLimits={(limits) => edit('velocity_limits', limits)}
      />
      <SharedBudgets
        chosen={draft.budgets}
        currency={draft.currency}
        problem={problems.budgets}
        may={may}
        onChosen={(budgets) => edit('budgets', budgets)}
      />
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
        <AreaField
          label="Allowed payees"
          optional
          hint="One a line: the account, and behind a space the merchant. A merchant named here is paid at no other account."
          placeholder="iban:DE44500105175407324931 Hetzner Online"
          rows={2}
          spellCheck={false}
          {...field('allowed_payees')}
        />
        <SelectField
          label="At other merchants"
          hint="Those that are neither above nor listed for the agent."
          options={BECOMES}
          {...field('on_other_merchants')}
        />
        <div className={styles.amounts}>
          <SelectField
            label="At a merchant it has not paid before"
            options={BECOMES}
            {...field('on_new_merchant')}
          />
          {draft.on_new_merchant !== 'ALLOW' && (
            <TextField
              label="Passes all the same up to"
              {...amount('new_merchant_threshold', 'Smaller first payments are not held up.')}
              placeholder="No amount"
            />
          )}
        </div>
      </Card>
      <Card title="Actions">
        <AreaField
          label="Allowed types of action"
          optional
          hint="One a line, such as purchase. Any other type is denied. The type is the agent’s own word."
          rows={2}
          {...field('allowed_action_types')}
        />
        <AreaField
          label="Types that go to a person"
          optional
          hint="One a line, such as subscription."
          rows={2}
          {...field('review_action_types')}
        />
      </Card>
      <When
        field={field}
        hours={draft.active_hours}
        problems={problems}
        may={may}
        onHours={(hours) => edit('active_hours', hours)}
      />
    </>
  );
}
