import type { Authority } from '@purser/server/tools';

/** An authority as a customer would write it, with room for every spend of a measurement. */
export const BENCH_AUTHORITY: Authority = {
  purpose: {
    objective:
      'Keep the rental bicycles of the city scheme on the road: tyres, brake pads, lamps, saddles, chains, tools and lubricants, and the repair of wheels and hubs that our own workshop cannot do.',
    success_criteria: ['No station is without a working bicycle', 'Parts fit the frame series in service'],
    constraints: ['No complete bicycles', 'Electric parts only for the models M3 and M4', 'No clothing'],
    context: 'The workshop is in Mill Lane. Frame series in service: M1 to M4.',
  },
  currency: 'EUR',
  per_transaction_limit_minor: 500_000,
  review_threshold_minor: 250_000,
  monthly_budget_minor: 9_000_000_000_000,
  // What a REVIEW costs besides, a state with four index entries, is not what is compared with other ways and builds.
  on_purpose_unclear: 'ALLOW',
  blocked_merchants: ['Bikeparts Outlet', 'cheap-wheels.example', 'Velo Discount'],
};

const PURCHASES = [
  {
    merchant: 'Rad & Teile Handels GmbH',
    what: 'tyres 28 x 1.75 with reflective side walls',
    category: 'spare parts',
  },
  {
    merchant: 'Northgate Cycle Supply',
    what: 'brake pads for roller brakes, series M1 and M2',
    category: 'spare parts',
  },
  {
    merchant: 'Hub Works',
    what: 'rear hubs with coaster brake, repair and new bearings',
    category: 'repairs',
  },
  {
    merchant: 'Lumen Cycle Lights',
    what: 'front lamps for bicycles of series M3, with hub dynamo',
    category: 'spare parts',
  },
  {
    merchant: 'Chainline Tools',
    what: 'tools for the bicycle workshop: cone spanners, torque keys',
    category: 'tools',
  },
  {
    merchant: 'Oleo Lubricants',
    what: 'lubricants for bicycle chains and bearings, in cans',
    category: 'lubricants',
  },
  {
    merchant: 'Wheelhouse Truing',
    what: 'repair of damaged wheels: truing and new spokes',
    category: 'repairs',
  },
  {
    merchant: 'Saddle & Post',
    what: 'bicycle saddles and seat posts with theft-proof bolts',
    category: 'spare parts',
  },
] as const;

const REASONS = [
  'after the storm damage',
  'for the spring overhaul',
  'for the weekly repairs',
  'before the trade fair',
];

/**
 * The body of the n-th request, 450 to 600 bytes of ASCII. No two have the same words: quantity, order and
 * station differ, so that nothing is gained by remembering a text.
 */
export function makeSpendBody(n: number): string {
  const purchase = PURCHASES[n % PURCHASES.length] ?? PURCHASES[0];
  const reason = REASONS[Math.floor(n / PURCHASES.length) % REASONS.length];
  const quantity = 2 + ((n * 7) % 60);
  const station = 1 + ((n * 13) % 240);
  // One in fifty asks for more than the review threshold.
  const amount_minor = n % 50 === 49 ? 300_000 + (n % 1_000) : 1_900 + ((n * 7_919) % 180_000);
  return JSON.stringify({
    action: {
      type: 'purchase',
      merchant: purchase.merchant,
      amount_minor,
      currency: 'EUR',
      description: `${quantity} ${purchase.what}, order W-${100_000 + n}, delivery to Mill Lane`,
      category: purchase.category,
    },
    task: `Restock the workshop ${reason}; station ${station} waits for ${quantity} bicycles.`,
    trace: [
      {
        step: `Counted the shelf: ${quantity % 9} left, ${quantity} needed`,
        kind: 'tool_result',
        tool: 'stock_count',
      },
      { step: `Compared three offers for order W-${100_000 + n}`, kind: 'thought' },
    ],
    context: { order: `W-${100_000 + n}`, cost_centre: 4_100 + (n % 12) },
  });
}
