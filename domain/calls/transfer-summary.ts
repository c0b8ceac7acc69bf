/**
 * Makes a summary for the transfer's recipient if the API client gives no summary. It quotes the caller's last turns,
 * without the request for a transfer. No LLM writes it, so the recipient does not wait.
 */
import { perLanguage, wordsOfLanguage } from '../conversation/words/languages/languages.ts'
import { hyphenSpellings, Phrases } from '../conversation/words/phrases.ts'

/** The journal keeps this many of the caller's turns for the summary. */
export const summaryTurnsMax = 6
/**
 * About nine seconds of speech. The summary must be short, because the recipient has limited time to accept or decline
 * the call.
 */
const charactersMax = 140
/** Turns with fewer words than this, such as "Hello" or "Yes, please", say nothing about the call's subject. */
const wordsMin = 3

const requestsOf = perLanguage(({ transferRequests }) => new Phrases(transferRequests))

/** Returns the summary. `turns` are the caller's turns, oldest first. Returns null if all turns are blank. */
export function defaultSummary(turns: readonly string[], language: string): string | null {
  const said = turns.map((turn) => turn.replace(/\s+/g, ' ').trim()).filter((turn) => turn !== '')
  const subject = said.filter((turn) => !asksForPerson(turn, language))
  const telling = subject.filter((turn) => turn.split(' ').length >= wordsMin)
  // If the caller has only asked for a person, the summary quotes this request.
  const shown = [telling, subject, said].find((list) => list.length > 0)
  return shown === undefined ? null : `${wordsOfLanguage(language).agent.summaryIntroduction} ${newestWithin(shown)}`
}

/** Returns true if a request phrase occurs anywhere in the turn. */
function asksForPerson(turn: string, language: string): boolean {
  return hyphenSpellings(turn).some((said) => requestsOf(language).within(said))
}

/** Joins the newest turns that fit into the limit. If the last turn alone is too long, returns its beginning. */
function newestWithin(turns: readonly string[]): string {
  let text = turns.at(-1) ?? ''
  for (const turn of turns.slice(0, -1).toReversed()) {
    if ([...turn, ...text].length >= charactersMax) break
    text = `${turn} ${text}`
  }
  const letters = [...text]
  if (letters.length <= charactersMax) return text
  const cut = letters.slice(0, charactersMax).join('')
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), 1))} …`
}
