/** Lines of an agent that was never asked: regular merchants, subscriptions, some that are paid once, and seeded anomalies. */
export interface MadeLine {
  merchant: string;
  amount_minor: number;
  currency: string;
  occurred_at: string;
  external_reference: string;
  instrument: string;
  payee_id?: string;
  description?: string;
}

/** An anomaly that was put into the lines, by the references of its lines. */
export interface SeededAnomaly {
  kind: string;
  references: string[];
}

const DAY_MS = 86_400_000;
const BEGIN_MS = Date.UTC(2025, 10, 3);
const DAYS = 364;
const REGULAR = [
  ['Hetzner Online', 4_000],
  ['DigitalOcean', 2_500],
  ['Cloudflare', 1_500],
  ['OVH Cloud', 3_500],
  ['Scaleway', 1_800],
  ['Contabo', 900],
  ['Netcup', 1_200],
  ['Linode', 2_200],
] as const;
const SUBSCRIBED = [
  ['Sentry', 2_600],
  ['Datadog', 7_500],
  ['GitHub', 2_100],
] as const;

/** A source of numbers from 0 to 1 that is the same for a seed. */
function randomBy(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Makes a year of lines, `lines` of them without the seeded anomalies; the same for the same options. */
export function makeHistory(options: { seed: number; lines: number; anomalies?: number }): {
  lines: MadeLine[];
  seeded: SeededAnomaly[];
} {
  const { seed, lines: count, anomalies = 0 } = options;
  const random = randomBy(seed);
  const lines: MadeLine[] = [];
  const seeded: SeededAnomaly[] = [];
  const add = (merchant: string, amount: number, at_ms: number, more: Partial<MadeLine> = {}) => {
    const external_reference = `s${seed}-${lines.length}`;
    const occurred_at = new Date(Math.floor(at_ms / 1000) * 1000).toISOString();
    lines.push({
      merchant,
      amount_minor: Math.max(100, Math.round(amount)),
      currency: 'EUR',
      occurred_at,
      external_reference,
      instrument: 'card:1',
      ...more,
    });
    return external_reference;
  };
  /** A moment of a day in the hours of work. */
  const within = (day: number) => BEGIN_MS + day * DAY_MS + (8 + random() * 9) * 3_600_000;
  for (const [name, price] of SUBSCRIBED) {
    for (let month = 0; month < 12; month++) add(name, price, within(month * 30));
  }
  const once = Math.floor(count / 150);
  for (let i = 0; i < once; i++)
    add(`Parts Shop ${i + 1}`, 800 + random() * 1_500, within(Math.floor(random() * DAYS)));
  while (lines.length < count) {
    const [name, price] = REGULAR[Math.floor(random() ** 1.5 * REGULAR.length)] as (typeof REGULAR)[number];
    add(
      name,
      price * (0.5 + random() * 1.2) * (random() < 0.01 ? 2 : 1),
      within(Math.floor(random() * DAYS)),
    );
  }
  for (let i = 0; i < anomalies; i++) {
    const day = 40 + i * 50;
    const seededBy = (kind: string, references: string[]) => seeded.push({ kind, references });
    const twice = [0, 30].map((hours) => add('Twice Charged', 7_777 + i, within(day) + hours * 3_600_000));
    seededBy('DUPLICATE', twice);
    const parts = [0, 1, 2].map((hour) =>
      add(`Split Supplies ${i}`, 60_000 + i * 7 + hour * 11, within(day) + hour * 600_000),
    );
    seededBy('SPLIT', parts);
    for (let n = 0; n < 3; n++)
      add(`Freelancer ${i}`, 20_000 + n * 4_321, within(day + n * 8), { payee_id: `iban:DE0${i}` });
    const changed = add(`Freelancer ${i}`, 31_000, within(day + 30), { payee_id: `iban:GB0${i}` });
    seededBy('PAYEE_CHANGED', [changed]);
    for (let n = 0; n < 4; n++) add(`Hosting Plan ${i}`, 5_000 + n * 20, within(day + n * 10));
    seededBy('PRICE_JUMP', [add(`Hosting Plan ${i}`, 6_900, within(day + 41))]);
    for (let n = 0; n < 3; n++) add(`Old Vendor ${i}`, 1_000 + n * 777, within(day + n * 5));
    seededBy('DORMANT', [add(`Old Vendor ${i}`, 2_500, within(day + 115))]);
  }
  return { lines, seeded };
}
