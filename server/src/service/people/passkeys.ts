import type { User } from '@purser/rules/domain/people';
import { ApiError } from '@purser/rules/errors';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { Queryable } from '../../engine/storage/database.ts';
import type { Self } from './own-account.ts';
import {
  consumeChallenge,
  findPasskey,
  insertPasskey,
  listCredentialIds,
  notePasskeyUse,
  type Passkey,
  saveChallenge,
} from './passkey-rows.ts';
import { noteProof } from './session-rows.ts';
import type { From, SignedIn, SignInFlows } from './sign-in.ts';
import type { Site } from './site.ts';
import { findUser } from './user-rows.ts';
import { isDatabaseError } from './verifying.ts';

const NAME = 'Purser';
/** Loaded when somebody uses a passkey: it is one of the largest libraries, and most processes never need it. */
const webauthn = () => import('@simplewebauthn/server');
const NOT_GOOD = 'The passkey is unknown, or its response is invalid; start again.';
const refused = (cause?: unknown) => new ApiError('unauthenticated', NOT_GOOD, { cause });

/** Throws that the answer is not good, whatever the library says is wrong with it; but not for a database that is gone. */
async function judged<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ApiError || isDatabaseError(error) ? error : refused(error);
  }
}

export interface PasskeysOptions {
  db: Queryable;
  flows: SignInFlows;
  site: Site;
}

/**
 * Passkeys: credentials that a person's device keeps and unlocks, and whose public half is known here. User verification is
 * always required: with the device alone nobody comes in.
 */
export class Passkeys {
  readonly #db: Queryable;
  readonly #flows: SignInFlows;
  readonly #site: Site;

  constructor({ db, flows, site }: PasskeysOptions) {
    this.#db = db;
    this.#flows = flows;
    this.#site = site;
  }

  /** The options for a browser to request any passkey of this site. */
  async begin(): Promise<object> {
    const { generateAuthenticationOptions } = await webauthn();
    const made = await generateAuthenticationOptions({
      rpID: this.#relyingParty(),
      userVerification: 'required',
    });
    await saveChallenge(this.#db, made.challenge, null);
    return made;
  }

  async signIn(response: AuthenticationResponseJSON, from: From): Promise<SignedIn> {
    return this.#flows.letIn(await this.#personOf(response, from), 'passkey', from);
  }

  /** Takes a passkey of the person who is signed in as a fresh proof. */
  async reauthenticate(
    { user_id, session_id }: Self,
    response: AuthenticationResponseJSON,
    from: From,
  ): Promise<void> {
    if ((await this.#personOf(response, from)).user_id !== user_id) throw refused();
    await noteProof(this.#db, session_id);
  }

  /** The options for a browser to create a passkey for a person. */
  async beginRegistration(self: Self): Promise<object> {
    const { user_id } = self;
    const user = await findUser(this.#db, user_id);
    const credential_ids = await listCredentialIds(this.#db, self);
    const { generateRegistrationOptions } = await webauthn();
    const made = await generateRegistrationOptions({
      rpName: NAME,
      rpID: this.#relyingParty(),
      userName: user?.email ?? '',
      userDisplayName: user?.name ?? '',
      userID: new Uint8Array(Buffer.from(user_id)),
      attestationType: 'none',
      excludeCredentials: credential_ids.map((id) => ({ id })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    await saveChallenge(this.#db, made.challenge, self);
    return made;
  }

  /** Stores the passkey that `beginRegistration` asked for, in the same credential epoch. */
  async register(self: Self, response: RegistrationResponseJSON, name: string): Promise<void> {
    return judged(async () => {
      const { verifyRegistrationResponse } = await webauthn();
      const { verified, registrationInfo } = await verifyRegistrationResponse({
        response,
        expectedChallenge: (challenge) => consumeChallenge(this.#db, challenge, self),
        expectedOrigin: this.#site.origin(),
        expectedRPID: this.#relyingParty(),
        requireUserVerification: true,
      });
      if (!verified) throw refused();
      const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
      const passkey = {
        credential_id: id,
        user_id: self.user_id,
        public_key: Buffer.from(publicKey),
        counter,
        transports,
        credential_epoch: self.credential_epoch,
      };
      if (!(await insertPasskey(this.#db, { ...passkey, name }))) throw refused();
    });
  }

  #relyingParty(): string {
    const name = this.#site.relyingParty();
    if (name === null) {
      throw new ApiError('not_found', 'Passkeys need a host name: this service is at an IP address.');
    }
    return name;
  }

  /** The person whose passkey it is, who may come in. A refusal of a passkey that somebody has is recorded as theirs. */
  async #personOf(response: AuthenticationResponseJSON, { client_address }: From): Promise<User> {
    const passkey = await findPasskey(this.#db, String(response.id));
    const user = passkey && (await findUser(this.#db, passkey.user_id));
    if (passkey === undefined || user === undefined) throw refused();
    try {
      await this.#checkAnswer(passkey, response);
      if (user.disabled_at !== null) throw refused();
      // The passkey proves them in its own epoch alone.
      return { ...user, credential_epoch: passkey.credential_epoch };
    } catch (error) {
      const { email } = user;
      if (error instanceof ApiError && error.code === 'unauthenticated') {
        this.#flows.recordRefusal({ kind: 'wrong', method: 'passkey', email, client_address });
      }
      throw error;
    }
  }

  /** Throws unless a passkey has signed one of our challenges, now and for the first time. */
  async #checkAnswer(passkey: Passkey, response: AuthenticationResponseJSON): Promise<void> {
    return judged(async () => {
      const { user_id, credential_id } = passkey;
      const { verifyAuthenticationResponse } = await webauthn();
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response,
        expectedChallenge: (challenge) => consumeChallenge(this.#db, challenge, null),
        expectedOrigin: this.#site.origin(),
        expectedRPID: this.#relyingParty(),
        credential: {
          id: credential_id,
          publicKey: new Uint8Array(passkey.public_key),
          counter: Number(passkey.counter),
        },
        requireUserVerification: true,
      });
      const { userHandle } = response.response;
      const names_other =
        userHandle !== undefined && Buffer.from(userHandle, 'base64url').toString() !== user_id;
      if (!verified || names_other) throw refused();
      if (!(await notePasskeyUse(this.#db, credential_id, authenticationInfo.newCounter))) throw refused();
    });
  }
}
