import type { Draft } from '../../lib/authority/draft.ts';

/** The fields that are one text. */
type TextName = { [Name in keyof Draft]: Draft[Name] extends string ? Name : never }[keyof Draft];

/** What the control of a text is given. */
export type FieldOf = (name: TextName) => {
  value: string;
  problem: string | undefined;
  disabled: boolean;
  onValue: (value: string) => void;
};
export type Edit = <Name extends keyof Draft>(name: Name, value: Draft[Name]) => void;
