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

/** A row of a list in the form. */
interface Row<Entry> {
  entry: Entry;
  number: number;
  choices: readonly Choice[];
  /** The problem of a field as the service names it. */
  problemOf: (field: string) => string | undefined;
  may: boolean;
  /** Null removes the row. */
  onChange: (to: Partial<Entry> | null) => void;
}

type TextOf<Entry> = { [Name in keyof Entry]: Entry[Name] extends string ? Name : never }[keyof Entry];

/** Returns the properties of a row's fields. `field`: as the service names it. */
const fieldsOf =
  <Entry,>({ entry, problemOf, may, onChange }: Row<Entry>) =>
  (name: TextOf<Entry> & string, field: string = name) => ({
    value: entry[name] as string,
    problem: problemOf(field),
    disabled: !may,
    onValue: (value: string) => onChange({ [name]: value } as Partial<Entry>),
  });

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
          entry={tier}
          number={i + 1}
          choices={[...groups, ...people]}
          problemOf={(field) => problems[`tiers[${i}].${field}`]}
          may={may}
          onChange={(to) => onDraft({ ...draft, tiers: withEntry(draft.tiers, i, to) })}
        />
      ))}
      <Add
        what="tier"
        may={may}
        is_full={draft.tiers.length >= REVIEW_POLICY_LIMITS.tiers}
        onAdd={() => onDraft({ ...draft, tiers: [...draft.tiers, newTier(draft.tiers)] })}
      />
    </Card>
  );
}

function TierFields(row: Row<TierDraft>) {
  const { entry: tier, number, choices, problemOf, may, onChange } = row;
  const field = fieldsOf(row);
  const signed_problem = problemOf('signed');
  return (
    <fieldset className={styles.row}>
      <legend className="visually-hidden">Tier {number}</legend>
      <div className={styles.line}>
        <TextField label="Currency" autoComplete="off" maxLength={3} {...field('currency')} />
        <TextField
          label="From"
          inputMode="decimal"
          autoComplete="off"
          placeholder="1000.00"
          {...field('from', 'from_minor')}
        />
        <SelectField label="Approvals" options={APPROVALS} {...field('approvals')} />
        <Remove what={`tier ${number}`} may={may} onRemove={() => onChange(null)} />
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
  return (
    <Card title="Groups">
      {draft.groups.length === 0 && (
        <p className={styles.soft}>None. A group names several approvers at once.</p>
      )}
      {draft.groups.map((group, i) => (
        <GroupFields
          key={group.id}
          entry={group}
          number={i + 1}
          choices={people}
          problemOf={(field) => problems[`groups[${i}].${field}`]}
          may={may}
          onChange={(to) =>
            onDraft(
              to === null
                ? withoutGroup(draft, group.id)
                : { ...draft, groups: withEntry(draft.groups, i, to) },
            )
          }
        />
      ))}
      <Add
        what="group"
        may={may}
        is_full={draft.groups.length >= REVIEW_POLICY_LIMITS.groups}
        onAdd={() => onDraft({ ...draft, groups: [...draft.groups, newGroup(draft.groups)] })}
      />
    </Card>
  );
}

function GroupFields(row: Row<GroupDraft>) {
  const { entry: group, number, choices, problemOf, may, onChange } = row;
  const field = fieldsOf(row);
  return (
    <fieldset className={styles.row}>
      <legend className="visually-hidden">Group {number}</legend>
      <div className={styles.line}>
        <TextField
          label="Name of the group"
          autoComplete="off"
          spellCheck={false}
          maxLength={64}
          placeholder="finance"
          {...field('name')}
        />
        <Remove
          what={`group ${group.name === '' ? number : group.name}`}
          may={may}
          onRemove={() => onChange(null)}
        />
      </div>
      <NamesField
        label="Members"
        empty="Nobody yet."
        names={group.members}
        choices={choices}
        problem={problemOf('members')}
        may={may}
        onNames={(members) => onChange({ members })}
      />
    </fieldset>
  );
}

function Limits({ draft, problems, people, may, onDraft }: Part) {
  return (
    <Card title="Limits of approvers">
      <p className={styles.soft}>
        The most that somebody may allow. With a limit in one currency, they may allow nothing in another.
      </p>
      {draft.limits.map((limit, i) => (
        <LimitFields
          // biome-ignore lint/suspicious/noArrayIndexKey: every field of it changes while it is typed
          key={i}
          entry={limit}
          number={i + 1}
          choices={people}
          problemOf={(field) => problems[`approver_limits[${i}].${field}`]}
          may={may}
          onChange={(to) => onDraft({ ...draft, limits: withEntry(draft.limits, i, to) })}
        />
      ))}
      <Add
        what="limit"
        may={may}
        is_full={draft.limits.length >= REVIEW_POLICY_LIMITS.approver_limits}
        onAdd={() =>
          onDraft({ ...draft, limits: [...draft.limits, { approver: '', currency: 'EUR', max: '' }] })
        }
      />
    </Card>
  );
}

function LimitFields(row: Row<LimitDraft>) {
  const { entry: limit, number, choices, may, onChange } = row;
  const field = fieldsOf(row);
  const options = choices.map(({ value, text }) => [value, text] as const);
  const is_known = limit.approver === '' || choices.some(({ value }) => value === limit.approver);
  return (
    <fieldset className={styles.row}>
      <legend className="visually-hidden">Limit {number}</legend>
      <div className={styles.line}>
        <SelectField
          label="Approver"
          options={[
            ['', 'Choose…'],
            ...options,
            ...(is_known ? [] : [[limit.approver, limit.approver] as const]),
          ]}
          {...field('approver')}
        />
        <TextField label="Currency" autoComplete="off" maxLength={3} {...field('currency')} />
        <TextField label="Up to" inputMode="decimal" autoComplete="off" {...field('max', 'max_minor')} />
        <Remove what={`limit ${number}`} may={may} onRemove={() => onChange(null)} />
      </div>
    </fieldset>
  );
}

/** The button that adds a row to a list until the list is full. */
function Add({
  what,
  may,
  is_full,
  onAdd,
}: {
  what: string;
  may: boolean;
  is_full: boolean;
  onAdd: () => void;
}) {
  return (
    <div>
      <Button small why={!may && WHY_NOT.admin} disabled={is_full} onClick={onAdd}>
        Add {what}
      </Button>
    </div>
  );
}

/** The button of a row that removes it. */
function Remove({ what, may, onRemove }: { what: string; may: boolean; onRemove: () => void }) {
  return (
    <Button small kind="quiet" disabled={!may} aria-label={`Remove ${what}`} onClick={onRemove}>
      Remove
    </Button>
  );
}
