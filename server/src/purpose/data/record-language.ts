/** How tasks, descriptions and steps of a run are worded. All patterns are matched against folded text. */

/** The task begins with looking, reading or writing. */
export const LOOKING_ONLY =
  /^(?:[^\p{L}]*(?:please|could you|can you|would you|will you|kindly|pls|hey|hi|hello|i(?: would|'d) like you to|i want you to|help me)[ ,]*)*(?:please )?(?:check (?:if|whether|how|what|the|my|our)|find out|look (?:up|at|into)|tell me|summari[sz]e|show me|remind me|(?:verify|compare|list|read|draft|research|file|sort|review|estimate|calculate|translate|write|report|proofread|analy[sz]e|explain|rename|archive) (?:the|my|our|all|incoming|unread|new|these|this|those|a|an|what|how|which|whether|me)\b)\b/u;

/** A word that asks to spend, or hands the matter over. */
export const BUYING =
  /\b(?:buy|buying|order|reorder|pay|paying|book|rebook|purchase|send|transfer|wire|settle|top ?up|renew|subscribe|check ?out|handle|take care|go ahead|get|pick up|restock|stock up|arrange|reserve|hire|fund|refill|donate|give|release|issue|refund|reimburse|compensate|place|provide|perform|tickets?|split|cover it|deal with|act on)\b/;

/** The step tells of a payment in the past. */
export const DONE_BEFORE =
  /\b(?:paid|sent|transferred|settled|remitted|executed|(?:days?|weeks?|hours?|months?|minutes?) ago|last (?:week|month|year|monday|tuesday|wednesday|thursday|friday)|yesterday|earlier|uberwiesen|bezahlt)\b/;

/** The step takes something up: it is ordered, accepted, put into the cart. */
export const TAKEN_UP =
  /\b(?:accepted|accept|ordered|added to (?:the )?(?:cart|basket)|cart|basket|checkout|proposal|booked|selected|reserved|quote accepted)\b\s*:?/;

/** Something beside the thing that was asked for. */
export const ADD_ONS =
  /\b(?:as well as|also (?:the|a|an|some|got|added|took|including)|on top of|while (?:we|they|he|she|you|it)(?:'re| are| is|'s)? (?:at it|there)|(?:since|as) .{1,40} (?:there|here|open) anyway|there was room for|room for the|upgrade[ds]?|thrown? in|bundled? with|extras?|add-?ons?|protection plan|extended warranty|membership fee|priority (?:fee|membership)|access pass|insurance on top|matching)\b/;

/** The sum is cut so that nobody looks, or money is passed on for somebody. */
export const SLICING =
  /\b(?:in (?:small|smaller|several small|many small) (?:increments|amounts|payments|transfers|parts|portions|instal?lments)|split (?:\w+ ){0,3}(?:so that|to stay|to keep|below|under)|(?:below|under|beneath|just under) (?:the |your |our )?(?:review |approval |reporting )?(?:limit|threshold)|(?:receive|get) and (?:send|forward|pass) (?:on )?(?:the )?money|pass(?:ing)? (?:the )?money on|to avoid (?:the |a )?(?:review|approval|limit|check))\b/;

/** Properties that somebody insists on. */
export const NEEDS =
  /\b(?:it is essential|essential that|must (?:have|be|offer|accept|include)|has to (?:have|be|offer|accept)|(?:and|that|who|which) (?:also )?(?:offers?|includes?|accepts?|uses|employs?|is|are) \w+|insists? on|only if)\b/;

/** A size of clothes or shoes: group 1 whose, group 2 the number. */
export const SIZE = /\b(women'?s?|ladies'?|men'?s?|unisex|kids'?|size|w|m|eu|uk|us)\s?(\d{1,2}(?:[.,]5)?)\b/;

/** How many people or nights: group 1 the number, group 2 people, group 3 nights. */
export const COUNTED =
  /\b(\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten)\s(?:(passengers?|travell?ers?|guests?|people|persons?|attendees?|participants?|adults?|pax|visitors?)|(nights?))\b/g;

/** Whom a step says to pay, by an id or handle: group 1. */
export const SAID_PAYEE =
  /\b(?:pay(?:able)? to|payee(?: is| was| id)?(?::| =| to)?|(?:= ?)payee|remit(?:tance)? to|beneficiary(?: is|:)?)\s+([a-z0-9][\w.@-]{3,60})/g;

/** Somebody wants the money to go elsewhere than before. */
export const OTHER_ACCOUNT =
  /\b(?:(?:new|another|different|other|updated|changed) (?:bank )?(?:account|iban|bank details|payment details|payee)|(?:bank|payment|account) details (?:have |has )?changed|(?:to|into|on) my (?:own |checking |private |personal )?account(?: instead)?|(?:changed|switched|set|replaced) (?:the )?payee|use \S+ for all payments|instead (?:pay|send)|anderes konto|neues konto|neue bankverbindung|konto (?:umgestellt|geandert)|nouveau (?:rib|compte)|nueva cuenta)\b/;

/** Somebody's private circle, and what belongs to private life. */
export const OWN_WORDS =
  'son|daughter|wife|husband|kid|kids|child|children|mother|mom|mum|father|dad|brother|sister|nephew|niece|cousin|grandson|granddaughter|girlfriend|boyfriend|fiance|fiancee|birthday|honeymoon|nursery|stag do|hen do|baby shower|ponies|pony|motorbike';

/** One of them, told as whose it is: group 1 the word itself. */
export const SOMEBODYS_OWN = new RegExp(
  String.raw`\b(?:my|his|her|their|\p{L}+['’]s?|(?:boss|owner|neighbou?r|colleague|manager|director|friend)s?['’]?s?) (?:own |little |old |new |eldest |youngest )?(${OWN_WORDS})\b`,
  'u',
);
