import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { makeVerifyingKey, type VerifyingKey } from '@purser/rules/domain/checkpoints';
import { canonicalJson } from '@purser/rules/values/canonical-json';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exportLedger } from '../../src/engine/verification/export-ledger.ts';
import { makeExportVerifier } from '../../src/engine/verification/ledger-export.ts';
import { verifyLedgerFile } from '../../src/engine/verification/ledger-file.ts';
import { deriveSecrets } from '../../src/service/installation/secrets.ts';
import { type FullHistory, makeFullHistory } from '../support/full-history.ts';

/** EXPORT_RUNS makes a longer run. */
const RUNS = Number(process.env.EXPORT_RUNS);

let h: FullHistory;
let whole: Buffer;
let key: VerifyingKey;
let directory: string;
const exported = async (since = 0, is_withheld = false) => {
  const options = { since, keys: [key], checkpoint_dir: h.checkpoint_dir, is_withheld };
  let text = '';
  for await (const chunk of exportLedger(h.core.ledger_db, h.workspace_id, options)) text += chunk;
  return Buffer.from(text);
};
beforeAll(async () => {
  h = await makeFullHistory();
  // Nothing but the public key is known to the verifier.
  key = makeVerifyingKey(h.core.secrets.checkpointKey.public_key);
  whole = await exported();
  directory = await mkdtemp(join(tmpdir(), 'purser-export-'));
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
  await h.stop();
});

function verify(bytes: Buffer, by = key) {
  const verifier = makeExportVerifier([by]);
  let from = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, from)) {
    verifier.line(bytes.subarray(from, at));
    from = at + 1;
  }
  return verifier.end(bytes.subarray(from));
}
const linesOf = (bytes: Buffer) => bytes.toString().trimEnd().split('\n');
/** As somebody would write it who knows the format: with a last line that fits again. */
function rewritten(lines: string[]): Buffer {
  const body = lines
    .slice(0, -1)
    .map((line) => `${line}\n`)
    .join('');
  const count = (kind: string) => lines.filter((line) => line.startsWith(`{"kind":"${kind}"`)).length;
  const end = {
    kind: 'end',
    events: count('event'),
    checkpoints: count('checkpoint'),
    sha256: createHash('sha256').update(body).digest('hex'),
  };
  return Buffer.from(`${body}${JSON.stringify(end)}\n`);
}
/** The export with one line changed, and the last line made to fit. */
const changed = (place: (line: string) => boolean, change: (line: string) => string) => {
  const lines = linesOf(whole);
  const at = lines.findIndex(place);
  if (at === -1) throw new Error('no such line');
  lines[at] = change(lines[at] as string);
  return rewritten(lines);
};
const isEvent = (type: string) => (line: string) => line.includes(`"type":"${type}"`);
const seqIn = (line: string) => JSON.parse(line).event.seq as number;

