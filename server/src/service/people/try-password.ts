import type { User } from '@purser/rules/domain/people';
import type { Attempts, Guesser } from './attempts.ts';
import type { Devices } from './devices.ts';
import type { Passwords, PasswordTurn } from './passwords.ts';
import type { Visit } from './sessions.ts';
import type { DeferredRecords, SignIn } from './sign-in-rows.ts';

/** The person whose password it is said to be. */
export interface ClaimedAccount {
  /** As `normaliseEmail` returns it. */
  email: string;
  /** Undefined: nobody has the e-mail. */
  user: User | undefined;
  /** False: the person may not come in, so no password is right. */
  is_let_in?: boolean;
  /** Set where the person is signed in already. */
  session_id?: string;
}

/** Compares a password. */
export type TryPassword = (claimed: ClaimedAccount, password: string, visit: Visit) => Promise<boolean>;

/** The turn of a stranger, or of a browser or session that is known here. */
export const turnOf = (client_address: string, known_as: string | null = null): PasswordTurn => ({
  client_address,
  known_as,
});

/**
 * Makes what compares a password within the limits of `Attempts`. It returns whether the password is right; the work is the
 * same where there is no such person, or none who may come in, and what is recorded of it is written behind the answer.
 * Throws `rate_limited` and `auth_unavailable`.
 */
export function makeTryPassword(options: {
  attempts: Attempts;
  devices: Devices;
  passwords: Passwords;
  behind: DeferredRecords;
  record: (signIn: SignIn) => Promise<void>;
}): TryPassword {
  const { attempts, devices, passwords, behind, record } = options;

  /** The source of the attempt, and its turn: a session, a browser of this very person, or a stranger. */
  function guesserOf(
    { email, user, session_id }: ClaimedAccount,
    { headers, client_address }: Visit,
  ): { guesser: Guesser; turn: PasswordTurn } {
    if (session_id !== undefined && user !== undefined) {
      const guesser: Guesser = { as: 'session', session_id, user_id: user.user_id };
      return { guesser, turn: turnOf(client_address, session_id) };
    }
    const device = devices.of(headers);
    const is_theirs =
      device?.user_id === user?.user_id && device?.credential_epoch === user?.credential_epoch;
    if (device !== null && is_theirs) {
      const { device_id } = device;
      return { guesser: { as: 'device', device_id }, turn: turnOf(client_address, device_id) };
    }
    return { guesser: { as: 'stranger', client_address, email }, turn: turnOf(client_address) };
  }

  return async (claimed, password, visit) => {
    const { email, user, is_let_in = true } = claimed;
    const { client_address } = visit;
    const user_id = is_let_in ? (user?.user_id ?? null) : null;
    const told = { method: 'password', email, user_id, client_address } as const;
    const tell = (kind: 'locked' | 'wrong') => behind.add(() => record({ ...told, kind }));
    const is_nobody = user === undefined || user.disabled_at !== null || !is_let_in;
    const { guesser, turn } = guesserOf(claimed, visit);
    const is_right = await attempts.judge(
      guesser,
      () => passwords.verify(is_nobody ? null : user.password_hash, password, turn),
      () => tell('locked'),
    );
    if (!is_right) tell('wrong');
    return is_right;
  };
}
