import { createInterface } from 'node:readline';
import { APIError, type Purser, type RecordedReview, type Sheet } from '@purser/sdk';
import type { Context } from '../context.ts';
import { EXIT, told } from '../failure.ts';
import { pause } from '../follow.ts';
import { sheetLines } from './sheet.ts';

const WATCH_MS = 5_000;
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
  const { allow, deny, always, never, reason, comment, json } = options;
  if (decision_id !== undefined) {
    const sheet = await client.decisions.sheet(decision_id);
    if (!allow && !deny && !always && !never) {
      if (json) context.json(sheet);
      else context.say(...sheetLines(sheet));
      return EXIT.ok;
    }
    const remember = always
      ? ({ remember: 'ALWAYS' } as const)
      : never
        ? ({ remember: 'NEVER' } as const)
        : {};
    const action = allow || always ? 'ALLOW' : 'DENY';
    const recorded = await record(client, sheet, action, { reason, comment, ...remember });
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

/** The printed form of a recorded review, with a warning if the reviewer made the requesting key. */
function recordedLine({ action, effective_decision, by_key_maker }: RecordedReview): string {
  const by_maker = by_key_maker ? ' You created the key that requested it; the review records that.' : '';
  return `${action} is recorded; in effect: ${effective_decision}.${by_maker}`;
}

interface Given {
  reason?: string | undefined;
  comment?: string | undefined;
  remember?: 'ALWAYS' | 'NEVER';
}

/** Records a review. Without a reason it has the one that follows from the cause, or says that none was chosen. */
const record = (
  client: Purser,
  { decision_id, reasons }: Pick<Sheet, 'decision_id' | 'reasons'>,
  action: Action,
  { reason, comment, remember }: Given,
) =>
  client.decisions.review(decision_id, {
    action,
    reason_code:
      reason ??
      (action === 'ALLOW' ? reasons.default_allow : reasons.default_deny) ??
      DEFAULT_REASONS[action],
    ...(comment === undefined || comment === '' ? {} : { comment }),
    ...(remember === undefined ? {} : { remember }),
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
        const comment = await question('Comment (optional): ');
        if (comment === null) return EXIT.ok;
        await recordOne(context, client, sheet, { ...answer, comment });
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
}

/** The question about a request, with the answers that may be typed; the ways to remember its merchant only where they are offered. */
function questionOf({ remember: { ALWAYS, NEVER } }: Sheet): string {
  const more = [...(ALWAYS.offered ? ['[a]lways'] : []), ...(NEVER.offered ? ['ne[v]er'] : [])];
  return `Allow it? ${['[y]es', '[n]o', ...more, '[s]kip', '[q]uit'].join(', ')}: `;
}

/** The answer that was typed; null: skip the request. */
function answerOf(word: string, { remember: { ALWAYS, NEVER } }: Sheet): Answer | null {
  if (/^(v|never)/i.test(word)) return NEVER.offered ? { action: 'DENY', remember: 'NEVER' } : null;
  if (/^a/i.test(word)) return ALWAYS.offered ? { action: 'ALLOW', remember: 'ALWAYS' } : null;
  if (/^y/i.test(word)) return { action: 'ALLOW' };
  return /^n/i.test(word) ? { action: 'DENY' } : null;
}

/** Somebody else may have been faster; that ends nothing. */
async function recordOne(
  context: Context,
  client: Purser,
  sheet: Sheet,
  { action, ...given }: Answer & { comment: string },
): Promise<void> {
  try {
    context.say(recordedLine(await record(client, sheet, action, given)));
  } catch (error) {
    if (!(error instanceof APIError) || error.status === 401) throw error;
    context.say(`Not recorded: ${told(error)}`);
  }
}