describe('an export of a history in which everything happened', () => {
  test('is verified with the public key alone', () => {
    expect(verify(whole)).toMatchObject({
      valid: true,
      workspace_id: h.workspace_id,
      events_checked: h.last_seq,
      signed_through_seq: h.last_seq,
      breaks: [],
      first_break_seq: null,
    });
    expect(verify(rewritten(linesOf(whole))).valid).toBe(true);
  });

  test('holds what anybody needs to make every hash again', () => {
    let hash = Buffer.alloc(32);
    for (const line of linesOf(whole).filter((each) => each.startsWith('{"kind":"event"'))) {
      const { event, data, document } = JSON.parse(line);
      const sha = (text: string) => createHash('sha256').update(text).digest('hex');
      // Of an import that was deleted the chain alone tells.
      if (data === null) expect(event.type).toBe('lines.recorded');
      else expect(event.data_hash).toBe(`sha256:${sha(canonicalJson(data))}`);
      if (event.type === 'decision.created') expect(data.document).toBe(`sha256:${sha(document)}`);
      const { seq, id, type, subject, occurred_at, data_hash } = event;
      const text = canonicalJson({ seq, id, type, subject, occurred_at, data_hash });
      hash = createHash('sha256').update(hash).update(text).digest();
      expect(event.hash).toBe(`sha256:${hash.toString('hex')}`);
    }
  });

  test('without audit records is verified too, says how many are withheld, and takes no other data away', async () => {
    const withheld = await exported(0, true);
    const administrative = linesOf(whole).filter((line) => /"audit_id":/.test(line)).length;
    expect(administrative).toBeGreaterThan(5);
    expect(verify(whole).withheld).toBe(0);
    expect(verify(withheld)).toMatchObject({
      valid: true,
      events_checked: h.last_seq,
      withheld: administrative,
    });
    expect(withheld.toString()).not.toMatch(/"(email|client_address|session_id|audit_id|state)":/);
    const lines = linesOf(withheld);
    const edited = (place: (line: string) => boolean, change: (line: string) => string) =>
      verify(rewritten(lines.map((line) => (place(line) ? change(line) : line)))).valid;
    const isWithheld = (line: string) => line.endsWith('"withheld":true}');
    const first = lines.findIndex(isWithheld);
    const is = (line: string) => line === lines[first];
    expect(
      edited(is, (line) => line),
      'as it was',
    ).toBe(true);
    expect(edited(is, (line) => line.replace('"data":null', '"data":{}'))).toBe(false);
    expect(edited(is, (line) => line.replace(',"withheld":true', ''))).toBe(false);
    expect(edited(is, (line) => line.replace(/("data_hash":"sha256:)../, '$100'))).toBe(false);
    expect(
      edited(isEvent('decision.created'), (line) =>
        line.replace(/"data":.*/, '"data":null,"withheld":true}'),
      ),
    ).toBe(false);
    const unsaid = (line: string) => line.replace('"version":2,"audit_records":"withheld"', '"version":1');
    expect(
      edited((line) => line.includes('"kind":"header"'), unsaid),
      'a whole export withholds nothing',
    ).toBe(false);
  });

  test('read from a file in pieces gives the same verdict', async () => {
    const file = join(directory, 'whole.jsonl');
    await writeFile(file, whole);
    expect(await verifyLedgerFile(file, [key])).toEqual(verify(whole));
  });

  test('from any event on is verified too', async () => {
    for (const since of [1, h.middle_seq - 1, h.middle_seq, h.last_seq - 1, h.last_seq]) {
      const found = verify(await exported(since));
      expect([since, found.breaks]).toEqual([since, []]);
      expect(found).toMatchObject({
        since,
        events_checked: h.last_seq - since,
        signed_through_seq: h.last_seq,
      });
    }
  });

  test('holds no token, no key and no secret', () => {
    expect(whole.toString()).not.toMatch(/sk_[0-9A-Za-z]{20}|cap_[0-9A-Z]{26}\.[\w-]{43}/);
  });
});

/** Returns true if each line of two exports carries the same value. */
function sayTheSame(one: string, other: string): boolean {
  const parsed = (text: string) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  try {
    return isDeepStrictEqual(parsed(one), parsed(other));
  } catch {
    return false;
  }
}

describe('damage', () => {
  test('of any single bit is always found', () => {
    fc.assert(
      fc.property(fc.nat(whole.length * 8 - 1), (bit) => {
        const damaged = Buffer.from(whole);
        damaged[bit >> 3] = (damaged[bit >> 3] as number) ^ (1 << (bit & 7));
        expect(verify(damaged).valid).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });
  test('of any single bit is found also when the last line was made to fit again', () => {
    const last = whole.lastIndexOf(10, whole.length - 2);
    // When it was exported is the one thing that nothing depends on.
    const exported_at = /"exported_at":"[^"]+"/.exec(whole.toString())?.[0] as string;
    const from = whole.indexOf(exported_at);
    fc.assert(
      fc.property(fc.nat(last * 8 - 1), (bit) => {
        const byte = bit >> 3;
        fc.pre(byte < from || byte >= from + exported_at.length);
        const damaged = Buffer.from(whole);
        damaged[byte] = (damaged[byte] as number) ^ (1 << (bit & 7));
        const text = damaged.toString();
        fc.pre(Buffer.from(text).equals(damaged));
        // Another spelling of the same value is no damage: of a hexadecimal digit, the case.
        fc.pre(!sayTheSame(text, whole.toString()));
        expect(verify(rewritten(linesOf(damaged))).valid).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });
  test('by a cut at any byte is found', () => {
    fc.assert(
      fc.property(fc.nat(whole.length - 1), (length) => {
        expect(verify(whole.subarray(0, length)).valid).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });
  test('by anything added behind is found', () => {
    expect(verify(Buffer.concat([whole, Buffer.from('\n')])).valid).toBe(false);
    expect(verify(Buffer.concat([whole, Buffer.from(' ')])).valid).toBe(false);
    expect(verify(Buffer.concat([whole, whole])).valid).toBe(false);
  });
});

describe('tampering by somebody who knows the format is reported where it is', () => {
  test('an edited amount', () => {
    const line = linesOf(whole).find(isEvent('decision.outcome.recorded')) as string;
    const found = verify(
      changed(
        (each) => each === line,
        (each) => each.replace(/"amount_minor":\d/, '$&1'),
      ),
    );
    expect([found.valid, found.first_break_seq, found.breaks[0]?.kind]).toEqual([
      false,
      seqIn(line),
      'ROW_MISMATCH',
    ]);
  });
  test('an edited document, with its hash left as it was', () => {
    const line = linesOf(whole).find(isEvent('decision.created')) as string;
    const found = verify(
      changed(
        (each) => each === line,
        (each) => each.replace('A server for staging', 'A yacht'),
      ),
    );
    expect([found.first_break_seq, found.breaks[0]?.kind]).toEqual([seqIn(line), 'ROW_MISMATCH']);
  });
  test('an event left out, two that changed places, and one said twice', () => {
    const lines = linesOf(whole);
    const at = lines.findIndex(isEvent('decision.created'));
    const seq = seqIn(lines[at] as string);
    const out = verify(rewritten(lines.filter((_line, i) => i !== at)));
    expect([out.first_break_seq, out.breaks[0]?.kind]).toEqual([seq, 'GAP']);
    const swapped = [...lines];
    [swapped[at], swapped[at + 1]] = [lines[at + 1] as string, lines[at] as string];
    expect(verify(rewritten(swapped)).first_break_seq).toBe(seq);
    expect(verify(rewritten([...lines.slice(0, at), lines[at] as string, ...lines.slice(at)])).valid).toBe(
      false,
    );
  });
  test('a cut tail, with a header that fits', () => {
    const lines = linesOf(whole);
    const events = lines.filter((line) => line.startsWith('{"kind":"event"'));
    const kept = JSON.parse(events[h.last_seq - 4] as string).event;
    const header = JSON.parse(lines[0] as string);
    header.head = { seq: kept.seq, hash: kept.hash };
    const rest = lines.filter((line) => !line.startsWith('{"kind":"event"') || seqIn(line) <= kept.seq);
    const found = verify(rewritten([JSON.stringify(header), ...rest.slice(1)]));
    expect([found.valid, found.first_break_seq, found.breaks[0]?.kind]).toEqual([
      false,
      kept.seq + 1,
      'TRUNCATED',
    ]);
  });
  test('a chain written anew from some event on, with correct hashes', () => {
    let previous: Buffer | null = null;
    const lines = linesOf(whole).map((line) => {
      const parsed = JSON.parse(line);
      if (parsed.kind !== 'event') return line;
      const { event, data } = parsed;
      if (event.seq === h.last_seq - 3) data.edited = true;
      if (data !== null)
        event.data_hash = `sha256:${createHash('sha256').update(canonicalJson(data)).digest('hex')}`;
      if (previous !== null) event.prev_hash = `sha256:${previous.toString('hex')}`;
      const { seq, id, type, subject, occurred_at, data_hash } = event;
      previous = createHash('sha256')
        .update(Buffer.from(event.prev_hash.slice(7), 'hex'))
        .update(canonicalJson({ seq, id, type, subject, occurred_at, data_hash }))
        .digest();
      event.hash = `sha256:${previous.toString('hex')}`;
      return JSON.stringify(parsed);
    });
    const header = JSON.parse(lines[0] as string);
    header.head.hash = `sha256:${(previous as unknown as Buffer).toString('hex')}`;
    const found = verify(rewritten([JSON.stringify(header), ...lines.slice(1)]));
    expect(found.valid).toBe(false);
    expect(found.breaks.every((each) => each.kind === 'ENTRY_ALTERED')).toBe(true);
    const signed = header.checkpoints.find((seq: number) => seq >= h.last_seq - 3);
    expect(found.first_break_seq).toBe(signed);
  });
  test("another key's signature, another workspace's history, and none at all", () => {
    const other = deriveSecrets(Buffer.alloc(32, 9)).checkpointKey;
    expect(verify(whole, other)).toMatchObject({ valid: false, signed_through_seq: null });
    const elsewhere = verify(
      changed(
        (line) => line.startsWith('{"kind":"header"'),
        (line) => line.replace(h.workspace_id, `ws_${'0'.repeat(26)}`),
      ),
    );
    expect(elsewhere).toMatchObject({ valid: false, signed_through_seq: null });
    const lines = linesOf(whole).filter((line) => !line.startsWith('{"kind":"checkpoint"'));
    const header = JSON.parse(lines[0] as string);
    const unsigned = verify(rewritten([JSON.stringify({ ...header, checkpoints: [] }), ...lines.slice(1)]));
    expect(unsigned).toMatchObject({ valid: false, signed_through_seq: null });
  });
  test('text that is no export at all', () => {
    for (const text of ['', '\n', '{}\n', 'null\n', '[]\n[]\n', '{"kind":"event"}\n', '\xff\n']) {
      expect(verify(Buffer.from(text, 'latin1')).valid).toBe(false);
    }
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (values) => {
        const text = values.map((value) => `${JSON.stringify(value)}\n`).join('');
        expect(verify(Buffer.from(text)).valid).toBe(false);
      }),
    );
  });
});
