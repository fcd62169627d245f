import type { Allowance } from '@purser/sdk';
import { PERIODS } from '../../lib/budgets.ts';
import { visible } from '../../lib/visible.ts';

/** The name of an allowance, or its id. */
export const allowanceName = ({ name, id }: Pick<Allowance, 'name' | 'id'>): string =>
  name === null ? id : visible(name);

/** "Used 12 times". */
export const usedTimes = ({ total: { used_count } }: Allowance): string =>
  `Used ${used_count} ${used_count === 1 ? 'time' : 'times'}`;

/** The period of the amount: "per month (UTC)", "in total". */
export const allowancePeriod = ({ period, time_zone }: Allowance): string =>
  period === 'TOTAL' ? PERIODS.TOTAL : `${PERIODS[period]} (${time_zone})`;

/** True while it can still permit a spend, now or after money comes back. */
export const canEnd = ({ status }: Pick<Allowance, 'status'>): boolean =>
  status === 'OPEN' || status === 'EXHAUSTED';
