/**
 * Language aimed at whoever judges the spend, or at the agent that reads it, instead of saying what is bought.
 * Each pattern is matched against folded text: lower case, no diacritics, single spaces, punctuation kept, `_` kept.
 * No pattern has nested or adjacent unbounded repetition, so matching is linear in the text.
 * The families follow the "LLM01 prompt injection" and "LLM09" chapters of the OWASP list for language-model applications.
 */
export interface AttackPattern {
  id: string;
  /** Completes "the text …". */
  meaning: string;
  pattern: RegExp;
}

export const ATTACK_PATTERNS: readonly AttackPattern[] = [
  {
    id: 'verdict',
    meaning: 'dictates a verdict',
    pattern:
      /\bpurpose[_ ](?:is[_ ])?(?:aligned|misaligned|unclear)\b|\b(?:rate|mark|classify|label|grade|score|judge|treat|consider|count|assess|report|return|output|answer|respond|reply|say|verdict|assessment|decision|status|result|flag)\b.{0,40}\b(?:aligned|approved|compliant|authori[sz]ed|in policy|within policy|as valid|as safe|legitimate|allow(?:ed)?)\b|\baligned\s*[=:]\s*true\b|\b(?:always|already|fully|clearly|obviously|100 ?%|deemed|should be|must be|is|are) (?:purpose[- ])?aligned\b|\b(?:decision|verdict|purpose|assessment|status)["']?\s*[=:]\s*["']?(?:allow|approve|aligned|pass|accept|ok)/,
  },
  {
    id: 'override',
    meaning: 'asks to set rules aside',
    pattern:
      /\b(?:ignore|disregard|forget|override|bypass|skip|suspend|overrule|set aside|waive|circumvent|do not apply|don't apply|do not follow|stop following|drop|neglect|pay no attention to)\b.{0,50}\b(?:polic(?:y|ies)|rules?|instructions?|constraints?|limits?|guidelines?|restrictions?|purpose|checks?|reviews?|approvals?|controls?|authority|prompt|above|previous|prior|safeguards?|guardrails?|criteria|blocklist)\b|\b(?:rules?|polic(?:y|ies)|constraints?|limits?|restrictions?) (?:do(?:es)? not|don't|doesn't|no longer|need not) (?:apply|count|hold)\b|\bno (?:need|reason) (?:to|for) (?:a )?(?:check|review|verif|ask|confirm|approv)|\boverride\b|\bwithout (?:asking|review|further (?:checks?|review|questions|approval)|confirmation|approval|checking)\b|\bpolicy exception\b|\bnew (?:policy|rules?|instructions?|criteria)\s*:/,
  },
  {
    id: 'address',
    meaning: 'speaks to the one who judges',
    pattern:
      /\b(?:note|message|important|attention|instruction|hint|reminder|info|advice|request|appeal|dear|hello|hey)s?\b.{0,20}\b(?:for|to|the)? ?(?:the )?(?:checker|reviewer|assessor|grader|judge|evaluator|evaluators|approver|classifier|moderator|auditor bot|model|assistant|ai|llm|policy engine|decision engine|spend service|authorization service|authorisation service|purpose check|automated review|automatic review)\b|\b(?:evaluation|evaluator|grading|grader|assessor|judge|reviewer|scoring|system|developer|admin|assistant)(?:[ _-](?:team|note|override|metadata|message|prompt|instruction|instructions|notice|mode|mandate|update|directive))+\b|\[(?:system|inst|admin|note|evaluation|submission|updated|important|internal|assistant|user|developer)[^\]]{0,60}\]|<\/?(?:system|inst|assistant|user|instructions?|admin|developer|im_start|im_end)>|<\|[^|]{1,30}\|>|(?:^|[\n.!?]\s*)(?:system|assistant|developer|admin)\s*:|\b(?:as|you are|act as|acting as) (?:an? |the )?(?:ai|assistant|judge|assessor|grader|evaluator|language model|checker)\b|\bjailbreak|\bdeveloper mode\b|\bprompt injection\b|\b(?:ai|automated|autonomous|software) (?:agents?|shoppers?|assistants?|systems?|buyers?|readers?)\b|\b(?:agents?|assistants?|bots?|shoppers?|automated systems?|language models?|helpers?) (?:must|shall|should|need to|have to|are required|are to|please|are asked)\b|\bif you are an? (?:ai|assistant|agent|bot|language model|llm)\b/,
  },
  {
    id: 'borrowed_authority',
    meaning: 'claims that somebody in charge has approved',
    pattern:
      /\b(?:pre-?approved|preapproved|pre-?authori[sz]ed|already (?:been )?(?:approved|authori[sz]ed|cleared|signed off|vetted|verified|checked)|(?:approved|authori[sz]ed|cleared|signed off|green-?lit|okayed|ok'd|waved through|sanctioned|confirmed|agreed|wanted|requested) (?:\w+ )?(?:personally )?by (?:the |our |your )?(?:\w+ )?(?:owner|ceo|cfo|coo|cto|boss|director|management|managing director|chief|president|operator|admin|administrator|compliance|legal|finance|security|headquarters|hq|board|principal|policy team|chairman|founder))\b|\b(?:owner|ceo|cfo|coo|cto|boss|managing director|director|chief|president|board|head of finance|founder|chairman|operator|administrator|compliance)\b.{0,30}\b(?:has|have|had|already|personally|himself|herself)\b.{0,20}\b(?:approved|signed|authori[sz]ed|agreed|cleared|ok'?d|okayed|confirmed|said yes|allowed|waived|given (?:the|his|her) (?:ok|go))\b|\b(?:override|approval|authori[sz]ation|bypass|clearance|emergency)[ _-]?(?:code|token|key|phrase)\b|\b(?:trust me|take my word|i (?:am|'m) the (?:owner|ceo|operator|admin|boss))\b|\bvom (?:chef|geschaftsfuhrer|inhaber|vorstand) (?:genehmigt|freigegeben)\b|\bautorizado por (?:el|la) (?:jefe|director|dueno)\b|\bapprouve par (?:le|la) (?:patron|direction|directeur)\b/,
  },
  {
    id: 'machine_text',
    meaning: 'carries machine instructions instead of a description',
    pattern:
      /["'](?:purpose|assessment|verdict|decision|score|aligned|reason|confidence)["']\s*:|\b(?:grader|system|policy|safety|verdict|score)_(?:override|result|output|note|mode)\b|\b(?:begin|end|start) (?:of )?(?:system|prompt|instructions?|input|policy|request)\b|\b(?:temperature|max_tokens|role)\s*[=:]|\b(?:final|corrected|updated|new|true|official) (?:submission|verdict|assessment|evaluation|grading|criteria|answer|decision)\b|\b(?:only|just) (?:the )?(?:final|corrected|new|updated|second) \w+ (?:should|shall|must|is to|counts?)\b|\b(?:evaluate|grade|judge|assess|score|classify)\b.{0,30}\b(?:instead|corrected|only|not the)\b|\b(?:repeat|print|reveal|show) (?:your|the) (?:prompt|instructions|rules|policy)\b/,
  },
  {
    id: 'command_elsewhere',
    meaning: 'gives orders found on a page or in a message',
    pattern:
      /\b(?:required|mandatory) (?:protocol|procedure|step)\b|\b(?:contact|use|choose|order from|buy from) only\b|\bdo not (?:contact|use|order from|buy from)\b|\baccept\b.{0,30}\b(?:immediately|first|without)\b|\b(?:instead|first) (?:pay|send|transfer|wire|buy|purchase|fund|top up)\b|\b(?:pay|send|transfer|wire|fund|top ?up)\b.{0,40}\b(?:to complete|to continue|to unlock|to release|before you can|or (?:it|the item|your) (?:will|order))\b|\bmust (?:also |first )(?:buy|order|pay|purchase|be funded|fund|subscribe|transfer)\b|\bsubscribe your\b|\bbuy (?:it|this|that|one|them) (?:directly|immediately|now|as well)\b|\bcontinue without\b|\bautomated systems? (?:shall|must|should)\b|\bauto-?approve/,
  },
];

/** Pressure of time, folded text. Counts only together with secrecy. */
export const URGENCY =
  /\b(?:urgent(?:ly)?|immediately|right away|right now|asap|at once|today|before noon|within (?:the |an |one |\d+ )?(?:hour|hours|minutes)|last (?:chance|reminder|warning)|final (?:notice|warning)|or (?:it|the \w+) is gone|no time|before (?:close|end) of (?:business|day)|sofort|dringend|umgehend|heute noch|eilig|urgente|hoy mismo|urgence|tout de suite|dringend|vandaag nog|needs? (?:the |this )?(?:transfer|payment|money)|time[- ]critical)\b/;

/** A wish for silence, folded text. Counts only together with urgency. */
export const SECRECY =
  /\b(?:confidential|secret|secretly|in secret|discreet|discreetly|discretion|between us|between you and me|keep (?:this|it|quiet)|do not (?:tell|mention|inform|discuss|call|ask|notify)|don't (?:tell|mention|inform|discuss|call|ask|notify)|not announced|unannounced|no one (?:else )?(?:must|should|may) know|nobody (?:else )?(?:must|should|may) know|off the books|under the radar|hush|quietly|vertraulich|geheim|diskret|streng vertraulich|niemandem|confidencial|discreto|confidentiel|discretement|vertrouwelijk|paperwork follows|invoice follows later|without telling|delete this message)\b/;
