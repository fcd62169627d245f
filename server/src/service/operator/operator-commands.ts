import type { Command } from 'commander';
import { listSkipped, type Rebuilt, rebuildFollower } from '../../engine/followers/rebuild-followers.ts';
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

const NAMES = { report: 'the shadow report', learning: 'what is learnt' };

/** Adds the operator's commands that mend what an alert tells of: and `backup`. */
export function addOperatorCommands(program: Command, { operate, print }: OperatorCommandOptions): void {
  const tell = (json: boolean | undefined, rebuilt: readonly Rebuilt[]) => {
    if (json === true) print(JSON.stringify(rebuilt));
    else if (rebuilt.length === 0) print('No event was skipped.');
    else
      for (const { workspace_id, follower, skipped } of rebuilt)
        print(`${workspace_id}  ${NAMES[follower]} is added up again; events that were skipped: ${skipped}`);
  };

  program
    .command('confirm-clock')
    .description("Confirm that the database's clock is right after it jumped, so that writes go on at once.")
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) =>
      operate(async (core) => {
        const { clock_ms, newest_ms } = await confirmClock(core.db);
        const clock = new Date(clock_ms).toISOString();
        const newest = newest_ms === null ? null : new Date(newest_ms).toISOString();
        if (options.json === true) print(JSON.stringify({ clock, newest_event: newest }));
        else
          print(
            `The database's clock is confirmed: ${clock}. The newest event is of ${newest ?? 'no time yet'}. Every node goes on within 5 seconds.`,
          );
      }),
    );
  program
    .command('backup')
    .argument('<directory>', 'where backups are kept; a new directory is made in it')
    .description(
      'Copy the data directory of the embedded database, while the service runs or not, and print its name.',
    )
    .action((directory: string) =>
      operate(async (_core, config, { address }) => {
        if ('url' in address)
          throw new StartError('DATABASE_URL is set: back that database up with deploy/backup/backup.sh.');
        print(await backUpDataDirectory(address, config.data_dir, directory, new Date()));
      }),
    );
  program
    .command('rebuild-report')
    .description('Have the shadow report of every workspace, or of one, added up again from the history.')
    .option('--workspace <id>', 'only this one')
    .option('--json', 'print JSON')
    .action((options: { workspace?: string; json?: boolean }) =>
      operate(async (core, _config, { address }) => {
        const all = (await listWorkspaces(core.db)).map((each) => each.workspace_id);
        const wanted =
          options.workspace === undefined ? all : all.filter((each) => each === options.workspace);
        if (options.workspace !== undefined && wanted.length === 0)
          throw new StartError(`--workspace: there is no workspace ${options.workspace}.`);
        const rebuilt: Rebuilt[] = [];
        for (const workspace_id of wanted)
          rebuilt.push(await rebuildFollower(address, workspace_id, 'report'));
        tell(options.json, rebuilt);
      }),
    );
  program
    .command('retry-skipped')
    .description('Have everything added up again where events were skipped, once the cause is gone.')
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) =>
      operate(async (_core, _config, { address }) => {
        const rebuilt: Rebuilt[] = [];
        for (const { workspace_id, follower } of await listSkipped(address))
          rebuilt.push(await rebuildFollower(address, workspace_id, follower));
        tell(options.json, rebuilt);
      }),
    );
}
