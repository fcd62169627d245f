import type { Metrics } from '../metrics.ts';
import { type FromPrimary, isOurs, type ToPrimary } from './messages.ts';

/** The other processes of the service, as one of them reaches them: through the primary. */
export interface Siblings {
  /** Whether this process makes the first workspace and the code for the first person; one of them does. */
  is_first: boolean;
  /** Resolves once it is sent. */
  tell(message: ToPrimary): Promise<void>;
  /** Answers the primary's questions with what this process counts, and returns the text of all processes together. */
  share(metrics: Pick<Metrics, 'values'>): () => Promise<string>;
}

/** Makes it in a process that the primary has started. */
export function joinSiblings(is_first: boolean): Siblings {
  const tell = (message: ToPrimary) =>
    new Promise<void>((resolve) => process.send?.(message, undefined, undefined, () => resolve()));
  return {
    is_first,
    tell,
    share(metrics) {
      const waiting = new Map<number, (text: string) => void>();
      let scrapes = 0;
      process.on('message', (message: unknown) => {
        if (!isOurs<FromPrimary>(message)) return;
        const { id } = message;
        if (message.purser === 'scraped') {
          waiting.get(id)?.(message.text);
          waiting.delete(id);
        } else {
          void metrics.values().then((counted) => tell({ purser: 'counted', id, metrics: counted }));
        }
      });
      return () =>
        new Promise((resolve) => {
          scrapes += 1;
          waiting.set(scrapes, resolve);
          void tell({ purser: 'scrape', id: scrapes });
        });
    },
  };
}
