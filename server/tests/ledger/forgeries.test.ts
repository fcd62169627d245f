import { createHash } from 'node:crypto';
import { signCheckpoint } from '@purser/rules/domain/checkpoints';
import { eventHash, type LedgerEvent, recordHash, shownSha256 } from '@purser/rules/domain/ledger';
import { fingerprintOf } from '@purser/rules/signing/public-keys';
import { canonicalJson } from '@purser/rules/values/canonical-json';
import { expect } from 'vitest';
import {
  checkpointLine,
  endLine,
  eventLine,
  headerLine,
  makeExportVerifier,
} from '../../src/engine/verification/ledger-export.ts';
import { deriveSecrets } from '../../src/service/installation/secrets.ts';
import { makeAuthenticator } from '../support/authenticator.ts';
import { setUp } from '../support/browser.ts';
import { SECRET_KEY } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import {
  addPasskey,
  endorse,
  enrol,
  joinWithPasskey,
  type Signer,
  signed,
  signReview,
} from '../support/signers.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

/**
 * A forger who has the database and SECRET_KEY writes the chain again: every hash, link and checkpoint of the file is
 * right. Only what people signed is not theirs to write.
 */
const FORGERIES = 1_000;
/** Approvals in the history: four that people signed of their own accord, two that a tier demanded. */
const SIGNED = 6;
const { test, s, get, post, ask, makeAgent, keyWith } = serviceTest({ plan: 'enterprise' });
// biome-ignore lint/suspicious/noExplicitAny: a forger writes into rows of every shape.
type Row = any;
interface Entry {
  event: LedgerEvent;
  data: Row;
  document: string | null;
}
interface History {
  workspace_id: string;
  entries: Entry[];
}

const key = deriveSecrets(SECRET_KEY).checkpointKey;
let ada: Signer;
let bo: Signer;
let history: History;
let elsewhere: History;

function read(text: string): History {
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const bytes = (shown: string) => Buffer.from(shown.slice(7), 'hex');
  const entries = lines
    .filter(({ kind }) => kind === 'event')
    .map(({ event, data, document = null }): Entry => {
      const { subject, data_hash, prev_hash, hash, ...rest } = event;
      const hashes = { data_hash: bytes(data_hash), prev_hash: bytes(prev_hash), hash: bytes(hash) };
      return {
        event: { ...rest, subject_type: subject.type, subject_id: subject.id, ...hashes },
        data,
        document,
      };
    });
  return { workspace_id: lines[0].workspace_id, entries };
}

/** Writes a history as an export with right hashes and a checkpoint of the service's own key. */
function write({ workspace_id, entries }: History): string[] {
  let previous: { seq: number; hash: Buffer } = { seq: 0, hash: Buffer.alloc(32) };
  const events = entries.map(({ event, data, document }, i) => {
    const sealed = document === null ? data : { ...data, document: shownSha256(document) };
    const unsealed = { ...event, seq: i + 1, data_hash: recordHash(sealed), prev_hash: previous.hash };
    const made = { ...unsealed, hash: eventHash(unsealed) };
    previous = { seq: made.seq, hash: made.hash };
    return eventLine(made, sealed, document);
  });
  const exported_at = '2026-11-24T06:00:00.000Z';
  const { note } = signCheckpoint(workspace_id, previous, exported_at, key);
  const lines = [
    headerLine({
      workspace_id,
      exported_at,
      since: 0,
      since_hash: Buffer.alloc(32),
      head: previous,
      checkpoints: [previous.seq],
      is_withheld: false,
    }),
    ...events,
    checkpointLine(note),
  ];
  const whole = createHash('sha256').update(lines.map((line) => `${line}\n`).join(''));
  return [...lines, endLine(events.length, 1, whole.digest())];
}

function verdict(lines: readonly string[], pins: readonly string[] | null) {
  const verifier = makeExportVerifier([key], pins);
  for (const line of lines) verifier.line(Buffer.from(line));
  return verifier.end(Buffer.alloc(0));
}

const copy = (of: History): History => ({
  workspace_id: of.workspace_id,
  entries: of.entries.map(({ event, data, document }) => ({
    event,
    data: JSON.parse(JSON.stringify(data)),
    document,
  })),
});

const exported = async (key_of_admin = s.admin_key) =>
  read((await s.call('GET', '/v1/ledger/export', { key: key_of_admin })).text);

