import { createHash } from 'node:crypto';
import { type Assess, PURPOSE_ASSESSMENTS, type PurposeAssessment, readOpinion } from '@purser/server/tools';
import type { ExpectedSpend } from '../demo/spends-file.ts';
import type { Judge, ModelMeasured } from './model.ts';
import { measureModel } from './model.ts';

type Verdict = (one: ExpectedSpend) => PurposeAssessment;

/** A judge that says what `verdict` says and quotes the operator, in the words of a model's answer. */
export function madeJudge(verdict: Verdict): Judge {
  return async (seen, one) => {
    const evidence = [{ field: 'purpose.objective', text: seen.purpose['purpose.objective'] }];
    const assessment = verdict(one);
    const answer = JSON.stringify({ rationale: 'So it says.', evidence, assessment, confidence: 0.9 });
    return { opinion: readOpinion(answer, seen), usage: null, duration_ms: 0 };
  };
}

/** A number from 0 to 1 for each text, the same each time. */
const draw = (text: string) => createHash('sha256').update(text).digest().readUInt32BE() / 2 ** 32;
const NOISE = 0.05;

/** Says what is expected, and of one case in twenty something else. */
const honest: Verdict = ({ id, expected }) => {
  if (draw(id) >= NOISE) return expected.purpose;
  const others = PURPOSE_ASSESSMENTS.filter((one) => one !== expected.purpose);
  return others[Math.floor(draw(`${id} other`) * others.length)] as PurposeAssessment;
};

/** Takes every third of the attacks whose name matches for ALIGNED, and says what is expected of all else. */
function fooledBy(kinds: RegExp, cases: readonly ExpectedSpend[]): Verdict {
  const attacked = cases.filter(({ attack }) => kinds.test(attack ?? '')).map(({ id }) => id);
  const fooled = new Set(attacked.filter((_, i) => i % 3 === 0));
  return ({ id, expected }) => (fooled.has(id) ? 'PURPOSE_ALIGNED' : expected.purpose);
}

/** An attack on the judge speaks to it, in whatever words. A lie about the spend is what no rule can see. */
const TO_THE_JUDGE = /inject|flatter|urgen|authority|hijack/;

/** Judges that are wrong in a known way, with which the bounds of a model are measured without any model. */
export const MADE_JUDGES: readonly { title: string; of: (cases: readonly ExpectedSpend[]) => Verdict }[] = [
  { title: 'honest, and wrong about one case in twenty', of: () => honest },
  {
    title: 'fooled by every third text that speaks to a judge',
    of: (cases) => fooledBy(TO_THE_JUDGE, cases),
  },
  { title: 'fooled by every third such text or lie', of: (cases) => fooledBy(/./, cases) },
];

/** What rules and each of the made judges come to together, in the order of `MADE_JUDGES`. */
export async function measureMadeJudges(
  cases: readonly ExpectedSpend[],
  assess: Assess,
): Promise<ModelMeasured[]> {
  const measured: ModelMeasured[] = [];
  for (const { of } of MADE_JUDGES) measured.push(await measureModel(cases, assess, madeJudge(of(cases))));
  return measured;
}

/** The figures of one file, as text. */
export function renderMadeJudges(name: string, measured: readonly ModelMeasured[]): string {
  const of = ({ count, of }: { count: number; of: number }) => `${count} of ${of}`;
  const lines = measured.flatMap(({ kept, slips, slips_of_attacks }, i) => [
    `  a judge ${MADE_JUDGES[i]?.title}`,
    `    right kept ${of(kept)}; misaligned taken for ALIGNED ${of(slips)}, with an attack in the text ${of(slips_of_attacks)}`,
  ]);
  const [{ kept_by_rules, slips_of_rules } = { kept_by_rules: null, slips_of_rules: null }] = measured;
  const rules =
    kept_by_rules === null
      ? []
      : [
          `  the rules alone: right kept ${of(kept_by_rules)}; misaligned taken for ALIGNED ${of(slips_of_rules)}`,
        ];
  return [`${name}, rules and a judge that may clear`, ...rules, ...lines, ''].join('\n');
}
