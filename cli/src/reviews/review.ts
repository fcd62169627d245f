import { createInterface } from 'node:readline';
import {
  APIError,
  type Budget,
  type NewStandingApproval,
  type Purser,
  type RecordedReview,
  type Sheet,
} from '@purser/sdk';
import { amountOf } from '../amount.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, told } from '../failure.ts';
import { pause } from '../follow.ts';
import { sheetLines } from './sheet.ts';

const WATCH_MS = 5_000;
const DAY_MS = 86_400_000;
const STANDING_DAYS = 90;
const DEFAULT_REASONS = { ALLOW: 'REVIEWED_OK', DENY: 'REVIEWED_NOT_OK' } as const;
type Action = keyof typeof DEFAULT_REASONS;

export interface ReviewOptions {
  watch?: boolean;
  allow?: boolean;
  deny?: boolean;
  /** Allows it, and lists the merchant as allowed. */
  always?: boolean;
  /** Denies it, and lists the merchant as blocked. */
  never?: boolean;
  /** Allows it, and answers later requests like it up to this amount, in major units, in each period. */
  upTo?: string;
  period?: Budget['period'];
  /** When the standing approval ends, in ISO 8601. */
  until?: string;
  reason?: string;
  comment?: string;
  json?: boolean;
}

/** Reviews one decision, or walks through those that wait. */
export async function review(
  context: Context,
  decision_id: string | undefined,
  options: ReviewOptions,
): Promise<number> {
  const client = await context.client();
  const { allow, deny, always, never, upTo, reason, comment, json } = options;
  if (upTo === undefined && (options.period !== undefined || options.until !== undefined))
    throw new CommandError('--period and --until go with --up-to.');
  if (upTo !== undefined && decision_id === undefined)
    throw new CommandError('--up-to needs the id of a decision.');
  if (decision_id !== undefined) {
    const sheet = await client.decisions.sheet(decision_id);
    if (!allow && !deny && !always && !never && upTo === undefined) {
      if (json) context.json(sheet);
      else context.say(...sheetLines(sheet));
      return EXIT.ok;
    }
    const remember = always
      ? ({ remember: 'ALWAYS' } as const)
      : never
        ? ({ remember: 'NEVER' } as const)
        : {};
    const action = deny || never ? 'DENY' : 'ALLOW';
    const standing_approval = upTo === undefined ? undefined : standingOf(upTo, sheet.currency, options);
    const given = { reason, comment, ...remember, standing_approval };
    const recorded = await record(client, sheet, action, given);
    if (json) context.json(recorded);
    else context.say(`${decision_id}: ${recordedLine(recorded)}`);
    return EXIT.ok;
  }
  if (json && !options.watch) {
    for await (const decision of pendingOf(client)) context.json(decision);
    return EXIT.ok;
  }
  return walk(context, client, options);
}

const pendingOf = (client: Purser) => client.decisions.list({ review_state: 'PENDING', order: 'expires' });

/** The standing approval that is asked for; it ends after 90 days unless the options say when. */
function standingOf(
  up_to: string,
  currency: string,
  { period = 'MONTH', until }: Pick<ReviewOptions, 'period' | 'until'> = {},
): NewStandingApproval {
  return {
    amount_minor: amountOf(up_to, currency, '--up-to'),
    period,
    expires_at: until ?? new Date(Date.now() + STANDING_DAYS * DAY_MS).toISOString(),
  };
}

/** The printed form of a recorded review, with a warning if the reviewer made the requesting key. */
function recordedLine({ action, effective_decision, by_key_maker, allowance }: RecordedReview): string {
  const ahead =
    allowance === undefined
      ? ''
      : ` ${allowance.id} answers later requests like it until ${allowance.expires_at}.`;
  const by_maker = by_key_maker ? ' You created the key that requested it; the review records that.' : '';
  return `${action} is recorded; in effect: ${effective_decision}.${ahead}${by_maker}`;
}

interface Given {
  reason?: string | undefined;
  comment?: string | undefined;
  remember?: 'ALWAYS' | 'NEVER';
  standing_approval?: NewStandingApproval | undefined;
}