test.beforeAll(async () => {
  const agent = await makeAgent({ review_threshold_minor: 1_000 }, { mode: 'ENFORCE' });
  ada = await addPasskey(s, await setUp(s));
  await enrol(ada);
  bo = await joinWithPasskey(s, ada.browser, { email: 'bo@example.com', role: 'reviewer' }, 'EdDSA');
  await enrol(bo);
  await endorse(ada, bo.key_id);
  for (const signer of [ada, bo, ada, bo]) {
    const { decision_id } = await ask(agent, 2_000 + Math.trunc(signer.user_id.length));
    const verdict_ = { action: 'ALLOW', reason_code: 'OK', comment: `By ${signer.principal_id}` };
    expect((await signReview(signer, decision_id, verdict_)).status).toBe(201);
    await ask(agent, 10);
  }
  await payByTwo(agent);
  history = await exported();
  elsewhere = copy(history);
});

/** Has both people sign an approval of a tier that demands it, and pays. */
async function payByTwo(agent: string): Promise<void> {
  const approvers = [ada.principal_id, bo.principal_id];
  const tiers = [{ currency: 'EUR', from_minor: 5_000, approvals: 2, approvers, signed: true }];
  const begun = await ada.browser.call('POST', '/v1/review-policy/statement', {
    body: { policy: { tiers } },
  });
  const body = { policy: { tiers }, signature: signed(ada, begun.body) };
  const put = await ada.browser.call('PUT', '/v1/review-policy', { body });
  expect(put.status, put.text).toBe(200);
  const { decision_id } = await ask(agent, 5_500);
  for (const signer of [ada, bo]) expect((await signReview(signer, decision_id)).status).toBe(201);
  const { capability } = await get(`/v1/decisions/${decision_id}`);
  const paid = { token: capability.token, amount_minor: 5_500, currency: 'EUR' };
  await post('/v1/capabilities/consume', paid, await keyWith('consume'));
}

const signedReviews = ({ entries }: History) =>
  entries.filter(({ data }) => typeof data.signature === 'string');
const keyRecords = ({ entries }: History) =>
  entries.filter(({ event }) => event.type.startsWith('signing_key.'));

type Pick_ = <T>(list: readonly T[]) => T;

/** Changes the text of a record's signature, as `JSON.parse` reads it. */
const editSignature = (entry: Entry, edit: (signature: Row) => void) => {
  const signature = JSON.parse(entry.data.signature);
  edit(signature);
  entry.data.signature = canonicalJson(signature);
};
const editStatement = (entry: Entry, edit: (statement: Row) => void) =>
  editSignature(entry, (signature) => {
    const statement = JSON.parse(signature.statement);
    edit(statement);
    signature.statement = canonicalJson(statement);
  });
const editState = (entry: Entry, edit: (row: Row) => void) => {
  const state = JSON.parse(entry.data.state);
  edit(state.signing_key);
  entry.data.state = canonicalJson(state);
};
/** A signature of a forger's own passkey over a statement, under the credential of another. */
function ownSignature(statement: string, id: string, forgery: object = {}): Row {
  const forger = makeAuthenticator(ada_origin());
  const challenge = createHash('sha256').update(statement).digest('base64url');
  const { response } = forger.get({ challenge }, forgery);
  const { clientDataJSON, authenticatorData, signature } = response;
  return { statement, response: { id, response: { clientDataJSON, authenticatorData, signature } } };
}
const ada_origin = () => `http://localhost:${new URL(s.url).port}`;

