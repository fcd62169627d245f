import { NOT_SIGNED_IN, nameKey, nameProblem, type User } from '@purser/rules/domain/people';
import { ApiError, invalidField } from '@purser/rules/errors';
import { TEXT_RULES } from '@purser/rules/values/text';
import type { Queryable } from '../../engine/storage/database.ts';
import type { Visit } from './sessions.ts';
import type { SignIn } from './sign-in-rows.ts';
import { findUser, listMemberships, setUserName } from './user-rows.ts';
import { verifying } from './verifying.ts';

const TAKEN = 'is the name of another member, or looks like it; choose a distinct name';

/** Whose name it is to be: a new person's (`user_id` null) or a member's, and in which workspaces it is read. */
export interface NameOf {
  user_id: string | null;
  workspace_ids: readonly string[];
}

/**
 * Returns whether another member of these workspaces has this name, e-mail or principal, or one that looks alike, or has
 * an e-mail that is part of it.
 */
async function isNameTaken(
  db: Queryable,
  name: string,
  { user_id, workspace_ids }: NameOf,
): Promise<boolean> {
  const key = nameKey(name);
  const result = await db.query<{ user_id: string; name: string; email: string; principal_id: string }>({
    name: 'list_names_of_members',
    text: `select m.user_id, u.name, u.email, m.principal_id
      from members m join users u on u.user_id = m.user_id
      where m.workspace_id = any($1) and m.removed_at is null and m.user_id is distinct from $2`,
    values: [workspace_ids, user_id],
  });
  return result.rows.some(({ name: other, email, principal_id }) => {
    const keys = [other, principal_id, principal_id.replace(/^user:/, '')].map(nameKey);
    return keys.includes(key) || key.includes(nameKey(email));
  });
}

/**
 * Returns the name under which a person joins: their own, or where another member has it, with their e-mail behind it. So
 * namesakes may join, and nobody joins as somebody else.
 */
export async function nameToJoinWith(
  db: Queryable,
  { name, email }: Pick<User, 'name' | 'email'>,
  whose: NameOf,
): Promise<string> {
  const { max } = TEXT_RULES.name;
  if (nameProblem(name) === null && !(await isNameTaken(db, name, whose))) return name;
  const room = max - email.length - 3;
  return room < 1 ? email.slice(0, max) : `${[...name].slice(0, room).join('')} (${email})`;
}

/** Makes what changes a person's name, and what records a change of their account. */
export function makeAccountChanges({
  db,
  record,
}: {
  db: Queryable;
  record: (signIn: SignIn) => Promise<void>;
}) {
  const recordOf = (user: User, kind: SignIn['kind'], method: SignIn['method'], visit: Visit) => {
    const { user_id, email } = user;
    return record({ kind, method, email, user_id, client_address: visit.client_address });
  };

  /** Gives a person a name that was found to be free. */
  async function giveName(user: User, name: string, visit: Visit): Promise<void> {
    if (name === user.name) return;
    await setUserName(db, user.user_id, name);
    await recordOf(user, 'name_changed', 'session', visit);
  }

  return {
    giveName,
    /** Gives a person another name. Throws `invalid_request` where another member of one of their workspaces has it. */
    async rename(user: User, name: string, visit: Visit): Promise<void> {
      const { user_id } = user;
      if (name === user.name) return;
      const workspace_ids = (await listMemberships(db, user_id)).map(({ workspace_id }) => workspace_id);
      const problem = nameProblem(name);
      if (problem !== null) throw invalidField('name', problem);
      if (await isNameTaken(db, name, { user_id, workspace_ids })) throw invalidField('name', TAKEN);
      await giveName(user, name, visit);
    },
    /** Records a change of the account of a person who is signed in. */
    recordChange: (user_id: string, kind: SignIn['kind'], method: SignIn['method'], visit: Visit) =>
      verifying(async () => {
        const user = await findUser(db, user_id);
        if (user === undefined) throw new ApiError('unauthenticated', NOT_SIGNED_IN);
        await recordOf(user, kind, method, visit);
      }),
  };
}
