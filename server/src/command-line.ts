import { setFlagsFromString } from 'node:v8';
import { PLANS } from '@purser/contract/values/workspace';
import { OPERATOR } from '@purser/rules/domain/audit';
import { noteVerifierKey, publicJwk, publicPem } from '@purser/rules/domain/checkpoints';
import { shownHash } from '@purser/rules/domain/ledger';
import type { Plan } from '@purser/rules/domain/workspace';
import { HISTORY_NAMES as names } from '@purser/rules/purpose/history';
import { normaliseText, TEXT_RULES } from '@purser/rules/values/text';
import { Command, InvalidArgumentError, Option } from 'commander';
import { setPlan } from './engine/commands/set-plan.ts';
import { listPlaces } from './engine/distribution/places.ts';
import { listSamples } from './engine/samples/sample-clocks.ts';
import { listWorkspaces } from './engine/storage/workspaces.ts';
import { listFiledWorkspaces } from './engine/verification/checkpoint-files.ts';
import { listCheckpointedWorkspaces } from './engine/verification/checkpoint-rows.ts';
import { saveVerification, verificationBody } from './engine/verification/last-verification.ts';
import {
  approvalLines,
  findPublicKeys,
  verdictBody,
  verdictLines,
  verifyLedgerFile,
} from './engine/verification/ledger-file.ts';
import { verifyLedger } from './engine/verification/verify-ledger.ts';
import { ONE_PROCESS, serve, serveAsOne } from './serve.ts';
import { type Config, readConfig } from './service/config/config.ts';
import { transportWarnings } from './service/config/transport-warnings.ts';
import { loadSecretKey } from './service/installation/data-directory.ts';
import {
  checkServer,
  type OpenedDatabase,
  openDatabase,
  StartError,
} from './service/installation/open-database.ts';
import { rotateSecrets, rotationLines } from './service/installation/rotate-secrets.ts';
import { addWorkspace, type Core, makeCore } from './service/installation/runtime.ts';
import { deriveSecrets } from './service/installation/secrets.ts';
import { openMailer } from './service/mail/open-mailer.ts';
import { addDistributeCommand } from './service/operator/distribute-command.ts';
import { addOperatorCommands } from './service/operator/operator-commands.ts';
import { onEnd } from './service/operator/process-end.ts';
import { fail, startLog } from './service/operator/program.ts';
import { addUserCommands } from './service/operator/user-commands.ts';
import { makeSite } from './service/people/site.ts';
import { VERSION } from './version.ts';

// The heap may grow by half of what lives before old garbage is collected; left to itself V8 lets it triple on a
// machine with much memory. Measured over 100,000 decisions of 64 clients, the most resident memory and the service's
// processor time a decision: 202 MB and 0.24 ms with 60 %, 190 MB and 0.25 ms with 50 %, 186 MB and 0.26 ms with 40 %.
setFlagsFromString('--heap-growing-percent=50');
// Young memory is collected by one thread: V8 would share a millisecond's work among five, whose waiting for each other
// costs more than they save. Measured in three runs with 64 clients: 0.95 to 0.98 of the processor time a decision.
setFlagsFromString('--no-parallel-scavenge');

async function work(): Promise<void> {
  const config = readConfig(process.env);
  const { log, end } = startLog(config.log_level, process.stdout);
  const { startWorkers } = await import('./service/workers/start-workers.ts');
  const database = await openDatabase(config, { as: 'command', log });
  const core = makeCore(database, log);
  await core.readClock();
  const mailer = openMailer(core, config);
  const site = makeSite({ public_url: config.public_url, installation: core.secrets.secret_id });
  site.listensOn(config.port);
  const workers = startWorkers(core, config, null, { mailer, site });
  onEnd(log, fail, async () => {
    await Promise.all([workers.stop(), mailer?.stop()]);
    await core.close();
    await database.close();
    await end();
  });
  // Nothing else keeps the process alive between two rounds of the workers.
  setInterval(() => {}, 60_000);
  for (const warning of transportWarnings(config)) log.warn(warning);
  log.info({ version: VERSION }, 'working');
}

