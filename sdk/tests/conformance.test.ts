import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { APIError, type Grant, PaymentFailed, Purser, type SpendRequest } from '../src/index.ts';

// Every language's client runs this file: what it says of the wire and of the caller holds for each of them.
const FILE = process.env.SPEND_SCENARIOS ?? new URL('../../conformance/spend.json', import.meta.url);

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

interface Line {
  by: 'agent' | 'adapter';
  method: string;
  path: string;
  /** Least and most milliseconds since the line before. */
  after_ms?: [number, number];
  headers?: Record<string, string>;
  body?: Json;
  lost?: 'request' | 'answer';
  answer?: { status: number; headers?: Record<string, string>; body?: Json; text?: string };
}

type Given = string | { gives: Json };

interface Step {
  returns?: Json;
  raises?: 'PaymentFailed' | 'Error';
}

interface CallLine {
  do?: 'spend' | 'authorize';
  request: SpendRequest;
  options?: {
    adapter?: boolean;
    waitForReview?: number;
    paymentIsIdempotent?: boolean;
    onUnavailable?: Given;
    isDefiniteFailure?: Given;
  };
  pay?: Step[];
  ends: { error?: string; code?: string; [field: string]: Json | undefined };
  unreported?: number;
  paid?: Record<string, Json>[];
}

interface Scenario {
  name: string;
  max_retries?: number;
  calls: CallLine[];
  wire: Line[];
}

const { version, scenarios }: { version: number; scenarios: Scenario[] } = JSON.parse(
  readFileSync(FILE, 'utf8'),
);

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The names of a scenario: each is bound where it is first sent. */
class Names {
  readonly #bound = new Map<string, string>();

  /** Returns true if the text is what is wanted, and binds the names in it. */
  matches(wanted: string, text: string): boolean {
    const fresh: string[] = [];
    const pattern = wanted.split(/(\$[a-z]\w*)/).map((part) => {
      if (!/^\$[a-z]/.test(part)) return escaped(part);
      const bound = this.#bound.get(part);
      if (bound !== undefined) return escaped(bound);
      if (fresh.includes(part)) return `\\${fresh.indexOf(part) + 1}`;
      fresh.push(part);
      return '(.+)';
    });
    const found = new RegExp(`^${pattern.join('')}$`, 's').exec(text);
    if (found === null) return false;
    fresh.forEach((name, index) => {
      this.#bound.set(name, found[index + 1] as string);
    });
    return true;
  }

  matchesJson(wanted: Json | undefined, given: Json | undefined): boolean {
    if (typeof wanted === 'string') return typeof given === 'string' && this.matches(wanted, given);
    if (typeof wanted !== 'object' || wanted === null || typeof given !== 'object' || given === null)
      return wanted === given;
    if (Array.isArray(wanted) !== Array.isArray(given)) return false;
    const names = Object.keys(wanted);
    return (
      names.length === Object.keys(given).length &&
      names.every((name) => Object.hasOwn(given, name) && this.matchesJson(at(wanted, name), at(given, name)))
    );
  }

  /** The text with every bound name filled in. */
  fill(text: string): string {
    return text.replace(/\$[a-z]\w*/g, (name) => this.#bound.get(name) ?? name);
  }
}

const at = (value: object, name: string) => (value as Record<string, Json>)[name];

/** Plays the service: answers each request with the next line, and keeps what did not fit. */
class ScriptedService {
  readonly problems: string[] = [];
  readonly #names = new Names();
  readonly #lines: Line[];
  #next = 0;
  #last_ms = performance.now();

  constructor(lines: Line[]) {
    this.#lines = lines;
  }

  get unused(): number {
    return this.#lines.length - this.#next;
  }

