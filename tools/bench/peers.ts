/** What others publish of their own rates, for the page of figures: as their authors state it, on machines of theirs. */
export const PUBLISHED: readonly {
  what: string;
  figure: string;
  where: string;
  source: string;
}[] = [
  {
    what: 'pgledger: a ledger in plain PostgreSQL',
    figure: 'more than 10,000 transfers/s',
    where: 'a laptop (Apple M3), PostgreSQL 17.5 as it comes',
    source: 'https://www.pgrs.net/2025/05/16/pgledger-in-postgresql-is-fast',
  },
  {
    what: 'Formance Ledger: transactions of one ledger, written one after another',
    figure: 'optimised for 1,000 writes/s',
    where: 'commodity storage',
    source: 'https://docs.formance.com/ledger/advanced/scale',
  },
  {
    what: 'TigerBeetle: transfers, one process',
    figure: '48,000 transfers/s sustained',
    where: 'a Mac Mini (M4, 10 cores)',
    source: 'https://backend.how/posts/1b-payments-per-day/',
  },
  {
    what: 'Transfers in PostgreSQL, beside that TigerBeetle',
    figure: '3,356 requests/s',
    where: 'the same machine',
    source: 'https://backend.how/posts/1b-payments-per-day/',
  },
  {
    what: 'Open Policy Agent: a policy alone, without money, history or durability',
    figure: 'a budget of the order of 1 ms a decision',
    where: 'its documentation, on low latency',
    source: 'https://bookstack.cn/read/openpolicyagent-0.28-en/50291c772621ca9d.md',
  },
];
