import { queryOptions, useQuery } from '@tanstack/react-query';
import { queryClient } from '../../api/queries.ts';
import { mySlack } from '../../api/slack.ts';
import { Button } from '../../components/Button.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card, Facts } from '../../components/Page.tsx';
import { Time } from '../../components/Value.tsx';
import { useAction } from '../../lib/hooks/use-action.ts';

export const mySlackQuery = queryOptions({ queryKey: ['my-slack'], queryFn: mySlack.get });

/** The person's account in Slack, whose clicks are their reviews. */
export function Slack() {
  const { data } = useQuery(mySlackQuery);
  const ending = useAction(async () => {
    await mySlack.unlink();
    await queryClient.invalidateQueries({ queryKey: mySlackQuery.queryKey });
  });
  if (data === undefined) return null;
  return (
    <Card title="Link Slack">
      {data.link === null ? (
        <p>
          Not linked. Click Allow or Deny on a card of Purser in Slack: it shows you a link, which is good for
          ten minutes.
        </p>
      ) : (
        <>
          <Facts
            of={[
              ['Member', <code key="u">{data.link.account.user_id}</code>],
              ['Workspace in Slack', <code key="t">{data.link.account.team_id}</code>],
              ['Linked', <Time key="l" at={data.link.linked_at} />],
            ]}
          />
          <div>
            <Button small busy={ending.busy} onClick={() => void ending.run()}>
              Unlink
            </Button>
          </div>
        </>
      )}
      {ending.error !== null && <ErrorNotice error={ending.error} />}
    </Card>
  );
}
