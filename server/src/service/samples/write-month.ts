import { type Habit, SAMPLE_AGENTS, SAMPLE_BUDGET, type SampleAgent } from './agents.ts';

/** Calls a route of the service as the holder of the key. Throws for any answer but a good one. */
export type CallSample = (
  key: string,
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  body?: object,
  headers?: Record<string, string>,
  // biome-ignore lint/suspicious/noExplicitAny: an answer of any route.
) => Promise<any>;

export interface MonthOptions {
  call: CallSample;
  admin_key: string;
  /** Sets the clock by which the calls happen, ms since 1970. It never goes back. */
  setClock: (at_ms: number) => Promise<void>;
  /** Releases the holds of an agent that have expired by that clock. */
  expire: (agent_id: string) => Promise<void>;
  /** The end of the month that is written, ms since 1970: now. */
  end_ms: number;
  /** False where the plan has no Enforce. */
  may_enforce: boolean;
  /** The most agents that the plan has room for. */
  max_agents: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** The first day of the sample, before its end. */
const DAYS = 28;
/** Requests that need a review are left pending for the reader if they are younger than this. */
const PENDING_MS = 20 * HOUR_MS;
/** Nothing happens in the last minutes, so that nothing is dated later than its reader's clock. */
const QUIET_MS = 2 * MINUTE_MS;
const SEED = 20_261;

/** The people of the sample. They review and label with keys, and have no accounts. */
const PEOPLE = [
  { name: 'Maya Lind', principal_id: 'user:maya-lind' },
  { name: 'Jonas Weber', principal_id: 'user:jonas-weber' },
] as const;

/** Something that happens at a time, ms since 1970. */
interface Happening {
  at_ms: number;
  run: () => Promise<void>;
}

/** Numbers from 0 up to 1 that are the same in every sample (mulberry32). */
function makeDice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Writes four weeks of decisions with their reviews, labels and outcomes into an empty workspace, through the service's own
 * routes in the order of time. The same sample every time, but for its dates.
 */
export async function writeMonth(options: MonthOptions): Promise<void> {
  await new Month(options).write();
}

class Month {
  readonly #options: MonthOptions;
  readonly #roll = makeDice(SEED);
  /** The happenings that are still to come, in the order of time. */
  readonly #ahead: Happening[] = [];
  #enforced_reviews = 0;
  #keys: { rail: string; people: string[] } = { rail: '', people: [] };

  constructor(options: MonthOptions) {
    this.#options = options;
  }

  async write(): Promise<void> {
    const { call, admin_key, end_ms, setClock, max_agents } = this.#options;
    await setClock(end_ms - DAYS * DAY_MS);
    this.#keys = await this.#makeKeys();
    await call(admin_key, 'POST', '/v1/budgets', SAMPLE_BUDGET);
    for (const agent of SAMPLE_AGENTS.slice(0, max_agents)) await this.#addAgent(agent);
    for (;;) {
      const next = this.#ahead.shift();
      if (next === undefined || next.at_ms > end_ms - QUIET_MS) break;
      await setClock(next.at_ms);
      await next.run();
    }
    await setClock(end_ms);
  }

  async #makeKeys() {
    const people: string[] = [];
    for (const person of PEOPLE) people.push(await this.#key({ ...person, scopes: ['review', 'read'] }));
    return { people, rail: await this.#key({ name: 'Card processor', scopes: ['consume'] }) };
  }

  async #key(body: object): Promise<string> {
    const { call, admin_key } = this.#options;
    return (await call(admin_key, 'POST', '/v1/api-keys', body)).key;
  }

  async #addAgent(sample: SampleAgent): Promise<void> {
    const { call, admin_key, end_ms, may_enforce, expire } = this.#options;
    const { slug, name, authority } = sample;
    const { id } = await call(admin_key, 'POST', '/v1/agents', { slug, name, authority });
    const key = await this.#key({ name: `${slug} 1`, agent_id: id });
    for (let day = DAYS - 1; day >= 0; day--) {
      const midnight_ms = Math.floor((end_ms - day * DAY_MS) / DAY_MS) * DAY_MS;
      const is_working = ![0, 6].includes(new Date(midnight_ms).getUTCDay());
      const count = Math.round(sample.a_day * (is_working ? 0.6 + 0.8 * this.#roll() : 0.3 * this.#roll()));
      for (let i = 0; i < count; i++)
        this.#plan(midnight_ms + (7 + 11 * this.#roll()) * HOUR_MS, () => this.#ask(sample, key));
    }
    for (const [hours, habit] of sample.left)
      this.#plan(end_ms - hours * HOUR_MS, () => this.#ask(sample, key, habit));
    if (sample.enforced_from === null || !may_enforce) return;
    this.#plan(end_ms - sample.enforced_from * DAY_MS, () =>
      call(admin_key, 'PATCH', `/v1/agents/${id}`, { mode: 'ENFORCE' }),
    );
    for (let day = sample.enforced_from - 1; day > 0; day--)
      this.#plan(end_ms - day * DAY_MS, () => expire(id));
  }

