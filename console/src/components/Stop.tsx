import type { Workspace } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { purser } from '../api/client.ts';
import { invalidate } from '../api/live.ts';
import { queryClient, useMay, WHY_NOT, workspaceQuery } from '../api/queries.ts';
import { useStopImpact } from '../api/stop-impact.ts';
import { useForm } from '../lib/hooks/use-form.ts';
import { Author } from './Author.tsx';
import { Button } from './Button.tsx';
import { Actions, Dialog } from './Dialog.tsx';
import { AreaField } from './Field.tsx';
import { ErrorNotice } from './Notice.tsx';
import styles from './Stop.module.css';
import { Time } from './Value.tsx';

const Resume = lazy(() => import('./shell/Resume.tsx'));

const MAX_REASON = 2_000;

/** Shows the workspace that the service returned on every screen at once. */
function show(workspace: Workspace): void {
  queryClient.setQueryData(workspaceQuery.queryKey, workspace);
  void invalidate('audit');
}

/** Banner on every screen while all agents are stopped: by whom, when, why, and how to resume. */
export function StopBanner() {
  const stopped = useQuery(workspaceQuery).data?.stopped;
  const may = useMay('admin');
  const [is_resuming, setResuming] = useState(false);
  if (stopped == null) return null;
  return (
    <section className={styles.banner} aria-label="All agents are stopped">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <div tabIndex={0} role="status">
        <strong>All agents are stopped.</strong> By <Author {...stopped.by} />, <Time at={stopped.at} />:{' '}
        <q>{stopped.reason}</q>
      </div>
      <Button why={!may && WHY_NOT.admin} onClick={() => setResuming(true)}>
        Resume all agents
      </Button>
      {is_resuming && (
        <Suspense fallback={null}>
          <Resume reason={stopped.reason} onResumed={show} onClose={() => setResuming(false)} />
        </Suspense>
      )}
    </section>
  );
}

/** Opens the dialog of the emergency stop. Hidden while all agents are stopped: the banner takes over. */
export function StopButton() {
  const workspace = useQuery(workspaceQuery).data;
  const may = useMay('review');
  const [is_asking, setAsking] = useState(false);
  if (workspace === undefined || workspace.stopped !== null) return null;
  return (
    <>
      <Button
        kind="danger-primary"
        why={!may && 'Your role cannot stop agents.'}
        onClick={() => setAsking(true)}
      >
        Stop all agents
      </Button>
      {is_asking && <StopDialog onClose={() => setAsking(false)} />}
    </>
  );
}

/** Asks for the reason of the emergency stop. The service refuses a person without the scope. */
export function StopDialog({ onClose }: { onClose: () => void }) {
  const may_resume = useMay('admin');
  const under_way = useStopImpact();
  const form = useForm(
    { reason: '' },
    async ({ reason }) => {
      show(await purser.workspace.stop({ reason: reason.trim() }));
      onClose();
    },
    {
      check: ({ reason }): { reason?: string } =>
        reason.trim() === '' ? { reason: 'must say why: refused callers see it' } : {},
    },
  );
  return (
    <Dialog title="Stop all agents?" onClose={onClose}>
      <form onSubmit={form.onSubmit} noValidate className={styles.dialog}>
        <ul className={styles.effects}>
          <li>Every request of every agent is refused at once, in Shadow and in Enforce mode.</li>
          <li>Capabilities stop working, so no payment goes through. {under_way}</li>
          <li>
            Reviews, labels, outcomes and all reading continue. A stop does not bring back money that a
            payment rail has already moved.
          </li>
        </ul>
        <p>
          {may_resume
            ? 'Agents stay stopped until you or another administrator resumes them.'
            : 'Agents stay stopped until an administrator resumes them. You cannot undo this yourself.'}
        </p>
        {form.error !== null && <ErrorNotice error={form.error} />}
        <AreaField
          label="Reason"
          required
          rows={2}
          maxLength={MAX_REASON}
          hint="Shown to agents and reviewers, and recorded in the audit."
          {...form.field('reason')}
        />
        <Actions recorded>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger-primary" type="submit" busy={form.busy}>
            Stop all agents
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}

/** The emergency stop as a row in Settings. */
export function StopRow() {
  const stopped = useQuery(workspaceQuery).data?.stopped;
  return (
    <div className={styles.row}>
      <p>
        {stopped == null
          ? 'Stops every agent in this workspace at once, for emergencies when you don’t know which agent is at fault.'
          : 'All agents are stopped. The banner above shows why and lets an administrator resume them.'}
      </p>
      <StopButton />
    </div>
  );
}
