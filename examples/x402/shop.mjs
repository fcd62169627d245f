// @ts-check
// A shop that sells for x402 payments: x402's own server and facilitator, and a scheme that settles without a chain, so
// that it runs anywhere.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { x402Facilitator } from '@x402/core/facilitator';
import { HTTPFacilitatorClient, x402HTTPResourceServer, x402ResourceServer } from '@x402/core/server';

export const NETWORK = 'x402:cash';
export const PAY_TO = '0xWeatherShop';

/**
 * Serves a facilitator at a local address, with x402's routes: `/supported`, `/verify` and `/settle`.
 * @param {any} facilitator
 */
async function serve(facilitator) {
  const server = createServer(async (request, reply) => {
    try {
      const asked = request.method === 'POST' ? /** @type {any} */ (await json(request)) : {};
      const { paymentPayload, paymentRequirements } = asked;
      const answer =
        request.url === '/supported'
          ? facilitator.getSupported()
          : request.url === '/verify'
            ? await facilitator.verify(paymentPayload, paymentRequirements)
            : await facilitator.settle(paymentPayload, paymentRequirements);
      reply.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    } catch (error) {
      reply.writeHead(500).end(String(error));
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { client: new HTTPFacilitatorClient({ url: `http://127.0.0.1:${port}` }), close };
}

/**
 * Opens the shop. `price` is in atomic units, of which a EUR has a million. With `facilitator_at_address` the shop reaches
 * its facilitator over HTTP, as shops do, until `close`; otherwise the facilitator is in this process.
 * @param {string} price
 * @param {{ facilitator_at_address?: boolean }} [options]
 */
export async function openShop(price, { facilitator_at_address = false } = {}) {
  /** Settled payments, and a switch for the till. */
  const till = { settles: true, settled: /** @type {string[]} */ ([]), signed: 0 };
  /**
   * The payment scheme of the buyer's wallet: it signs the same data as `@x402/evm`, and its "signature" is a name.
   */
  const scheme = {
    scheme: 'cash',
    /** @param {number} x402Version @param {{ amount: string, payTo: string, maxTimeoutSeconds: number }} requirements */
    createPaymentPayload: async (x402Version, { amount, payTo, maxTimeoutSeconds }) => {
      const validBefore = String(Math.floor(Date.now() / 1000) + maxTimeoutSeconds);
      const authorization = { from: '~buyer', to: payTo, value: amount, validAfter: '0', validBefore };
      return { x402Version, payload: { signature: `~buyer-${++till.signed}`, authorization } };
    },
  };
  const facilitator = new x402Facilitator().register(
    NETWORK,
    /** @type {any} */ ({
      scheme: 'cash',
      caipFamily: 'x402:*',
      getExtra: () => ({}),
      getSigners: () => [],
      verify: async () => ({ isValid: true, payer: '~buyer' }),
      /** @param {{ payload: { signature: string } }} payment */
      async settle({ payload }) {
        const proof = { network: NETWORK, payer: '~buyer' };
        if (!till.settles) return { ...proof, success: false, transaction: '', errorReason: 'later' };
        till.settled.push(payload.signature);
        return { ...proof, success: true, transaction: `paid-${payload.signature}` };
      },
    }),
  );
  const served = facilitator_at_address
    ? await serve(facilitator)
    : { client: /** @type {any} */ (facilitator), close: () => {} };
  const resources = new x402ResourceServer(served.client).register(
    NETWORK,
    /** @type {any} */ ({
      scheme: 'cash',
      defaultAssetTransferMethod: 'hand',
      paymentFlows: { hand: { supported: ['authorization'], default: 'authorization' } },
      /** @param {unknown} amount */
      parsePrice: async (amount) => ({ asset: 'EURC', amount: String(amount), extra: {} }),
      /** @param {object} requirements */
      enhancePaymentRequirements: async (requirements) => requirements,
    }),
  );
  const accepts = { scheme: 'cash', network: NETWORK, payTo: PAY_TO, price, maxTimeoutSeconds: 60 };
  const http = new x402HTTPResourceServer(resources, /** @type {any} */ ({ '/forecast': { accepts } }));
  await http.initialize();

  /** Answers at the shop's address. @type {typeof globalThis.fetch} */
  async function shop(input, init) {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    const adapter = {
      getHeader: (/** @type {string} */ name) => request.headers.get(name) ?? undefined,
      getMethod: () => request.method,
      getPath: () => pathname,
      getUrl: () => request.url,
      getAcceptHeader: () => 'application/json',
      getUserAgent: () => 'buyer',
    };
    const result = await http.processHTTPRequest({ adapter, path: pathname, method: request.method });
    if (result.type === 'payment-error') {
      const { status, headers, body } = result.response;
      return Response.json(body ?? {}, { status, headers });
    }
    if (result.type !== 'payment-verified') return new Response('no such thing', { status: 404 });
    const { success, headers } = await http.processSettlement(
      result.paymentPayload,
      result.paymentRequirements,
    );
    return new Response('sunny', { status: success ? 200 : 402, headers });
  }
  return { shop, scheme, till, close: served.close };
}
