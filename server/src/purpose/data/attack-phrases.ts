/**
 * Language aimed at whoever judges the spend, or at the agent that reads it, instead of saying what is bought.
 * Each pattern is matched against folded text: lower case, no diacritics, single spaces, punctuation kept, `_` kept.
 * No pattern has nested or adjacent unbounded repetition, so matching is linear in the text.
 * The families follow the "LLM01 prompt injection" and "LLM09" chapters of the OWASP list for language-model applications.
 */
export interface AttackPattern {
  id: string;
  /** Completes "The request …". */
  meaning: string;
  /** True if nobody writes so who only says what is bought. */
  is_certain: boolean;
  pattern: RegExp;
}

export const ATTACK_PATTERNS: readonly AttackPattern[] = [
  {
    id: 'verdict',
    meaning: 'dictates a verdict',
    is_certain: true,
    pattern:
      /\bpurpose[_ ](?:is[_ ])?(?:aligned|misaligned|unclear)\b|\b(?:rate|mark|classify|label|grade|score|judge|treat|consider|count|assess|return|output|answer|respond|reply|verdict|assessment|flag)\b.{0,40}\b(?:aligned|in policy|within policy|as valid|as safe|legitimate)\b|\baligned\s*[=:]\s*true\b|\b(?:always|already|fully|clearly|obviously|100 ?%|deemed|should be|must be|is) (?:purpose[- ])?aligned\b|\b(?:verdict|purpose|assessment)["']?\s*[=:]\s*["']?(?:allow|approve|aligned|pass|accept|ok)/,
  },
  {
    id: 'override',
    meaning: 'asks to set rules aside',
    is_certain: true,
    pattern:
      /\b(?:ignore|disregard|forget|bypass|suspend|overrule|set aside|circumvent|do not apply|don't apply|do not follow|stop following|pay no attention to|override)\b.{0,40}\b(?:polic(?:y|ies)|rules?|instructions?|constraints?|guidelines?|restrictions?|purpose|prompt|previous|prior|safeguards?|criteria|blocklist)\b|\b(?:rules?|polic(?:y|ies)|constraints?|restrictions?) (?:do(?:es)? not|don't|doesn't|no longer|need not) (?:apply|count|hold)\b|\bignoriere? .{0,30}\b(?:regeln|anweisungen|vorgaben)\b|\bignor[ae] .{0,30}\b(?:reglas|instrucciones|consignes|regles|instructions)\b/,
  },
  {
    id: 'address',
    meaning: 'speaks to the one who judges',
    is_certain: true,
    pattern:
      /\b(?:note|message|important|attention|instruction|hint|reminder|appeal|dear|hello|hey)s?\b.{0,20}\b(?:checker|reviewer|assessor|grader|judge|evaluators?|approver|classifier|moderator|auditor bot|ai model|llm|policy engine|decision engine|spend service|authori[sz]ation service|purpose check|automated review|automatic review)\b|\b(?:reviewer|assessor|grader|judge|evaluator)\s*[:,]|\b(?:evaluation|evaluator|grading|grader|assessor|judge|reviewer|system)(?:[ _-](?:override|metadata|prompt|instructions?|mandate|directive))+\b|\[(?:system|inst|admin|evaluation|submission|internal|assistant|user|developer)[^\]]{0,60}\]|<\/?(?:system|inst|assistant|user|instructions?|admin|developer|im_start|im_end)>|<\|[^|]{1,30}\|>|\b(?:you are|act as|acting as) (?:an? |the )?(?:ai|assistant|judge|assessor|grader|evaluator|language model|checker)\b|\bjailbreak\b|\bdeveloper mode\b|\bif you are an? (?:ai|assistant|agent|bot|language model|llm)\b/,
  },
  {
    id: 'machine_text',
    meaning: 'carries machine instructions instead of a description',
    is_certain: true,
    pattern:
      /["'](?:purpose|assessment|verdict|decision|aligned|reason|confidence)["']\s*:|\b(?:grader|system|policy|safety|verdict|score)_(?:override|result|output|mode)\b|\b(?:begin|end|start) (?:of )?(?:system|prompt|instructions?)\b|\b(?:max_tokens|role)\s*[=:]|\b(?:final|corrected|updated|true|official) (?:verdict|assessment|grading|criteria)\b|\b(?:evaluate|grade|judge|assess|score|classify)\b.{0,30}\b(?:instead|corrected|only the)\b/,
  },
  {
    id: 'approval_claimed',
    meaning: 'speaks of approval that nobody here gave',
    is_certain: false,
    pattern:
      /\b(?:mark|treat|consider|count|report|return|output|answer|status|result)\b.{0,30}\b(?:approved|compliant|authori[sz]ed|allow(?:ed)?)\b|\b(?:pre-?approved|pre-?authori[sz]ed|already (?:been )?(?:approved|authori[sz]ed|cleared|signed off|vetted))|\b(?:owner|ceo|cfo|coo|cto|boss|managing director|president|operator|administrator|compliance|legal|headquarters)\b.{0,30}\b(?:has|have|had|already|personally|himself|herself)\b.{0,20}\b(?:approved|authori[sz]ed|cleared|ok'?d|okayed|waived)\b|\b(?:override|approval|authori[sz]ation|bypass|clearance) (?:code|token|phrase)\b|\b(?:trust me|take my word|i (?:am|'m) the (?:owner|ceo|operator|admin|boss))\b|\bno (?:need|reason) (?:to|for) (?:a )?(?:check|review|verif|ask|confirm|approv)|\bwithout (?:asking|review|further (?:checks?|review|questions|approval)|confirmation|approval|checking)\b|\bpolicy exception\b|\bvom (?:chef|geschaftsfuhrer|inhaber|vorstand) (?:genehmigt|freigegeben)\b|\bautorizado por (?:el|la) (?:jefe|director|dueno)\b|\bapprouve par (?:le|la) (?:patron|direction|directeur)\b/,
  },
  {
    id: 'command_elsewhere',
    meaning: 'gives orders found on a page or in a message',
    is_certain: false,
    pattern:
      /\b(?:agents?|assistants?|bots?|shoppers?|automated systems?|language models?) (?:must|shall|should|need to|have to|are required)\b|\b(?:required|mandatory) protocol\b|\b(?:instead|first) (?:pay|send|transfer|wire|buy|purchase|fund|top up)\b|\b(?:pay|send|transfer|wire|fund|top ?up)\b.{0,40}\b(?:to unlock|to release|before you can)\b|\bsubscribe your\b|\bauto-?approve/,
  },
];
