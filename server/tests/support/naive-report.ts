/** A decision with all that a report counts of it. */
export interface SeenDecision {
  decision_id: string;
  agent_id: string;
  decision: 'ALLOW' | 'REVIEW' | 'DENY';
  mode: 'SHADOW' | 'ENFORCE';
  reason_codes: string[];
  merchant: string;
  amount_minor: number;
  currency: string;
  created_at: string;
  assessment: string;
  review_state: string | null;
  first_review_at: string | null;
  by_key_maker: boolean;
  label: string | null;
  outcome_state: string;
  executed_minor: number;
}

const isExecuted = (each: SeenDecision) =>
  ['EXECUTED', 'PARTIALLY_REFUNDED', 'REFUNDED'].includes(each.outcome_state);
const unique = (names: string[]) => [...new Set(names)];
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

const kinds = (of: SeenDecision[]) => ({
  count: of.length,
  allow: of.filter((each) => each.decision === 'ALLOW').length,
  review: of.filter((each) => each.decision === 'REVIEW').length,
  deny: of.filter((each) => each.decision === 'DENY').length,
});
const sum = (of: SeenDecision[], field: 'amount_minor' | 'executed_minor' = 'amount_minor') => {
  const total = of.reduce((so_far, each) => so_far + BigInt(each[field]), 0n);
  const most = Number.MAX_SAFE_INTEGER;
  return total > BigInt(most)
    ? { amount_minor: most, amount_cut: true as const }
    : { amount_minor: Number(total) };
};
const amounts = (of: SeenDecision[], field: 'amount_minor' | 'executed_minor' = 'amount_minor') =>
  unique(of.map((each) => each.currency))
    .sort()
    .map((currency) => {
      const same = of.filter((each) => each.currency === currency);
      return { currency, count: same.length, ...sum(same, field) };
    });
const ranked = (names: string[], of: (name: string) => SeenDecision[]) =>
  unique(names).sort((a, b) => of(b).length - of(a).length || byBytes(a, b));
const share = (part: number, whole: number) => (whole === 0 ? null : Math.round((part / whole) * 1e4) / 1e4);

