export const MEMBER_STATUSES = ['active', 'disabled'] as const;
export const INVITATION_STATUSES = ['pending', 'accepted', 'revoked', 'expired'] as const;
/**
 * The form of an e-mail address. It has no invisible or direction characters, or two people could look the same in
 * lists. Delivery is never checked: no mail is sent.
 */
export const EMAIL =
  /^[^\s\p{Cc}\p{Cf}\p{DI}@<>"',;:\\()[\]]{1,64}@[^\s\p{Cc}\p{Cf}\p{DI}@<>"',;:\\()[\]]{1,189}$/u;

/**
 * `wrong`: refused; `locked`: the first that was over the limit of wrong ones. From `password_changed` on they are changes
 * of an account and no sign-ins.
 */
export const SIGN_IN_KINDS = [
  'ok',
  'wrong',
  'locked',
  'oidc_failed',
  'password_changed',
  'passkey_added',
  'passkey_removed',
  'name_changed',
  'reset_link_made',
  'account_disabled',
  'account_enabled',
] as const;
/** How a person proved who they are. */
export const SIGN_IN_METHODS = ['password', 'passkey', 'oidc', 'setup', 'invitation', 'reset'] as const;
/** How a person proved who they are; `session`: they were signed in; `operator`: a command of the operator. */
export const SIGN_IN_RECORD_METHODS = [...SIGN_IN_METHODS, 'session', 'operator'] as const;
/** Where the attempts of all further addresses are counted. */
export const OTHER_ADDRESSES = 'other addresses';

export const CALLBACK_PATH = '/v1/auth/oidc/callback';
/**
 * Why a person with an open page goes to the provider: their session ended, or they give a fresh proof. For a proof the
 * service asks the provider for another sign-in there. Only `auth_time` shows that it happened.
 */
export const SIGN_IN_AGAIN = ['session', 'proof'] as const;

/** Why a person whom the provider vouches for is not let in: the `error` of the page that says so. */
export const OIDC_REFUSALS = {
  sign_in_failed: 'The identity provider’s response is invalid: start again.',
  email_unverified: 'The provider has not verified the e-mail.',
  domain_not_allowed: 'This e-mail domain is not allowed.',
  email_taken: 'This e-mail is linked to another account of the provider.',
  not_invited: 'This e-mail has no invitation.',
  account_disabled: 'The account is disabled.',
} as const;
