// @ts-check
// Shows each pending request with its evidence, and allows or denies it.
//
//   PURSER_API_KEY=sk_… node examples/review.mjs            # asks for each
//   PURSER_API_KEY=sk_… node examples/review.mjs ALLOW      # gives all of them the same answer
//
// The key needs the scopes `review` and `read`, and must not be the key that made the request.
import { createInterface } from 'node:readline/promises';
import { APIError, Purser } from '@purser/sdk';

const purser = new Purser();
const [answer_to_all] = process.argv.slice(2);
const terminal = createInterface({ input: process.stdin, output: process.stdout });

/** @param {string} text */
const readAction = (text) => (/^(a|allow)$/i.test(text) ? 'ALLOW' : /^(d|deny)$/i.test(text) ? 'DENY' : null);

for await (const decision of purser.decisions.list({ decision: 'REVIEW', reviewed: false, order: 'asc' })) {
  if (decision.review_state !== 'PENDING') continue;
  const { action, purpose, agent } = decision;
  console.log(
    `\n${decision.decision_id}  ${agent.slug} wants ${action.amount_minor} ${action.currency} for ${action.merchant}`,
  );
  console.log(`  ${decision.explanation}`);
  for (const { effect, field, text } of purpose.evidence) console.log(`  ${effect} (${field}): ${text}`);
  const verdict = readAction(answer_to_all ?? (await terminal.question('  allow, deny or skip? ')));
  if (verdict === null) continue;
  try {
    const review = await purser.decisions.review(decision.decision_id, {
      action: verdict,
      reason_code: 'REVIEWED_BY_SCRIPT',
    });
    console.log(`  ${review.action} recorded by ${review.principal_id ?? review.key_id}`);
  } catch (error) {
    // Somebody else was faster, or it is the reviewer's own request.
    if (!APIError.is(error, 'review_final', 'self_review_forbidden', 'authority_changed')) throw error;
    console.log(`  ${error.message}`);
  }
}
terminal.close();
