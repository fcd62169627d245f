import { createInterface } from 'node:readline';
import { formatMoney } from '@purser/mcp/money';
import { APIError, type Decision, type Purser, type RecordedReview } from '@purser/sdk';
import type { Context } from './context.ts';
import { EXIT, told } from './failure.ts';
import { pause } from './follow.ts';
import { oneLine } from './simulation-text.ts';

const WATCH_MS = 5_000;
const DEFAULT_REASONS = { ALLOW: 'REVIEWED_OK', DENY: 'REVIEWED_NOT_OK' } as const;
type Action = keyof typeof DEFAULT_REASONS;

/** How far the approvals are; nothing where one is enough. */
function progressLines({ review_progress }: Decision): string[] {
  if (review_progress === undefined || review_progress.required === 1) return [];
  return [`  Approvals: ${review_progress.given.length} of ${review_progress.required}.`];
}

/** The lines that a reviewer needs about a spend. */
function reviewLines(decision: Decision): string[] {
  const { decision_id, agent, action, requested_amount_minor, currency, purpose, explanation, task } =
    decision;
  const until = decision.reservation.expires_at;
  const evidence = purpose.evidence.map(
    ({ field, text, effect }) => `    ${effect}: “${oneLine(text)}” (${oneLine(field, 40)})`,
  );
  return [
    `${formatMoney(requested_amount_minor, currency)} to ${oneLine(action.merchant)}, by ${agent.slug}   ${decision_id}`,
    `  ${oneLine(explanation, 1_000)}`,
    ...(action.description ? [`  It says: “${oneLine(action.description, 1_000)}”`] : []),
    ...(task ? [`  Its task: “${oneLine(task, 1_000)}”`] : []),
    `  Purpose: ${purpose.assessment}. ${oneLine(purpose.rationale, 1_000)}`,
    ...evidence,
    ...progressLines(decision),
    until === null ? '  The review does not expire.' : `  The review expires at ${until}.`,
  ];
}

export interface ReviewOptions {
  watch?: boolean;
  allow?: boolean;
  deny?: boolean;
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
  const { allow, deny, reason, comment, json } = options;
  if (decision_id !== undefined) {
    const decision = await client.decisions.retrieve(decision_id);
    if (!allow && !deny) {
      if (json) context.json(decision);
      else context.say(...reviewLines(decision));
      return EXIT.ok;
    }
    const recorded = await record(client, decision_id, allow ? 'ALLOW' : 'DENY', { reason, comment });
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

const record = (
  client: Purser,
  decision_id: string,
  action: Action,
  { reason, comment }: { reason?: string | undefined; comment?: string | undefined },
) =>
  client.decisions.review(decision_id, {
    action,
    reason_code: reason ?? DEFAULT_REASONS[action],
    ...(comment === undefined || comment === '' ? {} : { comment }),
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
        context.say('', ...reviewLines(decision));
        const word = await question('Allow it? [y]es, [n]o, [s]kip, [q]uit: ');
        if (word === null || /^q/i.test(word)) return EXIT.ok;
        if (!/^[yn]/i.test(word)) continue;
        const comment = await question('Comment (optional): ');
        if (comment === null) return EXIT.ok;
        await recordOne(context, client, decision, /^y/i.test(word) ? 'ALLOW' : 'DENY', comment);
      }
      if (seen.size === 0 && !watch) context.say('No pending reviews.');
    } while (watch && (await pause(WATCH_MS, signal)));
  } finally {
    lines.close();
  }
  return EXIT.ok;
}

/** Somebody else may have been faster; that ends nothing. */
async function recordOne(
  context: Context,
  client: Purser,
  { decision_id }: Decision,
  action: Action,
  comment: string,
): Promise<void> {
  try {
    context.say(recordedLine(await record(client, decision_id, action, { comment })));
  } catch (error) {
    if (!(error instanceof APIError) || error.status === 401) throw error;
    context.say(`Not recorded: ${told(error)}`);
  }
}
