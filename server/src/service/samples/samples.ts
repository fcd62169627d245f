import { SYSTEM } from '@purser/rules/domain/audit';
import type { Plan } from '@purser/rules/domain/workspace';
import { ApiError } from '@purser/rules/errors';
import type { Logger } from 'pino';
import { engineOf } from '../../engine/citus/engine.ts';
import { expireReservations } from '../../engine/commands/expire-reservations.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import {
  endSampleClock,
  listSamples,
  listUnfinishedSamples,
  NotASample,
  removeSampleRows,
  setSampleClock,
} from '../../engine/samples/sample-clocks.ts';
import { type DatabaseAddress, exclusively, type Queryable } from '../../engine/storage/database.ts';
import { loadWorkspace, readClock } from '../../engine/storage/workspaces.ts';
import { addWorkspace, type Core, newId } from '../installation/runtime.ts';
import { joinSample } from '../people/join-sample.ts';
import { type CallSample, writeMonth } from './write-month.ts';

/** Opens the service by the clock of one sample. */
export type OpenSample = (workspace_id: string) => {
  core: Pick<Core, 'lane' | 'secrets'>;
  call: CallSample;
  close(): Promise<void>;
};

/** A sample that was created. */
export interface MadeSample {
  workspace_id: string;
  /** The value of its first admin key; null if the sample was there already. */
  admin_key: string | null;
}

/** Creates and removes workspaces of invented data. */
export interface Samples {
  /**
   * Returns the sample of a person, or with null that of the operator, and writes it if there is none yet. It is complete
   * and the person an administrator of it when this resolves. One is written at a time, on all nodes together. Throws
   * `no_samples_on_citus` where a new one would be written there: its clock is that of a session, which does not reach the
   * sessions on the workers.
   */
  create(user_id: string | null, plan: Plan): Promise<MadeSample>;
  /** Removes a sample as a whole. Throws `not_a_sample` for any other workspace. */
  remove(workspace_id: string): Promise<void>;
}

const none = async () => {
  throw new ApiError('unavailable', 'No samples can be made here.', { reason: 'not_ready' });
};
/** For a service within a sample, which makes no samples. */
export const NO_SAMPLES: Samples = { create: none, remove: none };

export const SAMPLE_NAME = 'Sample data';
const NOT_A_SAMPLE = 'Only a workspace of sample data can be removed, and this is none.';
const NO_SAMPLES_ON_CITUS =
  'The database is distributed with Citus, where no sample data can be made: make it on an installation with plain PostgreSQL.';
/** The advisory lock under which samples are written, one after the other. */
const SAMPLE_LOCK = 7_291_664_303;
/** A sample begins four weeks ago. */
const FIRST_MS = 28 * 86_400_000;
const MAX_AGENTS: Record<Plan, number> = { free: 3, team: 10, enterprise: 10 };

export interface SamplesOptions {
  db: Queryable;
  lane: Pick<Lane, 'submit'>;
  /** For the role that owns the tables, which alone may remove history. */
  address: DatabaseAddress;
  open: OpenSample;
  log: Logger;
}

const origin = { actor: SYSTEM, request_id: null, client_address: null };

/** Makes the samples of an installation. */
export function makeSamples(options: SamplesOptions): Samples {
  const { db, address, open, log } = options;

  const removeUnfinished = async () => {
    for (const workspace_id of await listUnfinishedSamples(db)) {
      log.warn({ workspace_id }, 'a sample that was never finished is removed');
      const is_begun = (await loadWorkspace(db, workspace_id)) !== undefined;
      if (is_begun) await removeSampleRows(address, workspace_id);
      else await endSampleClock(db, workspace_id);
    }
  };

  const write = async (plan: Plan): Promise<MadeSample> => {
    const workspace_id = newId('workspace');
    const end_ms = await readClock(db);
    const setClock = (at_ms: number) => setSampleClock(db, workspace_id, Math.floor(at_ms));
    await setClock(end_ms - FIRST_MS);
    const sample = open(workspace_id);
    try {
      const by = { name: SAMPLE_NAME, plan, trial_days: null, by: 'system' as const, sample: workspace_id };
      const { admin_key } = await addWorkspace(sample.core, by);
      await writeMonth({
        call: sample.call,
        admin_key,
        setClock,
        end_ms,
        expire: async (agent_id) => {
          await sample.core.lane.submit(workspace_id, expireReservations, { agent_ids: [agent_id] }, origin);
        },
        may_enforce: plan !== 'free',
        max_agents: MAX_AGENTS[plan],
      });
      return { workspace_id, admin_key };
    } finally {
      await sample.close();
    }
  };

  return {
    create: (user_id, plan) =>
      exclusively(address, SAMPLE_LOCK, async () => {
        // Nobody else writes one meanwhile.
        await removeUnfinished();
        const samples = await listSamples(db);
        const own = samples.find(({ user_ids }) =>
          user_id === null ? user_ids.length === 0 : user_ids.includes(user_id),
        );
        if (own !== undefined) return { workspace_id: own.workspace_id, admin_key: null };
        if (engineOf(db) === 'citus') throw new ApiError('no_samples_on_citus', NO_SAMPLES_ON_CITUS);
        const made = await write(plan);
        await endSampleClock(db, made.workspace_id);
        if (user_id !== null) await joinSample(options, made.workspace_id, user_id);
        return made;
      }),
    async remove(workspace_id) {
      await removeSampleRows(address, workspace_id).catch((error: unknown) => {
        if (error instanceof NotASample) throw new ApiError('not_a_sample', NOT_A_SAMPLE, { cause: error });
        throw error;
      });
    },
  };
}