/** Records a review. Without a reason it has the one that follows from the cause, or says that none was chosen. */
const record = (
  client: Purser,
  { decision_id, reasons }: Pick<Sheet, 'decision_id' | 'reasons'>,
  action: Action,
  { reason, comment, remember, standing_approval }: Given,
) =>
  client.decisions.review(decision_id, {
    action,
    reason_code:
      reason ??
      (action === 'ALLOW' ? reasons.default_allow : reasons.default_deny) ??
      DEFAULT_REASONS[action],
    ...(comment === undefined || comment === '' ? {} : { comment }),
    ...(remember === undefined ? {} : { remember }),
    ...(standing_approval === undefined ? {} : { standing_approval }),
  });

/** Shows what waits, one by one, and asks what to do with it; with `watch`, also what comes later. */
async function walk(context: Context, client: Purser, { watch, json }: ReviewOptions): Promise<number> {
  const { stdin, stderr, signal } = context;
  const lines = createInterface({ input: stdin });
  // Typed ahead, or piped in: lines may come before they are asked for.
  const typed = lines[Symbol.asyncIterator]();
  const gone = new Promise<null>((resolve) => {
    signal.addEventListener('abort', () => resolve(null), { once: true });
  });
  const seen = new Set<string>();
  const question = async (text: string): Promise<string | null> => {
    stderr.write(text);
    const next = await Promise.race([typed.next(), gone]);
    return next === null || next.done === true ? null : next.value.trim();
  };
  try {
    do {
      for await (const decision of pendingOf(client)) {
        if (seen.has(decision.decision_id)) continue;
        seen.add(decision.decision_id);
        if (json) {
          context.json(decision);
          continue;
        }
        const sheet = await client.decisions.sheet(decision.decision_id);
        context.say('', ...sheetLines(sheet));
        const word = await question(questionOf(sheet));
        if (word === null || /^q/i.test(word)) return EXIT.ok;
        const answer = answerOf(word, sheet);
        if (answer === null) continue;
        const standing = answer.is_up_to
          ? await question(`Up to how much a month, in ${sheet.currency}: `)
          : '';
        if (standing === null) return EXIT.ok;
        const comment = await question('Comment (optional): ');
        if (comment === null) return EXIT.ok;
        await recordOne(context, client, sheet, { ...answer, comment, up_to: standing });
      }
      if (seen.size === 0 && !watch) context.say('No pending reviews.');
    } while (watch && (await pause(WATCH_MS, signal)));
  } finally {
    lines.close();
  }
  return EXIT.ok;
}

interface Answer {
  action: Action;
  remember?: 'ALWAYS' | 'NEVER';
  /** Later requests like it are answered ahead, up to an amount a month. */
  is_up_to?: boolean;
}

/** The question about a request, with the answers that may be typed; those that reach further only where they are offered. */
function questionOf({ remember: { ALWAYS, NEVER }, standing_approval }: Sheet): string {
  const more = [
    ...(ALWAYS.offered ? ['[a]lways'] : []),
    ...(standing_approval.offered ? ['[u]p to'] : []),
    ...(NEVER.offered ? ['ne[v]er'] : []),
  ];
  return `Allow it? ${['[y]es', '[n]o', ...more, '[s]kip', '[q]uit'].join(', ')}: `;
}

/** The answer that was typed; null: skip the request. */
function answerOf(word: string, { remember: { ALWAYS, NEVER }, standing_approval }: Sheet): Answer | null {
  if (/^(v|never)/i.test(word)) return NEVER.offered ? { action: 'DENY', remember: 'NEVER' } : null;
  if (/^a/i.test(word)) return ALWAYS.offered ? { action: 'ALLOW', remember: 'ALWAYS' } : null;
  if (/^u/i.test(word)) return standing_approval.offered ? { action: 'ALLOW', is_up_to: true } : null;
  if (/^y/i.test(word)) return { action: 'ALLOW' };
  return /^n/i.test(word) ? { action: 'DENY' } : null;
}

/** Somebody else may have been faster; that ends nothing. */
async function recordOne(
  context: Context,
  client: Purser,
  sheet: Sheet,
  { action, is_up_to, up_to, ...given }: Answer & { comment: string; up_to: string },
): Promise<void> {
  try {
    const standing_approval = is_up_to ? standingOf(up_to, sheet.currency) : undefined;
    context.say(recordedLine(await record(client, sheet, action, { ...given, standing_approval })));
  } catch (error) {
    if (error instanceof CommandError) return context.say(`Not recorded: ${error.message}`);
    if (!(error instanceof APIError) || error.status === 401) throw error;
    context.say(`Not recorded: ${told(error)}`);
  }
}
