import type { Command } from 'commander';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** Completions by command path (`authority diff`): subcommands and options. */
function wordsOf(program: Command): Map<string, string[]> {
  const words = new Map<string, string[]>();
  const visit = (command: Command, path: string) => {
    const options = command.options.flatMap(({ long }) => long ?? []);
    const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
    words.set(path, [...command.commands.map((each) => each.name()), ...choices, ...options, '--help']);
    for (const each of command.commands) visit(each, `${path} ${each.name()}`.trim());
  };
  visit(program, '');
  return words;
}

/** The script that a shell reads to complete commands and options. It calls nothing. */
export function completionScript(shell: Shell, program: Command): string {
  const words = wordsOf(program);
  if (shell === 'fish') {
    const lines = [...words].flatMap(([path, list]) => {
      const is = path === '' ? '__fish_use_subcommand' : `__purser_at ${path}`;
      return list.map((word) => {
        const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`;
        return `complete -c purser -n '${is}' ${what}`;
      });
    });
    const at =
      'function __purser_at\n  set -l typed (string match -v -- "-*" (commandline -opc)[2..])\n  test "$typed" = "$argv"\nend';
    return `${['complete -c purser -f', at, ...lines, 'complete -c purser -s f -l file -r -F'].join('\n')}\n`;
  }
  const cases = [...words].map(([path, list]) => `    "${path}") words="${list.join(' ')}" ;;`);
  const body = `_purser() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path="" words="" word
  case "$previous" in
    -f|--file) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _purser purser
`;
  return shell === 'bash' ? body : `#compdef purser\nautoload -U +X bashcompinit && bashcompinit\n${body}`;
}
