// npm run bench: measures decisions per second beside TPC-B on the same PostgreSQL.
import { fail, prepare } from './prepare.mjs';
import { runProgram } from './program.mjs';

await prepare().catch(fail);
const { main } = await import('../server/dist/bench/main.js');
await runProgram(main);
