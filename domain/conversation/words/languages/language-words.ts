/**
 * The words of one language, for the voice loop and the parts around it. Lists are strings with `|` between their
 * entries, in lower case and without punctuation. A language without one of the optional parts gets the English part.
 */
export type LanguageWords = {
  turns: TurnWords
  agent: AgentSentences
  dictation?: DictationWords
  decisions?: DecisionWords
  greetings?: GreetingWords
  /** Phrases by which callers ask for another person. A transfer's summary leaves them out. */
  transferRequests?: string
}

/** Words for the decision whether the caller has finished. */
export type TurnWords = {
  /**
   * Sounds and words by which callers show that they are listening and the agent should continue. Answers and
   * requests ("no", "stop", "wait") are not in the list.
   */
  backchannels: string
  /**
   * Conjunctions, articles, prepositions, pronouns and fillers. If a text ends with one, the sentence is not finished.
   */
  unfinished: string
  /** Like `unfinished`, but a full stop after them finishes the sentence: "Ich komme mit." */
  particles?: string
  /**
   * Words that are an answer as often as the start of a request. If such a word stands alone without a full stop, the
   * agent waits as after an unfinished sentence.
   */
  openings?: string
  /**
   * Words and sentences with which callers play for time: "um", "let me think". Even with a full stop after them, the
   * turn is not finished.
   */
  hesitations?: string
  /** Matches longer sentences with which callers play for time, such as "let me just find my card". */
  winsTime?: RegExp
  /** Words that are a hesitation only after a comma or alone: "Well", "Yes, so". */
  fillers?: string
  /** The beginnings of requests: "could you". Even with a full stop after them, the request is not finished. */
  begunRequests?: string
  /** Words in or after the beginning of a request: "could you please", "can you maybe tell me". */
  softeners?: string
  /**
   * Words that begin a subject, such as "my". A sentence with only a subject and a verb from `is` is not finished: "My
   * extension is".
   */
  determiners?: string
  /** Phrases that finish a sentence although their last words are in a list above: "that is all I need". */
  complete?: string
}

/** The sentences that the agent says itself, without the LLM. */
export type AgentSentences = {
  /** The agent says this if the LLM gives no answer in a turn. */
  fallback: string
  /** The agent says this before a slow tool. */
  toolLeadIn: string
  /** The agent asks a transfer's recipient this question after the call's reason. */
  screeningQuestion?: string
  /** The agent says this before the question if the API client gave no reason. */
  screeningReason?: string
  /** The text before the caller's words in a transfer's summary. */
  summaryIntroduction?: string
}

/** Words for accepting or declining a call. */
export type DecisionWords = {
  yes: string
  no: string
  /** Phrases that contain a yes or a no but decide nothing: "I don't know". */
  undecided?: string
  /** Phrases that put a decision off. They take back a yes before them: "Yes, but not now". */
  postponed?: string
}

/** First phrases after an outbound call is answered. They distinguish machines from people. */
export type GreetingWords = {
  /** Only a mailbox says these phrases. */
  voicemail: string
  /** Both a mailbox and a busy person say these phrases. The next words tell them apart. */
  excuse: string
  /**
   * A busy person says these phrases. They count even after an ambiguous phrase. Some people record them as a mailbox
   * greeting, so they alone do not prove that a person has answered.
   */
  busy: string
  /** Both a mailbox and a person at a business say these phrases. */
  ambiguous: string
  /** Only a person asks these questions. They count even after a long greeting. */
  person: string
  /** A phone menu or a phone with call screening says these phrases. The agent can talk to both. */
  conversing: string
}

/** The words of dictated numbers, spelled names and mail addresses. */
export type DictationWords = {
  /** Makes the table of spoken numbers: "twenty five" has the digits 25. Phrases are plain text. */
  numerals: () => ReadonlyMap<string, string>
  /** Only the first matching announcement is used. */
  announcements: readonly Announcement[]
  /** The first matching form has the phone number's length. Other phone numbers have seven digits. */
  phoneForms: readonly PhoneForm[]
  /** The verbs between an announcement and its number or address. */
  is: string
  /** Words for the plus before a country code. */
  plus: string
  mail: MailWords
  spelling: SpellingWords
}

/**
 * Words right before a number, by which the caller announces it. `words` matches the end of the text before the number.
 * Shorter numbers than `digits` are not finished. `isClock` is true if the number may be a time of day.
 */
export type Announcement =
  | { words: RegExp; digits: number | 'phone'; isClock?: true }
  | { words: RegExp; code: number | 'iban' }

/** A form of phone numbers. `starts` matches a number's groups of digits, with spaces between them. */
export type PhoneForm = { starts: RegExp; digits: number }

export type MailWords = {
  /** Announcements of a mail address, without the verb: "email address". */
  announcements: string
  at: string
  dot: string
  /** The first words of sentences about an address: "my email is not working". */
  remarks: string
}

export type SpellingWords = {
  /** Announcements of single letters: "spelled". */
  announcements: string
  /** The words between a letter and a word for it: "S as in Sam". */
  asIn: string
  /** Like `asIn`, but also a usual preposition, so vowels before it are not letters: "B for". */
  like: string
  /** The word before a letter that is written twice: "double L". */
  twice: string
  /** The names of letters, if recognizers write them: "doble ele". */
  letterNames?: string
  /** Words and abbreviations of single letters, each with spaces between its letters. */
  letterWords: string
  /** The names that stand for letters in the language's spelling alphabet. */
  alphabet: string
}
