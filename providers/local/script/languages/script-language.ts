/**
 * The scripted model's words in one language. Lists are strings with spaces or `|` between their entries, in lower
 * case.
 */
export type ScriptLanguage = {
  /**
   * Words ignored in comparisons, because they do not describe a sentence's subject. These words also identify the
   * language.
   */
  empty: string
  /** Groups of words treated as equal: question words together with the usual words in their answers. */
  alike: readonly string[]
  /** Endings to remove, in this order, from a word with more than four letters, so singular and plural are equal. */
  endings: readonly RegExp[]
  /** The ending to remove from a word with up to four letters. */
  shortEnding?: RegExp
  /** The labels for questions, answers and the first words in a prompt, with `|` between them. */
  labels: { question: string; answer: string; greeting: string }
  /** The first words in an instruction to the agent, with `|` between them. */
  orders: string
  triggers: {
    whoAreYou: RegExp
    hello: RegExp
    whatCanYouDo: RegExp
    thanks: RegExp
    goodbye: RegExp
    stop: RegExp
    again: RegExp
    /** The words before a text to repeat. */
    echo: RegExp
    /** Matches if the user wants to end the call. */
    leaves: RegExp
    wantsCallback: RegExp
    /** A calculation with two numbers, with the groups `a`, `operator` and `b`. */
    calculation: RegExp
  }
  /**
   * The character between a number's whole part and its decimals. The other character separates groups of three digits.
   */
  decimalMark: '.' | ','
  /** The numbers from 0 to 12. */
  numbers: string
  /** Words for a day in an argument, such as "tomorrow". */
  day: RegExp
  /** Patterns for the words before the user's name, with `|` between them. */
  ownName: string
  /** The operators' words in a calculation. */
  operators: Readonly<Record<'+' | '-' | '*' | '/', readonly string[]>>
  says: {
    introduction: string
    hello: string
    askToRepeat: string
    abilities: string
    welcome: string
    goodbye: string
    allRight: string
    stillThere: string
    sayAgain: string
    /** The words to a caller who could not be transferred. */
    notConnected: string
    notConnectedTakesMessage: string
    noAnswer: string
    noRule: string
    youSaid: string
    toolAnswered: string
    toolFailed: string
    done: string
    is: string
    isEmpty: string
    has: string
    hasMore: string
    nothing: string
    and: string
    entry: string
    entries: string
  }
}
