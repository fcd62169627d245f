import { type Balance, type ConnectionHandle, makeBalance } from '../http/balance.ts';
import type { Metrics } from '../observability/metrics.ts';
import { type FromPrimary, isOurs, type ToPrimary } from './messages.ts';

/** The other processes of the service, as one of them reaches them: through the primary. */
export interface Siblings {
  /** True if this process makes the first workspace and the code for the first person; one of them does. */
  is_first: boolean;
  /** Spreads the connections to the service's port over the processes. */
  balance: Balance;
  /** Resolves once it is sent. */
  tell(message: ToPrimary): Promise<void>;
  /** Answers the primary's questions with what this process counts, and returns the text of all processes together. */
  share(metrics: Pick<Metrics, 'values'>): () => Promise<string>;
}

/** Makes it in a process that the primary has started. */
export function joinSiblings(is_first: boolean): Siblings {
  const tell = (message: ToPrimary) =>
    new Promise<void>((resolve) => process.send?.(message, undefined, undefined, () => resolve()));
  const passOn = (handle: ConnectionHandle) => {
    // A handle is closed here once it is with the primary, which has one of its own then.
    process.send?.({ purser: 'route' } satisfies ToPrimary, handle as never, undefined, () => handle.close());
  };
  const balance = makeBalance({ tell: (open) => void tell({ purser: 'open', open }), passOn });
  process.on('message', (message: unknown, handle: unknown) => {
    if (!isOurs<FromPrimary>(message)) return;
    if (message.purser === 'mean') balance.setMean(message.mean);
    if (message.purser === 'offer') void tell({ purser: 'ready', connection: message.connection });
    if (message.purser !== 'take') return;
    // Undefined: the client has closed it on the way.
    if (handle !== undefined) balance.take(handle as ConnectionHandle);
    void tell({ purser: 'taken', connection: message.connection });
  });
  return {
    is_first,
    balance,
    tell,
    share(metrics) {
      const waiting = new Map<number, (text: string) => void>();
      let scrapes = 0;
      process.on('message', (message: unknown) => {
        if (!isOurs<FromPrimary>(message)) return;
        if (message.purser === 'scraped') {
          waiting.get(message.id)?.(message.text);
          waiting.delete(message.id);
        } else if (message.purser === 'count') {
          const { id } = message;
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
