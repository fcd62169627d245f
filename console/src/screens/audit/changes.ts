import type { AuditRecord } from '@purser/sdk';

/** One changed field as text. `from` is null for a new field. */
export interface ChangedField {
  field: string;
  from: string | null;
  to: string;
}

const NOTHING = 'nothing';

function textOf(value: unknown): string {
  if (value === null || value === undefined) return NOTHING;
  if (typeof value === 'string') return value === '' ? NOTHING : value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) {
    if (value.length === 0) return NOTHING;
    if (value.every((each) => typeof each === 'string')) return value.join(', ');
  }
  return JSON.stringify(value);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Lists the differing fields of nested objects by path. */
function fieldsOf(field: string, from: unknown, to: unknown): ChangedField[] {
  if (isObject(to) && (isObject(from) || from === null || from === undefined)) {
    const before: Record<string, unknown> = isObject(from) ? from : {};
    const names = new Set([...Object.keys(before), ...Object.keys(to)]);
    return [...names].flatMap((name) =>
      JSON.stringify(before[name]) === JSON.stringify(to[name])
        ? []
        : fieldsOf(`${field}.${name}`, before[name] ?? null, to[name] ?? null),
    );
  }
  const is_new = from === null || from === undefined;
  return [{ field, from: is_new ? null : textOf(from), to: textOf(to) }];
}

/** The fields of a change, with nested objects flattened. Fields that stay empty are left out. */
export function linesOf(changes: AuditRecord['changes']): ChangedField[] {
  return Object.entries(changes)
    .flatMap(([field, change]) => fieldsOf(field, change.from, change.to))
    .filter(({ from, to }) => from !== null || to !== NOTHING);
}

/** Fields left out of the summary: other columns show them, or only machines read them. */
const NOT_SUMMED_UP = /^(id|hash|version)$/;

/** A change in one line: "status: active → paused, name: Ads". */
export function summaryOf(lines: readonly ChangedField[]): string {
  const shown = lines.filter(({ field }) => !NOT_SUMMED_UP.test(field));
  return (shown.length > 0 ? shown : lines)
    .map(({ field, from, to }) => `${field}: ${from === null ? '' : `${from} → `}${to}`)
    .join(', ');
}
