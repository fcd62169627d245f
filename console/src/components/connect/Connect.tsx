import type { OfferedPackages } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { formatMoney } from '../../lib/money.ts';
import { SNIPPETS } from '../../lib/samples/snippets.ts';
import type { TemplateRequest } from '../../lib/samples/templates.ts';
import { visible } from '../../lib/visible.ts';
import { SelectField } from '../Field.tsx';
import { Tabs } from '../Page.tsx';
import { CodeBlock } from '../Value.tsx';
import styles from './connect.module.css';

/** How to send a request with a key: the same one in each language, complete and ready to paste. */
export function Connect({
  secret,
  agent,
  samples,
}: {
  secret: string;
  /** For a key that is not the agent's own. */
  agent?: string | undefined;
  samples: readonly TemplateRequest[];
}) {
  const [chosen, setChosen] = useState(0);
  const [language, setLanguage] = useState('curl');
  const packages = useQuery({
    queryKey: ['packages'],
    queryFn: async () => {
      const { data } = await purser.request<OfferedPackages>('GET', '/packages/');
      return new Map(data.map(({ name, url }) => [name, url]));
    },
    staleTime: Number.POSITIVE_INFINITY,
  }).data;
  const snippet = SNIPPETS.find(({ name }) => name === language) ?? SNIPPETS[0];
  const request = samples[chosen] ?? samples[0];
  if (snippet === undefined || request === undefined) return null;
  const of = { url: location.origin, key: secret, agent, request, packages };
  return (
    <div className={styles.connect}>
      <Tabs label="Languages">
        {SNIPPETS.map(({ name }) => (
          <button key={name} type="button" aria-pressed={name === language} onClick={() => setLanguage(name)}>
            {name}
          </button>
        ))}
      </Tabs>
      {snippet.sends && samples.length > 1 && (
        <SelectField
          label="Request to send"
          value={String(chosen)}
          onValue={(value) => setChosen(Number(value))}
          options={samples.map((each, i) => [
            String(i),
            `${visible(each.merchant)}, ${formatMoney(each.amount_minor, each.currency)}${each.description === undefined ? '' : `: ${visible(each.description)}`}`,
          ])}
        />
      )}
      <p className={styles.soft}>{snippet.first(of)}</p>
      {snippet.install !== undefined && <CodeBlock label="the installation" code={snippet.install(of)} />}
      <CodeBlock label="a payment request" code={snippet.code(of)} />
    </div>
  );
}
