import { remembered } from '../values/remembered.ts';
import { hostForms, hostsAbove } from './hosts.ts';
import { withoutRegisteredForms } from './legal-forms.ts';
import { hasLookAlikes, lightlyFolded, normalisePlain, plainText } from './names.ts';

type AllMatching = (merchant: string) => readonly number[];
const compiled = new WeakMap<readonly string[], AllMatching>();

/**
 * The first entry of an allowlist that matches `merchant`, or null: the whole name must be equal after normalising, or the
 * host must be the entry's or a subdomain of it. This is narrower than a blocklist on purpose, since a wrong match would
 * favour a merchant: "Acme Refunds" does not match "Acme", and look-alikes do not match the letters of an entry. The
 * compiled list is cached for as long as the array `allowed` lives, so the array must not be changed. Time per merchant does
 * not grow with the length of the list.
 */
export function allowedBy(merchant: string, allowed: readonly string[]): string | null {
  return allowed[Math.min(...allAllowing(merchant, allowed))] ?? null;
}

/** The indexes of all entries that match `merchant` as `allowedBy` says. The array must not be changed. */
export function allAllowing(merchant: string, allowed: readonly string[]): readonly number[] {
  let match = compiled.get(allowed);
  if (match === undefined) {
    match = compileAllowlist(allowed);
    compiled.set(allowed, match);
  }
  return match(merchant);
}

/**
 * Equal for two spellings of the same name or host, in a form that is kept: counters and known merchants are found by it, so
 * a later list of legal forms must not change it. It tells apart some spellings that `allowedBy` takes for the same.
 */
export const allowlistKey: (text: string) => string = remembered((text) => {
  const { host, name } = hostOrName(text, (plain) => plain);
  return host === null ? `name ${name}` : `host ${host}`;
});

const bareHostOrName = remembered((text) => hostOrName(text, withoutRegisteredForms));

function compileAllowlist(allowed: readonly string[]): AllMatching {
  const names = new Map<string, number[]>();
  const hosts = new Map<string, number[]>();
  allowed.forEach((entry, index) => {
    const { host, name } = hostOrName(entry, withoutRegisteredForms);
    if (host === null) pushTo(names, name, index);
    else pushTo(hosts, host, index);
  });
  return (merchant) => {
    const { host, name } = bareHostOrName(merchant);
    return host === null ? (names.get(name) ?? NONE) : hostsAbove(hosts, host).flat();
  };
}

const NONE: readonly never[] = [];

function pushTo(places: Map<string, number[]>, key: string, index: number): void {
  const found = places.get(key);
  if (found === undefined) places.set(key, [index]);
  else found.push(index);
}

/**
 * The host where the whole text is a host or a URL, without `www.`; else a name, equal for two spellings of one. A name with
 * look-alikes equals only itself in either case. One folding for both: of 200 characters NFKC can make 3,600. `bareOf` takes
 * more legal forms off a name.
 */
function hostOrName(
  text: string,
  bareOf: (plain: string) => string,
): { host: string; name: null } | { host: null; name: string } {
  const plain = plainText(text);
  // No folded name begins with this sign, so the two kinds cannot be equal.
  if (hasLookAlikes(plain)) return { host: null, name: `=${lightlyFolded(bareOf(plain))}` };
  const host = hostAlone(plain.trim());
  // A name of invisible characters alone folds to nothing and equals only itself.
  return host === null ? { host, name: normalisePlain(bareOf(plain)) || text } : { host, name: null };
}

/** The host where the whole text is a host or a URL, without `www.`; null for anything else. */
function hostAlone(plain: string): string | null {
  if ((plain.includes('@') && !plain.includes('://')) || /\s/.test(plain)) return null;
  const [host] = hostForms(plain);
  return host === undefined ? null : host.replace(/^www\.(?=.*\.)/, '');
}
