import type { ScriptLanguage } from './script-language.ts'

export const en: ScriptLanguage = {
  empty:
    'a an the this that these those it its i me my we us our you your yours he she they them their his her is are was were be been am ' +
    'do does did done can could will would shall should may might must have has had to of in on at for from with by about as and or but if ' +
    'so then than there here what which who how when please tell say know want like need get give any some also just very not no yes ' +
    'im id ill its dont hello hi hey okay ok well now let lets up go going one thing something anything more',
  alike: [
    'open opened opening close closed closing hour schedule',
    'price cost much fee charge expensive cheap pay',
    'where address location located situated find street',
    'phone telephone call number reach contact',
    'mail email',
    'book booking reserve reservation',
    'name called',
  ],
  endings: [/(?:ies|es|s)$/, /(?:ing|ed)$/],
  shortEnding: /s$/,
  labels: {
    question: 'q|question|user|caller',
    answer: 'a|answer|agent|assistant',
    greeting: 'greeting|greet with|first say|begin with|opening',
  },
  orders:
    "you|your|always|never|do not|dont|don't|be|keep|speak|answer|if|when|use|ask|greet|help|act|respond|reply|try|make sure|please|avoid|only|call|end|introduce|offer|remember|talk",
  triggers: {
    whoAreYou: /\b(?:who|what) are you\b|\byour name\b|\bare you (?:an? )?(?:ai|bot|model|human)\b/i,
    hello: /^(?:hello|hi|hey|good (?:morning|afternoon|evening))\b/i,
    whatCanYouDo: /\bwhat (?:can|do) you do\b/i,
    thanks: /\bthank(?:s| you)\b/i,
    goodbye: /\b(?:goodbye|bye)\b/i,
    stop: /^(?:no,? )?(?:please )?(?:stop|wait|never ?mind|be quiet|hold on)\b/i,
    again:
      /^\W*(?:sorry\W+)?(?:pardon|what did you say|(?:please |can you |could you )?(?:say|repeat) (?:that|it)(?: again)?|come again)\b/i,
    echo: /^(?:please )?(?:echo|repeat|say)\b[\s:,]*(?:after me[\s:,]*)?(?=\S|$)/i,
    leaves: /\b(?:good ?bye|bye|hang up|(?:end|finish) (?:the|this|our) call|that(?: is|'s|’s) all|nothing else)\b/i,
    wantsCallback: /\b(?:call|ring|phone) (?:me|us) (?:back|later|again)\b/i,
    calculation: /(?<a>-?\d+(?:\.\d+)?)\s*(?<operator>\+|-|\*|\/|plus|minus|times|divided by)\s*(?<b>-?\d+(?:\.\d+)?)/i,
  },
  decimalMark: '.',
  numbers: 'zero one two three four five six seven eight nine ten eleven twelve',
  day: /\b(?:today|tomorrow|tonight|(?:next |this |on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b/i,
  ownName: "my name is|this is|i am|i'm|name",
  operators: { '+': ['plus'], '-': ['minus'], '*': ['times'], '/': ['divided by'] },
  says: {
    introduction: "I am Parley's rule-based stand-in, not a language model",
    hello: 'Hello!',
    askToRepeat: 'Ask me to repeat something.',
    abilities:
      'I repeat, I add up, and I call the tools that you name. For real answers set a key such as OPENAI_API_KEY.',
    welcome: 'You are welcome.',
    goodbye: 'Goodbye.',
    allRight: 'All right.',
    stillThere: 'Are you still there?',
    sayAgain: 'I am sorry, I did not understand you. Could you say that again?',
    notConnected: 'I am sorry, I could not connect you. How else can I help?',
    notConnectedTakesMessage: 'I am sorry, I could not connect you. May I take a message?',
    noAnswer: 'and my prompt has no answer to that.',
    noRule: 'and I have no rule for that. Set up a language model provider to get real answers.',
    youSaid: 'You said:',
    toolAnswered: 'The tool answered:',
    toolFailed: 'The tool failed:',
    done: 'done.',
    is: 'is',
    isEmpty: 'is empty',
    has: 'has',
    hasMore: 'has more',
    nothing: 'nothing',
    and: 'and',
    entry: 'entry',
    entries: 'entries',
  },
}
