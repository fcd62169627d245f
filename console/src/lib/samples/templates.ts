import type { Authority, AuthorityReading } from '@purser/sdk';

/** A payment request to try or to send. */
export interface TemplateRequest {
  type: string;
  merchant: string;
  amount_minor: number;
  currency: string;
  description?: string;
}

/** A policy to begin with, and requests that show what it does. */
export interface Template {
  /** The name of its file in `examples/authorities`, without the ending. */
  id: string;
  name: string;
  authority: Authority;
  requests: readonly TemplateRequest[];
}

/** The first of the templates for one kind of agent each. Those before it show one rule each. */
const FIRST_KIND = 11;

/** True if the template is for a kind of agent. */
export const isKind = ({ id }: Template): boolean => Number.parseInt(id, 10) >= FIRST_KIND;

const MAX_SAMPLES = 4;

/**
 * Requests that fit a policy, likely and unlikely ones: those of the template with its objective, else those of its
 * reading. Empty if there is neither.
 */
export function samplesFor(
  { purpose: { objective }, currency }: Pick<Authority, 'purpose' | 'currency'>,
  templates: readonly Template[],
  examples: AuthorityReading['examples'] = [],
): TemplateRequest[] {
  const template = templates.find((each) => each.authority.purpose.objective === objective);
  if (template !== undefined) return template.requests.map((each) => ({ ...each, currency }));
  const aligned = examples.filter((each) => each.assessment === 'PURPOSE_ALIGNED').slice(0, 2);
  const others = examples.filter((each) => each.assessment !== 'PURPOSE_ALIGNED');
  return [...aligned, ...others].slice(0, MAX_SAMPLES).map(({ spend: { action } }) => ({
    type: action.type,
    merchant: action.merchant,
    amount_minor: action.amount_minor,
    currency,
    ...(action.description === undefined ? {} : { description: action.description }),
  }));
}
