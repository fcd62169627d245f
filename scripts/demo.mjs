// npm run demo: shows the service deciding on a set of spends.
import { fail, prepare } from './prepare.mjs';
import { runProgram } from './program.mjs';

await prepare({ with_dev: true }).catch(fail);
const { main } = await import('../tools/dist/demo/main.js');
await runProgram(main);
