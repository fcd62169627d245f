import { REVIEW_POLICY_LIMITS } from '@purser/contract/reviews/policy';
import { WHY_NOT } from '../../api/queries.ts';
import { Button } from '../../components/Button.tsx';
import { SelectField, TextField } from '../../components/Field.tsx';
import { SpanFields } from '../../components/limits/SpanFields.tsx';
import { Card } from '../../components/Page.tsx';
import {
  type GroupDraft,
  type LimitDraft,
  newGroup,
  newTier,
  type PolicyDraft,
  type PolicyProblems,
  type TierDraft,
  withoutGroup,
} from '../../lib/reviews/policy.ts';
import { type Choice, NamesField } from './NamesField.tsx';
import styles from './ReviewPolicy.module.css';

const APPROVALS = Array.from({ length: REVIEW_POLICY_LIMITS.approvals }, (_, i) => {
  const count = String(i + 1);
  return [count, count] as const;
});

interface Part {
  draft: PolicyDraft;
  problems: PolicyProblems;
  people: readonly Choice[];
  may: boolean;
  onDraft: (draft: PolicyDraft) => void;
}

/** Replaces or, without `to`, removes an entry of a list. */
function withEntry<Entry>(list: readonly Entry[], index: number, to: Partial<Entry> | null): Entry[] {
  if (to === null) return list.filter((_, i) => i !== index);
  return list.map((each, i) => (i === index ? { ...each, ...to } : each));
}

/** The whole form of the review policy. */
export function PolicyForm(part: Part) {
  const { draft, problems, may, onDraft } = part;
  return (
    <>
      <Tiers {...part} />
      <Groups {...part} />
      <Limits {...part} />
      <Card title="Reminder">
        <SpanFields
          label="Remind before expiry"
          hint="Approvers are reminded of a pending request this long before it expires. Empty: no reminder."
          span={draft.remind}
          problem={problems.remind_before_seconds}
          may={may}
          onSpan={(to) => onDraft({ ...draft, remind: { ...draft.remind, ...to } })}
        />
      </Card>
    </>
  );
}

function Tiers({ draft, problems, people, may, onDraft }: Part) {
  const groups = draft.groups
    .filter(({ name }) => name !== '')
    .map(({ id, name }) => ({ value: id, text: `Group ${name}`, name }));
  return (
    <Card title="Tiers">
      <p className={styles.soft}>
        A tier applies to requests of its amount or more, up to the next tier of its currency. Without a tier,
        one approval by anyone who may review is enough. Tiers bind in Enforce only.
      </p>
      {draft.tiers.map((tier, i) => (
        <TierFields
          // biome-ignore lint/suspicious/noArrayIndexKey: every field of it changes while it is typed
          key={i}
          tier={tier}
          number={i + 1}
          choices={[...groups, ...people]}
          problemOf={(name) => problems[`tiers[${i}].${name}`]}
          may={may}
          onChange={(to) => onDraft({ ...draft, tiers: withEntry(draft.tiers, i, to) })}
        />
      ))}
      <div>
        <Button
          small
          why={!may && WHY_NOT.admin}
          disabled={draft.tiers.length >= REVIEW_POLICY_LIMITS.tiers}
          onClick={() => onDraft({ ...draft, tiers: [...draft.tiers, newTier(draft.tiers)] })}
        >
          Add tier
        </Button>
      </div>
    </Card>
  );
}

function TierFields({
  tier,
  number,
  choices,
  problemOf,
  may,
  onChange,
}: {
  tier: TierDraft;
  number: number;
  choices: readonly Choice[];
  problemOf: (name: string) => string | undefined;
  may: boolean;
  /** Null removes it. */
  onChange: (to: Partial<TierDraft> | null) => void;
}) {
  const signed_problem = problemOf('signed');
  return (
    <fieldset className={styles.row}>
      <legend className="visually-hidden">Tier {number}</legend>
      <div className={styles.line}>
        <TextField
          label="Currency"
          autoComplete="off"
          maxLength={3}
          disabled={!may}
          value={tier.currency}
          problem={problemOf('currency')}
          onValue={(currency) => onChange({ currency })}
        />
        <TextField
          label="From"
          inputMode="decimal"
          autoComplete="off"
          placeholder="1000.00"
          disabled={!may}
          value={tier.from}
          problem={problemOf('from_minor')}
          onValue={(from) => onChange({ from })}
        />
        <SelectField
          label="Approvals"
          disabled={!may}
          options={APPROVALS}
          value={tier.approvals}
          problem={problemOf('approvals')}
          onValue={(approvals) => onChange({ approvals })}
        />
        <Button
          small
          kind="quiet"
          disabled={!may}
          aria-label={`Remove tier ${number}`}
          onClick={() => onChange(null)}
        >
          Remove
        </Button>
      </div>
      <NamesField
        label="Approvers"
        empty="Anyone who may review."
        names={tier.approvers}
        choices={choices}
        problem={problemOf('approvers')}
        may={may}
        onNames={(approvers) => onChange({ approvers })}
      />
      <label className={styles.check}>
        <input
          type="checkbox"
          checked={tier.signed}
          disabled={!may}
          onChange={({ target }) => onChange({ signed: target.checked })}
        />
        <span>
          Each approval is signed with a signing key
          <span className={styles.soft}>Then the policy itself needs your signature too.</span>
        </span>
      </label>
      {signed_problem !== undefined && (
        <p role="alert" className={styles.problem}>
          A signed tier {signed_problem}.
        </p>
      )}
      <details
        className={styles.more}
        open={tier.after.length !== '' || tier.escalation.length > 0 || undefined}
      >
        <summary>Escalation</summary>
        <div>
          <SpanFields
            label="Escalate after"
            hint="Counted from the request, while it is pending."
            span={tier.after}
            problem={problemOf('escalation.after_seconds')}
            may={may}
            onSpan={(to) => onChange({ after: { ...tier.after, ...to } })}
          />
          <NamesField
            label="Further approvers"
            hint="They are notified and count too from then on."
            empty="None."
            names={tier.escalation}
            choices={choices}
            problem={problemOf('escalation.approvers')}
            may={may}
            onNames={(escalation) => onChange({ escalation })}
          />
        </div>
      </details>
    </fieldset>
  );
}

