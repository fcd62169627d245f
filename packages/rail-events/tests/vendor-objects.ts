import type Lithic from 'lithic';
import type Stripe from 'stripe';

/**
 * Objects as vendors publish them, typed by their SDKs: `stripe` 23 (`Issuing.Authorization`, `Issuing.Transaction`, `Event`) and
 * `lithic` 0.145 (`CardTransactionUpdatedWebhookEvent`). So a field that a vendor renames no longer compiles here.
 */
type Authorization = Stripe.Issuing.Authorization;
type Transaction = Stripe.Issuing.Transaction;
type LithicEvent = NonNullable<Lithic.Transaction['events']>[number];

const MERCHANT: Authorization['merchant_data'] = {
  category: 'computer_software_stores',
  category_code: '5734',
  city: 'Berlin',
  country: 'DE',
  name: 'HETZNER ONLINE',
  network_id: '1234567890',
  postal_code: null,
  state: null,
  tax_id: null,
  terminal_id: null,
  url: null,
};

/** 2 March 2026, 09:30 UTC. */
export const CREATED_S = 1_772_443_800;
export const CREATED_AT = '2026-03-02T09:30:00.000Z';

/** An authorization of Stripe Issuing, approved and pending unless `fields` say otherwise. */
export function stripeAuthorization(fields: Partial<Authorization> = {}): Authorization {
  return {
    id: 'iauth_1',
    object: 'issuing.authorization',
    amount: 1250,
    amount_details: null,
    approved: true,
    authorization_method: 'online',
    balance_transactions: [],
    card: { id: 'ic_1', object: 'issuing.card' } as Stripe.Issuing.Card,
    card_presence: 'not_present',
    cardholder: 'ich_1',
    created: CREATED_S,
    currency: 'usd',
    fleet: null,
    fuel: null,
    livemode: false,
    merchant_amount: 1250,
    merchant_currency: 'usd',
    merchant_data: MERCHANT,
    metadata: {},
    network_data: null,
    pending_request: null,
    request_history: [],
    status: 'pending',
    transactions: [],
    verification_data: {
      address_line1_check: 'not_provided',
      address_postal_code_check: 'not_provided',
      authentication_exemption: null,
      cvc_check: 'match',
      expiry_check: 'match',
      postal_code: null,
      three_d_secure: null,
    },
    verified_by_fraud_challenge: null,
    wallet: null,
    ...fields,
  };
}

/** A capture of Stripe Issuing unless `fields` say otherwise; captures are below 0. */
export function stripeTransaction(fields: Partial<Transaction> = {}): Transaction {
  return {
    id: 'ipi_1',
    object: 'issuing.transaction',
    amount: -1250,
    amount_details: null,
    authorization: 'iauth_1',
    balance_transaction: 'txn_1',
    card: 'ic_1',
    cardholder: 'ich_1',
    created: CREATED_S + 86_400,
    currency: 'usd',
    dispute: null,
    livemode: false,
    merchant_amount: -1250,
    merchant_currency: 'usd',
    merchant_data: MERCHANT,
    metadata: {},
    network_data: null,
    token: null,
    treasury: null,
    type: 'capture',
    wallet: null,
    ...fields,
  };
}

/** An event of Stripe around an object. */
export function stripeEvent(
  type:
    | Stripe.IssuingAuthorizationCreatedEvent['type']
    | Stripe.IssuingAuthorizationUpdatedEvent['type']
    | Stripe.IssuingAuthorizationRequestEvent['type']
    | Stripe.IssuingTransactionCreatedEvent['type'],
  object: Authorization | Transaction,
) {
  return { id: `evt_${object.id}`, object: 'event', type, data: { object } };
}

const lithicMoney = (amount: number) => ({ amount, conversion_rate: '1.000000', currency: 'USD' as const });

/** An event within a transaction of Lithic. */
export function lithicMovement(
  fields: Pick<LithicEvent, 'token' | 'type'> & {
    amount: number;
    minute?: number;
    result?: LithicEvent['result'];
  },
): LithicEvent {
  const { token, type, amount, minute = 0, result = 'APPROVED' } = fields;
  return {
    token,
    type,
    amount,
    result,
    created: new Date((CREATED_S + minute * 60) * 1000).toISOString(),
    detailed_results: [result === 'APPROVED' ? 'APPROVED' : 'DECLINED'],
    effective_polarity: 'DEBIT',
    amounts: {
      cardholder: lithicMoney(amount),
      merchant: { amount, currency: 'USD' },
      settlement: null,
    },
    network_info: null,
    rule_results: [],
  };
}

/** A card transaction of Lithic as `card_transaction.updated` sends it. */
export function lithicUpdated(
  fields: Partial<Pick<Lithic.Transaction, 'token' | 'card_token' | 'status'>> & { hold?: number } = {},
  events: LithicEvent[] = [lithicMovement({ token: 'le_1', type: 'AUTHORIZATION', amount: 1250 })],
): Lithic.CardTransactionUpdatedWebhookEvent {
  const {
    token = 'lt_1',
    card_token = 'card-a',
    status = 'PENDING',
    hold = status === 'PENDING' ? 1250 : 0,
  } = fields;
  return {
    event_type: 'card_transaction.updated',
    token,
    account_token: '40f51edb-aa0b-4fa2-a142-cec416e4fb0f',
    acquirer_fee: null,
    acquirer_reference_number: null,
    amount: 1250,
    amounts: {
      cardholder: lithicMoney(1250),
      hold: { amount: hold, currency: 'USD' },
      merchant: { amount: 1250, currency: 'USD' },
      settlement: { amount: 0, currency: 'USD' },
    },
    authorization_amount: 1250,
    authorization_code: '065558',
    avs: null,
    card_token,
    cardholder_authentication: null,
    created: '2026-03-02T09:30:00Z',
    events,
    financial_account_token: null,
    merchant: {
      acceptor_id: '174030075991',
      acquiring_institution_id: '1',
      city: 'BERLIN',
      country: 'DEU',
      descriptor: 'DIGITALOCEAN',
      mcc: '5734',
      state: '',
      phone_number: null,
      postal_code: null,
      street_address: null,
    },
    merchant_amount: null,
    merchant_authorization_amount: null,
    merchant_currency: 'USD',
    network: 'VISA',
    network_risk_score: null,
    pos: {
      entry_mode: {
        card: 'NOT_PRESENT',
        cardholder: 'ELECTRONIC_ORDER',
        pan: 'ECOMMERCE',
        pin_entered: false,
      },
      terminal: {
        attended: false,
        card_retention_capable: false,
        on_premise: false,
        operator: 'UNKNOWN',
        partial_approval_capable: false,
        pin_capability: 'UNSPECIFIED',
        type: 'UNKNOWN',
      },
    },
    result: 'APPROVED',
    service_location: null,
    settled_amount: 0,
    status,
    tags: {},
    token_info: null,
    updated: '2026-03-02T09:30:00Z',
  };
}