/** Runs one command of the operator on the database and ends the process. */
async function operate(
  command: (core: Core, config: Config, database: OpenedDatabase) => Promise<void>,
): Promise<void> {
  const config = readConfig(process.env);
  // Nothing but the command's own output is written to stdout.
  const { log, end } = startLog(config.log_level === 'info' ? 'error' : config.log_level, process.stderr);
  const database: OpenedDatabase = await openDatabase(config, { as: 'command', log });
  const core = makeCore(database, log);
  try {
    await core.readClock();
    await command(core, config, database);
  } finally {
    await core.close();
    await database.close();
    await end();
  }
}

const print = (text: string) => process.stdout.write(`${text}\n`);

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > 3_650)
    throw new InvalidArgumentError('must be from 1 to 3650.');
  return value;
}

function workspaceName(text: string): string {
  const name = normaliseText(text, TEXT_RULES.name);
  if (!name.ok) throw new InvalidArgumentError(`${name.problem}.`);
  return name.text;
}

/** Reads the fingerprints of signing keys. */
function fingerprints(text: string): string[] {
  const all = text.split(',').map((each) => each.trim());
  if (!all.every((each) => /^SHA256:[A-Za-z0-9+/]{43}=?$/.test(each)))
    throw new InvalidArgumentError('must be fingerprints, such as SHA256:jCzJ…=, separated by commas.');
  return all;
}

const program = new Command('purser-server')
  .description('Decides whether a software agent may make a spend.')
  .version(VERSION)
  .addHelpText('after', '\nSettings come from the environment; see docs/reference/configuration.md.');

program
  .command('serve')
  .description('Run the service: API and workers.')
  .option('--sample', 'also create a workspace of sample data, if there is none')
  .action(serve);
program
  .command(`${ONE_PROCESS} <place>`, { hidden: true })
  .option('--first')
  .action((place: string, options: { first?: true }) => serveAsOne(place, options.first === true));
program.command('work').description('Run only the workers, next to a running service.').action(work);
program
  .command('migrate')
  .description('Migrate the database schema.')
  .action(async () => {
    const config = readConfig(process.env);
    const { log } = startLog('error', process.stderr);
    const { migrate } = await import('./engine/migration/migrate.ts');
    if (config.database_url === null) {
      const database = await openDatabase(config, { as: 'command', log });
      await database.close();
      print('The schema is up to date.');
      return;
    }
    await checkServer({ url: config.database_url }, config);
    const secrets = deriveSecrets(config.secret_key as Buffer, { old: config.secret_keys_old });
    const { applied } = await migrate({ url: config.database_url }, secrets.installationChecks);
    print(applied.length === 0 ? 'The schema is up to date.' : `Applied: ${applied.join(', ')}`);
  });

addDistributeCommand(program, print);

program
  .command('rotate-secrets')
  .description(
    'Make SECRET_KEY the key of this installation, re-wrap existing secrets, and print what still depends on old keys.',
  )
  .option('--json', 'print JSON')
  .action(async (options: { json?: boolean }) => {
    await operate(async (core, config, database) => {
      const rotation = await rotateSecrets(core, database.address, config);
      if (options.json === true) print(JSON.stringify(rotation));
      else for (const line of rotationLines(rotation)) print(line);
    });
  });

const planOption = (flags: string) => new Option(flags, 'its plan').choices(PLANS).makeOptionMandatory();

