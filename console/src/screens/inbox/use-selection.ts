import { useCallback, useRef, useState } from 'react';
import type { Row } from '../../lib/reviews/rows.ts';
import { toggled } from '../../lib/toggled.ts';

/** The selected rows. `onToggle` is stable; with a range it selects from the row that was toggled last. */
export function useSelection(rows: readonly Pick<Row, 'decision_id'>[]) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const anchor = useRef<string | null>(null);
  const toggle = (id: string, with_range: boolean) => {
    const from = rows.findIndex((each) => each.decision_id === anchor.current);
    const to = rows.findIndex((each) => each.decision_id === id);
    const range = rows.slice(Math.min(from, to), Math.max(from, to) + 1).map((each) => each.decision_id);
    setSelected((before) => (with_range && from >= 0 ? new Set([...before, ...range]) : toggled(before, id)));
    anchor.current = id;
  };
  // A stable function for all rows, so that a row renders again only when it changes.
  const latest = useRef(toggle);
  latest.current = toggle;
  const onToggle = useCallback((id: string, with_range: boolean) => latest.current(id, with_range), []);
  return {
    selected,
    onToggle,
    clear: () => setSelected(new Set()),
    deselect: (id: string) => setSelected((before) => new Set([...before].filter((each) => each !== id))),
  };
}
