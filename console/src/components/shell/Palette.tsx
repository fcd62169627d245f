import { Autocomplete } from '@base-ui/react/autocomplete';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { purser, QUIET } from '../../api/client.ts';
import { useDebounced } from '../../lib/hooks/use-debounced.ts';
import { type Destination, placesFor } from '../../lib/palette.ts';
import { applyTheme } from '../../lib/theme.ts';
import { Dialog } from '../Dialog.tsx';
import styles from './Palette.module.css';

/** The service finds nothing for a shorter text. */
const MIN_LENGTH = 2;
const MAX_LENGTH = 200;
/** Hits that can be read at a glance. */
const HITS = 20;

/** Finds screens, actions, agents and everything that the service finds by typing. Loaded on first use. */
export default function Palette({ onClose, onStop }: { onClose: () => void; onStop: () => void }) {
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const agents = useQuery({
    queryKey: ['agents', 'names'],
    queryFn: async () => (await purser.agents.list({ limit: 200 })).data,
  });
  const text = useDebounced(typed.trim()) ?? '';
  const is_searched = text.length >= MIN_LENGTH && text.length <= MAX_LENGTH;
  const hits = useQuery({
    queryKey: ['search', text],
    queryFn: async () => (await purser.search.list({ q: text, limit: HITS }, QUIET)).data,
    enabled: is_searched,
    placeholderData: (before) => before,
  });
  const groups = placesFor(typed, agents.data ?? [], is_searched ? hits.data : []);
  const go = ({ to, search, act }: Destination) => {
    onClose();
    if (act === undefined) void navigate({ to, search });
    else if (act === 'stop') onStop();
    else applyTheme(act);
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
              aria-label="Screen, action, merchant, description, comment, person or ID"
              placeholder="Screen, action, merchant, comment, person, ID…"
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
          <p role="status" className={styles.state}>
            {is_searched &&
              (hits.isError
                ? 'The search failed. Screens and actions are still listed.'
                : hits.isFetching
                  ? 'Searching…'
                  : hits.data?.length === 0 && 'Nothing else found.')}
          </p>
        </div>
      </CSPProvider>
    </Dialog>
  );
}
