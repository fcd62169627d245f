import { OPERATOR } from '@purser/rules/domain/audit';
import type { Command } from 'commander';
import { resetSigningKeys } from '../../engine/commands/signing/revoke-signing-keys.ts';
import {
  listSkipped,
  type RebuiltFollower,
  rebuildFollower,
} from '../../engine/followers/rebuild-followers.ts';
import { confirmClock, listWorkspaces } from '../../engine/storage/workspaces.ts';
import type { Config } from '../config/config.ts';
import { backUpDataDirectory } from '../installation/back-up.ts';
import { type OpenedDatabase, StartError } from '../installation/open-database.ts';
import type { Core } from '../installation/runtime.ts';

/** How a command reaches the database, and where it writes. */
export interface OperatorCommandOptions {
  operate: (
    command: (core: Core, config: Config, database: OpenedDatabase) => Promise<void>,
  ) => Promise<void>;
  print: (text: string) => void;
}

const NAMES = {
  report: 'the shadow report',
  learning: 'the feedback',
  search: 'the search index',
  coverage: 'the coverage',
};

/** Adds the operator's commands that mend what an alert tells of: and `backup`. */
export function addOperatorCommands(program: Command, { operate, print }: OperatorCommandOptions): void {
  const tell = (json: boolean | undefined, rebuilt: readonly RebuiltFollower[]) => {
    if (json === true) print(JSON.stringify(rebuilt));
    else if (rebuilt.length === 0) print('No event was skipped.');
    else
      for (const { workspace_id, follower, skipped } of rebuilt)
        print(`${workspace_id}  ${NAMES[follower]} is being rebuilt; skipped events: ${skipped}`);
  };

  program
    .command('confirm-clock')
    .description("Confirm that the database's clock is right after a jump, so that writes continue at once.")
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) =>
      operate(async (core) => {
        const { clock_ms, newest_ms } = await confirmClock(core.db);
        const clock = new Date(clock_ms).toISOString();
        const newest = newest_ms === null ? null : new Date(newest_ms).toISOString();
        if (options.json === true) print(JSON.stringify({ clock, newest_event: newest }));
        else
          print(
            `The database's clock is confirmed: ${clock}. Time of the newest event: ${newest ?? 'none yet'}. Every node continues within 5 seconds.`,
          );
      }),
    );
  program
    .command('backup')
    .argument('<directory>', 'directory for backups; a new subdirectory is created in it')
    .description(
      'Back up the data directory of the embedded database and print the name of the copy. The service may be running.',
    )
    .action((directory: string) =>
      operate(async (_core, config, { address }) => {
        if ('url' in address)
          throw new StartError('DATABASE_URL is set: back that database up with deploy/backup/backup.sh.');
        print(await backUpDataDirectory(address, config.data_dir, directory, new Date()));
      }),
    );
  addSigningKeys(program, { operate, print });
  program
    .command('rebuild-report')
    .description('Rebuild the shadow report of every workspace, or of one, from the ledger.')
    .option('--workspace <id>', 'only this one')
    .option('--json', 'print JSON')
    .action((options: { workspace?: string; json?: boolean }) =>
      operate(async (core, _config, { address }) => {
        const all = (await listWorkspaces(core.db)).map((each) => each.workspace_id);
        const wanted =
          options.workspace === undefined ? all : all.filter((each) => each === options.workspace);
        if (options.workspace !== undefined && wanted.length === 0)
          throw new StartError(`--workspace: no workspace ${options.workspace}.`);
        const rebuilt: RebuiltFollower[] = [];
        for (const workspace_id of wanted)
          rebuilt.push(await rebuildFollower(address, workspace_id, 'report'));
        tell(options.json, rebuilt);
      }),
    );
  program
    .command('retry-skipped')
    .description('Rebuild all totals with skipped events, once the cause is fixed.')
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) =>
      operate(async (_core, _config, { address }) => {
        const rebuilt: RebuiltFollower[] = [];
        for (const { workspace_id, follower } of await listSkipped(address))
          rebuilt.push(await rebuildFollower(address, workspace_id, follower));
        tell(options.json, rebuilt);
      }),
    );
}

function addSigningKeys(program: Command, { operate, print }: OperatorCommandOptions): void {
  program
    .command('signing-keys')
    .description('Signing keys, with which people sign approvals.')
    .command('reset')
    .description(
      'Revoke all signing keys of a workspace, so that an administrator can enrol a new root. For lost keys: verifiers must pin the new root too.',
    )
    .requiredOption('--workspace <id>', 'its id')
    .option('--json', 'print JSON')
    .action((options: { workspace: string; json?: boolean }) =>
      operate(async (core) => {
        const { workspace } = options;
        if (!(await listWorkspaces(core.db)).some(({ workspace_id }) => workspace_id === workspace))
          throw new StartError(`--workspace: no workspace ${workspace}.`);
        const origin = { actor: OPERATOR, request_id: null, client_address: null };
        const revoked = await core.lane.submit(workspace, resetSigningKeys, {}, origin);
        if (options.json === true) print(JSON.stringify({ workspace_id: workspace, revoked }));
        else print(`${workspace}  signing keys revoked: ${revoked}. The next one is a new root.`);
      }),
    );
}