/** Each writes one forgery into a copy of the history. */
const KINDS: Record<string, (forged: History, pick: Pick_) => void> = {
  'another field of the review': (forged, pick) => {
    const { data } = pick(signedReviews(forged));
    const field = pick(['action', 'reason_code', 'comment', 'principal_id', 'created_at', 'decision_id']);
    data[field] =
      field === 'created_at' ? '2026-01-01T00:00:00.000Z' : field === 'action' ? 'DENY' : 'FORGED';
  },
  'another decision under the approval': (forged, pick) => {
    const { data } = pick(signedReviews(forged));
    const decision = forged.entries.find(({ event }) => event.subject_id === data.decision_id) as Entry;
    const document = JSON.parse(decision.document as string);
    const edit = pick(['amount', 'merchant', 'payee', 'currency']);
    if (edit === 'amount') document.reservation.amount_minor += 1;
    else if (edit === 'merchant') document.action.merchant += ' GmbH';
    else if (edit === 'payee') document.action.payee_id = 'sepa:FORGED';
    else document.reservation.currency = 'USD';
    decision.document = JSON.stringify(document);
  },
  'another field of the statement': (forged, pick) => {
    const entry = pick(signedReviews(forged));
    editStatement(entry, (said) => {
      const field = pick(Object.keys(said));
      said[field] = field === 'amount_minor' ? 1 : 'forged';
    });
  },
  'a byte of the signature, or of what was signed': (forged, pick) =>
    editSignature(pick(signedReviews(forged)), ({ response }) => {
      const field = pick(['clientDataJSON', 'authenticatorData', 'signature']);
      const bytes = Buffer.from(response.response[field], 'base64url');
      const at = pick([...bytes.keys()]);
      bytes[at] = (bytes[at] as number) ^ 1;
      response.response[field] = bytes.toString('base64url');
    }),
  'the forger’s passkey under the credential': (forged, pick) => {
    const entry = pick(signedReviews(forged));
    const { statement, response } = JSON.parse(entry.data.signature);
    entry.data.signature = canonicalJson(ownSignature(statement, response.id));
  },
  'another origin, site, challenge or user': (forged, pick) => {
    const entry = pick(signedReviews(forged));
    const signer = entry.data.principal_id === ada.principal_id ? ada : bo;
    const { statement } = JSON.parse(entry.data.signature);
    const challenge = createHash('sha256').update(statement).digest('base64url');
    const forgery = pick([
      { origin: 'https://evil.example' },
      { rp_id: 'evil.example' },
      { challenge: 'AAAA' },
      { is_unverified: true as const },
      { is_absent: true as const },
      { type: 'webauthn.create' },
      { is_cross_origin: true as const },
    ]);
    const { id, response } = signer.passkey.get({ challenge }, forgery);
    const { clientDataJSON, authenticatorData, signature } = response;
    entry.data.signature = canonicalJson({
      statement,
      response: { id, response: { clientDataJSON, authenticatorData, signature } },
    });
  },
  'the signature of another approval': (forged, pick) => {
    const [one, two] = [pick(signedReviews(forged)), pick(signedReviews(elsewhere))];
    one.data.signature = two.data.signature;
    if (one.data.decision_id === two.data.decision_id) one.data.comment = 'Another';
  },
  'another history before it': (forged, pick) => {
    const first = forged.entries.indexOf(signedReviews(forged)[0] as Entry);
    const entry = pick(forged.entries.slice(0, first - 1).filter(({ data }) => 'request_id' in data));
    entry.data.request_id = `req_${pick(['A', 'B', 'C'])}`;
  },
  'a root of the forger': (forged, pick) => {
    const [root] = keyRecords(forged) as [Entry];
    const forger = makeAuthenticator(ada_origin());
    editState(root, (row) => {
      const statement = JSON.parse(row.enrolment).statement;
      const made = forger.get({ challenge: createHash('sha256').update(statement).digest('base64url') });
      const { clientDataJSON, authenticatorData, signature } = made.response;
      row.credential_id = forger.id;
      row.public_key = Buffer.from(forger.cose).toString('base64url');
      row.enrolment = canonicalJson({
        statement,
        response: { id: forger.id, response: { clientDataJSON, authenticatorData, signature } },
      });
    });
    const entry = pick(signedReviews(forged));
    const { statement } = JSON.parse(entry.data.signature);
    const made = forger.get({ challenge: createHash('sha256').update(statement).digest('base64url') });
    const { clientDataJSON, authenticatorData, signature } = made.response;
    entry.data.principal_id = ada.principal_id;
    entry.data.signature = canonicalJson({
      statement,
      response: { id: forger.id, response: { clientDataJSON, authenticatorData, signature } },
    });
  },
  'an endorsement of another key': (forged, pick) => {
    const forger = makeAuthenticator(ada_origin());
    for (const entry of keyRecords(forged).slice(1)) {
      editState(entry, (row) => {
        const field = pick(['public_key', 'credential_id', 'principal_id', 'origin']);
        row[field] = field === 'public_key' ? Buffer.from(forger.cose).toString('base64url') : 'forged';
      });
    }
  },
  'no endorsement': (forged) => {
    const endorsed = keyRecords(forged).at(-1) as Entry;
    editState(endorsed, (row) => {
      row.endorsement = row.enrolment;
    });
  },
  'a key that was revoked before': (forged, pick) => {
    const record = pick(keyRecords(forged).slice(-1));
    const revoked: Entry = JSON.parse(JSON.stringify({ data: record.data, document: null }));
    editState(revoked, (row) => {
      row.status = 'REVOKED';
      row.revoked_at = row.created_at;
    });
    const event = { ...record.event, type: 'signing_key.revoked' as const };
    forged.entries.splice(forged.entries.indexOf(record) + 1, 0, { ...revoked, event });
  },
  'another workspace': (forged) => {
    forged.workspace_id = 'ws_01KAJ5F0V8Z3M2Q9X7T4R6N1BC';
  },
};

