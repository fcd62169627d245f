import type { Signature } from '@purser/contract/signing/fields';
import { STATEMENT_MINUTES } from '@purser/contract/values/signing';
import { GENESIS, shownHash } from '@purser/rules/domain/ledger';
import { ApiError } from '@purser/rules/errors';
import { challengeOf, counterOf, signatureFault } from '@purser/rules/signing/assertion';
import { isSigningKey } from '@purser/rules/signing/public-keys';
import { type Claim, momentOf, statementOf } from '@purser/rules/signing/statements';
import type { GivenSignature } from '../../engine/commands/signing/given-signature.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import { getHead, loadLedgerEvents } from '../../engine/storage/ledger.ts';
import { readClock } from '../../engine/storage/workspaces.ts';
import type { Self } from './own-account.ts';
import {
  consumeChallenge,
  findPasskey,
  listCredentialIds,
  notePasskeyUse,
  saveChallenge,
} from './passkey-rows.ts';
import type { Site } from './site.ts';

/** The part of a signing key that comes from the passkey and the site. */
export interface SigningPasskey {
  credential_id: string;
  public_key: string;
  rp_id: string;
  origin: string;
}

/** A statement, and what a browser needs to have it signed. */
export interface ToSign {
  statement: string;
  options: object;
}

/**
 * Statements for people to sign with their passkeys, and the part of the check that needs more than the chain. The rest is
 * checked in the lane, and again by every verification, by `@purser/rules/signing`.
 */
export class Signing {
  readonly #db: Queryable;
  readonly #site: Site;

  constructor({ db, site }: { db: Queryable; site: Site }) {
    this.#db = db;
    this.#site = site;
  }

  /** Makes the statement of a claim at this moment, which this person may sign once within five minutes, with one of the credentials. */
  async begin(self: Self, claim: Claim, credential_ids: readonly string[]): Promise<ToSign> {
    const rp_id = this.#relyingParty();
    const { seq, hash } = (await getHead(this.#db, self.workspace_id)) ?? GENESIS;
    const issued_at = new Date(await readClock(this.#db)).toISOString();
    const statement = statementOf(claim, { head: { seq, hash: shownHash(hash) }, issued_at });
    const challenge = challengeOf(statement);
    // The same statement may have been asked for twice within a millisecond.
    await consumeChallenge(this.#db, challenge, self);
    await saveChallenge(this.#db, challenge, self);
    return {
      statement,
      options: {
        challenge,
        rpId: rp_id,
        timeout: STATEMENT_MINUTES * 60_000,
        userVerification: 'required',
        allowCredentials: credential_ids.map((id) => ({ id, type: 'public-key' })),
      },
    };
  }

  /** The person's passkeys of their present credential epoch. Throws `not_found` where they have none. */
  async passkeysOf(self: Self): Promise<string[]> {
    this.#relyingParty();
    const found = await listCredentialIds(this.#db, self);
    if (found.length === 0)
      throw new ApiError('not_found', 'You have no passkey; add one to your account first.');
    return found;
  }

  /** Returns the passkey that a signature names, or null where the person has no such passkey that can sign. */
  async passkeyOf(self: Self, { response: { id } }: Signature): Promise<SigningPasskey | null> {
    const found = await findPasskey(this.#db, id);
    if (found?.user_id !== self.user_id || found.credential_epoch !== self.credential_epoch) return null;
    const public_key = Buffer.from(found.public_key);
    if (!isSigningKey(public_key)) return null;
    return {
      credential_id: id,
      public_key: public_key.toString('base64url'),
      rp_id: this.#relyingParty(),
      origin: this.#site.origin(),
    };
  }

  /**
   * Uses up the challenge of a signature, and notes its use with the passkey. `fault` says what is wrong by what the chain
   * does not know: no such challenge of this person, no such passkey, a copy that lags behind, a head that never was.
   */
  async take(self: Self, given: Signature): Promise<GivenSignature> {
    return { given, fault: await this.#faultOf(self, given) };
  }

  async #faultOf(self: Self, given: Signature): Promise<string | null> {
    if (!(await consumeChallenge(this.#db, challengeOf(given.statement), self)))
      return 'the statement was not made for you, has expired or was used already';
    const passkey = await this.passkeyOf(self, given);
    if (passkey === null) return 'the passkey is not in your account';
    const fault = signatureFault(given, passkey);
    if (fault !== null) return fault;
    if (!(await notePasskeyUse(this.#db, passkey.credential_id, counterOf(given))))
      return 'the passkey counts less than it did before, so there may be two of it';
    return (await this.#isOfChain(self, given)) ? null : 'it signs another history';
  }

  async #isOfChain({ workspace_id }: Self, { statement }: Signature): Promise<boolean> {
    const head = momentOf(statement)?.head;
    if (head === undefined) return false;
    const page = { after: head.seq - 1, limit: 1 };
    const [event] = await loadLedgerEvents(this.#db, workspace_id, page);
    return event?.seq === head.seq && shownHash(event.hash) === head.hash;
  }

  #relyingParty(): string {
    const name = this.#site.relyingParty();
    if (name === null)
      throw new ApiError('not_found', 'Passkeys need a host name: this service is at an IP address.');
    return name;
  }
}
