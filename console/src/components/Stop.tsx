import type { Workspace } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { purser } from '../api/client.ts';
import { makeOld } from '../api/live.ts';
import { queryClient, useMay, WHY_NOT, workspaceQuery } from '../api/queries.ts';
import { useUnderWay } from '../api/under-way.ts';
import { useForm } from '../lib/hooks/use-form.ts';
import { Button } from './Button.tsx';
import { Confirm } from './Confirm.tsx';
import { Actions, Dialog } from './Dialog.tsx';
import { AreaField } from './Field.tsx';
import { ErrorNotice } from './Notice.tsx';
import styles from './Stop.module.css';
import { Time } from './Value.tsx';
import { Who } from './Who.tsx';

const MAX_REASON = 2_000;

/** The workspace as the service answered: every screen shows it at once. */
function show(workspace: Workspace): void {
  queryClient.setQueryData(workspaceQuery.queryKey, workspace);
  void makeOld('audit');
}

/** Above every screen while all agents are stopped: who stopped them, when and why, and the way back. */
export function StopBanner() {
  const stopped = useQuery(workspaceQuery).data?.stopped;
  const may = useMay('admin');
  const [is_resuming, setResuming] = useState(false);
  if (stopped == null) return null;
  return (
    <section className={styles.banner} aria-label="All agents are stopped">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <div tabIndex={0} role="status">
        <strong>All agents are stopped.</strong> By <Who {...stopped.by} />, <Time at={stopped.at} />:{' '}
        <q>{stopped.reason}</q>
      </div>
      <Button why={!may && WHY_NOT.admin} onClick={() => setResuming(true)}>
        Resume all agents
      </Button>
      {is_resuming && (
        <Confirm
          title="Let all agents spend again?"
          action="Resume all agents"
          danger={false}
          work={async () => show(await purser.workspace.resume())}
          onClose={() => setResuming(false)}
        >
          <p>
            They may ask again from the next request on, and capabilities that have not run out can be used
            again. Agents that were paused or revoked stay so.
          </p>
          <p>They were stopped for this reason, which should be gone:</p>
          <p>
            <q>{stopped.reason}</q>
          </p>
        </Confirm>
      )}
    </section>
  );
}

/** The red button. Not there while all agents are stopped: the banner then says what can be done. */
export function StopButton() {
  const workspace = useQuery(workspaceQuery).data;
  const may = useMay('review');
  const [is_asking, setAsking] = useState(false);
  if (workspace === undefined || workspace.stopped !== null) return null;
  return (
    <>
      <Button
        kind="danger-primary"
        why={!may && 'Your role lets you look, not stop agents.'}
        onClick={() => setAsking(true)}
      >
        Stop all agents
      </Button>
      {is_asking && <StopDialog onClose={() => setAsking(false)} />}
    </>
  );
}

function StopDialog({ onClose }: { onClose: () => void }) {
  const may_resume = useMay('admin');
  const under_way = useUnderWay();
  const form = useForm(
    { reason: '' },
    async ({ reason }) => {
      show(await purser.workspace.stop({ reason: reason.trim() }));
      onClose();
    },
    {
      check: ({ reason }): { reason?: string } =>
        reason.trim() === '' ? { reason: 'Say why: whoever is refused meanwhile is told.' } : {},
    },
  );
  return (
    <Dialog title="Stop all agents?" onClose={onClose}>
      <form onSubmit={form.onSubmit} noValidate className={styles.dialog}>
        <ul className={styles.effects}>
          <li>Every request of every agent is refused from now on, in SHADOW and in ENFORCE.</li>
          <li>Capabilities cannot be used: what is not paid yet is not paid. {under_way}</li>
          <li>
            Reviews, labels, outcomes and everything that is only read go on. Money that a payment rail has
            moved already comes back by no stop.
          </li>
        </ul>
        <p>
          {may_resume
            ? 'It holds until you or another administrator resume.'
            : 'It holds until an administrator resumes: you cannot take it back yourself.'}
        </p>
        {form.error !== null && <ErrorNotice error={form.error} />}
        <AreaField
          label="Reason"
          required
          rows={2}
          maxLength={MAX_REASON}
          hint="Agents, reviewers and the audit are told."
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

/** What the stop is, where people look for settings. */
export function StopRow() {
  const stopped = useQuery(workspaceQuery).data?.stopped;
  return (
    <div className={styles.row}>
      <p>
        {stopped == null
          ? 'When something is wrong and there is no time to find out which agent it is: every agent of this workspace is stopped at once.'
          : 'All agents are stopped. The bar above this screen says why, and ends it.'}
      </p>
      <StopButton />
    </div>
  );
}
