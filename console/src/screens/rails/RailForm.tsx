import { RAIL_KINDS, type RailKind } from '@purser/contract/values/history';
import type { Rail } from '@purser/sdk';
import { purser } from '../../api/client.ts';
import { invalidate } from '../../api/live.ts';
import { Button } from '../../components/Button.tsx';
import { Actions, Dialog } from '../../components/Dialog.tsx';
import { SelectField, TextField } from '../../components/Field.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { CodeBlock } from '../../components/Value.tsx';
import { useForm } from '../../lib/hooks/use-form.ts';
import { KIND_LABELS } from './kinds.ts';

/** Events that the vendor has to send. */
const EVENTS: Readonly<Record<RailKind, string>> = {
  stripe_issuing:
    'issuing_authorization.created, issuing_authorization.updated and issuing_transaction.created',
  lithic: 'card_transaction.updated',
};
const KINDS = RAIL_KINDS.map((kind) => [kind, KIND_LABELS[kind]] as const);

/** Adds a rail, or changes one: its name and its signing secret. */
export function RailForm({
  rail,
  onClose,
  onMade,
}: {
  rail: Rail | null;
  onClose: () => void;
  onMade: (rail: Rail) => void;
}) {
  const form = useForm(
    { kind: rail?.kind ?? 'stripe_issuing', name: rail?.name ?? '', secret: '' },
    async ({ kind, name, secret }) => {
      const secrets = secret.trim() === '' ? {} : { signing_secrets: [secret.trim()] };
      const given = { name: name.trim(), ...secrets };
      const saved =
        rail === null
          ? await purser.rails.create({ kind: kind as RailKind, ...given })
          : await purser.rails.update(rail.id, given);
      void invalidate('rails');
      if (rail === null) onMade(saved);
      else onClose();
    },
    {
      check: ({ name }) => (name.trim() === '' ? { name: 'is required' } : {}),
      fields: { 'signing_secrets.0': 'secret', signing_secrets: 'secret' },
    },
  );
  return (
    <Dialog title={rail === null ? 'Add rail' : `Change “${rail.name}”`} onClose={onClose}>
      <form onSubmit={form.onSubmit} noValidate style={{ display: 'grid', gap: '1rem' }}>
        {form.error !== null && <ErrorNotice error={form.error} />}
        {rail === null && <SelectField label="Kind" options={KINDS} {...form.field('kind')} />}
        <TextField label="Name" autoComplete="off" autoFocus required {...form.field('name')} />
        <TextField
          label="Signing secret"
          autoComplete="off"
          spellCheck={false}
          optional
          placeholder="whsec_…"
          hint={
            rail === null
              ? 'The vendor shows it once its endpoint exists. You can give it later.'
              : 'Replaces the secret that the rail has. It is not shown again.'
          }
          {...form.field('secret')}
        />
        <Actions recorded>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={form.busy}>
            {rail === null ? 'Add rail' : 'Save'}
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}

/** Says where the vendor sends events, and which. */
export function RailAddress({ rail, onClose }: { rail: Rail; onClose: () => void }) {
  return (
    <Dialog title={`Where ${KIND_LABELS[rail.kind]} sends events`} onClose={onClose}>
      <p>Create a webhook endpoint with this URL at {KIND_LABELS[rail.kind]}:</p>
      <CodeBlock label="the URL" code={rail.url} />
      <p>It sends {EVENTS[rail.kind]}.</p>
      {rail.status === 'WAITING_FOR_SECRET' && (
        <p>Then give the rail the endpoint’s signing secret. Until then every event is refused.</p>
      )}
      <Actions>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </Actions>
    </Dialog>
  );
}
