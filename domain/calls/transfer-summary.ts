/**
 * Makes a summary for the transfer's recipient if the API client gives no summary. It quotes the caller's last turns,
 * without the request for a transfer. No LLM writes it, so the recipient does not wait.
 */
import { Phrases, plain } from '../conversation/words/phrases.ts'

/** The journal keeps this many of the caller's turns for the summary. */
export const summaryTurnsMax = 6
/** About nine seconds of speech. The summary must be short, because the recipient decides within the screening time. */
const charactersMax = 140
/** Shorter turns, such as "Hello" or "Yes, please", say nothing about the call's subject. */
const wordsMin = 3

type SummaryWords = {
  introduction: string
  /** Phrases for requesting another person, separated by `|`. */
  requests: string
}

const languages: Readonly<Record<string, SummaryWords>> = {
  en: {
    introduction: 'The caller has said:',
    requests:
      'transfer me|transfer the call|transfer this call|be transferred|put me through|connect me|speak to|speak with|talk to|talk with|a real person|a human|an operator|an agent',
  },
  de: {
    introduction: 'Der Anrufer hat gesagt:',
    requests:
      'verbinden sie mich|mich verbinden|mich bitte verbinden|mich weiterleiten|stellen sie mich durch|mich durchstellen|mit jemandem sprechen|einen mitarbeiter|einem mitarbeiter|einer mitarbeiterin|einem menschen',
  },
  es: {
    introduction: 'La persona ha dicho:',
    requests:
      'páseme|pásame|comuníqueme|transfiérame|transferirme|me transfiera|me pase con|hablar con|una persona real|un agente',
  },
  fr: {
    introduction: 'L’appelant a dit :',
    requests:
      'passezmoi|me passer|transférezmoi|me transférer|mettezmoi en relation|parler à|parler avec|un conseiller|une conseillère',
  },
  it: {
    introduction: 'Il chiamante ha detto:',
    requests: 'mi passi|mi passa|passarmi|mi trasferisca|trasferirmi|mi metta in contatto|parlare con|un operatore',
  },
  pt: {
    introduction: 'A pessoa disse:',
    requests: 'passeme|me passar|me passe|transfirame|me transfira|me transferir|falar com|um atendente|uma atendente',
  },
  nl: {
    introduction: 'De beller heeft gezegd:',
    requests:
      'verbind me door|verbind mij door|me doorverbinden|mij doorverbinden|doorverbonden worden|spreken met|met iemand spreken|een medewerker',
  },
}

const requestsOf = new Map(
  Object.entries(languages).map(([language, words]) => [language, new Phrases(words.requests)]),
)

/** Returns the summary. `turns` are the caller's turns, oldest first. Returns null if all turns are blank. */
export function defaultSummary(turns: readonly string[], language: string): string | null {
  const tag = language.toLowerCase().split(/[-_]/)[0] as string
  const supported = tag in languages ? tag : 'en'
  const said = turns.map((turn) => turn.replace(/\s+/g, ' ').trim()).filter((turn) => turn !== '')
  const subject = said.filter((turn) => !asksForPerson(turn, supported))
  const telling = subject.filter((turn) => turn.split(' ').length >= wordsMin)
  // If the caller has only asked for a person, the summary quotes this request.
  const shown = [telling, subject, said].find((list) => list.length > 0)
  return shown === undefined ? null : `${languages[supported]?.introduction} ${newestWithin(shown)}`
}

/** Returns true if a request phrase occurs anywhere in the turn. */
function asksForPerson(turn: string, language: string): boolean {
  const words = plain(turn.replaceAll('-', '')).split(' ')
  return words.some((_word, at) => requestsOf.get(language)?.end(words.slice(0, at + 1).join(' ')))
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
