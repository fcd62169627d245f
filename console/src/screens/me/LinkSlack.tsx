import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { queryClient, useMe } from '../../api/queries.ts';
import { mySlack } from '../../api/slack.ts';
import { Button } from '../../components/Button.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Card, Facts, Loading, Page } from '../../components/Page.tsx';
import { useAction } from '../../lib/hooks/use-action.ts';
import { visible } from '../../lib/visible.ts';
import { mySlackQuery } from './Slack.tsx';

/** The page behind the link that Purser shows in Slack: links the account of the code in the URL's fragment. */
export default function LinkSlack() {
  const me = useMe();
  // The code is a secret of this page, so it leaves the address bar.
  const [code] = useState(() => {
    const given = location.hash.slice(1);
    if (given !== '') history.replaceState(history.state, '', location.pathname);
    return given;
  });
  const offered = useQuery({
    queryKey: ['slack-code', code],
    queryFn: async () => mySlack.readCode(code),
    enabled: code !== '',
    staleTime: Number.POSITIVE_INFINITY,
  });
  const [is_done, setDone] = useState(false);
  const linking = useAction(async () => {
    await mySlack.link(code);
    setDone(true);
    await queryClient.invalidateQueries({ queryKey: mySlackQuery.queryKey });
  });
  return (
    <Page title="Link Slack" width="narrow">
      {is_done ? (
        <Notice tone="good" title="Your account in Slack is linked.">
          Click the button in Slack again: it is now your review. <Link to="/me">Your account</Link>
        </Notice>
      ) : code === '' ? (
        <Notice title="Click Allow or Deny on a card in Slack first.">
          Purser then shows you, and nobody else, a link that leads here.
        </Notice>
      ) : (
        <Card title="Is this your account in Slack?">
          {offered.isPending && <Loading lines={3} />}
          {offered.isError && <ErrorNotice error={offered.error} />}
          {offered.data !== undefined && (
            <>
              <Facts
                of={[
                  ['Name', offered.data.name === null ? '—' : visible(offered.data.name)],
                  ['Member', <code key="u">{offered.data.account.user_id}</code>],
                  ['Workspace in Slack', <code key="t">{offered.data.account.team_id}</code>],
                  ['Reviews as', <code key="p">{me.principal_id}</code>],
                ]}
              />
              <p>
                Each click of this account becomes your review. If you did not click in Slack yourself, close
                this page.
              </p>
              {linking.error !== null && <ErrorNotice error={linking.error} />}
              <div>
                <Button kind="primary" busy={linking.busy} onClick={() => void linking.run()}>
                  Link this account
                </Button>
              </div>
            </>
          )}
        </Card>
      )}
    </Page>
  );
}