test('the history itself is valid under its root, written again byte by byte as it is', () => {
  const found = verdict(write(history), [ada.fingerprint]);
  expect(found.breaks).toEqual([]);
  expect(found).toMatchObject({
    valid: true,
    approvals: { signed: SIGNED, verified: SIGNED },
    roots_pinned: true,
  });
  expect(found.signer_roots).toMatchObject([{ fingerprint: ada.fingerprint, pinned: true }]);
  const unpadded = ada.fingerprint.replace(/=+$/, '');
  expect(verdict(write(history), [unpadded]).approvals.verified).toBe(SIGNED);
});

test('under another root nothing is verified', () => {
  const other = fingerprintOf(Buffer.from(makeAuthenticator(ada_origin()).cose));
  const found = verdict(write(history), [other]);
  expect(found.approvals).toEqual({ signed: SIGNED, verified: 0 });
  expect(new Set(found.breaks.map(({ kind }) => kind))).toEqual(new Set(['SIGNATURE_INVALID']));
});

test(`of ${FORGERIES} forgeries with right hashes and checkpoints, none is verified`, () => {
  let seed = 4_711;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
  const pick: Pick_ = (list) => list[Math.floor(random() * list.length)] as never;
  const names = Object.keys(KINDS);
  for (let i = 0; i < FORGERIES; i++) {
    const name = names[i % names.length] as string;
    const forged = copy(history);
    KINDS[name]?.(forged, pick);
    const found = verdict(write(forged), [ada.fingerprint]);
    const kinds = new Set(found.breaks.map(({ kind }) => kind));
    const seen = [name, i, found.valid, kinds.has('SIGNATURE_INVALID'), found.approvals.verified < SIGNED];
    expect(seen).toEqual([name, i, false, true, true]);
  }
});

test('an approval whose signature was taken away is not counted as signed', () => {
  const forged = copy(history);
  for (const { data } of signedReviews(forged)) delete data.signature;
  expect(verdict(write(forged), [ada.fingerprint]).approvals).toEqual({ signed: 0, verified: 0 });
});

/** Verifies a history whose payment by two the forger changed, under its true root. */
function foundIn(edit: (forged: History, approvals: [Entry, Entry]) => void) {
  const forged = copy(history);
  edit(forged, signedReviews(forged).slice(-2) as [Entry, Entry]);
  const found = verdict(write(forged), [ada.fingerprint]);
  return { ...found, kinds: found.breaks.map(({ kind }) => kind) };
}
const remove = ({ entries }: History, entry: Entry) => entries.splice(entries.indexOf(entry), 1);

test('a payment is missing the approvals that its tier demanded and the forger left out', () => {
  const one = foundIn((forged, [, last]) => remove(forged, last));
  expect(one).toMatchObject({ valid: false, kinds: ['SIGNATURE_MISSING'] });
  expect(one.breaks[0]?.detail).toContain('without the signed approvals of its tier');
  const none = foundIn((forged, approvals) => {
    for (const entry of approvals) remove(forged, entry);
  });
  expect(none).toMatchObject({ valid: false, kinds: ['SIGNATURE_MISSING'] });
});

test('an approval that is there twice counts once', () => {
  const found = foundIn((_forged, [first, last]) => {
    last.data = { ...first.data, review_id: last.data.review_id };
  });
  expect(found).toMatchObject({
    valid: false,
    kinds: ['SIGNATURE_INVALID', 'SIGNATURE_MISSING'],
    approvals: { signed: SIGNED, verified: SIGNED - 1 },
  });
});
