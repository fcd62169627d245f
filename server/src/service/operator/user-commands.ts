import { randomBytes } from 'node:crypto';
import { EMAIL } from '@purser/contract/values/people';
import { ROLES, type Role } from '@purser/contract/values/scopes';
import { OPERATOR } from '@purser/rules/domain/audit';
import { normaliseEmail, type User } from '@purser/rules/domain/people';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { inviteMember } from '../../engine/commands/people/invite-member.ts';
import { revokeSessions } from '../../engine/commands/people/revoke-sessions.ts';
import { listWorkspaces, readClock } from '../../engine/storage/workspaces.ts';
import type { Config } from '../config/config.ts';
import { StartError } from '../installation/open-database.ts';
import { type Core, newId } from '../installation/runtime.ts';
import { insertResetEmail } from '../mail/email-rows.ts';
import { makeLinkTokens } from '../people/links.ts';
import { endSessions } from '../people/session-rows.ts';
import { formatSetupCode, SETUP_CODE_BYTES, saveSetupCode } from '../people/setup-code.ts';
import { insertSignIn, type SignInKind } from '../people/sign-in-rows.ts';
import { makeSite, type Site } from '../people/site.ts';
import {
  disableUser,
  enableUser,
  findUserByEmail,
  hasPeople,
  listMemberships,
  listUsers,
} from '../people/user-rows.ts';

/** How a command reaches the database, and where it writes. */
export interface UserCommandOptions {
  operate: (command: (core: Core, config: Config) => Promise<void>) => Promise<void>;
  print: (text: string) => void;
}

const ORIGIN = { actor: OPERATOR, request_id: null, client_address: null };

function emailArgument(text: string): string {
  if (!EMAIL.test(text.trim())) throw new InvalidArgumentError('must be an e-mail address.');
  return normaliseEmail(text);
}

/** Where the links of a command lead: `PUBLIC_URL`, else the port of the settings. */
function siteOf(core: Core, config: Config): Site {
  const site = makeSite({ public_url: config.public_url, installation: core.secrets.secret_id });
  site.listensOn(config.port);
  return site;
}

async function userOf(core: Core, email: string): Promise<User> {
  const user = await findUserByEmail(core.db, email);
  if (user === undefined) throw new StartError(`--email: no account has the e-mail ${email}.`);
  return user;
}

/** Ends a person's sessions, with a record in each workspace that they are a member of. */
async function endAllSessions(core: Core, { user_id }: User): Promise<void> {
  for (const { workspace_id } of await listMemberships(core.db, user_id)) {
    await core.lane.submit(workspace_id, revokeSessions, { user_id }, ORIGIN);
  }
  await endSessions(core.db, user_id, null);
}

/** Records what the operator did to an account, in each workspace that the person is a member of. */
function recordOf(core: Core, { user_id, email }: User, kind: SignInKind): Promise<void> {
  const done = { kind, method: 'operator', email, user_id, client_address: null } as const;
  return insertSignIn(core.db, done, () => newId('sign_in'));
}

async function workspaceOf(core: Core, given: string | undefined): Promise<string> {
  const all = await listWorkspaces(core.db);
  if (all.length === 0) throw new StartError('No workspace exists yet: start the service once.');
  const found = given === undefined ? all : all.filter((each) => each.workspace_id === given);
  if (given !== undefined && found.length === 0) {
    throw new StartError(`--workspace: no workspace ${given}.`);
  }
  if (found.length !== 1)
    throw new StartError('--workspace: is required; `workspace list` lists the workspaces.');
  return found[0]?.workspace_id as string;
}

/** Adds the operator's commands about people: `user list`, `invite`, `reset-link`, `disable`, `enable` and so on. */
export function addUserCommands(program: Command, options: UserCommandOptions): void {
  const user = program.command('user').description('Manage the people who sign in.');
  const addForAccount = (name: string, description: string, work: AccountWork) =>
    addAccountCommand(user.command(name).description(description), options, work);
  addList(user, options);
  addInvite(user, options);
  addForAccount(
    'reset-link',
    'Print a link to set a new password, valid for one day and one use.',
    makeResetLink,
  );
  addForAccount(
    'disable',
    'Disable an account everywhere, from its next request on, until it is enabled again.',
    disable,
  );
  addForAccount('enable', 'Enable a disabled account again, with its password and passkeys.', enable);
  addForAccount(
    'revoke-sessions',
    'End all sessions of a person, from their next request on.',
    async (core, found) => {
      await endAllSessions(core, found);
      return [{ user_id: found.user_id }, `${found.email} is signed out everywhere.`];
    },
  );
  addSetupLink(user, options);
}

/** An answer, as the body of the JSON and as text. */
type PrintedAnswer = [body: object, text: string];
type AccountWork = (core: Core, found: User, config: Config) => Promise<PrintedAnswer>;

/** Makes a command do its work and print the answer, as JSON where `--json` is given. */
function answering<Given extends { json?: boolean }>(
  { operate, print }: UserCommandOptions,
  work: (core: Core, config: Config, given: Given) => Promise<PrintedAnswer>,
) {
  return (given: Given) =>
    operate(async (core, config) => {
      const [body, text] = await work(core, config, given);
      print(given.json === true ? JSON.stringify(body) : text);
    });
}

