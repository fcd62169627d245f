/** Percentages for a text field: "50, 80, 100". Empty for none. */
export const percentsToInput = (percents: readonly number[] = []): string => percents.join(', ');

/** Reads typed percentages. Returns them, null for an empty field, or the problem. */
export function percentsFromInput(text: string): { percents: number[] | null } | { problem: string } {
  const typed = text.split(/[\s,;%]+/).filter((each) => each !== '');
  if (typed.length === 0) return { percents: null };
  const percents = typed.map((each) => (/^\d{1,3}$/.test(each) ? Number(each) : Number.NaN));
  const is_right = percents.every((each, i) => each >= 1 && each <= 100 && each > (percents[i - 1] ?? 0));
  return is_right && percents.length <= 5
    ? { percents }
    : { problem: 'must be up to 5 ascending numbers from 1 to 100, such as 50, 80, 100' };
}
