import { EventEmitter } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import type { SpawnedProcess } from '@anthropic-ai/claude-agent-sdk';
import type { Conversation } from '../drivers/driver.ts';

interface Matcher {
  hookCallbackIds: string[];
  onFailure?: 'continue' | 'block';
}
interface Line {
  type: string;
  request_id?: string;
  request?: { subtype: string; hooks?: { PreToolUse?: Matcher[] } };
  response?: { subtype: string; request_id: string; response?: Answer; error?: string };
}
interface Answer {
  hookSpecificOutput?: { permissionDecision?: string; permissionDecisionReason?: string };
  mcp_response?: { result?: { content: { text: string }[]; isError?: boolean } };
}

/**
 * Claude Code as the SDK sees it, as far as tools go: asks the hooks of PreToolUse, then calls the tool of the SDK's own
 * server. A hook that fails stops the tool only where its matcher says `onFailure: 'block'`, as documented.
 */
export function scriptedCli(next: Conversation['next']): () => SpawnedProcess {
  return () => {
    const stdin = new PassThrough();
    const stdout = new PassThrough();
    const events = new EventEmitter();
    const state = { killed: false, exitCode: null as number | null };
    const say = (line: object) => stdout.write(`${JSON.stringify(line)}\n`);
    const end = () => {
      if (state.exitCode !== null) return;
      state.exitCode = 0;
      stdout.end();
      events.emit('exit', 0, null);
    };
    const waiting = new Map<string, (response: NonNullable<Line['response']>) => void>();
    let matchers: Matcher[] = [];
    let asked = 0;
    const ask = (request: object) =>
      new Promise<NonNullable<Line['response']>>((resolve) => {
        const request_id = `cli-${++asked}`;
        waiting.set(request_id, resolve);
        say({ type: 'control_request', request_id, request });
      });

    /** Why the tool may not run; null when it may. */
    async function refusalOf(input: object, tool_use_id: string): Promise<string | null> {
      for (const { hookCallbackIds, onFailure = 'continue' } of matchers) {
        for (const callback_id of hookCallbackIds) {
          const { error, response } = await ask({
            subtype: 'hook_callback',
            callback_id,
            input,
            tool_use_id,
          });
          if (error !== undefined && onFailure === 'block') return error;
          const output = response?.hookSpecificOutput;
          if (output?.permissionDecision === 'deny') return output.permissionDecisionReason ?? 'denied';
        }
      }
      return null;
    }

    async function converse(): Promise<void> {
      let last: string | null = null;
      for (let call = 1; ; call++) {
        const order = await next(last);
        if (order === null) break;
        const tool_use_id = `toolu_${call}`;
        const input = {
          hook_event_name: 'PreToolUse',
          tool_name: 'mcp__shop__buy',
          tool_input: order,
          tool_use_id,
          session_id: 'scripted',
          transcript_path: '',
          cwd: '',
        };
        last = await refusalOf(input, tool_use_id);
        if (last !== null) continue;
        const params = { name: 'buy', arguments: order };
        const message = { jsonrpc: '2.0', id: call, method: 'tools/call', params };
        const { response } = await ask({ subtype: 'mcp_message', server_name: 'shop', message });
        last = response?.mcp_response?.result?.content.map(({ text }) => text).join('\n') ?? 'no result';
      }
      say({
        type: 'result',
        subtype: 'success',
        is_error: false,
        result: 'done',
        session_id: 'scripted',
        uuid: '00000000-0000-4000-8000-000000000000',
        num_turns: 1,
        duration_ms: 1,
        duration_api_ms: 1,
        total_cost_usd: 0,
        usage: {},
        modelUsage: {},
        permission_denials: [],
      });
    }

    createInterface({ input: stdin }).on('line', (text) => {
      const line = JSON.parse(text) as Line;
      if (line.type === 'control_response' && line.response !== undefined) {
        waiting.get(line.response.request_id)?.(line.response);
      } else if (line.request?.subtype === 'initialize') {
        matchers = line.request.hooks?.PreToolUse ?? [];
        const response = { hooks_applied: true, hook_on_failure_supported: true };
        say({
          type: 'control_response',
          response: { subtype: 'success', request_id: line.request_id, response },
        });
      } else if (line.type === 'user') void converse();
    });
    stdin.on('end', end);
    return Object.assign(events, {
      stdin,
      stdout,
      kill() {
        state.killed = true;
        end();
        return true;
      },
      get killed() {
        return state.killed;
      },
      get exitCode() {
        return state.exitCode;
      },
    }) as unknown as SpawnedProcess;
  };
}
