import type { Workspace } from '../domain/workspace.ts';
import { type CoverageSettings, DEFAULT_COVERAGE } from './spends.ts';

/** How lines are compared with decisions in a workspace. Throws SyntaxError where the text is not JSON. */
export function coverageSettings({ coverage }: Pick<Workspace, 'coverage'>): CoverageSettings {
  return coverage === null ? DEFAULT_COVERAGE : (JSON.parse(coverage) as CoverageSettings);
}
