/** What was aimed at, and what was measured. */
export interface Goal {
  name: string;
  /** `''` for a ratio. */
  unit: 'ms' | '/s' | 'MB' | '';
  /** True if more is better. */
  is_least: boolean;
  goal: number;
  /** Null: this run was too short for it. */
  measured: number | null;
}

/** Returns true if the goal was reached; null when it was not measured. A measurement that is no number misses. */
export function isReached({ is_least, goal, measured }: Goal): boolean | null {
  if (measured === null) return null;
  return is_least ? measured >= goal : measured <= goal;
}

/** A measured value in a goal's unit, for people: three digits that say something. */
export function shownValue(value: number, unit: Goal['unit']): string {
  if (unit === '') return `${value.toFixed(2)} x`;
  const digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  return unit === '/s' ? `${value.toFixed(digits)}/s` : `${value.toFixed(digits)} ${unit}`;
}

/** What was aimed at: `at least 1.60 x`. */
export function shownAim({ is_least, goal, unit }: Goal): string {
  return `at ${is_least ? 'least' : 'most'} ${shownValue(goal, unit)}`;
}

/** What came of it: `reached`, `missed by 12 %`, `not measured`. */
export function shownVerdict(goal: Goal): string {
  const reached = isReached(goal);
  if (reached === null || goal.measured === null) return 'not measured';
  if (reached) return 'reached';
  const missed = Math.abs(goal.measured / goal.goal - 1) * 100;
  return Number.isFinite(missed) ? `missed by ${missed.toFixed(missed < 10 ? 1 : 0)} %` : 'missed';
}
