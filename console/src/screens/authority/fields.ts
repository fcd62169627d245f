import type { Draft } from '../../lib/authority/draft.ts';

/** The fields of the draft that are one text. */
type TextName = { [Name in keyof Draft]: Draft[Name] extends string ? Name : never }[keyof Draft];

/** Returns the props of a text control. */
export type FieldOf = (name: TextName) => {
  value: string;
  problem: string | undefined;
  disabled: boolean;
  onValue: (value: string) => void;
};

/** Changes a field of the draft. */
export type Edit = <Name extends keyof Draft>(name: Name, value: Draft[Name]) => void;
