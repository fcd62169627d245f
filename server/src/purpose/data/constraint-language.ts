/** How operators write constraints. All patterns are matched against folded text (lower case, no diacritics). */

/** Opens a prohibition: what follows is forbidden. */
export const PROHIBITS = new Set(
  'no never nothing none allergic intolerant avoid exclude excluding excludes neither kein keine keinen keinerlei nie niemals nichts jamais aucun aucune pas rien nada nunca ningun ninguna geen nooit niet refuse reject decline'.split(
    ' ',
  ),
);

/** "not", read as a prohibition only where something follows it that can be bought or used for. */
export const NOT = new Set([
  'not',
  'nicht',
  'cannot',
  'non',
  'don',
  'doesn',
  'mustn',
  'aren',
  'isn',
  'shouldn',
]);

/** After "no" or "not" these speak of a measure, not of a thing. */
export const MEASURES = new Set(
  'more less later longer earlier need matter above over exceed higher lower later twice only one body sooner than'.split(
    ' ',
  ),
);

/** Ends what a prohibition lists. */
export const ENDS_LIST = new Set(
  'we they it i he she who which that because since as is are was be goes go orders order buys has have does do must should may can will would please these those this unless except but therefore so when if where while only also use uses pay pays already first ask comes come bring handles handled'.split(
    ' ',
  ),
);

/** Opens what a prohibition lets through. */
export const EXCEPTS =
  /\b(?:except(?:ing)?(?: for)?|unless|other than|apart from|save for|ausser|sauf|salvo|behalve)\b/;

