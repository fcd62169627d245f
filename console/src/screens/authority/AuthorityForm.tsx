import type { Simulation } from '@purser/sdk';
import type { ReactNode } from 'react';
import { AreaField, SelectField, TextField } from '../../components/Field.tsx';
import { Card } from '../../components/Page.tsx';
import type { Draft, Problems } from '../../lib/authority/draft.ts';
import { Attention } from './Attention.tsx';
import styles from './Authority.module.css';
import type { Edit, FieldOf } from './fields.ts';
import { ModelCalls } from './ModelCalls.tsx';
import { SharedBudgets } from './SharedBudgets.tsx';
import { Times } from './Times.tsx';
import { VelocityLimits } from './VelocityLimits.tsx';

const BECOMES = [
  ['ALLOW', 'Allow'],
  ['REVIEW', 'Review'],
  ['DENY', 'Deny'],
] as const;

/** The levels of attention on past requests; undefined before the first simulation. */
type Compared = Simulation['attention'] | undefined;

/** The props of the controls of a draft. */
export interface Fields {
  draft: Draft;
  problems: Problems;
  may: boolean;
  edit: Edit;
}

/** Returns the props of text controls, and of those for amounts in major units. */
function controlsOf({ draft, problems, may, edit }: Fields) {
  const field: FieldOf = (name) => ({
    value: draft[name],
    problem: problems[name],
    disabled: !may,
    onValue: (value: string) => edit(name, value),
  });
  const amount = (
    name:
      | 'per_transaction_limit'
      | 'review_threshold'
      | 'monthly_budget'
      | 'new_merchant_threshold'
      | 'reviewer_allowance_limit',
    meaning: string,
  ) => ({
    ...field(name),
    inputMode: 'decimal' as const,
    prefix: draft.currency,
    placeholder: 'No limit',
    hint: meaning,
  });
  return { field, amount };
}

/** The field for the purpose of the agent, in one text. */
export function ObjectiveField(fields: Fields) {
  const { field } = controlsOf(fields);
  return (
    <AreaField
      label="Objective"
      required
      hint="What the agent is for. Each request is judged against this text."
      {...field('objective')}
    />
  );
}

