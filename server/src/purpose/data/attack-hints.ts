/**
 * For each pattern of ATTACK_PATTERNS, in their order: how a word begins that every match has to hold. A text without
 * such a word or mark cannot match, so the pattern need not be run on it.
 */
export const ATTACK_HINTS: readonly RegExp[] = [
  /^(?:aligned|misaligned|unclear|policy|valid|safe|legitimate|verdict|purpose|assessment)/,
  /^(?:ignor|disregard|forget|overr|bypass|suspend|aside|circumvent|apply|follow|attention|rule|polic|constraint|restriction)/,
  /^(?:note|message|important|attention|instruction|hint|reminder|appeal|dear|hello|hey|evaluat|grad|assess|judge|review|check|system|inst|im$|developer|assistant|admin|user|act|acting|are|jailbreak|if$)/,
  /^(?:purpose|assess|verdict|decision|aligned|reason|confidence|grad|system|polic|safety|scor|prompt|instruction|max|role|criteria|evaluat|judge|classif)/,
  /^(?:approv|preapprov|authori|preauthori|already|compliant|allow|trust|word|owner|ceo|operator|admin|boss|need|reason|without|exception|pre$|cleared|okayed|ok|waived|override|bypass|clearance|genehmigt|freigegeben|autorizado|i$)/,
  /^(?:agent|assistant|bot|shopper|system|model|required|mandatory|instead|first|unlock|release|before|subscribe|auto)/,
];

/** Marks that stand for a word: `[system]`, `</system>`, `<|…|>`. */
export const ATTACK_MARKS = /[[<]/;
