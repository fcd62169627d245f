// Makes workspaces on the database of the service that runs in `DATA_DIR`, with what the operator's command works with:
// a process for each of them would cost more than most tests. Prints its address; is asked for `{ name, plan }`.
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { addWorkspace, makeCore, openDatabase, readConfig } from '@purser/server/tools';
import { pino } from 'pino';

const log = pino({ level: 'silent' });
const database = await openDatabase(readConfig(process.env), { as: 'command', log });
const core = makeCore(database, log);
const server = createServer(async (request, response) => {
  const asked = await json(request);
  const made = await addWorkspace(core, { ...asked, trial_days: null, by: 'operator' });
  response.end(JSON.stringify(made));
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
process.once('SIGTERM', async () => {
  server.closeAllConnections();
  server.close();
  await core.close();
  await database.close();
});
