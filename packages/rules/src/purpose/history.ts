/** How merchants and words are named where feedback is summed. */
export { HISTORY_NAMES, historyKey, historyWords } from './reading/precedents.ts';
