import type { Authority } from '@purser/contract/authority';

/** A kind of request that a sample agent makes again and again. */
export interface Habit {
  merchant: string;
  description: string;
  /** The range of its amounts, minor units. */
  from_minor: number;
  to_minor: number;
  /** How often, among the requests of the agent. */
  weight: number;
  /** True if a reviewer finds it to fit, where it comes to a review. */
  fits: boolean;
}

/** An agent of the sample with what it is for and what it asks. */
export interface SampleAgent {
  slug: string;
  name: string;
  authority: Authority;
  /** Requests on a working day; a third of them on others. */
  a_day: number;
  /** Days before the end on which it goes to Enforce; null: it stays in Shadow. */
  enforced_from: number | null;
  habits: readonly Habit[];
  /** Asked once, a number of hours before the end, and reviewed by nobody: it is left to the reader, or expires. */
  left: readonly (readonly [hours_before: number, Habit])[];
}

const habit = (
  merchant: string,
  description: string,
  [from_minor, to_minor]: readonly [number, number],
  weight: number,
  fits = true,
): Habit => ({ merchant, description, from_minor, to_minor, weight, fits });

/** The budget that two of the agents share. */
export const SAMPLE_BUDGET = {
  slug: 'tools',
  name: 'Tools and services',
  currency: 'EUR',
  period: 'MONTH',
  limit_minor: 1_500_000,
};

/** The agents of the sample. A workspace whose plan has room for fewer gets the first ones. */
export const SAMPLE_AGENTS: readonly SampleAgent[] = [
  {
    slug: 'infra-bot',
    name: 'Infrastructure bot',
    authority: {
      purpose: {
        objective: 'Keep our cloud running: servers, hosting, storage, domains and monitoring.',
        constraints: ['No gift cards'],
      },
      currency: 'EUR',
      per_transaction_limit_minor: 20_000,
      review_threshold_minor: 9_000,
      monthly_budget_minor: 700_000,
      budgets: [SAMPLE_BUDGET.slug],
    },
    a_day: 4,
    enforced_from: 12,
    habits: [
      habit('Hetzner Online', 'Server for staging', [2_900, 8_400], 8),
      habit('DigitalOcean', 'Server for the staging database', [3_200, 8_900], 6),
      habit('Amazon Web Services', 'Object storage', [1_800, 7_700], 5),
      habit('Cloudflare', 'Domain renewal', [1_100, 4_500], 3),
      habit('Datadog', 'Monitoring of the servers', [6_500, 14_900], 3),
      habit('Hetzner Online', 'Servers for a load test', [9_500, 18_500], 2),
      habit('OVHcloud', 'Server with a graphics card', [22_000, 31_000], 1, false),
      habit('Steam', 'Video game', [1_999, 5_999], 1, false),
    ],
    left: [
      [78, habit('Datadog', 'Monitoring of the servers', [12_900, 14_900], 1)],
      [50, habit('OVHcloud', 'Server with a graphics card', [24_000, 31_000], 1)],
      [2, habit('DigitalOcean', 'Servers for a load test', [11_900, 12_900], 1)],
    ],
  },
  {
    slug: 'research-bot',
    name: 'Research bot',
    authority: {
      purpose: {
        objective:
          'Buy what our analysts need for research: papers from JSTOR and Elsevier, market reports from Statista and Gartner, data sets and API credits from Semantic Scholar.',
        constraints: ['No conferences or event tickets'],
      },
      currency: 'EUR',
      per_transaction_limit_minor: 50_000,
      review_threshold_minor: 15_000,
      monthly_budget_minor: 700_000,
      budgets: [SAMPLE_BUDGET.slug],
    },
    a_day: 3,
    enforced_from: null,
    habits: [
      habit('JSTOR', 'Research paper', [1_900, 4_900], 8),
      habit('Elsevier', 'Research paper', [2_400, 5_900], 6),
      habit('Semantic Scholar', 'API credits', [2_000, 6_000], 4),
      habit('Statista', 'Market report', [14_000, 24_900], 4),
      habit('Gartner', 'Market report', [32_000, 64_000], 1, false),
      habit('Eventbrite', 'Conference ticket', [7_900, 19_900], 1, false),
      habit('Springer Nature', 'Research paper', [2_900, 4_900], 2),
    ],
    left: [
      [60, habit('Gartner', 'Market report', [52_000, 64_000], 1)],
      [6, habit('Statista', 'Market report', [18_900, 19_900], 1)],
      [3, habit('Eventbrite', 'Conference ticket', [7_900, 9_900], 1, false)],
    ],
  },
  {
    slug: 'travel-bot',
    name: 'Travel desk',
    authority: {
      purpose: {
        objective: 'Book business travel for employees: flights, trains, hotels and taxis.',
        constraints: ['No gift cards'],
      },
      currency: 'EUR',
      per_transaction_limit_minor: 80_000,
      review_threshold_minor: 40_000,
      monthly_budget_minor: 1_200_000,
      duplicate_window_seconds: 1_800,
    },
    a_day: 3,
    enforced_from: null,
    habits: [
      habit('Deutsche Bahn', 'Train ticket to Hamburg', [4_900, 14_900], 8),
      habit('Lufthansa', 'Flight to Madrid', [14_900, 46_000], 4),
      habit('Booking.com', 'Hotel in Berlin', [11_900, 38_000], 5),
      habit('Uber', 'Taxi to the airport', [1_900, 5_400], 5),
      habit('Booking.com', 'Hotel for a week', [62_000, 95_000], 1, false),
      habit('Casino Royale', 'Chips', [10_000, 20_000], 1, false),
    ],
    left: [[4, habit('Lufthansa', 'Flight to Madrid', [44_900, 46_900], 1)]],
  },
  {
    slug: 'model-bot',
    name: 'Model credits',
    authority: {
      purpose: {
        objective: 'Pay for the models that our agents use: API credits at OpenAI, Anthropic and Mistral AI.',
      },
      currency: 'USD',
      per_transaction_limit_minor: 20_000,
      review_threshold_minor: 10_000,
      monthly_budget_minor: 250_000,
      velocity_limits: [{ name: 'day', window: 'DAY', limit_amount_minor: 30_000 }],
    },
    a_day: 2,
    enforced_from: null,
    habits: [
      habit('OpenAI', 'API credits', [2_000, 9_000], 8),
      habit('Anthropic', 'API credits', [2_000, 9_900], 7),
      habit('Mistral AI', 'API credits', [1_000, 4_000], 4),
      habit('OpenAI', 'API credits for the year', [14_000, 19_900], 1),
      habit('Amazon', 'Gift card', [5_000, 10_000], 1, false),
    ],
    left: [],
  },
];
