import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { queryOnce } from './invariants.ts';
import { type Finding, makeStage, type ScenarioContext } from './stage.ts';

/** Every secret of a run is looked for wherever it must not be: database, logs, metrics and answers of errors. */
export async function secretsLeft(context: ScenarioContext): Promise<Finding> {
  const stage = await makeStage(context, { LOG_LEVEL: 'trace' });
  try {
    const secrets = new Map<string, string>([['the admin key', stage.admin_key]]);
    for (const { agent, agent_key } of stage.agents) secrets.set(`the key of ${agent}`, agent_key);
    secrets.set('SECRET_KEY', (await readFile(join(stage.data_dir, 'secret-key'), 'utf8')).trim());
    const errors: string[] = [];
    const send = async (
      method: string,
      path: string,
      body?: unknown,
      headers: Record<string, string> = {},
    ) => {
      const answer = await stage.client.send(method, path, body, headers);
      if (answer.status >= 400) errors.push(JSON.stringify(answer.body));
      return answer.body as Record<string, unknown>;
    };
    const { key } = await send('POST', '/v1/api-keys', { name: 'consumer', scopes: ['consume'] });
    secrets.set('a new key', String(key));
    const { secret } = await send('POST', '/v1/webhooks', { url: 'https://hooks.example.com/purser' });
    if (secret !== undefined) secrets.set("a webhook's secret", String(secret));
    const agent = stage.agents[0]?.agent as string;
    await send('PATCH', `/v1/agents/${agent}`, { mode: 'ENFORCE' });
    await send('POST', `/v1/agents/${agent}/authority`, {
      purpose: { objective: 'Cloud servers and hosting for staging.' },
      currency: 'EUR',
    });
    const spend = {
      agent,
      action: {
        type: 'purchase',
        merchant: 'Hetzner Online',
        amount_minor: 900,
        currency: 'EUR',
        description: 'A cloud server for staging',
      },
    };
    const decided = await send('POST', '/v1/decisions', spend, { 'idempotency-key': 'secrets-1' });
    const { token } = (decided.capability ?? {}) as { token?: string };
    const problems: string[] = [];
    if (token === undefined) problems.push('No capability was issued, so that no token could be looked for.');
    else secrets.set("a capability's token", token);
    // Errors of every kind, with secrets where a careless caller would put them.
    await send('POST', '/v1/decisions', { ...spend, [String(key)]: 1 });
    await send('POST', '/v1/capabilities/consume', { token, amount_minor: 1, currency: 'EUR' });
    await send('GET', `/v1/decisions/${token ?? 'x'}`);
    await send('GET', '/v1/decisions?cursor=abc');

    const database = await stage.database();
    const tables = await queryOnce<{ relname: string }>(
      database,
      `select relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'public' and relkind in ('r', 'p')`,
    );
    const places = new Map<string, string>();
    for (const { relname } of tables) {
      const rows = await queryOnce<{ row: string }>(database, `select t::text as row from ${relname} t`);
      places.set(`the table ${relname}`, rows.map(({ row }) => row).join('\n'));
    }
    places.set('the log', await readFile(stage.output_file, 'utf8'));
    places.set('the metrics', await (await fetch(`${stage.base_url}/metrics`)).text());
    places.set('an error', errors.join('\n'));
    for (const [what, value] of secrets) {
      const hex = Buffer.from(value).toString('hex');
      for (const [where, text] of places) {
        // The one key that the caller put into the name of a field is told back to that caller alone.
        if (where === 'an error' && what === 'a new key') continue;
        if (text.includes(value) || text.includes(hex)) problems.push(`${what} stands in ${where}.`);
      }
    }
    return { figures: { secrets: secrets.size, tables: tables.length, errors: errors.length }, problems };
  } finally {
    await stage.close();
  }
}
