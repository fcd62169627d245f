import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';

/** Rows per block. A block far from the screen is only a gap of its height. */
const BLOCK_ROWS = 50;
/** Up to this number all rows are rendered, so that the browser's own search finds them. */
export const WHOLE_ROWS = 200;
/** Blocks this close to the screen are rendered ahead. */
const NEAR = '1000px 0px';

/** Row height until a block was measured. Pixels. */
const FIRST_GUESS_PX = 44;

/**
 * Renders only the rows of a long list that are near the screen, in one `as` element per block. `rows` renders a block whose
 * first row has the index `from`; `gap` fills the place of a block. The block with row `kept` and the one with the focus are
 * always rendered.
 */
export function Blocks<T>({
  as: Tag,
  of,
  kept,
  rows,
  gap,
}: {
  as: 'tbody' | 'ul';
  of: readonly T[];
  kept?: number | undefined;
  rows: (some: readonly T[], from: number) => ReactNode;
  gap: (height_px: number) => ReactNode;
}) {
  const row_px = useRef(FIRST_GUESS_PX);
  if (of.length <= WHOLE_ROWS) return of.length === 0 ? null : <Tag>{rows(of, 0)}</Tag>;
  const starts = Array.from({ length: Math.ceil(of.length / BLOCK_ROWS) }, (_, i) => i * BLOCK_ROWS);
  return starts.map((from) => {
    const some = of.slice(from, from + BLOCK_ROWS);
    return (
      <Block
        key={from}
        as={Tag}
        count={some.length}
        is_kept={from === 0 || (kept !== undefined && kept >= from && kept < from + BLOCK_ROWS)}
        row_px={row_px}
        rows={() => rows(some, from)}
        gap={gap}
      />
    );
  });
}

function Block({
  as: Tag,
  count,
  is_kept,
  row_px,
  rows,
  gap,
}: {
  as: 'tbody' | 'ul';
  count: number;
  is_kept: boolean;
  row_px: RefObject<number>;
  rows: () => ReactNode;
  gap: (height_px: number) => ReactNode;
}) {
  const [is_near, setNear] = useState(false);
  const element = useRef<HTMLTableSectionElement & HTMLUListElement>(null);
  const height_px = useRef<number | null>(null);
  const is_there = is_near || is_kept;
  const was_there = useRef(is_there);
  was_there.current = is_there;
  useEffect(() => {
    const own = element.current;
    if (own === null) return;
    const observer = new IntersectionObserver(
      (entries) => {
        const { isIntersecting, boundingClientRect } = entries.at(-1) as IntersectionObserverEntry;
        if (!isIntersecting && was_there.current) {
          // The block with the focus stays.
          if (own.contains(document.activeElement)) return;
          height_px.current = boundingClientRect.height;
          row_px.current = boundingClientRect.height / own.children.length;
        }
        setNear(isIntersecting);
      },
      { rootMargin: NEAR, scrollMargin: NEAR } as IntersectionObserverInit,
    );
    observer.observe(own);
    return () => observer.disconnect();
  }, [row_px]);
  return <Tag ref={element}>{is_there ? rows() : gap(height_px.current ?? count * row_px.current)}</Tag>;
}
