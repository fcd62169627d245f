// Replaces what the rules use of node:crypto and node:url, in the client's fake, which also runs where there is no Node.
/** A name for a text, 32 hexadecimal digits long. It tells texts apart and keeps nothing secret. @param {string} text */
function digest(text) {
  return [0x811c9dc5, 0x01000193, 0x9e3779b9, 0x85ebca6b]
    .map((seed) => {
      let sum = seed;
      for (let i = 0; i < text.length; i++)
        sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193 ^ (seed << 1));
      return (sum >>> 0).toString(16).padStart(8, '0');
    })
    .join('');
}

/** As `hash` of node:crypto, for names. @param {string} _algorithm @param {string} text */
export function hash(_algorithm, text) {
  return { toString: () => digest(text) };
}

/** As `createHash` of node:crypto, for names. */
export function createHash() {
  let text = '';
  const hashing = {
    update(/** @type {string} */ part) {
      text += part;
      return hashing;
    },
    digest: () => digest(text),
  };
  return hashing;
}

/** As `domainToASCII` of node:url. @param {string} name */
export function domainToASCII(name) {
  try {
    return new URL(`ws://${name}`).hostname;
  } catch {
    return '';
  }
}

/** As `domainToUnicode` of node:url, for what `domainToASCII` returns. @param {string} name */
export function domainToUnicode(name) {
  return name
    .split('.')
    .map((label) => (label.startsWith('xn--') ? decoded(label.slice(4)) : label))
    .join('.');
}

/** Decodes a label in Punycode (RFC 3492). @param {string} label */
function decoded(label) {
  const basic = label.lastIndexOf('-');
  const points = Array.from(label.slice(0, Math.max(0, basic)), (each) => each.charCodeAt(0));
  let [point, bias, place] = [128, 72, 0];
  for (let at = basic + 1; at < label.length; ) {
    const before = place;
    for (let [weight, k] = [1, 36]; ; k += 36) {
      const code = label.charCodeAt(at++);
      const digit = code < 58 ? code - 22 : code - 97;
      place += digit * weight;
      const threshold = Math.min(26, Math.max(1, k - bias));
      if (digit < threshold) break;
      weight *= 36 - threshold;
    }
    const count = points.length + 1;
    let delta = Math.floor((place - before) / (before === 0 ? 700 : 2));
    delta += Math.floor(delta / count);
    for (bias = 0; delta > 455; bias += 36) delta = Math.floor(delta / 35);
    bias += Math.floor((36 * delta) / (delta + 38));
    point += Math.floor(place / count);
    place %= count;
    points.splice(place++, 0, point);
  }
  return String.fromCodePoint(...points);
}
