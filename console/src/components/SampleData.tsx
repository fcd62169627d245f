import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { purser } from '../api/client.ts';
import { useMay, WHY_NOT, workspaceQuery } from '../api/queries.ts';
import { useAction } from '../lib/hooks/use-action.ts';
import { Button } from './Button.tsx';
import { ErrorNotice } from './Notice.tsx';
import styles from './SampleData.module.css';

const RemoveSample = lazy(() => import('./shell/RemoveSample.tsx'));

/** Everything on the page belongs to another workspace, so it is loaded again. */
const startAgain = () => location.assign('/console/');

/** Creates the person's workspace of sample data, or finds it, and opens it. */
export function ExploreButton() {
  const may = useMay('admin');
  const exploring = useAction(async () => {
    const { workspace_id } = await purser.workspace.createSample();
    await purser.me.switchWorkspace({ workspace_id });
    startAgain();
  });
  return (
    <>
      <Button why={!may && WHY_NOT.admin} busy={exploring.busy} onClick={() => void exploring.run()}>
        {exploring.busy ? 'Deciding a month of requests…' : 'Explore with sample data'}
      </Button>
      {exploring.error !== null && (
        <ErrorNotice error={exploring.error} title="The sample data could not be created." />
      )}
    </>
  );
}

/** Banner on every screen of a workspace of sample data: what it is, and how to remove it. */
export function SampleBanner() {
  const is_sample = useQuery(workspaceQuery).data?.sample === true;
  const may = useMay('admin');
  const [is_removing, setRemoving] = useState(false);
  if (!is_sample) return null;
  return (
    <section className={styles.sample} aria-label="Sample data">
      <p>
        <strong>Sample data.</strong> These agents, requests and people are invented; Purser decided every
        request.
      </p>
      <Button small why={!may && WHY_NOT.admin} onClick={() => setRemoving(true)}>
        Remove sample data
      </Button>
      {is_removing && (
        <Suspense fallback={null}>
          <RemoveSample onRemoved={startAgain} onClose={() => setRemoving(false)} />
        </Suspense>
      )}
    </section>
  );
}
