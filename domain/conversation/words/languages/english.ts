import { announcing } from './announcing.ts'
import type { LanguageWords } from './language-words.ts'
import { numeralTable } from './numerals.ts'

/**
 * Words that may come between an announcement such as "my number" and the number. "My phone is an iPhone 12" announces
 * no number.
 */
const links = 'number|line|is|its|it|would|will|be|to|at|on|plus|area|code|the|then|following'
/**
 * Words before "number" that announce a long number. Short numbers are said without a pause, and other words precede
 * them, such as in "order number is 4711".
 */
const owners = 'my|our|his|her|their|your|the|a|new|other|best|direct|home|work|office|contact|callback|cell|fax'
/** Numbers after these words, such as error codes and room numbers, are short, so speakers do not pause in them. */
const shortCodes =
  'error|country|area|dial|dialing|dialling|order|house|room|exit|status|dress|fault|product|item|building|airport|branch|store|department|class|course|color|colour|time|promo|discount|coupon|voucher|offer'

export const english = {
  turns: {
    backchannels:
      'yeah|yes|yep|yup|ya|right|sure|alright|all right|i see|got it|of course|exactly|true|great|good|cool|nice|fine|uh|um|mhmm|understood|go on|i know|really|wow|absolutely|indeed|makes sense|uh hm',
    unfinished:
      'and|or|but|because|cause|if|when|while|although|unless|until|since|which|whose|the|a|an|my|your|its|our|their|of|to|at|for|with|from|into|between|than|as|i|im|im calling is|plus|very|and so|my name is|my first name is|my last name is|because of|calling about|question about|ask about|asking about|know about|number is|name is|address is|email is|code is|here is|iban is|spelled|dot|underscore|hyphen|dash|and my|and the|which is|so that|even though|as well as|instead of|such as|in case|reason is|problem is|question is|thing is|issue is|it says|calling because|whether|towards|during|without|regarding|concerning|every|each|and then|or maybe|its on|it is on|it was on|going to|i am going to|im going to',
    particles:
      'her|his|i am|about|whom|by|against|toward|through|under|behind|besides|i think|i think it was|i believe|it was|my names|my numbers|my emails|i have to|ive got to',
    openings: 'please|well|so|actually',
    hesitations:
      'uh|um|uhm|umm|erm|er|ehm|eh|hm|hmm|hmmm|you know|i mean|let me see|let me think|let me think about it|let me think about that|let me check|let me look|let me have a look|let me find it|let me get it|let me get my card|hold on|hang on|hold on a second|hold on a moment|hang on a second|one second|one moment|just a second|just a moment|just a minute|a second please|a moment please|one moment please|one second please|give me a second|give me a moment|give me a minute|bear with me|wait a second|wait a minute|wait a moment|how do i say this|how do i say|how should i put it|how do i put this|what do you call it|whats it called|what was it again|where was i|let me start over|one sec|just a sec|a sec|hang on a sec|hang on a minute|hold on a minute|hang on a moment|hold on one second|hang on one second|just one second|just one moment|im thinking|im just thinking|let me just|what is it again|oh what is it|what was it|i cant remember|bear with me a second|bear with me a moment|just bear with me',
    winsTime:
      /(?:^| )(?:let me (?:just |quickly )?(?:check|see|think|look|find|get|grab|search|remember|pull|open|count)|ill (?:just|quickly) (?:check|look|find|grab|search))(?! (?:out|back|rid))(?: \p{L}+){0,4}$/u,
    fillers: 'well|so|like|actually|basically|okay so|so yeah',
    begunRequests:
      'i would like|i would like to|i would|id like|id like to|id love to|i want|i want to|i wanted|i wanted to|i need|i need to|i was wondering|i was wondering if|i wonder if|can you|could you|would you|will you|can i|could i|may i|can we|could we|shall we|do you|do you know|do you have|did you|should i|do i|how do i|is there|are there|can you tell me|could you tell me|would you tell me|can you help me with|could you help me with|can you give me|could you give me|can you show me|can you send me|could you send me|would you mind|would it be possible|is it possible|would it be possible to|im looking|im looking for|im calling|im calling to|im trying to|i have a question about|let me|what if|how much|how many|how long does|i was calling|id rather|tell me about|what about|how about|i am calling about|i would prefer|can somebody|could somebody|can someone|could someone|could i have|can i have|can i get|could i get|may i have|can i book|can i order|could i book|could i order|can i make|can i speak to|could i speak to|can i talk to|what time|what kind of|which kind of|how far|how often|where is the|what is the|when is the|when does the|where can i|who can i|why do you|why is the|im ringing to|i just wanted to',
    softeners:
      'please|maybe|perhaps|possibly|kindly|just|also|quickly|then|actually|to|tell me|to know|to ask|know|ask|if|whether',
    determiners: 'my|our|the|his|her|their',
    complete:
      'so do i|neither do i|nor do i|as do i|what i want|what i need|what i wanted|what i needed|all i want|all i need|all i needed|all i wanted|than i am|whom i am|yes i would|yes i will|no i would|if you would|if you could|if you will|as you would|thank you very|plan a|option a|vitamin a|type a|class a|in l a|the u s a|let me know|i would ask|what i think|who i think|all i know|not that i know|if you ask',
  },
  dictation: {
    numerals: () =>
      numeralTable({
        digits: 'zero/oh/nought one two three four five six seven eight nine',
        teens: 'ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen',
        tens: 'twenty thirty forty/fourty fifty sixty seventy eighty ninety',
        join: (ten, digit) => [`${ten} ${digit}`],
        hundred: (digit) => [`${digit} hundred`.trim()],
        links: [' ', ' and '],
        others: { double: '*', triple: '**' },
      }),
    announcements: [
      { words: announcing('iban', links), code: 'iban' },
      { words: announcing('long number|long card number', links), digits: 15 },
      // A number right after the announcement is only the beginning, because the street follows.
      { words: announcing('address', links), digits: 9 },
      {
        words: announcing('(?:passport|licen[cs]e|insurance|national insurance|social insurance) number', links),
        digits: 6,
      },
      {
        words: /(?<!\p{L})\p{L}*card(?: (?!(?:expir\p{L}*|end\p{L}*|from|since|until|in|of|for)(?: |$))\p{L}+){0,5}$/u,
        digits: 15,
      },
      { words: /(?<!\p{L})(?:(?:social security|ssn|routing number)(?: \p{L}+){0,3}|my social(?: is)?)$/u, digits: 9 },
      { words: announcing('(?:account|policy|tracking|serial|sort code and account) number', links), digits: 8 },
      {
        words: announcing(
          '(?:customer|client|contract|reference|booking|member|membership|case|ticket|patient|claim|invoice) number',
          links,
        ),
        digits: 4,
      },
      { words: announcing('zip|zip code|postal code|postcode', links), digits: 5 },
      { words: announcing('sort code', links), digits: 6 },
      { words: announcing('security code|cvv|cvc', links), digits: 3 },
      {
        words: new RegExp(
          `(?<!\\p{L}|(?:^| )(?:${shortCodes}) )(?:pin|passcode|code)(?: number)?(?: (?:is|its|the|number)){0,2}$`,
          'u',
        ),
        digits: 4,
      },
      {
        words: new RegExp(
          `(?<!\\p{L})(?:^|${owners}) ?(?:numbers|number (?:is|its|it|would be|the|to))(?: \\p{L}+)?(?: (?:area code|code|plus))?$`,
          'u',
        ),
        digits: 'phone',
      },
      { words: announcing('(?:tele)?phone|mobile|cell|landline|whatsapp', links), digits: 'phone' },
      { words: /(?<!\p{L})(?:call|reach|text|ring) me (?:back )?(?:at|on)$/u, digits: 'phone', isClock: true },
      { words: /(?<!\p{L})area code$/u, digits: 'phone' },
      { words: announcing('date of birth|birth date|birthday', links), digits: 3 },
      { words: announcing('(?:expiry|expiration)(?: date)?', links), digits: 4 },
    ],
    phoneForms: [
      // North American numbers have groups of 3, 3 and 4 digits, so "212 555 1" is not finished with seven digits.
      { starts: /^1 \d{3}( |$)/, digits: 11 },
      { starts: /^\d{3} \d{3} \d{1,3}( |$)/, digits: 10 },
      { starts: /^0/, digits: 10 },
    ],
    is: 'is|its|would be',
    plus: 'plus',
    mail: {
      announcements: 'e ?mails?|e ?mail address|mail address|email id',
      at: 'at',
      dot: 'dot|point',
      remarks:
        'not|wrong|incorrect|correct|right|down|broken|full|gone|new|old|different|on|in|at|the|fine|ok|okay|working|always|still|no|never|already|bouncing|too|so|very|confidential|important',
    },
    spelling: {
      announcements: '(?:spelled|spelt|spell|spelling)(?: it| that| with| is){0,2}|its spelled',
      asIn: 'as in',
      like: 'for|like',
      twice: 'double|two',
      letterWords: 'a m|p m|o k|t v|u s|u k|i d|d c|l a|y a|i a|a i|i i|u s a|n a',
      alphabet:
        'alpha alfa bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu',
    },
  },
  agent: {
    fallback: 'Sorry, I am having trouble answering right now. Could you say that again?',
    toolLeadIn: 'One moment, please.',
    screeningQuestion: 'To take the call, press 1 or say yes. To decline it, press 2 or say no.',
    screeningReason: 'Hello. I have a caller on the line for you.',
    summaryIntroduction: 'The caller has said:',
  },
  decisions: {
    yes: 'yes|yeah|yep|yup|sure|accept|i accept|put them through|put him through|put her through|go ahead|of course|absolutely|connect|please do|no problem|not a problem|no worries|why not|dont mind|do not mind|happy to|id love to|take it|ill take it|lets go|by all means|sounds good',
    no: 'no|nope|nah|not|dont|do not|decline|refuse|cant|cannot|busy|never|later|no way|not now|no thanks|no thank you|another time|some other time|not interested',
    undecided:
      'dont know|do not know|not sure|dont understand|do not understand|didnt understand|didnt catch|did not catch|didnt hear|cant hear|cannot hear|not heard|yes hello|yeah hello|yes who|yeah who|yes speaking|not yet sure',
    postponed:
      'not now|not right now|not today|not at the moment|not at this time|not yet|later|another time|some other time|tomorrow|next week|in an hour|in a few minutes',
  },
  greetings: {
    voicemail:
      'voicemail|voice mail|voice mailbox|mailbox|leave a message|leave me a message|leave your message|leave your name|record your message|record a message|after the tone|at the tone|after the beep|at the beep|get back to you as soon|answering machine|is not available to take your call|voice messaging|not in service|no longer in service|has been disconnected|is switched off|is turned off|leave us a message|leave a short message|leave a brief message|leave a detailed message|return your call as soon|record your name and message',
    excuse:
      'cant take your call|cannot take your call|cant answer the phone|cant come to the phone|cannot come to the phone|unable to take your call|unable to come to the phone|cant talk|cannot talk|cant speak',
    busy: 'am driving|im driving|on another call|on the other line|with a customer|with a client|not a good time|in a meeting|at work|am busy|im busy|busy right now|in the middle of|call me back|call me later|call me again|hang on|hold on|one second|just a second|just a minute|give me a minute|in the shower',
    ambiguous: 'you have reached|youve reached|is not available|are not available|am not available|is unavailable',
    person:
      'how can i help|how may i help|can i help you|may i help you|how can i be of|what can i do for you|how can i direct|how may i direct|whos calling|who is calling|may i ask who|what is this about|whats this about|what is it about|got your voicemail|got your message|left me a voicemail|leave a message with me|wrong number|whos this|who is this|like to leave a|want to leave a|take a message|did you leave|have you left|you left a|you left me|you just called|did you call|you called me|leave you a message|never got your message|got a message from you|leave him a message|leave her a message|what do you need|who am i speaking',
    conversing:
      'screening service|call screening|record your name|say your name|say why you are calling|reason for your call|why youre calling|press one|press two|press 1|press 2|press zero|press 0|stay on the line',
  },
  transferRequests:
    'transfer me|transfer the call|transfer this call|be transferred|put me through|connect me|speak to|speak with|talk to|talk with|a real person|a human|an operator|an agent',
} satisfies LanguageWords
