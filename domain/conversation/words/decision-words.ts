/** The words that accept or decline a call, and the agent's question for them, in the voice loop's languages. */
import type { Decision } from '../parts/transferable.ts'
import { soundsOfListening } from './languages.ts'

type DecisionWords = {
  /** Lists are texts with `|` between their entries, in lower case. */
  yes: string
  no: string
  /** The agent asks this question after the call's reason. */
  question: string
  /** The agent says this sentence before the question if the API client gave no reason. */
  reason: string
}

const languages: Readonly<Record<string, DecisionWords>> = {
  en: {
    yes: 'yes|yeah|yep|yup|sure|accept|i accept|put them through|put him through|put her through|go ahead|of course|absolutely|connect|please do',
    no: 'no|nope|nah|not|dont|do not|decline|refuse|cant|cannot|busy|never|later',
    question: 'To take the call, press 1 or say yes. To decline it, press 2 or say no.',
    reason: 'Hello. I have a caller on the line for you.',
  },
  de: {
    yes: 'ja|jawohl|gerne|gern|klar|sicher|natürlich|in ordnung|stellen sie durch|verbinden sie|annehmen|einverstanden',
    no: 'nein|nee|nicht|keine|ablehnen|später|leider',
    question:
      'Um den Anruf anzunehmen, drücken Sie die 1 oder sagen Sie ja. Um ihn abzulehnen, drücken Sie die 2 oder sagen Sie nein.',
    reason: 'Guten Tag. Ich habe einen Anrufer für Sie in der Leitung.',
  },
  es: {
    yes: 'sí|si|claro|por supuesto|acepto|de acuerdo|vale|adelante|páselo|pásemelo|pásame',
    no: 'no|rechazo|ahora no|ocupado|ocupada|más tarde|nunca',
    question: 'Para aceptar la llamada, pulse 1 o diga sí. Para rechazarla, pulse 2 o diga no.',
    reason: 'Hola. Tengo una llamada para usted.',
  },
  fr: {
    yes: 'oui|ouais|daccord|dac|bien sûr|jaccepte|volontiers|allezy|passezlemoi|passezlamoi',
    no: 'non|pas|refuse|occupé|occupée|plus tard|jamais',
    question: 'Pour prendre l’appel, appuyez sur 1 ou dites oui. Pour le refuser, appuyez sur 2 ou dites non.',
    reason: 'Bonjour. J’ai un appel pour vous.',
  },
  it: {
    yes: 'sì|si|certo|certamente|accetto|daccordo|va bene|me lo passi|volentieri',
    no: 'no|non|rifiuto|occupato|occupata|più tardi',
    question: 'Per accettare la chiamata, prema 1 o dica sì. Per rifiutarla, prema 2 o dica no.',
    reason: 'Buongiorno. Ho una chiamata per lei.',
  },
  pt: {
    yes: 'sim|claro|aceito|pode passar|com certeza|está bem|tudo bem',
    no: 'não|nao|recuso|ocupado|ocupada|mais tarde|agora não',
    question: 'Para atender a chamada, prima 1 ou diga sim. Para recusar, prima 2 ou diga não.',
    reason: 'Olá. Tenho uma chamada para si.',
  },
  nl: {
    yes: 'ja|jawel|zeker|natuurlijk|graag|goed|verbind maar door|accepteer',
    no: 'nee|neen|niet|geen|weiger|later|bezet',
    question: 'Om het gesprek aan te nemen, toets 1 of zeg ja. Om te weigeren, toets 2 of zeg nee.',
    reason: 'Goedendag. Ik heb een beller voor u aan de lijn.',
  },
}

/** Returns a language's words. An unknown language gets the English words. */
function wordsOf(tag: string): DecisionWords {
  return languages[tag.toLowerCase().split(/[-_]/)[0] as string] ?? (languages['en'] as DecisionWords)
}

const okays = soundsOfListening.split('|').filter((sound) => /^ok/.test(sound))

/** Returns the decision from the first yes or no in the text. Null if the text contains neither. */
export function decisionIn(text: string, language: string): Decision | null {
  const { yes, no } = wordsOf(language)
  const said = ` ${normalized(text)} `
  const first = (list: readonly string[]) =>
    Math.min(...list.map((word) => said.indexOf(` ${word} `)).map((at) => (at < 0 ? Number.POSITIVE_INFINITY : at)))
  const yesAt = first([...yes.split('|'), ...okays])
  const noAt = first(no.split('|'))
  if (yesAt === noAt) return null
  return yesAt < noAt ? 'accepted' : 'declined'
}

/** Returns the agent's text for the person who decides about the call. */
export function screeningText(prompt: string | null, summary: string | null, language: string): string {
  const { reason, question } = wordsOf(language)
  return [prompt ?? reason, summary, question].filter((part) => part !== null && part.trim() !== '').join(' ')
}

const normalized = (text: string) =>
  text
    .toLowerCase()
    .replace(/['’\-]/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
