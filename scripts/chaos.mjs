// npm run chaos: breaks a Purser of its own in every way that production knows, and checks what clients were told.
import { fail, prepare } from './prepare.mjs';
import { runProgram } from './program.mjs';

await prepare({ with_dev: true }).catch(fail);
const { main } = await import('../tools/dist/chaos/main.js');
await runProgram(main);