  async answer(by: Line['by'], url: string, init: RequestInit): Promise<Response> {
    const { pathname, search } = new URL(url);
    const what = `line ${this.#next + 1}, ${by} ${init.method} ${pathname}${search}`;
    const line = this.#lines[this.#next++];
    if (line === undefined) {
      this.problems.push(`${what}: nothing was to be sent`);
      throw new TypeError('not in the scenario');
    }
    const problem = (part: string, given: unknown) =>
      this.problems.push(`${what}: ${part} is ${JSON.stringify(given)}`);
    const headers = new Headers(init.headers);
    const body = init.body === undefined ? undefined : JSON.parse(init.body as string);
    if (line.by !== by || headers.get('x-api-key') !== `sk_${by}`) problem('by', by);
    if (line.method !== init.method) problem('method', init.method);
    if (!this.#names.matches(line.path, `${pathname}${search}`)) problem('path', `${pathname}${search}`);
    for (const [name, wanted] of Object.entries(line.headers ?? {})) {
      const given = headers.get(name);
      if (given === null || !this.#names.matches(wanted, given)) problem(name, given);
    }
    if (line.body !== undefined && !this.#names.matchesJson(line.body, body)) problem('body', body);
    const passed_ms = performance.now() - this.#last_ms;
    const [least, most] = line.after_ms ?? [0, Number.POSITIVE_INFINITY];
    // Fake clocks count in whole milliseconds.
    if (passed_ms < least - 1 || passed_ms > most + 1) problem('after_ms', passed_ms);
    this.#last_ms = performance.now();
    if (line.lost !== undefined || line.answer === undefined) throw new TypeError(`${line.lost} lost`);
    const { status, headers: given = {}, body: sent = null, text } = line.answer;
    const filled = Object.entries(given).map(([name, value]) => [name, this.#names.fill(value)] as const);
    const content = text ?? this.#names.fill(JSON.stringify(sent));
    return new Response(status === 204 ? null : content, { status, headers: Object.fromEntries(filled) });
  }
}

const functionOf = (given: Given) => (typeof given === 'string' ? given : () => given.gives);

/** Makes one call and compares how it ends with what is wanted. */
async function make(call: CallLine, purser: Purser, adapter: Purser, problem: (text: string) => void) {
  const { adapter: with_adapter, onUnavailable, isDefiniteFailure, ...plain } = call.options ?? {};
  const paid: Grant[] = [];
  let unreported = 0;
  const pay = async (grant: Grant) => {
    const step = call.pay?.[paid.length];
    paid.push(grant);
    if (step === undefined) problem('pay ran once more');
    if (step?.raises === 'PaymentFailed') throw new PaymentFailed('declined');
    if (step?.raises !== undefined) throw new Error('broken');
    return step?.returns as object;
  };
  const options = {
    ...plain,
    ...(onUnavailable === undefined ? {} : { onUnavailable: functionOf(onUnavailable) as never }),
  };
  const spending = {
    ...options,
    ...(with_adapter === true ? { adapter } : {}),
    ...(isDefiniteFailure === undefined ? {} : { isDefiniteFailure: functionOf(isDefiniteFailure) as never }),
    onUnreported: () => {
      unreported += 1;
    },
  };
  const ended = await (call.do === 'authorize'
    ? purser.authorize(call.request, options)
    : purser.spend(call.request, pay, spending)
  ).catch((error: Error) => ({
    error: error.name,
    ...(error instanceof APIError ? { code: error.code } : {}),
  }));
  for (const [name, wanted] of Object.entries(call.ends)) {
    const given = (ended as unknown as Record<string, Json>)[name];
    if (given !== wanted) problem(`it ends with ${name} ${JSON.stringify(given)}, not ${wanted}`);
  }
  if (call.ends.error === undefined && 'error' in ended) problem(`it ends with ${ended.error}`);
  if (call.unreported !== undefined && call.unreported !== unreported) problem(`${unreported} unreported`);
  if (call.paid === undefined) return;
  const grants = paid.map(({ amount_minor, currency, paymentKey: payment_key }) => ({
    amount_minor,
    currency,
    payment_key,
  }));
  const fits = call.paid.every((each, index) =>
    Object.entries(each).every(([name, value]) => (grants[index] as never)?.[name] === value),
  );
  if (grants.length !== call.paid.length || !fits) problem(`paid ${JSON.stringify(grants)}`);
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test(`the file has scenarios of a version that this runner reads`, () => {
  expect(version).toBe(1);
  expect(scenarios.length).toBeGreaterThanOrEqual(process.env.SPEND_SCENARIOS === undefined ? 60 : 1);
});

/** Plays a scenario at an address of its own, since what a process remembers it remembers by the address. */
async function problemsOf(scenario: Scenario, address: string): Promise<string[]> {
  const { calls, wire, max_retries: maxRetries = 2 } = scenario;
  const service = new ScriptedService(wire);
  const client = (by: Line['by']) =>
    new Purser({
      apiKey: `sk_${by}`,
      baseURL: `http://${address}.localhost`,
      maxRetries,
      fetch: ((url: string, init: RequestInit) => service.answer(by, url, init)) as never,
    });
  const [purser, adapter] = [client('agent'), client('adapter')];
  let is_over = false;
  const all = (async () => {
    for (const [number, call] of calls.entries())
      await make(call, purser, adapter, (text) => service.problems.push(`call ${number + 1}: ${text}`));
  })().finally(() => {
    is_over = true;
  });
  while (!is_over) await vi.advanceTimersToNextTimerAsync();
  await all;
  const unused = service.unused === 0 ? [] : [`${service.unused} lines unused`];
  return [...service.problems, ...unused];
}

test.each(scenarios.map((each, index) => [each.name, index, each] as const))(
  '%s',
  async (_name, index, scenario) => {
    expect(await problemsOf(scenario, `s${index}`)).toEqual([]);
  },
);

/** Each changes what the first scenario expects: who runs the file has to find it. */
const CHANGES: [string, (scenario: Scenario, call: CallLine, line: Line) => unknown][] = [
  ['how it ends', (_, call) => Object.assign(call.ends, { status: 'already_paid' })],
  ['that it ends with an error', (_, call) => Object.assign(call, { ends: { error: 'SpendDenied' } })],
  ['what is paid', (_, { paid }) => Object.assign(paid?.[0] as object, { amount_minor: 1 })],
  ['how often it is paid', (_, { paid }) => paid?.pop()],
  ['how many reports fail', (_, call) => Object.assign(call, { unreported: 1 })],
  ['who sends', (_s, _c, line) => Object.assign(line, { by: 'adapter' })],
  ['the method', (_s, _c, line) => Object.assign(line, { method: 'PUT' })],
  ['the path', (_s, _c, line) => Object.assign(line, { path: '/v1/decisions?a=b' })],
  ['a header', (_s, _c, line) => Object.assign(line.headers as object, { 'idempotency-key': 'order-2' })],
  ['the body', (_s, _c, line) => Object.assign(line.body as object, { limitable: true })],
  ['when it is sent', (_s, _c, line) => Object.assign(line, { after_ms: [1_000, 2_000] })],
  ['a line more', ({ wire }) => wire.push(wire[0] as Line)],
  ['a line less', ({ wire }) => wire.pop()],
];

test.skipIf(process.env.SPEND_SCENARIOS !== undefined).each(CHANGES)(
  'a scenario that differs in %s does not hold',
  async (what, change) => {
    const changed = structuredClone(scenarios[0] as Scenario);
    change(changed, changed.calls[0] as CallLine, changed.wire[0] as Line);
    expect(await problemsOf(changed, `changed-${what.replaceAll(' ', '-')}`)).not.toEqual([]);
  },
);