const withEmail = (command: Command) =>
  command.requiredOption('--email <email>', 'whose', emailArgument).option('--json', 'print JSON');

/** Makes a command that works on the account with the given e-mail. */
function addAccountCommand(command: Command, options: UserCommandOptions, work: AccountWork): void {
  withEmail(command).action(
    answering(options, async (core, config, given: { email: string; json?: boolean }) =>
      work(core, await userOf(core, given.email), config),
    ),
  );
}

function addList(user: Command, { operate, print }: UserCommandOptions): void {
  user
    .command('list')
    .description('List all people and their workspaces.')
    .option('--json', 'print JSON')
    .action((given: { json?: boolean }) =>
      operate(async (core) => {
        const users = await listUsers(core.db);
        if (given.json === true) return print(JSON.stringify(users));
        for (const { user_id, email, disabled_at, workspaces } of users) {
          const where = disabled_at === null ? workspaces.join(', ') || 'no workspace' : 'disabled';
          print(`${user_id}  ${email}  ${where}`);
        }
      }),
    );
}

interface Invited {
  email: string;
  role: Role;
  workspace?: string;
  principal?: string;
  json?: boolean;
}

function addInvite(user: Command, options: UserCommandOptions): void {
  withEmail(user.command('invite'))
    .description('Invite a person to a workspace and print the link, which is valid for 7 days.')
    .addOption(new Option('--role <role>', 'role of the person').choices(ROLES).makeOptionMandatory())
    .option('--workspace <id>', 'workspace, if there are several')
    .option('--principal <principal>', 'principal for their reviews, such as user:ada')
    .action(
      answering(options, async (core, config, given: Invited) => {
        const { email, role, principal: principal_id = null } = given;
        if (principal_id !== null && !/^user:[!-~]{1,128}$/.test(principal_id)) {
          throw new StartError('--principal: must be user: and 1 to 128 visible ASCII characters.');
        }
        const workspace_id = await workspaceOf(core, given.workspace);
        const emailed = config.smtp_url !== null;
        const input = { email, role, principal_id, emailed, acting_principal: null };
        const made = await core.lane.submit(workspace_id, inviteMember, input, ORIGIN);
        const { invitation_id: id, expires_at } = made;
        if (emailed) return [{ id, url: null, emailed, expires_at }, linkMailed(email)];
        const token = makeLinkTokens(core.secrets.macs('link')).invitation(workspace_id, id);
        const url = `${siteOf(core, config).consoleUrl('invitation')}#${token}`;
        return [{ id, url, emailed, expires_at }, `Invitation  ${url}`];
      }),
    );
}

/** With a mail server a link goes to the mailbox alone; the running service sends it. */
const linkMailed = (email: string) =>
  `The running service mails the link to ${email}. To print one instead, run the command with SMTP_URL= and SMTP_FROM= empty.`;

async function makeResetLink(core: Core, found: User, config: Config): Promise<PrintedAnswer> {
  if (found.disabled_at !== null) throw new StartError(`--email: ${found.email} is disabled.`);
  if (config.password_sign_in === 'off') {
    throw new StartError('PASSWORD_SIGN_IN is off: password sign-in is disabled.');
  }
  if (config.smtp_url !== null) {
    await insertResetEmail(core.db, newId('email'), found);
    await recordOf(core, found, 'reset_link_made');
    return [{ url: null, emailed: true }, linkMailed(found.email)];
  }
  const links = makeLinkTokens(core.secrets.macs('link'));
  const token = links.reset(found, await readClock(core.db));
  await recordOf(core, found, 'reset_link_made');
  const url = `${siteOf(core, config).consoleUrl('reset')}#${token}`;
  return [{ url, emailed: false }, `New password  ${url}`];
}

async function disable(core: Core, found: User): Promise<PrintedAnswer> {
  await disableUser(core.db, found.user_id);
  await recordOf(core, found, 'account_disabled');
  await endAllSessions(core, found);
  return [{ user_id: found.user_id }, `${found.email} is disabled.`];
}

async function enable(core: Core, found: User): Promise<PrintedAnswer> {
  if (found.disabled_at === null) throw new StartError(`--email: ${found.email} is not disabled.`);
  await enableUser(core.db, found.user_id);
  await recordOf(core, found, 'account_enabled');
  return [{ user_id: found.user_id }, `${found.email} is enabled.`];
}

function addSetupLink(user: Command, options: UserCommandOptions): void {
  user
    .command('setup-link')
    .description(
      'Print a link to create the first administrator, valid for one hour. Works only while no account exists.',
    )
    .option('--json', 'print JSON')
    .action(
      answering(options, async (core, config) => {
        if (await hasPeople(core.db)) {
          throw new StartError(
            'The service already has an administrator; use `user invite` or `user reset-link`.',
          );
        }
        const code = formatSetupCode(randomBytes(SETUP_CODE_BYTES));
        await saveSetupCode(core.db, code, core.secrets.macs('setup-code')[0]);
        const url = siteOf(core, config).consoleUrl(`setup#${code}`);
        return [{ url }, `Console  ${url}`];
      }),
    );
}
