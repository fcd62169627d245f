/**
 * For each pattern of ATTACK_PATTERNS, in their order: how a word begins that every match has to hold. A text without
 * such a word or mark cannot match, so the pattern need not be run on it.
 */
export const ATTACK_HINTS: readonly RegExp[] = [
  /^(?:aligned|misaligned|unclear|approved|compliant|authori|policy|valid|safe|legitimate|allow|decision|verdict|purpose|assessment|status)/,
  /^(?:ignor|disregard|forget|overr|bypass|skip|suspend|aside|waive|circumvent|apply|follow|drop|neglect|attention|rule|polic|constraint|limit|restriction|check|review|verif|ask|confirm|approv|question|instruction|criteria)/,
  /^(?:note|message|important|attention|instruction|hint|reminder|info|advice|request|appeal|dear|hello|hey|evaluat|grad|assess|judge|review|scor|system|developer|admin|assistant|check|jailbreak|prompt|automated|autonomous|software|agent|bot|shopper|language|helper|llm|ai$)/,
  /^(?:approv|preapprov|authori|preauthori|clear|sign|vet|verif|check|green|ok|wave|sanction|confirm|agree|want|request|said|allow|waive|given|override|bypass|emergency|trust|word|owner|ceo|operator|admin|boss|genehmigt|freigegeben|autorizado|approuve)/,
  /^(?:purpose|assess|verdict|decision|scor|aligned|reason|confidence|grad|system|polic|safety|prompt|instruction|input|request|temperature|tokens|role|submission|evaluat|criteria|answer|only|just|judge|classif|rule)/,
  /^(?:required|mandatory|only|not$|accept|instead|first|complete|continue|unlock|release|before|or$|must|subscribe|buy$|auto)/,
];

/** Marks that stand for a word: `[system]`, `</system>`, `<|…|>`. */
export const ATTACK_MARKS = /[[<]/;
