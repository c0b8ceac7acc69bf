/** Understands whether a person accepts or declines a call, and has the agent's question for it. */
import { soundsOfListening } from './backchannel.ts'
import { perLanguage, wordsOfLanguage } from './languages/languages.ts'
import { hyphenSpellings, Phrases } from './phrases.ts'

export type Decision = 'accepted' | 'declined'

const okays = soundsOfListening
  .split('|')
  .filter((sound) => /^ok/.test(sound))
  .join('|')
const phrasesOf = perLanguage(({ decisions: { yes, no, undecided = '', postponed = '' } }) => ({
  accepted: new Phrases(yes, okays),
  declined: new Phrases(no),
  undecided: new Phrases(undecided),
  postponed: new Phrases(postponed),
}))

/**
 * Returns the decision from the first yes or no in the text. Null if the text contains neither. At each word the
 * longest phrase counts, so "no problem" is a yes, and "I don't know" is not a no. A yes is taken back by a later "not
 * now".
 */
export function decisionIn(text: string, language: string): Decision | null {
  const decisions = hyphenSpellings(text).map((said) => firstDecision(said.split(' '), language))
  return decisions.find((decision) => decision !== null) ?? null
}

function firstDecision(words: readonly string[], language: string): Decision | null {
  const { accepted, declined, undecided, postponed } = phrasesOf(language)
  for (let at = 0; at < words.length; ) {
    const rest = words.slice(at).join(' ')
    const [yes, no, neither] = [accepted, declined, undecided].map((phrases) => phrases.begin(rest) ?? '')
    const longest = [yes, no, neither].reduce((a = '', b = '') => (b.length > a.length ? b : a)) ?? ''
    if (longest !== '' && longest !== neither) {
      const after = rest.slice(longest.length).trim()
      // In a script without spaces between words, a phrase is found only at the text's end.
      const isPutOff = postponed.within(after) || postponed.end(after)
      return longest === yes && !isPutOff ? 'accepted' : 'declined'
    }
    at += longest === '' ? 1 : longest.split(' ').length
  }
  return null
}

/** Returns the agent's text for the person who decides about the call. */
export function screeningText(prompt: string | null, summary: string | null, language: string): string {
  const { screeningReason, screeningQuestion } = wordsOfLanguage(language).agent
  return [prompt ?? screeningReason, summary, screeningQuestion]
    .filter((part) => part !== null && part.trim() !== '')
    .join(' ')
}
