/**
 * Finds answers in an agent's prompt, for the scripted model. It reads these lines:
 *
 *   Q: When do you open?            a question; the next line begins with "A:" and is its answer
 *   A: At nine.
 *   When asked about parking, say that it is free.
 *   Greeting: Welcome to the hotel.
 *   We are open from nine to five.  any other sentence is a fact, unless it is an instruction to the agent
 */
import { en as english } from './languages/en.ts'
import { scriptLanguages } from './languages/languages.ts'
import type { ScriptLanguage } from './languages/script-language.ts'
import { common, plainWords, type Vocabulary } from './script-words.ts'

/** An answer and the words to find it by. `question` is set only for an answer from a "Q:" line. */
type Entry = { question?: string; words: ReadonlySet<string>; answer: string }

export type Script = {
  /** The agent's first words, if the agent speaks first. */
  greeting: string | null
  /** The prompt's answers to questions. */
  answers: readonly Entry[]
  facts: readonly Entry[]
}

/** The limits for a prompt and a line. Further characters are not read. */
const promptCharactersMax = 65_536
const lineCharactersMax = 2000

const labels = (of: 'question' | 'answer' | 'greeting') => scriptLanguages.map(({ labels }) => labels[of]).join('|')
const line = (words: string) => new RegExp(`^\\W*(?:${words}) ?:\\s*(\\S.*)$`, 'i')
/** A prompt's lines may be in any language. */
const question = line(labels('question'))
const answer = line(labels('answer'))
const greeting = line(labels('greeting'))
const replyRule =
  /^\W*(?:when|whenever|if) (?:you are |they are |anyone is |someone is )?(?:asked|(?:(?:the |a )?(?:user|caller|customer|someone|anyone|they|people) asks?))(?: you)? (?:about |for |whether |if )?([^,:]{1,200})[,:]? *(?:then )?(?:you )?(?:say|answer|reply|respond|tell (?:them|him|her))(?: with| that)?[,:]? *(\S.*)$/i
/**
 * Returns a pattern for an instruction to the agent. Such a sentence is not a fact. Prompts are in the conversation's
 * language or in English. An instruction's first word in one language often begins a fact in another.
 */
const orderIn = (own: ScriptLanguage) => new RegExp(`^\\W*(?:${own.orders}|${english.orders})(?!\\p{L})`, 'iu')

export function readScript(prompt: string, vocabulary: Vocabulary): Script {
  const script = { greeting: null as string | null, answers: [] as Entry[], facts: [] as Entry[] }
  let open: string | null = null
  for (const line of prompt.slice(0, promptCharactersMax).split('\n')) {
    const text = line.slice(0, lineCharactersMax).trim()
    const said: string | undefined = answer.exec(text)?.[1]
    if (said !== undefined && open !== null)
      script.answers.push({ question: plain(open), words: vocabulary.subjects(open), answer: said })
    open = question.exec(text)?.[1] ?? null
    if (said !== undefined || open !== null) continue
    script.greeting ??= greeting.exec(text)?.[1] ?? null
    if (!greeting.test(text)) readSentences(text, script, vocabulary)
  }
  return script
}

function readSentences(
  line: string,
  { answers, facts }: { answers: Entry[]; facts: Entry[] },
  vocabulary: Vocabulary,
): void {
  const whole = replyRule.exec(line)
  // The answer continues to the end of its line, so it can have several sentences.
  if (whole)
    return void answers.push({ words: vocabulary.subjects(whole[1] as string), answer: unquoted(whole[2] as string) })
  const order = orderIn(vocabulary.language)
  for (const sentence of line.split(/(?<=[.!?])\s+/)) {
    const match = replyRule.exec(sentence)
    if (match) answers.push({ words: vocabulary.subjects(match[1] as string), answer: unquoted(match[2] as string) })
    else if (!order.test(sentence) && !sentence.endsWith('?') && !sentence.endsWith(':'))
      facts.push({ words: vocabulary.subjects(sentence), answer: sentence })
  }
}

/**
 * Returns the answer with the best matching words. Returns null if no entry has half its words, or half the user's
 * words, in common with the user's sentence.
 */
export function answerFrom(entries: readonly Entry[], said: string, vocabulary: Vocabulary): string | null {
  const utterance = plain(said)
  const exact = entries.find(({ question }) => question === utterance)
  if (exact) return exact.answer
  const utteranceWords = vocabulary.subjects(said)
  let best: { score: number; answer: string } | null = null
  for (const { words, answer: text } of entries) {
    const both = common(utteranceWords, words)
    const part = both / Math.max(1, Math.min(utteranceWords.size, words.size))
    if (both === 0 || part < 0.5) continue
    const score = both + part + both / words.size
    if (best === null || score > best.score) best = { score, answer: text }
  }
  return best?.answer ?? null
}

const plain = (text: string) => plainWords(text).join(' ')

const unquoted = (text: string) => /^["“'](.*)["”'][.!]?$/s.exec(text)?.[1] ?? text
