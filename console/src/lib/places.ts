const PLACES: Record<string, string> = {
  'action.merchant': 'merchant',
  'action.description': 'description',
  'action.category': 'category',
  'action.payee_id': 'payee',
  'purpose.objective': 'objective',
  'purpose.success_criteria': 'success criterion',
  'purpose.constraints': 'constraint',
  'purpose.context': 'purpose context',
  allowed_merchants: 'allowed merchant',
  blocked_merchants: 'blocked merchant',
  trace: 'step',
};

/** The name of a quoted field of the request or policy. */
export function placeOf(field: string): string {
  const [, name = field, index] = /^([^[]+)(?:\[(\d+)\])?/.exec(field) ?? [];
  const place = PLACES[name] ?? name;
  return index === undefined ? place : `${place} ${Number(index) + 1}`;
}
