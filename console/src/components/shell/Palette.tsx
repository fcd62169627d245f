import { Autocomplete } from '@base-ui/react/autocomplete';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { type Destination, placesFor } from '../../lib/palette.ts';
import { Dialog } from '../Dialog.tsx';
import styles from './Palette.module.css';

/** Finds screens, agents, IDs and merchants by typing. Loaded on first use. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const agents = useQuery({
    queryKey: ['agents', 'names'],
    queryFn: async () => (await purser.agents.list({ limit: 200 })).data,
  });
  const groups = placesFor(typed, agents.data ?? []);
  const go = ({ to, search }: Destination) => {
    onClose();
    void navigate({ to, search });
  };
  return (
    <Dialog title="Go to or find" onClose={onClose}>
      <CSPProvider disableStyleElements>
        <div className={styles.palette}>
          <Autocomplete.Root
            open
            inline
            items={groups}
            filter={null}
            value={typed}
            onValueChange={(value, { reason }) => {
              if (reason !== 'item-press') setTyped(value);
            }}
            autoHighlight="always"
            keepHighlight
            itemToStringValue={(each: Destination) => each.label}
          >
            <Autocomplete.Input
              className={styles.input}
              aria-label="Screen, agent, merchant or ID"
              placeholder="Screen, agent, merchant or ID…"
            />
            <Autocomplete.List className={styles.list}>
              {(group: (typeof groups)[number]) => (
                <Autocomplete.Group key={group.value} items={group.items}>
                  <Autocomplete.GroupLabel className={styles.group}>{group.value}</Autocomplete.GroupLabel>
                  <Autocomplete.Collection>
                    {(place: Destination) => (
                      <Autocomplete.Item
                        key={place.value}
                        value={place}
                        className={styles.item}
                        onClick={() => go(place)}
                      >
                        <span>{place.label}</span>
                        <span className={styles.hint}>{place.hint}</span>
                      </Autocomplete.Item>
                    )}
                  </Autocomplete.Collection>
                </Autocomplete.Group>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
        </div>
      </CSPProvider>
    </Dialog>
  );
}
