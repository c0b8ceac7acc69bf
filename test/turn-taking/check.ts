/** Checks one language's phrases. Lists have a phrase a line. The title of each assertion is the phrase. */
import t from 'tap'
import { isBackchannel } from '../../domain/conversation/words/backchannel.ts'
import { decisionIn } from '../../domain/conversation/words/decision-words.ts'
import { looksFinished } from '../../domain/conversation/words/turn-end.ts'
import { verdict } from '../answering/verdict.ts'

/** After the words `holds` the turn goes on, and after the words `ends` it is over. */
export type Ends = { holds: string; ends: string }

export type LanguagePhrases = {
  numbers: Ends
  cards: Ends
  phones: Ends
  spelling: Ends
  mail: Ends
  hesitations: Ends
  requests: Ends
  backchannels: { listens: string; answers: string }
  decisions: { accepted: string; declined: string; undecided: string }
  greetings: { machines: string; people: string }
}

/** Greetings are spoken in these times: fast, and so slowly that their length alone may show a machine. */
const greetingMs = [2500, 4500]
/** Each list has at least this many phrases. */
const phrasesMin = 10

export function checkLanguage(language: string, phrases: LanguagePhrases): void {
  const { backchannels, decisions, greetings, ...kinds } = phrases
  for (const [kind, { holds, ends }] of Object.entries(kinds)) {
    each(`${kind}: the turn goes on`, holds, (text) => !looksFinished(text, language))
    each(`${kind}: the turn is over`, ends, (text) => looksFinished(text, language))
  }
  each('backchannels: the caller listens', backchannels.listens, (text) => isBackchannel(text, language))
  each('backchannels: the caller answers', backchannels.answers, (text) => !isBackchannel(text, language))
  each('decisions: yes', decisions.accepted, (text) => decisionIn(text, language) === 'accepted')
  each('decisions: no', decisions.declined, (text) => decisionIn(text, language) === 'declined')
  each('decisions: neither', decisions.undecided, (text) => decisionIn(text, language) === null)
  for (const ms of greetingMs) {
    const found = (text: string) => verdict(text, ms, language)
    each(`greetings in ${ms} ms: a machine`, greetings.machines, (text) => found(text) === 'machine')
    each(`greetings in ${ms} ms: no machine`, greetings.people, (text) => found(text) !== 'machine')
  }
}

/** Checks phrases that callers say every day, beside the kinds of phrases in `LanguagePhrases`. */
export function checkEveryday(language: string, list: { beginnings: string; sentences: string }): void {
  each('after a beginning the turn goes on', list.beginnings, (text) => !looksFinished(text, language))
  each('a complete sentence ends the turn', list.sentences, (text) => looksFinished(text, language))
}

function each(title: string, list: string, isRight: (text: string) => boolean): void {
  t.test(title, (t) => {
    const texts = list.split('\n').flatMap((line) => line.trim() || [])
    t.ok(texts.length >= phrasesMin, `${texts.length} phrases`)
    for (const text of texts) t.ok(isRight(text), text)
    t.end()
  })
}
