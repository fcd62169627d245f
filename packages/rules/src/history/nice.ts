const STEPS = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8];

/** The least of 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8 times a power of ten that is a whole number and at least `least`. */
export function nice(least: number): number {
  for (let power = 1; ; power *= 10) {
    const found = STEPS.map((step) => step * power).find((each) => Number.isInteger(each) && each >= least);
    if (found !== undefined) return found;
  }
}
