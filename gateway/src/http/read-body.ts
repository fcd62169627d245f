import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors.ts';

const MAX_BODY_BYTES = 32 * 1024 * 1024;

const tooLarge = () => new GatewayError('request_too_large', 'The body is larger than 32 MB. Send less.');

/** The whole body of a request. Rejects with a `GatewayError` if it is larger than 32 MB or compressed. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    throw new GatewayError('invalid_request', 'The body is compressed. Send it without content-encoding.');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