/** The report as one reads it off a plain list of all decisions: slow and simple. */
export function naiveReport(
  all: SeenDecision[],
  asked: { from: string; to: string; agent_id: string | null },
) {
  const inside = all.filter(
    (each) =>
      Date.parse(each.created_at) >= Date.parse(asked.from) &&
      Date.parse(each.created_at) < Date.parse(asked.to) &&
      (asked.agent_id === null || each.agent_id === asked.agent_id),
  );
  const shadow = inside.filter((each) => each.mode === 'SHADOW');
  const enforced = inside.filter((each) => each.mode === 'ENFORCE');
  const withReason = (reason: string) => shadow.filter((each) => each.reason_codes.includes(reason));
  const ofAgent = (id: string) => shadow.filter((each) => each.agent_id === id);
  const ofMerchant = (name: string) => shadow.filter((each) => each.merchant === name);
  const ofDay = (day: string) => shadow.filter((each) => each.created_at.startsWith(day));
  const labelled = shadow.filter((each) => each.label !== null);
  const cell = (assessment: string, label: string) =>
    labelled.filter((each) => each.assessment === assessment && each.label === label).length;
  const names = ['PURPOSE_ALIGNED', 'PURPOSE_MISALIGNED', 'PURPOSE_UNCLEAR'];
  const bad = 'PURPOSE_MISALIGNED';
  const reviews = shadow.filter((each) => each.decision === 'REVIEW');
  const inState = (state: string) => reviews.filter((each) => each.review_state === state).length;
  const waits = reviews
    .flatMap((each) =>
      each.first_review_at === null
        ? []
        : Math.floor((Date.parse(each.first_review_at) - Date.parse(each.created_at)) / 1000),
    )
    .sort((a, b) => a - b);
  const stopOf = (each: SeenDecision) => {
    if (each.decision === 'DENY') return 'DENY';
    if (each.decision === 'ALLOW' || each.review_state === 'ALLOWED') return null;
    return each.review_state === 'DENIED' ? 'REVIEW_DENIED' : 'REVIEW_PENDING';
  };
  const reported = shadow.filter((each) => each.outcome_state !== 'NONE');
  const stopped = shadow.filter((each) => isExecuted(each) && stopOf(each) !== null);
  return {
    totals: {
      ...kinds(shadow),
      by_currency: amounts(shadow).map((each) => {
        const part = (decision: string) => {
          const of = shadow.filter((one) => one.currency === each.currency && one.decision === decision);
          return { count: of.length, ...sum(of) };
        };
        return { ...each, allow: part('ALLOW'), review: part('REVIEW'), deny: part('DENY') };
      }),
    },
    by_reason: ranked(
      shadow.flatMap((each) => each.reason_codes),
      withReason,
    ).map((reason_code) => ({
      reason_code,
      count: withReason(reason_code).length,
      first_count: shadow.filter((each) => each.reason_codes[0] === reason_code).length,
      amounts: amounts(withReason(reason_code)),
      example_ids: withReason(reason_code)
        .map((each) => each.decision_id)
        .sort()
        .reverse()
        .slice(0, 5),
    })),
    by_agent: ranked(
      shadow.map((each) => each.agent_id),
      ofAgent,
    ).map((agent_id) => ({ agent_id, ...kinds(ofAgent(agent_id)), amounts: amounts(ofAgent(agent_id)) })),
    by_merchant: ranked(
      shadow.map((each) => each.merchant),
      ofMerchant,
    )
      .slice(0, 20)
      .map((merchant) => ({
        merchant,
        ...kinds(ofMerchant(merchant)),
        amounts: amounts(ofMerchant(merchant)),
      })),
    by_day: unique(shadow.map((each) => each.created_at.slice(0, 10)))
      .sort()
      .map((day) => ({ day, ...kinds(ofDay(day)), amounts: amounts(ofDay(day)) })),
    labels: {
      labeled: labelled.length,
      coverage: share(labelled.length, shadow.length),
      matrix: Object.fromEntries(
        names.map((assessment) => [
          assessment,
          Object.fromEntries(names.map((label) => [label, cell(assessment, label)])),
        ]),
      ),
      precision: share(cell(bad, bad), cell(bad, bad) + cell(bad, 'PURPOSE_ALIGNED')),
      recall: share(cell(bad, bad), labelled.filter((each) => each.label === bad).length),
      misaligned_allowed: labelled.filter((each) => each.label === bad && each.decision === 'ALLOW').length,
    },
    reviews: {
      count: reviews.length,
      pending: inState('PENDING'),
      allowed: inState('ALLOWED'),
      denied: inState('DENIED'),
      by_key_maker: reviews.filter((each) => each.by_key_maker).length,
      median_seconds:
        waits.length === 0
          ? null
          : ((waits[Math.floor((waits.length - 1) / 2)] as number) +
              (waits[Math.floor(waits.length / 2)] as number)) /
            2,
    },
    outcomes: {
      by_state: ranked(
        reported.map((each) => each.outcome_state),
        (state) => reported.filter((each) => each.outcome_state === state),
      ).map((outcome_state) => ({
        outcome_state,
        count: reported.filter((each) => each.outcome_state === outcome_state).length,
      })),
      executed_although_stopped: {
        count: stopped.length,
        amounts: amounts(stopped, 'executed_minor'),
        by_stop: ['DENY', 'REVIEW_PENDING', 'REVIEW_DENIED'].flatMap((stop) =>
          amounts(
            stopped.filter((each) => stopOf(each) === stop),
            'executed_minor',
          ).map((each) => ({ stop, ...each })),
        ),
        by_state: ranked(
          stopped.map((each) => each.outcome_state),
          (state) => stopped.filter((each) => each.outcome_state === state),
        ).flatMap((outcome_state) =>
          amounts(
            stopped.filter((each) => each.outcome_state === outcome_state),
            'executed_minor',
          ).map((each) => ({ outcome_state, ...each })),
        ),
      },
    },
    enforced: { count: enforced.length, amounts: amounts(enforced) },
  };
}

