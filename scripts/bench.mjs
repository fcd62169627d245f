// npm run bench: measures decisions per second beside TPC-B on the same PostgreSQL.
import { fail, prepare } from './prepare.mjs';
import { runProgram } from './program.mjs';

await prepare({ with_dev: true }).catch(fail);
const { main } = await import('../tools/dist/bench/main.js');
await runProgram(main);
