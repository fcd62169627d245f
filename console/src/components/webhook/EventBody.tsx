import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { codeOfError, purser } from '../../api/client.ts';
import { useMay } from '../../api/queries.ts';
import { ErrorNotice } from '../Notice.tsx';
import { Card, Loading, Tabs } from '../Page.tsx';
import { CodeBlock } from '../Value.tsx';

/** The delivered bytes of an event. They never change, so they are fetched once. */
export function useEventBody(id: string | undefined) {
  const may = useMay('admin');
  return useQuery({
    queryKey: ['webhooks', 'event', id],
    queryFn: async () => (await purser.events.retrieve(id as string).asResponse()).text(),
    enabled: may && id !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The body of an event, formatted or byte for byte. */
export function EventBody({ id }: { id: string }) {
  const query = useEventBody(id);
  const [is_raw, setRaw] = useState(false);
  const is_gone = codeOfError(query.error) === 'not_found';
  return (
    <Card title="Body">
      {is_gone && <p>This event is no longer stored.</p>}
      {query.isError && !is_gone && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Loading lines={6} />}
      {query.data !== undefined && (
        <>
          <Tabs label="Format">
            <button type="button" aria-pressed={!is_raw} onClick={() => setRaw(false)}>
              Formatted
            </button>
            <button type="button" aria-pressed={is_raw} onClick={() => setRaw(true)}>
              As sent
            </button>
          </Tabs>
          <CodeBlock
            label="the body"
            code={is_raw ? query.data : JSON.stringify(JSON.parse(query.data), null, 2)}
          />
        </>
      )}
    </Card>
  );
}
