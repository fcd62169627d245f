import { expect } from 'vitest';
import type { RunningService } from '../support/running-service.ts';
import { makeClient } from '../support/service-test.ts';

/** A file to import; `csv` unless it says otherwise. */
export interface TestFile {
  source?: string;
  content_type?: string;
  feed?: string;
  agent?: string;
  mapping?: object | null;
  body: string | Buffer;
}

/** The mapping of a file with the columns Date, Name and Amount. */
export const CSV_MAPPING = {
  delimiter: ',',
  encoding: 'utf-8',
  header_line: 1,
  date_format: 'YYYY-MM-DD',
  decimal: '.',
  time_zone: null,
  spend_sign: 'POSITIVE',
  currency: 'EUR',
  columns: { occurred_at: 'Date', amount: 'Amount', merchant: 'Name' },
};

/** Sends files to a service, which may be started later. */
export function makeSender(service: Pick<RunningService, 'call'>) {
  const { post, walk } = makeClient(service);
  const send = (id: string, raw: string | Buffer, content_type: string) =>
    service.call('PUT', `/v1/imports/${id}/content`, { raw, headers: { 'content-type': content_type } });
  return {
    send,
    /** The import after its file was read. */
    async importFile({ source = 'csv', content_type = 'text/csv', mapping = null, body, ...more }: TestFile) {
      const given = mapping === null ? {} : { mapping };
      const { id } = await post('/v1/imports', { file_name: 'file', source, ...given, ...more });
      const reply = await send(id, body, content_type);
      expect(reply.status, reply.text).toBe(200);
      return reply.body;
    },
    /** The lines of an import, in the order of its file. */
    linesOf: async (id: string) => (await walk(`/v1/lines?import=${id}`, { limit: 200 })).reverse(),
  };
}