  #plan(at_ms: number, run: () => Promise<void>): void {
    const later = this.#ahead.findIndex((each) => each.at_ms > at_ms);
    this.#ahead.splice(later < 0 ? this.#ahead.length : later, 0, { at_ms, run });
  }

  #pick(habits: readonly Habit[]): Habit {
    let left = this.#roll() * habits.reduce((sum, { weight }) => sum + weight, 0);
    for (const habit of habits) {
      left -= habit.weight;
      if (left < 0) return habit;
    }
    return habits[0] as Habit;
  }

  /** One request of an agent, and what follows from its decision. */
  async #ask({ authority, habits }: SampleAgent, key: string, left: Habit | null = null): Promise<void> {
    const habit = left ?? this.#pick(habits);
    const { merchant, description, from_minor, to_minor } = habit;
    // People see such prices: to ten cents.
    const amount_minor = Math.round((from_minor + (to_minor - from_minor) * this.#roll()) / 10) * 10;
    const action = { type: 'purchase', merchant, description, amount_minor, currency: authority.currency };
    const order = `ord-${Math.floor(this.#roll() * 1e9)}`;
    const decision = await this.#options.call(
      key,
      'POST',
      '/v1/decisions',
      { action, context: { order } },
      { 'idempotency-key': order },
    );
    const at_ms = Date.parse(decision.created_at);
    const soon_ms = at_ms + (1 + 8 * this.#roll()) * MINUTE_MS;
    if (decision.decision === 'REVIEW' && left === null) this.#planReview(decision, habit, key, at_ms);
    if (this.#roll() < 0.3) this.#planLabel(decision, habit, at_ms);
    if (decision.effective_decision === 'ALLOW')
      this.#plan(soon_ms, () => this.#pay(decision, key, amount_minor));
  }

  /** Pays, and reports what became of it: the rail in Enforce, the agent itself in Shadow. */
  async #pay(
    decision: { decision_id: string; mode: string; currency: string; capability?: { token: string } | null },
    key: string,
    asked_minor: number,
  ): Promise<void> {
    const { call } = this.#options;
    const { decision_id, mode, capability, currency } = decision;
    const external_reference = `pi_${decision_id.slice(-12).toLowerCase()}`;
    const is_failed = this.#roll() < 0.03;
    const path = `/v1/decisions/${decision_id}/outcomes`;
    if (mode === 'SHADOW' || capability == null) {
      await call(key, 'POST', path, {
        type: is_failed ? 'SPEND_FAILED' : 'SPEND_EXECUTED',
        ...(is_failed ? {} : { amount_minor: asked_minor }),
        external_reference,
      });
      return;
    }
    const { rail } = this.#keys;
    const body = { token: capability.token, amount_minor: asked_minor, currency, external_reference };
    await call(rail, 'POST', '/v1/capabilities/consume', body, { 'idempotency-key': external_reference });
    const report = {
      type: 'SPEND_EXECUTED',
      amount_minor: asked_minor,
      source: 'PAYMENT_RAIL',
      external_reference,
    };
    await call(rail, 'POST', path, report);
    if (this.#roll() < 0.04)
      await call(rail, 'POST', path, {
        ...report,
        type: 'PARTIALLY_REFUNDED',
        amount_minor: Math.ceil(asked_minor / 4),
        external_reference: `re_${external_reference}`,
      });
  }

  #planReview(
    {
      decision_id,
      mode,
      requested_amount_minor,
    }: { decision_id: string; mode: string; requested_amount_minor: number },
    { fits }: Habit,
    key: string,
    at_ms: number,
  ): void {
    const { call, end_ms } = this.#options;
    if (at_ms > end_ms - PENDING_MS) return;
    // Nobody looks at every third in time.
    if (mode === 'ENFORCE' && this.#enforced_reviews++ % 3 === 2) return;
    const reviewer = this.#keys.people[this.#roll() < 0.6 ? 0 : 1] as string;
    const action = fits ? 'ALLOW' : 'DENY';
    const reason_code = fits ? 'WITHIN_PURPOSE' : 'NOT_THE_PURPOSE';
    const wait_ms = (4 + 200 * this.#roll() ** 3) * MINUTE_MS;
    this.#plan(at_ms + wait_ms, async () => {
      await call(reviewer, 'POST', `/v1/decisions/${decision_id}/reviews`, { action, reason_code });
      if (mode === 'SHADOW' || !fits) return;
      const allowed = await call(key, 'GET', `/v1/decisions/${decision_id}`);
      await this.#pay(allowed, key, requested_amount_minor);
    });
  }

  #planLabel({ decision_id }: { decision_id: string }, { fits }: Habit, at_ms: number): void {
    const { call } = this.#options;
    const person = this.#keys.people[this.#roll() < 0.5 ? 0 : 1] as string;
    const label = fits ? 'PURPOSE_ALIGNED' : 'PURPOSE_MISALIGNED';
    this.#plan(at_ms + (0.5 + 30 * this.#roll()) * HOUR_MS, () =>
      call(person, 'POST', `/v1/decisions/${decision_id}/labels`, { label }),
    );
  }
}
