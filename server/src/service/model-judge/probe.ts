import type { Authority } from '@purser/contract/authority';
import type { SpendRequest } from '@purser/contract/decisions';
import type { PurposeAssessment } from '@purser/rules/domain/assessment';
import type { ModelAnswer, ModelClient } from './model-client.ts';
import { promptFor, seenByModel } from './prompt.ts';
import type { Form } from './protocols.ts';
import { readOpinion } from './read-opinion.ts';

/** A spend of which nobody doubts what to say. */
const KNOWN_AUTHORITY: Authority = {
  purpose: {
    objective: 'Keep the staging servers running: hosting and backup storage.',
    constraints: ['No toys and no games.'],
  },
  currency: 'EUR',
};
const KNOWN_SPEND: SpendRequest = {
  action: {
    type: 'purchase',
    merchant: 'Toy World',
    amount_minor: 4_990,
    currency: 'EUR',
    description: 'A board game for the children',
  },
};
const KNOWN_ANSWER: PurposeAssessment = 'PURPOSE_MISALIGNED';

/** The result of the probe. */
export type ProbeResult =
  | { kind: 'works'; form: Form; is_right: boolean; duration_ms: number }
  | { kind: 'fails'; answer: ModelAnswer };

export interface ProbeOptions {
  client: ModelClient;
  model: string;
  parameters: Readonly<Record<string, unknown>>;
  timeout_ms: number;
  newNonce: () => string;
  now_ms: () => number;
}

/** Options of the probe at the start. */
export interface ProbingOptions extends ProbeOptions {
  log: Parameters<typeof logProbe>[2];
  /** True: waits for a model that is still starting, and times a warm call. */
  is_patient: boolean;
  /** Resolves after `wait_ms`. */
  wait: (wait_ms: number) => Promise<void>;
}

/** Statuses by which endpoints refuse the form of a question. */
const FORM_REFUSED = new Set([400, 415, 422, 501]);

/** True for an answer without an opinion that may have one in another form. */
export function mayBeOfForm(answer: ModelAnswer): boolean {
  if (answer.kind === 'http_error') return FORM_REFUSED.has(answer.status);
  return answer.kind === 'answered' || answer.kind === 'not_understood';
}

/**
 * Asks about a known spend in each of the protocol's forms until one is answered so that it can be read. Ends at the
 * first failure that no other form would mend. Never rejects.
 */
export async function probe(options: ProbeOptions): Promise<ProbeResult> {
  const { client, model, parameters, now_ms } = options;
  const seen = seenByModel(KNOWN_AUTHORITY, KNOWN_SPEND);
  let last: ModelAnswer = { kind: 'stopping' };
  for (const form of client.protocol.forms) {
    const nonce = options.newNonce();
    const prompt = promptFor(seen, { examples: [], nonce, examples_code: nonce });
    const from_ms = now_ms();
    last = await client.ask({ prompt, model, parameters, form }, options.timeout_ms);
    const opinion = last.kind === 'answered' ? readOpinion(last.content, seen) : null;
    if (opinion !== null) {
      const is_right = opinion.assessment === KNOWN_ANSWER;
      return { kind: 'works', form, is_right, duration_ms: Math.round(now_ms() - from_ms) };
    }
    if (!mayBeOfForm(last)) break;
  }
  return { kind: 'fails', answer: last.kind === 'answered' ? { kind: 'not_understood', usage: null } : last };
}

/** The status of an HTTP error, and the endpoint's own message where it sent one. */
export const httpDetails = (answer: ModelAnswer): { status?: number; endpoint_says?: string } =>
  answer.kind !== 'http_error'
    ? {}
    : {
        status: answer.status,
        ...(answer.message === undefined ? {} : { endpoint_says: answer.message }),
      };

/** After a probe without an opinion the next one begins at the earliest after this time. */
const AGAIN_MS = 30_000;
/** A model that is loaded from disk may take this long until its first answer. */
const COLD_START_MS = 180_000;
const COLD_PAUSE_MS = 1_000;

/** The forms that the endpoint is known to accept. */
export interface Probing {
  /** The form to ask in; the best of the protocol's until the probe found out. */
  form(): Form;
  /** Returns how long a warm call takes, ms; null while that is not known. */
  warmMs(): number | null;
  /** Resolves when the first probe has ended, and a warm call was timed where that is asked for. */
  first: Promise<void>;
  /** Notes that a spend got no opinion in a way that another form may mend. While no form is known it is probed for. */
  noteRefused(): void;
}

/** True for a failure of an endpoint whose model may still be starting. */
const mayBeStarting = (answer: ModelAnswer): boolean =>
  answer.kind === 'timeout' ||
  answer.kind === 'unreachable' ||
  (answer.kind === 'http_error' && (answer.status >= 500 || answer.status === 429));

/** Probes at once, and again only when `noteRefused` gives reason to. Logs each result that differs from the last. */
export function startProbing(options: ProbingOptions): Probing {
  const { client, model, log, now_ms, is_patient, wait } = options;
  let form = client.protocol.forms[0] as Form;
  let warm_ms: number | null = null;
  let is_known = false;
  let is_under_way = false;
  let again_ms = 0;
  let logged: string | undefined;

  function note(result: ProbeResult): void {
    const kind = result.kind === 'works' ? 'works' : result.answer.kind;
    if (kind !== logged && kind !== 'stopping')
      logProbe(result, { model, protocol: client.protocol.name }, log);
    logged = kind;
    if (result.kind === 'fails') return;
    form = result.form;
    is_known = true;
  }

  /** Probes until the model has started. */
  async function probeStarting(): Promise<ProbeResult> {
    const until_ms = now_ms() + COLD_START_MS;
    for (;;) {
      const result = await probe({ ...options, timeout_ms: Math.max(1, until_ms - now_ms()) });
      const is_over = result.kind === 'works' || !mayBeStarting(result.answer) || now_ms() >= until_ms;
      if (is_over) return result;
      note(result);
      await wait(COLD_PAUSE_MS);
    }
  }

  async function round(): Promise<void> {
    is_under_way = true;
    const result = is_patient ? await probeStarting() : await probe(options);
    note(result);
    if (is_patient && result.kind === 'works') {
      const warm = await probe({ ...options, timeout_ms: COLD_START_MS });
      if (warm.kind === 'works') {
        warm_ms = warm.duration_ms;
        log.info({ model, warm_ms }, 'a warm call to the purpose model was timed');
      }
    }
    is_under_way = false;
    again_ms = now_ms() + AGAIN_MS;
  }
  return {
    form: () => form,
    warmMs: () => warm_ms,
    first: round(),
    noteRefused() {
      if (!is_known && !is_under_way && now_ms() >= again_ms) void round();
    },
  };
}

/** Says in one line whether the judge works. */
function logProbe(
  result: ProbeResult,
  { model, protocol }: { model: string; protocol: string },
  log: { info(details: object, message: string): void; warn(details: object, message: string): void },
): void {
  if (result.kind === 'works') {
    const { form, duration_ms, is_right } = result;
    const details = { model, protocol, ...form, duration_ms };
    if (is_right) log.info(details, 'the purpose model works: it answered a known case correctly');
    else log.warn(details, 'the purpose model responds, but was wrong about a clearly misaligned spend');
    return;
  }
  const { answer } = result;
  log.warn(
    { model, protocol, outcome: answer.kind, ...httpDetails(answer) },
    'the purpose model does not work: it gave no opinion on a known case',
  );
}
