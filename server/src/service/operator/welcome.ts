/** The facts that a start prints about a service. */
interface Welcomed {
  url: string;
  console_url: string;
  /** The gateway for model calls beside it; null if none runs. */
  gateway_url: string | null;
  first: { admin_key: string } | undefined;
}

/**
 * Returns the text that a start prints once it serves: the addresses, the first key if this start made it and it was
 * not `given`, and the commands of a first decision.
 */
export function welcome({ url, console_url, gateway_url, first }: Welcomed, given: boolean): string {
  const lines = [
    '',
    `Purser listens on ${url}`,
    `  Console     ${console_url}`,
    `  Guides      ${url}/docs/guides`,
    `  Reference   ${url}/docs`,
  ];
  if (gateway_url !== null) lines.push(`  Models      ${gateway_url}`);
  if (first === undefined) {
    lines.push('  Admin key   as printed at the first start');
  } else if (given) {
    lines.push('  Admin key   as set in BOOTSTRAP_ADMIN_KEY');
  } else {
    lines.push(`  Admin key   ${first.admin_key}`, '              shown only once: keep it safe');
  }
  const key = first === undefined || given ? '$PURSER_KEY' : first.admin_key;
  lines.push(
    '',
    'Open the console to create an agent and try requests. Or in a terminal, a first agent and its first decision:',
    '',
    `curl -s ${url}/v1/agents -H "x-api-key: ${key}" -H 'content-type: application/json' \\`,
    `  -d '{"slug":"infra-bot","authority":{"purpose":{"objective":"Keep the staging servers running"},"currency":"EUR","per_transaction_limit_minor":20000,"monthly_budget_minor":150000}}'`,
    `curl -s ${url}/v1/decisions -H "x-api-key: ${key}" -H 'content-type: application/json' -H 'idempotency-key: first-spend' \\`,
    `  -d '{"agent":"infra-bot","action":{"type":"purchase","merchant":"Hetzner Online","amount_minor":5440,"currency":"EUR","description":"Server for staging"}}'`,
    '',
    '',
  );
  return lines.join('\n');
}
