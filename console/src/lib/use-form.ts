import { InvalidRequestError } from '@purser/sdk';
import { type FormEvent, useState } from 'react';
import { problemOf } from '../api/client.ts';

/** The state of a form while it is filled in and sent. */
export interface Form<Values> {
  values: Values;
  set: <Name extends keyof Values>(name: Name, value: Values[Name]) => void;
  /** For the `problem` of a field: what is wrong with it. */
  problemOf: (name: keyof Values & string) => string | undefined;
  /** What went wrong that no field is to blame for. */
  error: unknown;
  busy: boolean;
  onSubmit: (event?: FormEvent) => Promise<void>;
}

/**
 * A form whose values stay whatever the server says. `check` finds problems before anything is sent; a refusal that names
 * a field is shown beside it. `fields` gives the field of a name in the API where they differ.
 */
export function useForm<Values extends Record<string, unknown>>(
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
  return {
    values,
    error,
    busy,
    set(name, value) {
      setValues((before) => ({ ...before, [name]: value }));
      setProblems(({ [name as string]: _solved, ...others }) => others);
    },
    problemOf: (name) => problems[name],
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

/** Once the problems are shown, the keyboard is where the first of them is. */
function focusFirstProblem(event: FormEvent | undefined): void {
  const form = event?.currentTarget ?? null;
  setTimeout(() => {
    if (form instanceof HTMLFormElement) form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  });
}
