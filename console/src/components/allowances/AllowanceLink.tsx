import type { Allowance } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { Badge } from '../Badge.tsx';
import { allowanceName } from './allowances.ts';

/** An allowance in a list: its name, and whether it answers reviews. */
export function AllowanceLink({ allowance }: { allowance: Allowance }) {
  return (
    <>
      <Link to={`/allowances/${allowance.id}`}>{allowanceName(allowance)}</Link>{' '}
      {allowance.automatic && <Badge>Answers reviews</Badge>}
    </>
  );
}
