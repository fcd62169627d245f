export const PLANS = ['free', 'team', 'enterprise'] as const;
/**
 * The rule for who may review a spend; the requester never may. `MAKER`: nobody who made the requesting key.
 * `REQUESTER`: anybody else. `AUTO`: as `MAKER` where another member may review, else as `REQUESTER`.
 */
export const SEPARATIONS_OF_DUTIES = ['AUTO', 'MAKER', 'REQUESTER'] as const;
