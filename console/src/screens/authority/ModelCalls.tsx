import { AreaField, SelectField } from '../../components/Field.tsx';
import { Card } from '../../components/Page.tsx';
import type { FieldOf } from './fields.ts';

/** The terms under which the agent may call models through a gateway. */
export function ModelCalls({ field, are_allowed }: { field: FieldOf; are_allowed: boolean }) {
  return (
    <Card title="Models">
      <SelectField
        label="Allow model calls"
        hint="A gateway takes the money in advance, within the limits above, and gives back what is left."
        options={[
          ['', 'No'],
          ['true', 'Yes'],
        ]}
        {...field('allow_model_calls')}
      />
      {are_allowed && (
        <>
          <AreaField
            label="Models"
            optional
            hint="One per line, such as gpt-5-mini or claude-*. Empty: every model with a known price."
            rows={2}
            spellCheck={false}
            {...field('models')}
          />
          <SelectField
            label="When the budget is low"
            options={[
              ['LOWER', 'Lower the output limit of a call'],
              ['REFUSE', 'Refuse the call'],
            ]}
            {...field('on_low_budget')}
          />
          <SelectField
            label="Unknown price"
            options={[
              ['REFUSE', 'Refuse the call'],
              ['HIGHEST_PRICE', 'Count it at the provider’s highest price'],
            ]}
            {...field('on_unknown_price')}
          />
        </>
      )}
    </Card>
  );
}