/** Somebody else buys it: what stands before is forbidden here. */
export const ELSEWHERE =
  /\b(?:(?:is|are|get|gets|being|stays?|remains?) )?(?:(?:bought|ordered|purchased|paid|handled|brought|booked|procured|managed|covered|dealt with|organi[sz]ed|sourced|arranged|planned|decided|chosen|provided|supplied|done)\b.{0,25}\b(?:elsewhere|separately|otherwise|by(?! (?:the (?:hour|day|week|month|quarter|year|piece|kilo|unit|dozen)|card|invoice|transfer|direct debit|\d))|through|via|centrally|directly)|(?:go|goes|run|runs) (?:elsewhere|separately|through|via|over|to|on another|on a different)|(?:belongs?|belong) (?:to|with)|(?:has|have) (?:its|their) own|on (?:its|their) own (?:budget|card|account)|(?:does|do) not go through|(?:is|are) (?:somebody|someone) else|buys? (?:these|those|them|its own|their own)|(?:is|are|stays?|remains?) (?:the |our )?(?:\w+ ){0,2}\w+'s?(?: (?:business|job|task|matter|budget))?(?=\s*$)|(?:is|are) (?:the )?(?:\w+ )?(?:job|business|task|matter|responsibility) of)\b/;

/** Forbidden by name: what stands before is forbidden. */
export const RULED_OUT =
  /\b(?:(?:is|are|stays?|remains?) )?(?:(?:strictly |expressly )?(?:forbidden|prohibited|excluded|banned|off limits|off-limits|out of scope|out of bounds|ruled out|taboo|blocked|verboten|interdit|prohibido|verboden)|(?:is |are )?not (?:allowed|permitted|covered|accepted|wanted|included|reimbursed|part of|for this)|(?:may|must|can|shall|should)(?: ?not|not) be (?:bought|ordered|paid|booked|purchased|included|charged|used)|(?:do|does) not (?:belong|count|qualify)|don'?t belong)\b/;

/** A condition that has to be seen to hold. */
export const REQUIREMENT =
  /\b(?:only (?:when|if|after|once|as|against|upon|what|for|with|from|through|those|items?|things)|unless|until|without|before|if|when|after|whose|twice|more than|at most|at least|within|same|again|beyond|outside|needs? (?:a|an|the|to|prior|written|\w+'s|\w+ (?:approval|signature|consent|ok|confirmation))|requires?|require|must (?:be|have|match|come|carry|show|name|exist|cover|contain|state|bear|meet|comply)|(?:has|have) to (?:be|match|cover|contain|state|bear|meet|comply|say|approve|agree|confirm|sign|ok)|once|as long as|provided (?:that|they|it)|(?:is|are) (?:agreed|approved|confirmed|called back|signed)|(?:has|have) been|signed off|approved|matche?s?|differs|come from|comes from|as written|exactly|missing|stay inside|followed|nur wenn|nur nach|erst nach|seulement si|solo si|alleen als|show options|careful)\b/;

/** A condition in an objective, where "outside" or "the same" mostly tell circumstances. */
export const OBJECTIVE_REQUIREMENT =
  /\b(?:only (?:when|if|after|once|asst|upon|what|for what|those|items?|things)|unless|until|without|if|when|after|whose|twice|more than|at most|at least|within|needs? (?:an? (?:approval|quote|order|reference|signature)|prior|written|\w+'s|\w+ (?:approval|signature|consent|ok|confirmation))|requires?|require|must (?:be|have|match|come|carry|show|name|exist)|has to (?:be|match)|have to (?:be|match)|once|as long as|provided (?:that|they|it)|(?:is|are) (?:agreed|approved|confirmed|called back|signed)|(?:has|have) been|signed off|approved|matche?s?|differs|come from|comes from|as written|exactly|missing|stay inside|followed|nur wenn|nur nach|erst nach|seulement si|solo si|alleen als|show options|careful)\b/;

/** A purpose that may mean nearly any trade. */
export const BROAD =
  /\b(?:everyday (?:shopping|spending|life|things|errands|purchases|needs|expenses)|errands?|money|anything (?:they|she|he|we)|all sorts|whatever (?:they|she|he)|personal (?:shopping|shopper|assistant)|general purchas\w*|account holder|personal finances|on behalf of|for people who)\b/;

/** A home: nearly any trade may be meant, unless the purpose lists what is. */
export const HOME =
  /\b(?:household|family(?! (?:show|film|business|run|owned|doctor|room|law|practice|restaurant|hotel|firm|company|day|ticket)s?\b)|haushalt|foyer|hogar|huishouden)\b/;

/** What is wanted is said by those whom the agent acts for, run by run. */
export const ON_REQUEST =
  /\b(?:on request|when (?:she|he|they|somebody|someone|an? \w+|the \w+) asks?|as (?:she|he|they) (?:asks?|writes?|says?|wants?)|asked for|asks? for|exactly as|signed off|on behalf of|what (?:she|he|they|the \w+) (?:asks?|wants?|named|described|requests?)|as requested|as instructed|instructions? (?:of|from)|requests? (?:of|from)|their list|(?:members?|customers?|clients?|users?|guests?|persons?|residents?|people|employees?|colleagues?|travell?ers?|requesters?|callers?|patrons?|diners?|shoppers?|readers?) (?:who )?(?:listed|lists?|asked|wants?|wanted|requests?|requested|named|insists?|approved|wishe[sd]|chose|picked|ordered|described|posts?)|in their own words|auf wunsch|sur demande|a peticion|op verzoek)\b/;

/** A condition whose subject stands first: "For presents, ask". */
export const LEADING_SUBJECT =
  /^\s*(?:for|(?:before|when) (?:buying|ordering|paying|booking|hiring|renewing)) ([^,]{1,60}?)(?: (?:show|ask|check|look|get|make|see|confirm)\b|,)/;

/** A prohibition that holds only under a condition or beyond a measure. */
export const CONDITIONAL_PROHIBITION =
  /\b(?:no|not|never|nothing|don't|doesn't|kein\w*|nie)\b.{1,80}\b(?:before|until|unless|without|if|when|while|more than|over|above|beyond|longer than|outside|twice|again|(?<!looks? )after|whose|who|that (?:is|are|has|have|was|were)|which|(?:on|for|in|at) such)\b/;

/** Wants what was asked for and nothing beside it. */
export const EXACTLY =
  /\b(?:no add-?ons?|no extras|nothing (?:else|extra|more)|only (?:the|what|those|items?|jobs?|things?) .{0,40}(?:list(?:ed)?|asked|approved|requests?|requested|named|ordered|wrote|written)|exactly (?:what|as|the)|exactly|one unit|signed off|as (?:written|listed|approved|requested)|ideas for more)\b/;

/** Pays only those whom the operator names. */
export const ONLY_NAMED =
  /\bonly\b.{0,30}\b(?:suppliers?|vendors?|providers?|merchants?|sellers?|shops?|stores?|wholesalers?|payees?|contacts?|accounts?|firms?|companies)\b.{0,40}\b(?:names?|named|listed|on (?:the |our )?(?:list|file|record|account)|in the (?:file|list|directory|configuration|router))\b|\bonly (?:from|to|with|at|through)\b.{0,50}\b(?:named|listed|list|on file|on record|directory|configuration)\b|\bonly approved (?:suppliers?|vendors?|providers?|merchants?|sellers?)\b/;

/** Only what stands on a list, a sheet or a plan that is not part of the purpose. */
export const ONLY_LISTED =
  /\bonly\b.{0,60}\b(?:on|from|in|of) (?:the|our|an?|his|her|their) (?:[\w'-]+ ){0,3}(?:list|sheet|plan|catalogue|catalog|menu|schedule|directory|file)\b|\bnur\b.{0,40}\b(?:von|aus|auf) (?:der|unserer|dem) (?:\w+ )?(?:liste|plan|katalog)\b|\b(?:solo|unicamente)\b.{0,40}\b(?:de|en) (?:la|el) (?:lista|plan|catalogo)\b|\b(?:uniquement|seulement)\b.{0,40}\b(?:de|sur|dans) la liste\b/;

/** The operator foresees that the account of a payee changes, and says what then has to happen. */
export const ACCOUNT_CHANGES =
  /\b(?:new|changed?|different|another|other) (?:iban|bank(?: account| details)?|account(?: number)?|payee|details)\b|\b(?:iban|bank details|bank account|account details)s?\b.{0,30}\b(?:changes?|changed|new|updated?)\b|\b(?:neue|geanderte|andere)s? (?:iban|bankverbindung|konto)\b|\bnouve(?:l|au|lle) (?:iban|compte|rib)\b|\bnuev[ao] (?:iban|cuenta)\b/;

/** What a kind of goods has to show: "music: the licence covers podcasts", "green coffee: organic only". */
export const SUBJECT_FIRST = /^\s*([^:;,.!?]{2,40}): +(\S.*)$/;

/** From whom alone something may come. Group 1 what, group 2 whom. */
export const ONLY_FROM =
  /^(.*?)\b(?:only|exclusively|solely|nur|ausschliesslich|uniquement|solo) (?:ever )?(?:(?:buy|order|use|book|done|bought|ordered|booked) )?(?:from|at|through|via|by|von|chez)\b(.*)$/;
export const FROM_NOBODY_ELSE =
  /^(.*?)\b(?:from|at|with|by|bei|von|chez) (.{2,80}?)(?:,? (?:and|und) (?:from |by )?(?:nobody|no ?one|nowhere|niemand(?:em)?) (?:else|sonst)\b| only\s*$)/;

/** "must be latex-free", "only nut-free": group 1 is ruled out. */
export const FREE_OF =
  /\b(?:must be|has to be|have to be|be|only|always|strictly) (?:\w+ and )?([\p{L}]{2,20})[- ]free\b/u;

/** Only for those whom the purpose names. */
export const ONLY_THESE =
  /\bonly (?:for )?(?:(?:these|the (?:above|named|listed|following))\b|those (?:\w+ )?(?:clients?|customers?|brands?|people|persons|projects?|sites?|shops?|accounts?|teams?|rooms?|boats?|cars?|vans?|trucks?|machines?)\b)/;

/** Money itself goes somewhere; "invoices from lawyers go to …" speaks of lawyers. */
export const MONEY_ITSELF =
  /^\s*(?:all |any |the )?(?:refunds?|money|payments?|returns?|reimbursements?|payouts?)\s*$/;

/** The code of a unit: letters, a number of at most three digits, a letter that is no measure ("4B", not "4h"). */
export const UNIT_CODE = /(?<![\p{L}\d.,/-])([a-z]{0,3})(\d{1,3})([a-f]?)(?![\p{L}\d/%-]|[.,]\d)/gu;
/** "h1 to h9" */
export const UNIT_RANGE =
  /(?<![\p{L}\d])([a-z]{1,3})(\d{1,3})()\s?(?:to|-|through|bis)\s?\1(\d{1,3})(?![\p{L}\d])/gu;

/** The sentence speaks of paying for something, not of choosing it. */
export const MONEY_PAID =
  /\b(?:invoices?|bills?|paid|payments?|pay|payouts?|rechnung(?:en)?|bezahlt|factures?|facturas?)\b/;

/** "Only treatments licensed in the EU": group 1 what, group 2 what it has to show. */
export const ONLY_SHOWN =
  /^\s*only (.{2,40}?) ((?:licen[sc]ed|certified|labell?ed|approved|registered|marked|rated|tested|insured|accredited|authori[sz]ed)\b.*)$/i;