/** The currency and the three limits. */
export function LimitFields({ children, ...fields }: Fields & { children?: ReactNode }) {
  const { field, amount } = controlsOf(fields);
  return (
    <>
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
          {...amount(
            'per_transaction_limit',
            'Larger amounts are denied, or reduced if the agent accepts less.',
          )}
        />
        <TextField label="Review threshold" {...amount('review_threshold', 'Larger amounts need review.')} />
        <TextField label="Monthly budget" {...amount('monthly_budget', 'Per calendar month (UTC).')} />
        {children}
      </div>
      <datalist id="currencies">
        {['EUR', 'USD', 'GBP', 'CHF', 'JPY', 'SEK', 'DKK', 'NOK', 'PLN', 'CAD', 'AUD', 'KWD'].map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </>
  );
}

function PurposeRules({ compared, ...fields }: Fields & { compared: Compared }) {
  const { field } = controlsOf(fields);
  return (
    <>
      <AreaField
        label="Success criteria"
        optional
        hint="One per line."
        rows={2}
        {...field('success_criteria')}
      />
      <AreaField
        label="Constraints"
        optional
        hint="What the agent must not buy, one per line: “No gift cards”."
        rows={2}
        {...field('constraints')}
      />
      <AreaField
        label="Context"
        optional
        hint="Anything else that helps to understand the purpose."
        rows={2}
        {...field('context')}
      />
      <Attention {...field('attention')} compared={compared} />
      <SelectField
        label="Description of a request"
        options={[
          ['', 'Optional'],
          ['true', 'Required: without one, the purpose is unclear'],
        ]}
        {...field('require_description')}
      />
      <SelectField
        label="Requests shown to the model"
        hint="If this installation asks a model about purposes."
        options={[
          ['', 'As the installation is set up'],
          ['UNCLEAR', 'Only those that the rules find unclear or against the purpose'],
          ['ALL', 'All'],
        ]}
        {...field('ask_model')}
      />
      <SelectField
        label="Unclear purpose"
        options={[
          ['REVIEW', 'Review'],
          ['ALLOW', 'Allow'],
        ]}
        {...field('on_purpose_unclear')}
      />
    </>
  );
}

function AlertPercents(fields: Fields) {
  const { field } = controlsOf(fields);
  return (
    <TextField
      label="Alert percentages"
      optional
      inputMode="numeric"
      placeholder="50, 80, 100"
      hint="Usage of the monthly budget or a velocity limit at which webhooks and channels are notified."
      {...field('alert_percents')}
    />
  );
}

function OtherRules(fields: Fields) {
  const { draft, problems, may, edit } = fields;
  const { field, amount } = controlsOf(fields);
  return (
    <>
      <VelocityLimits
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
          hint="Names or host names, one per line. A host name also blocks its subdomains."
          rows={2}
          {...field('blocked_merchants')}
        />
        <AreaField
          label="Allowed merchants"
          optional
          hint="One per line. A listed merchant supports a request, but limits and constraints still apply."
          rows={2}
          {...field('allowed_merchants')}
        />
        <AreaField
          label="Allowed payees"
          optional
          hint="One per line: account, a space, then the merchant name. A merchant named here can only be paid at its listed accounts."
          placeholder="iban:DE44500105175407324931 Hetzner Online"
          rows={2}
          spellCheck={false}
          {...field('allowed_payees')}
        />
        <SelectField
          label="Other merchants"
          hint="Merchants that are neither listed above nor in the agent’s merchant list."
          options={BECOMES}
          {...field('on_other_merchants')}
        />
        <div className={styles.amounts}>
          <SelectField label="First payment to a merchant" options={BECOMES} {...field('on_new_merchant')} />
          {draft.on_new_merchant !== 'ALLOW' && (
            <TextField
              label="Allowed up to"
              {...amount('new_merchant_threshold', 'Smaller first payments are allowed.')}
              placeholder="No amount"
            />
          )}
        </div>
      </Card>
      <Card title="Actions">
        <AreaField
          label="Allowed action types"
          optional
          hint="One per line, such as purchase. Any other type is denied. The agent states the type itself."
          rows={2}
          {...field('allowed_action_types')}
        />
        <AreaField
          label="Action types that need review"
          optional
          hint="One per line, such as subscription."
          rows={2}
          {...field('review_action_types')}
        />
      </Card>
      <Card title="Allowances">
        <div className={styles.amounts}>
          <TextField
            label="Reviewers may grant up to"
            {...amount(
              'reviewer_allowance_limit',
              'The largest allowance that a reviewer may grant, and the largest approval for later requests. Administrators may grant more.',
            )}
            placeholder="Nothing"
          />
        </div>
      </Card>
      <ModelCalls field={field} are_allowed={draft.allow_model_calls === 'true'} />
      <Times
        field={field}
        hours={draft.active_hours}
        problems={problems}
        may={may}
        onHours={(hours) => edit('active_hours', hours)}
      />
    </>
  );
}

/** Everything that a policy may say besides its objective and its three limits. */
export function MoreRules(fields: Fields) {
  return (
    <>
      <Card title="Purpose in detail">
        <PurposeRules {...fields} compared={undefined} />
      </Card>
      <Card title="Alerts">
        <AlertPercents {...fields} />
      </Card>
      <OtherRules {...fields} />
    </>
  );
}

/** The fields of a policy, or its JSON. */
export function AuthorityForm({
  compared,
  json,
  setJson,
  ...fields
}: Fields & { compared: Compared; json: string | null; setJson: (text: string) => void }) {
  const { problems, may } = fields;
  if (json !== null) {
    return (
      <Card>
        <div className={styles.json}>
          <AreaField
            label="Policy as JSON"
            value={json}
            spellCheck={false}
            disabled={!may}
            problem={Object.values(problems)[0]}
            hint="Amounts are whole numbers in minor units."
            onValue={setJson}
          />
        </div>
      </Card>
    );
  }
  return (
    <>
      <Card title="Purpose">
        <ObjectiveField {...fields} />
        <PurposeRules {...fields} compared={compared} />
      </Card>
      <Card title="Limits">
        <LimitFields {...fields}>
          <AlertPercents {...fields} />
        </LimitFields>
      </Card>
      <OtherRules {...fields} />
    </>
  );
}
