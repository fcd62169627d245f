import { InvalidRequestError } from '@purser/sdk';
import { type FormEvent, useState } from 'react';
import { problemOf } from '../../api/client.ts';

/** The state of a form. */
export interface Form<Values extends Record<string, string>> {
  values: Values;
  set: <Name extends keyof Values>(name: Name, value: Values[Name]) => void;
  /** The problem of a field. */
  problemOf: (name: keyof Values & string) => string | undefined;
  /** Props of a text control: value, problem and change handler. */
  field: (name: keyof Values & string) => {
    value: string;
    problem: string | undefined;
    onValue: (value: string) => void;
  };
  /** An error that belongs to no field. */
  error: unknown;
  busy: boolean;
  onSubmit: (event?: FormEvent) => Promise<void>;
}

/**
 * A form that keeps its values after an error. `check` finds problems before anything is sent. A refusal that names a field
 * becomes that field's problem. `fields` maps API names to the form's names if they differ.
 */
export function useForm<Values extends Record<string, string>>(
  initial: Values,
  submit: (values: Values) => Promise<unknown>,
  options: {
    check?: (values: Values) => Partial<Record<keyof Values & string, string>>;
    fields?: Record<string, keyof Values & string>;
  } = {},
): Form<Values> {
  const [values, setValues] = useState(initial);
  const [problems, setProblems] = useState<Partial<Record<string, string>>>({});
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const set: Form<Values>['set'] = (name, value) => {
    setValues((before) => ({ ...before, [name]: value }));
    setProblems(({ [name as string]: _solved, ...others }) => others);
  };
  return {
    values,
    error,
    busy,
    set,
    problemOf: (name) => problems[name],
    field: (name) => ({
      value: values[name] as string,
      problem: problems[name],
      onValue: (value) => set(name, value as Values[typeof name]),
    }),
    async onSubmit(event) {
      event?.preventDefault();
      if (busy) return;
      const found = options.check?.(values) ?? {};
      setProblems(found);
      setError(null);
      if (Object.keys(found).length > 0) return focusFirstProblem(event);
      setBusy(true);
      try {
        await submit(values);
      } catch (thrown) {
        const refusal = thrown instanceof InvalidRequestError && thrown.field !== undefined ? thrown : null;
        const field = options.fields?.[refusal?.field ?? ''] ?? refusal?.field ?? '';
        if (refusal !== null && field in values) {
          setProblems({ [field]: problemOf(refusal) });
          focusFirstProblem(event);
        } else setError(thrown);
      } finally {
        setBusy(false);
      }
    },
  };
}

/** Focuses the first field with a problem, after it is rendered. */
function focusFirstProblem(event: FormEvent | undefined): void {
  const form = event?.currentTarget ?? null;
  setTimeout(() => {
    if (form instanceof HTMLFormElement) form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  });
}
