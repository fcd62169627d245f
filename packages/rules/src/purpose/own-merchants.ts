import { TRADES, tradesOfCode } from './data/trades.ts';

/** A merchant that the operator knows, with its trades; without any, it sells nearly everything. */
export interface OwnMerchant {
  name: string;
  trade_ids: readonly string[];
}

/** A list of merchants is invalid; the message names the line. */
export class MerchantsFileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MerchantsFileError';
  }
}

const MAX_LINES = 20_000;
const MAX_NAME_LENGTH = 200;

/**
 * Parses a list of merchants with lines `name; trade`. The trade is the id of a trade, a merchant category code of four
 * digits or `general`; several are separated by commas. `#` begins a comment. Throws MerchantsFileError for the first
 * invalid line.
 */
export function parseMerchants(text: string): OwnMerchant[] {
  const ids = new Set(TRADES.map((trade) => trade.id));
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  if (lines.length > MAX_LINES) throw new MerchantsFileError(`has more than ${MAX_LINES} lines`);
  return lines.flatMap((line, i) => {
    const [words = ''] = line.split('#');
    if (words.trim() === '') return [];
    const wrong = (problem: string) => new MerchantsFileError(`has a line ${i + 1} that ${problem}`);
    const at = words.lastIndexOf(';');
    const name = words.slice(0, at).trim();
    if (at < 0 || name === '') throw wrong('is not in the form "name; trade"');
    if (name.length > MAX_NAME_LENGTH) throw wrong(`has a name of more than ${MAX_NAME_LENGTH} characters`);
    const entries = words
      .slice(at + 1)
      .split(',')
      .map((entry) => entry.trim());
    const trade_ids = entries.flatMap((entry) => {
      if (entry === 'general') return [];
      const found = /^\d{4}$/.test(entry)
        ? tradesOfCode(entry).map((trade) => trade.id)
        : [entry].filter((id) => ids.has(id));
      if (found.length === 0)
        throw wrong(
          `has ${JSON.stringify(entry.slice(0, 40))}, which is neither a trade nor a known category code`,
        );
      return found;
    });
    return [{ name, trade_ids: [...new Set(trade_ids)] }];
  });
}
