import type { Call } from '../http/route.ts';

export const CSV_TYPE = 'text/csv; charset=utf-8';

/** Whether the caller asks for CSV: `accept` names `text/csv`, and JSON not before it. */
export function wantsCsv(headers: Call['headers']): boolean {
  const named = String(headers.accept ?? '')
    .toLowerCase()
    .split(',')
    .map((part) => part.split(';')[0]?.trim());
  const csv = named.indexOf('text/csv');
  const json = named.indexOf('application/json');
  return csv >= 0 && (json < 0 || csv < json);
}

/** The headers by which a browser saves an answer as a file of this name. */
export const attachment = (name: string) => ({ 'content-disposition': `attachment; filename="${name}"` });
