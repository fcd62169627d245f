import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';

/** Rows come in blocks of so many; a block that is far from the screen is no more than its height. */
const BLOCK_ROWS = 50;
/** Up to here every row is there, so that the browser's own search finds it. */
export const WHOLE_ROWS = 200;
/** What is so near the screen is there before it is scrolled to. */
const NEAR = '1000px 0px';

/** How high a row is, as far as blocks were seen. Pixels. */
const FIRST_GUESS_PX = 44;

/**
 * The rows of a long list, of which only those near the screen are rendered: in elements `as`, one a block. `rows` renders
 * some of them, the first of which has the index `from`; `gap` stands for a block of a height. The block with the row
 * `kept` is always there, and so is the one with the focus.
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
          // What has the focus stays, so that the keyboard is where it was.
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
