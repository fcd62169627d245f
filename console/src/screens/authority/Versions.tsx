import { changesOf } from '@purser/contract/authority-changes';
import type { Authority, AuthorityVersion } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { purser } from '../../api/client.ts';
import { Author } from '../../components/Author.tsx';
import { Badge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { Card } from '../../components/Page.tsx';
import { Table } from '../../components/Table.tsx';
import { Id, Time } from '../../components/Value.tsx';
import { formatMoney } from '../../lib/money.ts';
import styles from './Authority.module.css';
import { Diff } from './Diff.tsx';

/** All versions, and the differences between the selected and the current one. */
export function Versions({
  slug,
  current,
  written,
  shown,
  may,
  onStart,
}: {
  slug: string;
  current: AuthorityVersion | null;
  /** The draft if it differs from its base. */
  written: Authority | null;
  /** The selected version's number. */
  shown: string | undefined;
  may: boolean;
  onStart: (authority: Authority) => void;
}) {
  const versions = useQuery({
    queryKey: ['authority', slug, 'versions'],
    queryFn: async () => (await purser.agents.authority.listVersions(slug, { limit: 50 })).data,
    enabled: current !== null,
  });
  const looked_at = useQuery({
    queryKey: ['authority', slug, 'version', shown],
    queryFn: async () => purser.agents.authority.retrieve(slug, { version: Number(shown) }),
    enabled: shown !== undefined && /^\d+$/.test(shown),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (current === null) return null;
  const old = looked_at.data;
  return (
    <>
      {old !== undefined && (
        <Card
          title={
            old.version === current.version
              ? `Version ${old.version} (current)`
              : `From version ${old.version} to version ${current.version}`
          }
          aside={
            <Link to={`/agents/${slug}/authority`} search={{}}>
              Close
            </Link>
          }
        >
          {old.version !== current.version && (
            <Diff changes={changesOf(old.authority, current.authority, formatMoney)} />
          )}
          {old.version !== current.version && written !== null && (
            <>
              <h3 className={styles.heading}>From version {old.version} to your draft</h3>
              <Diff changes={changesOf(old.authority, written, formatMoney)} />
            </>
          )}
          <p className={styles.status}>
            Saved <Time at={old.created_at} exact /> by <Author {...old.created_by} />
          </p>
          <Id id={old.hash} />
          {may && (
            <p>
              <Button small onClick={() => onStart(old.authority)}>
                Start from this version
              </Button>
            </p>
          )}
        </Card>
      )}
      {versions.data !== undefined && versions.data.length > 0 && (
        <Card title="Versions" flush>
          <div className={styles.versions}>
            <Table<AuthorityVersion>
              label="Versions"
              rows={versions.data}
              keyOf={(each) => each.version}
              columns={[
                {
                  name: 'Version',
                  heading: true,
                  cell: (each) => (
                    <>
                      <Link to={`/agents/${slug}/authority`} search={{ version: String(each.version) }}>
                        {each.version}
                      </Link>{' '}
                      {each.version === current.version && <Badge tone="accent">Current</Badge>}
                    </>
                  ),
                },
                {
                  name: 'Saved',
                  short: true,
                  cell: (each) => (
                    <>
                      <Time at={each.created_at} />
                      <br />
                      <span className={styles.was}>
                        <Author {...each.created_by} />
                      </span>
                    </>
                  ),
                },
                { name: 'Note', wrap: true, cell: (each) => each.note ?? '' },
              ]}
            />
          </div>
        </Card>
      )}
    </>
  );
}
