import { dayName } from '@purser/contract/authority-words';
import { WEEKDAYS } from '@purser/contract/calendar';
import { timeZones } from '../../lib/authority/zones.ts';
import type { QuietDraft } from '../../lib/channels.ts';
import type { Form } from '../../lib/hooks/use-form.ts';
import { SelectField, TextField } from '../Field.tsx';
import styles from './notifications.module.css';

/** The quiet hours of a channel or person. */
export function QuietHoursFields({
  form,
}: {
  form: Pick<Form<QuietDraft>, 'values' | 'set' | 'field' | 'problemOf'>;
}) {
  const days = form.values.quiet_days.split(',');
  const problem = form.problemOf('quiet_days');
  const toggle = (day: string) =>
    form.set('quiet_days', WEEKDAYS.filter((each) => days.includes(each) !== (each === day)).join());
  return (
    <>
      <SelectField
        label="Quiet hours"
        hint="Notices wait until they end. A request that expires before is sent at once."
        {...form.field('quiet')}
        options={[
          ['off', 'None'],
          ['on', 'Every week at these times'],
        ]}
      />
      {form.values.quiet === 'on' && (
        <>
          <div className={styles.pair}>
            <TextField label="From" autoComplete="off" maxLength={5} {...form.field('quiet_from')} />
            <TextField label="Until" autoComplete="off" maxLength={5} {...form.field('quiet_to')} />
          </div>
          <fieldset className={styles.days}>
            <legend>Beginning on</legend>
            {WEEKDAYS.map((day) => (
              <label key={day}>
                <input
                  type="checkbox"
                  aria-label={dayName(day)}
                  checked={days.includes(day)}
                  onChange={() => toggle(day)}
                />
                {dayName(day).slice(0, 3)}
              </label>
            ))}
            {problem !== undefined && (
              <p role="alert" className={styles.problem}>
                Quiet hours {problem}.
              </p>
            )}
          </fieldset>
          <ZoneField label="Time zone of the quiet hours" {...form.field('quiet_zone')} />
        </>
      )}
    </>
  );
}

const LIST = 'notification-zones';

/** A time zone, with suggestions. */
export function ZoneField(props: {
  label: string;
  hint?: string;
  disabled?: boolean;
  value: string;
  problem: string | undefined;
  onValue: (value: string) => void;
}) {
  return (
    <>
      <TextField list={LIST} autoComplete="off" spellCheck={false} placeholder="UTC" {...props} />
      <datalist id={LIST}>
        {timeZones().map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </>
  );
}