function Groups({ draft, problems, people, may, onDraft }: Part) {
  const change = (i: number, to: Partial<GroupDraft>) =>
    onDraft({ ...draft, groups: withEntry(draft.groups, i, to) });
  return (
    <Card title="Groups">
      {draft.groups.length === 0 && (
        <p className={styles.soft}>None. A group names several approvers at once.</p>
      )}
      {draft.groups.map((group, i) => (
        <fieldset key={group.id} className={styles.row}>
          <legend className="visually-hidden">Group {i + 1}</legend>
          <div className={styles.line}>
            <TextField
              label="Name of the group"
              autoComplete="off"
              spellCheck={false}
              maxLength={64}
              placeholder="finance"
              disabled={!may}
              value={group.name}
              problem={problems[`groups[${i}].name`]}
              onValue={(name) => change(i, { name })}
            />
            <Button
              small
              kind="quiet"
              disabled={!may}
              aria-label={`Remove group ${group.name === '' ? i + 1 : group.name}`}
              onClick={() => onDraft(withoutGroup(draft, group.id))}
            >
              Remove
            </Button>
          </div>
          <NamesField
            label="Members"
            empty="Nobody yet."
            names={group.members}
            choices={people}
            problem={problems[`groups[${i}].members`]}
            may={may}
            onNames={(members) => change(i, { members })}
          />
        </fieldset>
      ))}
      <div>
        <Button
          small
          why={!may && WHY_NOT.admin}
          disabled={draft.groups.length >= REVIEW_POLICY_LIMITS.groups}
          onClick={() => onDraft({ ...draft, groups: [...draft.groups, newGroup(draft.groups)] })}
        >
          Add group
        </Button>
      </div>
    </Card>
  );
}

function Limits({ draft, problems, people, may, onDraft }: Part) {
  const change = (i: number, to: Partial<LimitDraft> | null) =>
    onDraft({ ...draft, limits: withEntry(draft.limits, i, to) });
  return (
    <Card title="Limits of approvers">
      <p className={styles.soft}>
        The most that somebody may allow. With a limit in one currency, they may allow nothing in another.
      </p>
      {draft.limits.map((limit, i) => {
        const problemOf = (name: string) => problems[`approver_limits[${i}].${name}`];
        const options = [...people];
        if (limit.approver !== '' && !people.some(({ value }) => value === limit.approver))
          options.push({ value: limit.approver, text: limit.approver, name: limit.approver });
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: every field of it changes while it is typed
          <fieldset key={i} className={styles.row}>
            <legend className="visually-hidden">Limit {i + 1}</legend>
            <div className={styles.line}>
              <SelectField
                label="Approver"
                disabled={!may}
                options={[['', 'Choose…'], ...options.map(({ value, text }) => [value, text] as const)]}
                value={limit.approver}
                problem={problemOf('approver')}
                onValue={(approver) => change(i, { approver })}
              />
              <TextField
                label="Currency"
                autoComplete="off"
                maxLength={3}
                disabled={!may}
                value={limit.currency}
                problem={problemOf('currency')}
                onValue={(currency) => change(i, { currency })}
              />
              <TextField
                label="Up to"
                inputMode="decimal"
                autoComplete="off"
                disabled={!may}
                value={limit.max}
                problem={problemOf('max_minor')}
                onValue={(max) => change(i, { max })}
              />
              <Button
                small
                kind="quiet"
                disabled={!may}
                aria-label={`Remove limit ${i + 1}`}
                onClick={() => change(i, null)}
              >
                Remove
              </Button>
            </div>
          </fieldset>
        );
      })}
      <div>
        <Button
          small
          why={!may && WHY_NOT.admin}
          disabled={draft.limits.length >= REVIEW_POLICY_LIMITS.approver_limits}
          onClick={() =>
            onDraft({ ...draft, limits: [...draft.limits, { approver: '', currency: 'EUR', max: '' }] })
          }
        >
          Add limit
        </Button>
      </div>
    </Card>
  );
}