const workspace = program.command('workspace').description('Create workspaces and set their plans.');
workspace
  .command('create')
  .description('Create a workspace and its first admin key, which is shown once.')
  .requiredOption('--name <name>', 'its name', workspaceName)
  .addOption(planOption('--plan <plan>'))
  .option('--trial-days <days>', 'give it a trial of the Team plan', wholeNumber)
  .option('--json', 'print JSON')
  .action(async (options: { name: string; plan: Plan; trialDays?: number; json?: boolean }) => {
    const trial_days = options.trialDays ?? null;
    if (trial_days !== null && options.plan !== 'free') {
      throw new StartError('--trial-days: only a free workspace can have a trial.');
    }
    await operate(async (core) => {
      const made = await addWorkspace(core, {
        name: options.name,
        plan: options.plan,
        trial_days,
        by: 'operator',
      });
      print(
        options.json === true
          ? JSON.stringify(made)
          : `Workspace  ${made.workspace_id}\nAdmin key  ${made.admin_key}\n           shown only once: keep it safe`,
      );
    });
  });
workspace
  .command('set-plan')
  .description('Set the plan of a workspace.')
  .requiredOption('--workspace <id>', 'its id')
  .addOption(planOption('--plan <plan>'))
  .option('--json', 'print JSON')
  .action(async (options: { workspace: string; plan: Plan; json?: boolean }) => {
    await operate(async (core) => {
      const origin = { actor: OPERATOR, request_id: null, client_address: null };
      const changed = await core.lane.submit(options.workspace, setPlan, { plan: options.plan }, origin);
      const { workspace_id, plan } = changed;
      print(
        options.json === true
          ? JSON.stringify({ workspace_id, plan })
          : `${workspace_id} is on the ${plan} plan.`,
      );
    });
  });
workspace
  .command('list')
  .description('List the workspaces.')
  .option('--json', 'print JSON')
  .action(async (options: { json?: boolean }) => {
    await operate(async (core) => {
      const workspaces = await listWorkspaces(core.db);
      const nodes = core.engine.kind === 'citus' ? await listPlaces(core.db) : new Map<string, string>();
      const placed = workspaces.map((each) => ({ ...each, node: nodes.get(each.workspace_id) ?? null }));
      if (options.json === true) print(JSON.stringify(placed));
      else
        for (const each of workspaces) print(`${each.workspace_id}  ${each.plan.padEnd(10)}  ${each.name}`);
    });
  });

const sample = program.command('sample').description('Create and remove workspaces of sample data.');
sample
  .command('create')
  .description(
    'Create a workspace with a month of invented decisions. Its administrator is the only person of the installation, or the first one to come.',
  )
  .option('--json', 'print JSON')
  .action((options: { json?: boolean }) =>
    operate(async (core, config, database) => {
      const { createOperatorSample } = await import('./sample-server.ts');
      const made = await createOperatorSample(core, config, database);
      if (options.json === true) print(JSON.stringify(made));
      else if (made.admin_key === null)
        print(`Workspace  ${made.workspace_id}\n           was there already`);
      else
        print(
          `Workspace  ${made.workspace_id}\nAdmin key  ${made.admin_key}\n           shown only once: keep it safe`,
        );
    }),
  );
sample
  .command('remove')
  .description('Remove all workspaces of sample data, or one of them. No other workspace can be removed.')
  .option('--workspace <id>', 'its id')
  .option('--json', 'print JSON')
  .action((options: { workspace?: string; json?: boolean }) =>
    operate(async (core, config, database) => {
      const { samplesOf } = await import('./sample-server.ts');
      const samples = samplesOf(core, config, database);
      const ids =
        options.workspace === undefined
          ? (await listSamples(core.db)).map(({ workspace_id }) => workspace_id)
          : [options.workspace];
      for (const id of ids) await samples.remove(id);
      if (options.json === true) print(JSON.stringify({ removed: ids }));
      else print(ids.length === 0 ? 'There is no sample.' : `Removed: ${ids.join(', ')}`);
    }),
  );

addUserCommands(program, { operate, print });
addOperatorCommands(program, { operate, print });