/** The overview of both modes as one reads it off a plain list of all decisions. */
export function naiveOverview(
  all: SeenDecision[],
  asked: { from: string; to: string; agent_id: string | null },
) {
  const inside = all.filter(
    (each) =>
      Date.parse(each.created_at) >= Date.parse(asked.from) &&
      Date.parse(each.created_at) < Date.parse(asked.to) &&
      (asked.agent_id === null || each.agent_id === asked.agent_id),
  );
  const inMode = (of: SeenDecision[], mode: string) => of.filter((each) => each.mode === mode);
  const modes = (of: SeenDecision[]) => ({
    shadow: inMode(of, 'SHADOW').length,
    enforce: inMode(of, 'ENFORCE').length,
  });
  const withReason = (reason: string) => inside.filter((each) => each.reason_codes.includes(reason));
  const ofAgent = (id: string) => inside.filter((each) => each.agent_id === id);
  const ofMerchant = (name: string) => inside.filter((each) => each.merchant === name);
  return {
    by_day: unique(inside.map((each) => each.created_at.slice(0, 10)))
      .sort()
      .map((day) => {
        const of = inside.filter((each) => each.created_at.startsWith(day));
        const [shadow, enforce] = [kinds(inMode(of, 'SHADOW')), kinds(inMode(of, 'ENFORCE'))];
        return { day, ...kinds(of), shadow, enforce, amounts: amounts(of) };
      }),
    by_decision: ['ALLOW', 'REVIEW', 'DENY'].map((decision) => {
      const of = inside.filter((each) => each.decision === decision);
      return { decision, count: of.length, ...modes(of), amounts: amounts(of) };
    }),
    by_reason: ranked(
      inside.flatMap((each) => each.reason_codes),
      withReason,
    ).map((reason_code) => {
      const of = withReason(reason_code);
      const first_count = of.filter((each) => each.reason_codes[0] === reason_code).length;
      return { reason_code, count: of.length, first_count, ...modes(of), amounts: amounts(of) };
    }),
    by_agent: ranked(
      inside.map((each) => each.agent_id),
      ofAgent,
    ).map((agent_id) => {
      const of = ofAgent(agent_id);
      const by_day = unique(of.map((each) => each.created_at.slice(0, 10)))
        .sort()
        .map((day) => ({ day, count: of.filter((each) => each.created_at.startsWith(day)).length }));
      return { agent_id, ...kinds(of), ...modes(of), amounts: amounts(of), by_day };
    }),
    by_merchant: ranked(
      inside.map((each) => each.merchant),
      ofMerchant,
    )
      .slice(0, 20)
      .map((merchant) => {
        const of = ofMerchant(merchant);
        return { merchant, ...kinds(of), ...modes(of), amounts: amounts(of) };
      }),
    by_currency: amounts(inside).map((each) => {
      const part = (decision: string) => {
        const of = inside.filter((one) => one.currency === each.currency && one.decision === decision);
        return { count: of.length, ...sum(of) };
      };
      return { ...each, allow: part('ALLOW'), review: part('REVIEW'), deny: part('DENY') };
    }),
  };
}

/** Requested amounts over time as one reads them off a plain list of all decisions: slow and simple. */
export function naiveSpending(
  all: SeenDecision[],
  asked: { from: string; to: string; agent_id: string | null; by: 'agent' | 'merchant' },
  max_parts: number,
) {
  const [from_ms, to_ms] = [Date.parse(asked.from), Date.parse(asked.to)];
  const between = (begin_ms: number, end_ms: number) =>
    all.filter(
      (each) =>
        Date.parse(each.created_at) >= begin_ms &&
        Date.parse(each.created_at) < end_ms &&
        (asked.agent_id === null || each.agent_id === asked.agent_id),
    );
  const nameOf = (each: SeenDecision) => (asked.by === 'agent' ? each.agent_id : each.merchant);
  const now = between(from_ms, to_ms);
  const earlier = between(from_ms - (to_ms - from_ms), from_ms);
  const summed = (of: SeenDecision[]) => ({ count: of.length, amount_minor: sum(of).amount_minor });
  const byKind = (of: SeenDecision[]) => ({
    allow: summed(of.filter((each) => each.decision === 'ALLOW')),
    review: summed(of.filter((each) => each.decision === 'REVIEW')),
    deny: summed(of.filter((each) => each.decision === 'DENY')),
  });
  const dayOf = (each: SeenDecision) => each.created_at.slice(0, 10);
  const series = (currency: string, matches: (each: SeenDecision) => boolean) => {
    const is = (each: SeenDecision) => each.currency === currency && matches(each);
    const of = now.filter(is);
    return {
      currency,
      count: of.length,
      ...sum(of),
      ...byKind(of),
      before: summed(earlier.filter(is)),
      by_day: unique(of.map(dayOf))
        .sort()
        .map((day) => ({ day, ...byKind(of.filter((each) => dayOf(each) === day)) })),
    };
  };
  const exact = (of: SeenDecision[]) => of.reduce((total, each) => total + BigInt(each.amount_minor), 0n);
  const currencies = unique(now.map((each) => each.currency)).sort();
  return {
    totals: currencies.map((currency) => series(currency, () => true)),
    parts: currencies.flatMap((currency) => {
      const within = now.filter((each) => each.currency === currency);
      const of = (name: string) => exact(within.filter((each) => nameOf(each) === name));
      return unique(within.map(nameOf))
        .sort((a, b) => (of(b) > of(a) ? 1 : of(b) < of(a) ? -1 : byBytes(a, b)))
        .slice(0, max_parts)
        .map((name) => ({ name, ...series(currency, (each) => nameOf(each) === name) }));
    }),
  };
}
