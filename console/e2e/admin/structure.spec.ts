import { fill } from '../support/fill.ts';
import { expect, test } from '../support/test.ts';

/** The structure for screen readers: headings, tables and columns in order. */
const STRUCTURES: readonly (readonly [path: string, structure: string])[] = [
  [
    '/reviews',
    `
    - heading "Inbox" [level=1]
    - link "Guide"
    - navigation "Reviews":
      - link "Pending"
      - link "Reviewed"
      - link "Expired"
    - list
    `,
  ],
  [
    '/decisions',
    `
    - heading "Decisions" [level=1]
    - button "Export CSV"
    - navigation "Views":
      - link "All"
    - search:
      - searchbox "Merchant"
    - region "Decisions":
      - table:
        - rowgroup:
          - row:
            - columnheader "Time"
            - columnheader "Merchant"
            - columnheader "Amount"
    `,
  ],
  [
    '/agents',
    `
    - heading "Agents" [level=1]
    - button "New agent"
    - region "Agents":
      - table
    `,
  ],
  [
    '/keys',
    `
    - heading "Keys" [level=1]
    - button "New key"
    - region "Active keys":
      - heading "Active keys" [level=2]
      - region "Keys":
        - table:
          - rowgroup:
            - row:
              - columnheader "Name"
              - columnheader "Kind"
    `,
  ],
  [
    '/webhooks',
    `
    - heading "Webhooks" [level=1]
    - button "Add endpoint"
    - region "Endpoints":
      - heading "Endpoints" [level=2]
    - region "Deliveries":
      - heading "Deliveries" [level=2]
    `,
  ],
  [
    '/ledger',
    `
    - heading "Ledger" [level=1]
    - region "Verify history":
      - heading "Verify history" [level=2]
      - textbox "Only after entry"
      - button "Verify"
    - region "Checkpoints":
      - heading "Checkpoints" [level=2]
    - region "Entries":
      - heading "Entries" [level=2]
      - button "Export CSV"
    `,
  ],
  [
    '/audit',
    `
    - heading "Audit" [level=1]
    - region "Audit":
      - table:
        - rowgroup:
          - row:
            - columnheader "Time"
            - columnheader "Who"
            - columnheader "Action"
    `,
  ],
  [
    '/team',
    `
    - heading "Team" [level=1]
    - button "Invite"
    - region "Members":
      - heading "Members" [level=2]
    - region "Invitations":
      - heading "Invitations" [level=2]
    - region "Sign-ins":
      - heading "Sign-ins" [level=2]
    `,
  ],
];

test('screens have the expected structure for screen readers', async ({ page, workspace }) => {
  await fill(workspace);
  for (const [path, structure] of STRUCTURES) {
    await test.step(path, async () => {
      await page.goto(`/console${path}`);
      await expect(page.getByRole('main')).toMatchAriaSnapshot(structure);
    });
  }
});

test('an address without a page says so beside the navigation, and leads back', async ({
  page,
  workspace,
}) => {
  await workspace.agent();
  await page.goto('/console/no/such/page');
  await expect(page.getByRole('heading', { level: 1, name: 'Not found' })).toBeVisible();
  await expect(page.getByRole('navigation').getByRole('link', { name: 'Decisions' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Try again' })).toHaveCount(0);
  await page.getByRole('main').getByRole('link', { name: 'Go to Overview' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
});