const ledger = program.command('ledger').description('Verify the ledger and its checkpoints.');
ledger
  .command('verify-file')
  .argument('<file>', 'an export of GET /v1/ledger/export; - for standard input')
  .description(
    'Verify an exported ledger without the service or a database; exits 1 if it was altered, 2 if that cannot be determined.',
  )
  .requiredOption(
    '--public-key <key>',
    'the key that signed its checkpoints: a JWK, a JWK set, PEM, base64, or a file with one of these',
  )
  .option(
    '--signer-root <fingerprints>',
    'the root signing keys that you trust, separated by commas',
    fingerprints,
  )
  .option('--json', 'print JSON')
  .action(async (file: string, options: { publicKey: string; signerRoot?: string[]; json?: boolean }) => {
    const verdict = await findPublicKeys(options.publicKey)
      .then((keys) => verifyLedgerFile(file, keys, options.signerRoot ?? null))
      .catch((error: Error) => {
        process.stderr.write(
          `purser: ${error instanceof TypeError ? '--public-key: ' : ''}${error.message}\n`,
        );
        process.exit(2);
      });
    if (!verdict.valid) process.exitCode = 1;
    if (options.json === true) print(JSON.stringify(verdictBody(verdict)));
    else for (const line of verdictLines(verdict)) print(line);
  });
ledger
  .command('public-key')
  .description("Print the public key that signs the ledger's checkpoints.")
  .addOption(
    new Option('--format <format>', 'output format').choices(['jwk', 'pem', 'base64', 'note']).default('jwk'),
  )
  .option('--workspace <id>', 'workspace of the ledger, for --format note')
  .action(async (options: { format: string; workspace?: string }) => {
    const config = readConfig(process.env);
    const key = deriveSecrets(config.secret_key ?? (await loadSecretKey(config.data_dir))).checkpointKey;
    if (options.format === 'pem') print(publicPem(key).trimEnd());
    else if (options.format === 'base64') print(key.public_key.toString('base64'));
    else if (options.format === 'jwk') print(JSON.stringify(publicJwk(key)));
    else if (options.workspace === undefined)
      throw new StartError('--workspace: is required for --format note.');
    else print(noteVerifierKey(options.workspace, key));
  });
ledger
  .command('verify')
  .description('Verify the ledger of every workspace, or of one; exits 1 if any was edited.')
  .option('--workspace <id>', 'only this one')
  .option('--json', 'print JSON, one line per workspace')
  .action(async (options: { workspace?: string; json?: boolean }) => {
    await operate(async (core) => {
      const { db, ledger_db, checkpoint_dir, secrets } = core;
      // A chain that was ever signed has to be verified even if all of its rows are gone.
      const all = new Set([
        ...(await listWorkspaces(db)).map((each) => each.workspace_id),
        ...(await listCheckpointedWorkspaces(db)),
        ...(await listFiledWorkspaces(checkpoint_dir)),
      ]);
      if (options.workspace !== undefined && !all.has(options.workspace)) {
        throw new StartError(`--workspace: no workspace ${options.workspace}.`);
      }
      for (const workspace_id of options.workspace === undefined ? [...all].sort() : [options.workspace]) {
        const keys = secrets.verifyingKeys;
        const found = await verifyLedger(ledger_db, workspace_id, { since: 0, keys, checkpoint_dir, names });
        await saveVerification(db, workspace_id, found);
        if (!found.valid) process.exitCode = 1;
        if (options.json === true) print(JSON.stringify({ workspace_id, ...verificationBody(found) }));
        else {
          const { valid, events_checked, head, checkpoint } = found;
          const signed = checkpoint === null ? 'not signed yet' : `signed up to event ${checkpoint.seq}`;
          print(
            `${workspace_id}  ${valid ? 'valid' : 'INVALID'}  ${events_checked} events  ${signed}  head ${shownHash(head.hash)}`,
          );
          for (const line of approvalLines(found)) print(`  ${line}`);
          for (const each of found.breaks) print(`  event ${each.seq}  ${each.kind}  ${each.detail}`);
        }
      }
    });
  });

await program.parseAsync(process.argv).catch(fail);
