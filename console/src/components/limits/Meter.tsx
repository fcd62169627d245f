import decision from '../decision/decision.module.css';

/** A bar of the used share with text. */
export function Meter({ used, limit, children }: { used: number; limit: number; children: React.ReactNode }) {
  const share = limit === 0 ? 1 : Math.min(1, used / limit);
  return (
    <div>
      <div className={decision.bar} aria-hidden="true">
        {share > 0 && (
          <span
            className={used >= limit ? decision.over : decision.committed}
            style={{ width: `${share * 100}%` }}
          />
        )}
      </div>
      <span className="figures">{children}</span>
    </div>
  );
}
