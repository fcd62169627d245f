// npm run eval: measures the built-in assessor on cases whose right answer is known.
import { fail, prepare } from './prepare.mjs';
import { runProgram } from './program.mjs';

await prepare({ with_dev: true }).catch(fail);
const { main } = await import('../tools/dist/evaluation/main.js');
await runProgram(main);
