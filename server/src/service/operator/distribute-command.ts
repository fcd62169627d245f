import type { Command } from 'commander';
import { type Distributed, DistributeError, distribute } from '../../engine/distribution/distribute.ts';
import { type Config, readConfig } from '../config/config.ts';
import { StartError } from '../installation/open-database.ts';

const MOST_SHARDS = 256;

function shardsIn(text: string): number {
  const shards = Number(text);
  if (!/^\d{1,3}$/.test(text) || shards < 1 || shards > MOST_SHARDS)
    throw new StartError(`distribute: --shards must be from 1 to ${MOST_SHARDS}`);
  return shards;
}

function addressOf({ database_url }: Config): { url: string } {
  if (database_url === null)
    throw new StartError('distribute: the embedded database cannot be distributed; use DATABASE_URL');
  return { url: database_url };
}

function lineOf({ already, nodes, shards, tables }: Distributed, dry_run: boolean): string {
  if (already) return 'Already distributed.';
  const size = `${tables} tables over ${nodes.length} nodes in ${shards} shards`;
  return dry_run ? `Can be distributed: ${size}. Nothing was changed.` : `Distributed: ${size}.`;
}

/** Adds the operator's command that spreads an installation over the nodes of Citus. */
export function addDistributeCommand(program: Command, print: (text: string) => void): void {
  program
    .command('distribute')
    .description('Spread the workspaces over the worker nodes of Citus. The service may be running.')
    .option('--shards <n>', `how many parts, 1 to ${MOST_SHARDS}; a workspace lies in one of them`, '32')
    .option('--dry-run', 'check everything and change nothing')
    .option('--json', 'print JSON')
    .action(async (options: { shards: string; dryRun?: boolean; json?: boolean }) => {
      const shards = shardsIn(options.shards);
      const address = addressOf(readConfig(process.env));
      const dry_run = options.dryRun === true;
      try {
        const found = await distribute(address, { shards, dry_run });
        print(options.json === true ? JSON.stringify(found) : lineOf(found, dry_run));
      } catch (error) {
        if (error instanceof DistributeError) throw new StartError(`distribute: ${error.message}`);
        throw error;
      }
    });
}
