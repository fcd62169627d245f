import type { Decision } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { queryClient } from '../../api/queries.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Loading } from '../../components/Page.tsx';
import type { Row } from '../../lib/reviews/rows.ts';
import { BulkDialog, type Verdict } from './BulkDialog.tsx';

/** Requests that are loaded at a time. */
const AT_ONCE = 6;

/** Loads the decisions of these rows, in their order. A review is about the whole decision, not about its row. */
async function loadDecisions(ids: readonly string[]): Promise<Decision[]> {
  const found: Decision[] = [];
  for (let i = 0; i < ids.length; i += AT_ONCE) {
    const some = ids.slice(i, i + AT_ONCE).map((id) =>
      queryClient.fetchQuery({
        queryKey: ['decision', id],
        queryFn: async () => purser.decisions.retrieve(id),
      }),
    );
    found.push(...(await Promise.all(some)));
  }
  return found;
}

/** The bulk review of these rows: loads what each request says, then asks. */
export function Bulk({
  rows,
  review_action,
  comment,
  setComment,
  question_id,
  onClose,
}: {
  rows: readonly Row[];
  review_action: Verdict;
  comment: string;
  setComment: (comment: string) => void;
  /** The question that all of them ask; undefined if they were selected. */
  question_id: string | undefined;
  onClose: (reviewed: ReadonlySet<string> | null) => void;
}) {
  // The selection when the dialog opened. The list keeps changing while its reviews are recorded.
  const [ids] = useState(() => rows.map(({ decision_id }) => decision_id));
  const query = useQuery({
    queryKey: ['bulk', review_action, ...ids],
    queryFn: async () => loadDecisions(ids),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (query.data === undefined) {
    return (
      <Dialog title="Review together" onClose={() => onClose(null)}>
        {query.isError ? (
          <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <Loading lines={4} />
        )}
      </Dialog>
    );
  }
  const question = query.data
    .flatMap(({ purpose }) => purpose.questions ?? [])
    .find((each) => each.question_id === question_id);
  return (
    <BulkDialog
      decisions={query.data}
      review_action={review_action}
      comment={comment}
      setComment={setComment}
      question={question}
      onClose={onClose}
    />
  );
}
